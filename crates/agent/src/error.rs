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
        what: SummaryKind,
        /// Why.
        reason: SummaryFailure,
    },
    /// Too little was said to compact anything.
    #[error("Nothing to compact (no messages yet)")]
    NothingSaid,
}

/// What a summary is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryKind {
    /// A compaction.
    Compaction,
    /// A branch that is left.
    Branch,
    /// A merge.
    Merge,
}

impl std::fmt::Display for SummaryKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            SummaryKind::Compaction => "Compaction",
            SummaryKind::Branch => "Branch summarization",
            SummaryKind::Merge => "Merge",
        })
    }
}

/// Why a model made no summary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SummaryFailure {
    /// It failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Its answer was longer than it may be.
    #[error("generation hit the token cap and the summary is incomplete")]
    Incomplete,
    /// It called a tool.
    #[error("the model called a tool instead")]
    CalledTool,
    /// It said nothing.
    #[error("the model said nothing")]
    Empty,
}

/// The result of an operation of the agent.
pub type Result<T, E = AgentError> = std::result::Result<T, E>;
