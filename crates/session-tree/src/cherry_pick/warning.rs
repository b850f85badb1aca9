//! Warnings: what a person should know before a pick is applied.

use std::fmt;

use crate::context::ModelRef;
use crate::error::PickRefusal;
use crate::id::EntryId;

/// Something that a person should know before a pick is applied.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PickWarning {
    /// These entries are on the current path already.
    AlreadyHere {
        /// The entries.
        ids: Vec<EntryId>,
    },
    /// A part of the selection was picked onto the current path before.
    PickedBefore {
        /// The entries that the earlier picks made.
        by: Vec<EntryId>,
    },
    /// Files that the selection read or changed were changed on the current branch since the two parted.
    ChangedHere {
        /// The files, sorted.
        files: Vec<String>,
    },
    /// A native copy holds calls of tools that change something; what they did is not done here.
    NativeEffects {
        /// The tools.
        tools: Vec<String>,
    },
    /// Some calls of an answer have no result.
    OpenGroup {
        /// The answer.
        id: EntryId,
    },
    /// An entry of the selection is left out.
    LeftOut {
        /// The entry.
        id: EntryId,
        /// Why it cannot be picked.
        reason: PickRefusal,
    },
    /// The pick changes the model of this branch.
    SetsModel {
        /// The model.
        model: ModelRef,
    },
    /// The pick changes the thinking level of this branch.
    SetsThinkingLevel {
        /// The level.
        level: String,
    },
    /// The pick copies state of an extension.
    CopiesState {
        /// The type of the state.
        custom_type: String,
    },
    /// The pick carries images, which not every model reads.
    Images {
        /// How many.
        count: usize,
    },
}

impl fmt::Display for PickWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyHere { ids } => write!(f, "on the current path already: {}", joined(ids)),
            Self::PickedBefore { by } => write!(f, "picked before, as {}", joined(by)),
            Self::ChangedHere { files } => write!(f, "changed on this branch since: {}", files.join(", ")),
            Self::NativeEffects { tools } => {
                write!(f, "copies calls of {} whose effects are not on this branch", tools.join(", "))
            }
            Self::OpenGroup { id } => write!(f, "some tool calls of {id} have no result"),
            Self::LeftOut { id, reason } => write!(f, "{id} is left out: {reason}"),
            Self::SetsModel { model } => {
                write!(f, "sets the model of this branch to {}/{}", model.provider, model.model_id)
            }
            Self::SetsThinkingLevel { level } => {
                write!(f, "sets the thinking level of this branch to {level}")
            }
            Self::CopiesState { custom_type } => write!(f, "copies state of an extension: {custom_type}"),
            Self::Images { count } => write!(f, "carries {count} images"),
        }
    }
}

fn joined(ids: &[EntryId]) -> String {
    ids.iter().map(EntryId::as_str).collect::<Vec<_>>().join(", ")
}
