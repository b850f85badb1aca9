//! Runs the blocking work of a tool on a separate thread that can be stopped.

use std::fs::File;
use std::io::{self, Read};

use crate::cancel::Cancel;
use crate::tool::{ToolOutput, ToolPlace};

/// Runs `work` on a thread that may block. The work checks for itself whether it should stop; work that hangs in the
/// file system is not waited for.
pub(crate) async fn run(
    place: &ToolPlace,
    work: impl FnOnce(&ToolPlace) -> ToolOutput + Send + 'static,
) -> ToolOutput {
    place.cancel.unless_cancelled(run_to_the_end(place, work)).await.unwrap_or_else(cancelled)
}

/// Like [`run`], for work that changes something: once begun it is waited for.
pub(crate) async fn run_to_the_end(
    place: &ToolPlace,
    work: impl FnOnce(&ToolPlace) -> ToolOutput + Send + 'static,
) -> ToolOutput {
    if place.cancel.is_cancelled() {
        return cancelled();
    }
    let place = place.clone();
    tokio::task::spawn_blocking(move || work(&place))
        .await
        .unwrap_or_else(|_| ToolOutput::error("the tool broke off; this is a bug"))
}

/// The output of a call that was stopped before it had anything.
pub(crate) fn cancelled() -> ToolOutput {
    ToolOutput::error("cancelled")
}

/// A file that ends with an error when the work should stop.
pub(super) struct Cancellable<'a> {
    pub(super) file: File,
    pub(super) cancel: &'a Cancel,
}

impl Read for Cancellable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read(buffer)
    }
}
