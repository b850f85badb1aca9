//! Runs the blocking work of a tool on a separate thread that can be cancelled.

use std::io::{self, Read};

use crate::cancel::Cancel;
use crate::tool::{ToolOutput, ToolPlace};

/// Runs `work` on a blocking thread. The work polls for cancellation. Work that hangs in the file system is abandoned.
pub(crate) async fn run(
    place: &ToolPlace,
    work: impl FnOnce(&ToolPlace) -> ToolOutput + Send + 'static,
) -> ToolOutput {
    place.cancel.unless_cancelled(run_to_the_end(place, work)).await.unwrap_or_else(cancelled)
}

/// Like [`run`], for work that changes something: once started, it is awaited.
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
        .unwrap_or_else(|_| ToolOutput::error("the tool panicked; this is a bug"))
}

/// Returns the output of a call that was cancelled before it had output.
pub(crate) fn cancelled() -> ToolOutput {
    ToolOutput::error("cancelled")
}

/// A file whose reads fail after a cancellation.
pub(super) struct Cancellable<'a, F> {
    pub(super) file: F,
    pub(super) cancel: &'a Cancel,
}

impl<F: Read> Read for Cancellable<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read(buffer)
    }
}
