//! The worker of a program that was built without the feature `engine`: no extension starts.

use std::io;
use std::sync::Arc;

use serde_json::Value as Json;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::handle::{Handle, Order};
use crate::load::Program;

/// Reports that there is no engine to run the extension in.
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn start(
    _handle: &Arc<Handle>,
    _orders: UnboundedReceiver<Order>,
    _trusted: bool,
    _program: Program,
    _facts: Json,
) -> io::Result<()> {
    Err(io::Error::other(
        "this program was built without extensions; build it with `cargo build -p offshoot --release`",
    ))
}
