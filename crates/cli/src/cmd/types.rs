//! `offshoot types`: prints type declarations for extensions.

use crate::app::App;
use crate::error::CommandError;

/// Print type declarations for extensions.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, app: &mut App) -> Result<(), CommandError> {
    app.ui.raw(offshoot_extensions::DECLARATIONS.as_bytes())
}
