//! Files of an editor: tools read its unsaved text, and write through it so that it shows their changes.
//!
//! tool -> **editor** -> front end, or the disk
//!
//! Paths are those that permissions have judged.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self as answers, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use crate::cancel::Cancel;
use crate::shared::lock;

/// How long an editor may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often to check for a cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The operations that an editor offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EditorAccess {
    /// True if the editor reads files.
    pub read: bool,
    /// True if the editor writes files.
    pub write: bool,
}

/// A request to the editor.
#[derive(Debug)]
pub enum FileRequest {
    /// Read the text of a file.
    Read {
        /// The path, absolute and with all links followed.
        path: PathBuf,
        /// The receiver of the text; an error means that the file is read from the disk.
        answer: FileAnswer<String>,
    },
    /// Replace the text of a file, or create it.
    Write {
        /// The path, absolute and with all links followed.
        path: PathBuf,
        /// The new text.
        text: String,
        /// The receiver of the result.
        answer: FileAnswer<()>,
    },
}

/// The receiver of an answer. Dropping it is an error too.
#[derive(Debug)]
pub struct FileAnswer<T>(answers::Sender<Result<T, String>>);

impl<T> FileAnswer<T> {
    /// Answers the request.
    pub fn send(self, result: Result<T, String>) {
        // The tool may have been cancelled.
        drop(self.0.send(result));
    }
}

/// The editor that registered, if any. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Editor(Arc<Mutex<Option<Registered>>>);

#[derive(Debug)]
struct Registered {
    access: EditorAccess,
    requests: mpsc::UnboundedSender<FileRequest>,
}

impl Editor {
    /// Registers the receiver of all further requests.
    pub(crate) fn register(&self, access: EditorAccess) -> mpsc::UnboundedReceiver<FileRequest> {
        let (requests, receive) = mpsc::unbounded_channel();
        *lock(&self.0) = Some(Registered { access, requests });
        receive
    }

    /// Returns the operations that the registered editor offers.
    pub(crate) fn access(&self) -> EditorAccess {
        lock(&self.0).as_ref().map_or(EditorAccess::default(), |registered| registered.access)
    }

    /// Returns the text of a file as the editor has it; `None` if the caller must read the disk. Blocks.
    pub(crate) fn read(&self, path: &Path, cancel: &Cancel) -> Option<String> {
        let requests = self.requests()?;
        let path = path.to_owned();
        let read = ask(&requests, |answer| FileRequest::Read { path, answer }, cancel);
        read.inspect_err(|error| tracing::debug!(error, "the editor did not read a file")).ok()
    }

    /// Writes a file through the editor; `None` if the caller must write to the disk. Blocks.
    pub(crate) fn write(&self, path: &Path, text: &str, cancel: &Cancel) -> Option<Result<(), String>> {
        let requests = self.requests()?;
        let (path, text) = (path.to_owned(), text.to_owned());
        Some(ask(&requests, |answer| FileRequest::Write { path, text, answer }, cancel))
    }

    fn requests(&self) -> Option<mpsc::UnboundedSender<FileRequest>> {
        let requests = lock(&self.0).as_ref()?.requests.clone();
        (!requests.is_closed()).then_some(requests)
    }
}

/// Sends a request and waits for the answer.
fn ask<T>(
    requests: &mpsc::UnboundedSender<FileRequest>,
    request: impl FnOnce(FileAnswer<T>) -> FileRequest,
    cancel: &Cancel,
) -> Result<T, String> {
    let (send, answer) = answers::channel();
    // A request that cannot be sent drops its answer.
    drop(requests.send(request(FileAnswer(send))));
    let begun = Instant::now();
    loop {
        match answer.recv_timeout(POLL_INTERVAL) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => return Err("the editor is gone".to_owned()),
            Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => return Err("cancelled".to_owned()),
            Err(RecvTimeoutError::Timeout) if begun.elapsed() > PATIENCE => {
                return Err("the editor did not answer".to_owned());
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
