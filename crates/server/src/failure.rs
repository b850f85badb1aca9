//! The error of a command, with its class for programs and its text for people.

use std::io;

use offshoot_agent::command::CancelledBy;
use offshoot_agent::error::{AgentError, chain};
use session_tree::Error;

/// The error of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The class of the error.
    pub kind: FailureKind,
    /// The text.
    pub message: String,
}

/// The class of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The frame is no JSON.
    Parse,
    /// The frame is no request.
    Request,
    /// There is no such command.
    UnknownCommand,
    /// A field is missing or wrong, or a reference names no entry.
    BadInput,
    /// There is no such session, or it is not open.
    NoSession,
    /// The agent is working.
    Busy,
    /// An extension or the user cancelled the command.
    Cancelled,
    /// No model is chosen.
    NoModel,
    /// Another program holds the lock of the session file.
    Locked,
    /// Anything else.
    Failed,
}

impl FailureKind {
    /// Returns the error code of JSON-RPC.
    pub fn code(self) -> i64 {
        match self {
            FailureKind::Parse => -32700,
            FailureKind::Request => -32600,
            FailureKind::UnknownCommand => -32601,
            FailureKind::BadInput | FailureKind::NoSession => -32602,
            FailureKind::Failed => -32000,
            FailureKind::Busy => -32001,
            FailureKind::Cancelled => -32002,
            FailureKind::NoModel => -32003,
            FailureKind::Locked => -32004,
        }
    }
}

impl Failure {
    /// Makes an error of no special class.
    pub fn new(message: impl Into<String>) -> Self {
        Failure { kind: FailureKind::Failed, message: message.into() }
    }

    /// Makes an error of a class.
    pub fn of(kind: FailureKind, message: impl Into<String>) -> Self {
        Failure { kind, message: message.into() }
    }

    /// Makes the error of a command that was cancelled.
    pub fn cancelled(by: &CancelledBy) -> Self {
        let message = match by {
            CancelledBy::User => "cancelled".to_owned(),
            CancelledBy::Hook(name) => format!("cancelled by the extension `{name}`"),
        };
        Failure::of(FailureKind::Cancelled, message)
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        let kind = match &error {
            AgentError::Session(error) => kind_of(error),
            AgentError::NoModel | AgentError::NoModelForSummary => FailureKind::NoModel,
            AgentError::Busy => FailureKind::Busy,
            _ => FailureKind::Failed,
        };
        Failure::of(kind, chain(&error))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::of(kind_of(&error), chain(&error))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::new(error.to_string())
    }
}

fn kind_of(error: &Error) -> FailureKind {
    match error {
        Error::UnknownEntry { .. }
        | Error::NotOnPath { .. }
        | Error::NotAPrompt { .. }
        | Error::AmbiguousPrefix { .. }
        | Error::AmbiguousLabel { .. }
        | Error::LabelWithoutAt { .. }
        | Error::BadReference { .. }
        | Error::NotAnAncestor { .. }
        | Error::UnknownSession { .. }
        | Error::AmbiguousSession { .. } => FailureKind::BadInput,
        Error::Locked { .. } => FailureKind::Locked,
        _ => FailureKind::Failed,
    }
}
