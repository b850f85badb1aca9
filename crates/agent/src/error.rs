//! Why the agent cannot do what it is asked.

use crate::model::ModelError;

/// Why the agent cannot do what it is asked. Nothing was changed, unless a variant says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The session cannot be read or written.
    #[error(transparent)]
    Session(#[from] session_tree::Error),
    /// There is no model to ask.
    #[error("no model is chosen")]
    NoModel,
    /// There is no model to make a summary.
    #[error("No model available for summarization")]
    NoModelForSummary,
    /// The model did not make a summary.
    #[error("{what} failed: {reason}")]
    Summary {
        /// What the summary was for.
        what: &'static str,
        /// Why.
        reason: SummaryFailure,
    },
    /// A turn is going on, and nobody said when a message is to be sent.
    #[error("the agent is working: say whether the message is to steer it or to follow")]
    Busy,
    /// The agent has ended, or the request was removed from the queue.
    #[error("the request was not run: the agent has stopped")]
    Dropped,
    /// An extension does not want a command of the person to run.
    #[error("the command was not run: {reason}")]
    CommandBlocked {
        /// What it said.
        reason: String,
    },
    /// Too little was said to compact anything.
    #[error("Nothing to compact (no messages yet)")]
    NothingSaid,
    /// There is no entry that could be labelled.
    #[error("there is nothing to label yet")]
    NothingToLabel,
    /// The path has no prompt, pick or merge.
    #[error("there is nothing to take back")]
    NothingToUndo,
    /// The leaf was nowhere else before.
    #[error("there is no place to go back to")]
    NothingBehind,
    /// The leaf did not go back before.
    #[error("there is no place to go forward to")]
    NothingAhead,
    /// There is no position to make a copy of.
    #[error("Nothing to clone yet")]
    NothingToClone,
    /// The text of a merge takes more than half of the room that the model has left.
    #[error("the merge takes {tokens} tokens, more than the {allowed} that half of the free context holds")]
    MergeTooLong {
        /// The tokens it takes.
        tokens: u64,
        /// The tokens it may take.
        allowed: u64,
    },
}

/// Why a model made no summary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SummaryFailure {
    /// It failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The answer reached the output limit before it had any text.
    #[error("generation hit the token cap before the summary began")]
    Incomplete,
    /// It called a tool.
    #[error("the model called a tool instead")]
    CalledTool,
    /// It said nothing.
    #[error("the model said nothing")]
    Empty,
}

impl SummaryFailure {
    /// Tells whether no request to the model can succeed for now, so that it was not the summary request that failed.
    pub(crate) fn is_unreachable(&self) -> bool {
        matches!(self, SummaryFailure::Model(ModelError::Network { .. } | ModelError::Key { .. }))
    }
}

/// The result of an operation of the agent.
pub type Result<T, E = AgentError> = std::result::Result<T, E>;

/// Joins an error and its causes: what happened, then why.
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
