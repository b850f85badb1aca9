//! Blocking work of a tool, off the async thread.

use std::path::PathBuf;

use crate::cancel::Cancel;
use crate::tool::{ToolOutput, ToolPlace};

/// What blocking work knows of the place it works in.
#[derive(Debug, Clone)]
pub(crate) struct Workplace {
    pub(crate) cwd: PathBuf,
    pub(crate) cancel: Cancel,
}

impl Workplace {
    pub(crate) fn of(place: &ToolPlace) -> Self {
        Workplace { cwd: place.cwd.clone(), cancel: place.cancel.clone() }
    }
}

/// Runs `work` on a thread that may block. Work sees for itself that it should stop; nobody waits for work that is
/// stuck in the file system.
pub(crate) async fn run(
    place: &ToolPlace,
    work: impl FnOnce(&Workplace) -> ToolOutput + Send + 'static,
) -> ToolOutput {
    place.cancel.unless_cancelled(run_to_the_end(place, work)).await.unwrap_or_else(cancelled)
}

/// Like [`run`], for work that changes something: it has begun before anybody can stop it, and is waited for.
pub(crate) async fn run_to_the_end(
    place: &ToolPlace,
    work: impl FnOnce(&Workplace) -> ToolOutput + Send + 'static,
) -> ToolOutput {
    if place.cancel.is_cancelled() {
        return cancelled();
    }
    let workplace = Workplace::of(place);
    tokio::task::spawn_blocking(move || work(&workplace))
        .await
        .unwrap_or_else(|_| ToolOutput::error("the tool broke off; this is a bug"))
}

/// The output of a call that was stopped before it had anything.
pub(crate) fn cancelled() -> ToolOutput {
    ToolOutput::error("cancelled")
}
