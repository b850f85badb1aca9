//! Errors of the memory.

use session_tree::{Diagnostic, EntryId};

/// The result of an operation on conversations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the memory. rig wraps it in [`MemoryError::Backend`](rig_core::memory::MemoryError::Backend).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No session can be named after the conversation id.
    #[error("the conversation id {id:?} cannot name a session: {reason}")]
    BadId {
        /// The id.
        id: String,
        /// The reason.
        reason: &'static str,
    },
    /// The session of a conversation cannot be opened, read or written.
    #[error("the session of the conversation {conversation:?}: {}", chain(source))]
    Session {
        /// The conversation.
        conversation: String,
        /// The error of the engine.
        source: session_tree::Error,
    },
    /// A part of the session cannot be read, so that its history may lack messages.
    #[error(
        "the session {location} of the conversation {conversation:?} is damaged, so that messages may be missing: \
         {diagnostic}; `offshoot check` describes the damage, `offshoot repair` repairs it"
    )]
    Damaged {
        /// The conversation.
        conversation: String,
        /// The path or address of the session.
        location: String,
        /// The first problem.
        diagnostic: Box<Diagnostic>,
    },
    /// An entry holds a message that this version of rig cannot read.
    #[error(
        "entry {entry} of the session {location} holds no message that this version of rig can read: {source}"
    )]
    Unreadable {
        /// The entry.
        entry: EntryId,
        /// The path or address of the session.
        location: String,
        /// The error of the decoder.
        source: serde_json::Error,
    },
    /// A message cannot be stored, because it could not be read again. Nothing was written.
    #[error("message {index} of the new messages cannot be stored: {source}")]
    Unstorable {
        /// The index of the message, counted from 0.
        index: usize,
        /// The error of the encoder or decoder.
        source: serde_json::Error,
    },
    /// The thread that reads and writes sessions could not be started, or died.
    #[error("the thread that reads and writes sessions failed: {reason}")]
    Thread {
        /// The reason.
        reason: String,
    },
}

/// Returns the texts of an error and its causes: rig prints the text of the outermost error only.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}
