//! The errors of the agent.

use crate::model::ModelError;

/// An error of the agent. Nothing was changed, unless a variant says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The session cannot be read or written.
    #[error(transparent)]
    Session(#[from] session_tree::Error),
    /// No model is set.
    #[error("no model is chosen")]
    NoModel,
    /// No model is set to write a summary.
    #[error("No model available for summarization")]
    NoModelForSummary,
    /// The model did not write a summary.
    #[error("{what} failed: {reason}")]
    Summary {
        /// The purpose of the summary.
        what: &'static str,
        /// The cause.
        reason: SummaryFailure,
    },
    /// A turn is running, and the delivery of the message was not given.
    #[error("the agent is busy: choose whether the message steers the turn or follows it")]
    Busy,
    /// The agent has ended, or the request was removed from the queue.
    #[error("the request was not run: the agent has stopped")]
    Dropped,
    /// An extension blocked a command of the user.
    #[error("the command was not run: {reason}")]
    CommandBlocked {
        /// The reason given by the extension.
        reason: String,
    },
    /// The conversation is too short to compact.
    #[error("Nothing to compact (no messages yet)")]
    NothingSaid,
    /// The path has no entry to label.
    #[error("there is nothing to label yet")]
    NothingToLabel,
    /// A note has no text.
    #[error("a note needs a text")]
    EmptyNote,
    /// The path has no prompt, pick or merge.
    #[error("there is nothing to take back")]
    NothingToUndo,
    /// There is no previous position.
    #[error("there is no place to go back to")]
    NothingBehind,
    /// There is no position to go forward to.
    #[error("there is no place to go forward to")]
    NothingAhead,
    /// The session has no entry to copy.
    #[error("Nothing to clone yet")]
    NothingToClone,
    /// The text of a merge takes more than half of the free context.
    #[error("the merge takes {tokens} tokens, more than the {allowed} that half of the free context holds")]
    MergeTooLong {
        /// The tokens of the text.
        tokens: u64,
        /// The allowed tokens.
        allowed: u64,
    },
}

/// The reason why a model wrote no summary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SummaryFailure {
    /// The request failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The answer reached the output limit before it had any text.
    #[error("generation hit the token cap before the summary began")]
    Incomplete,
    /// The model called a tool.
    #[error("the model called a tool instead")]
    CalledTool,
    /// The answer is empty.
    #[error("the answer of the model is empty")]
    Empty,
}

impl SummaryFailure {
    /// Returns true if no request to the model can succeed for now, so the cause is not this summary request.
    pub(crate) fn is_unreachable(&self) -> bool {
        matches!(self, SummaryFailure::Model(ModelError::Network { .. } | ModelError::Key { .. }))
    }
}

/// The result of an operation of the agent.
pub type Result<T, E = AgentError> = std::result::Result<T, E>;

/// Joins an error and its causes.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
