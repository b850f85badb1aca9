//! Warnings to show before a pick is applied.

use crate::context::ModelRef;
use crate::error::PickRefusal;
use crate::id::EntryId;

/// A warning to show before a pick is applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PickWarning {
    /// These entries are on the current path already.
    #[error("on the current path already: {}", joined(ids))]
    AlreadyHere {
        /// The entries.
        ids: Vec<EntryId>,
    },
    /// A part of the selection was picked onto the current path before.
    #[error("picked before, as {}", joined(by))]
    PickedBefore {
        /// The entries that the earlier picks made.
        by: Vec<EntryId>,
    },
    /// Files that the selection read or changed were changed on the current branch since the common ancestor.
    #[error("changed on this branch since: {}", files.join(", "))]
    ChangedHere {
        /// The files, sorted.
        files: Vec<String>,
    },
    /// A native copy has calls of tools that change something; their effects are not on this branch.
    #[error("copies calls of {} whose effects are not on this branch", tools.join(", "))]
    NativeEffects {
        /// The tools.
        tools: Vec<String>,
    },
    /// Some calls of an answer have no result.
    #[error("some tool calls of {id} have no result")]
    OpenGroup {
        /// The answer.
        id: EntryId,
    },
    /// An entry of the selection is left out.
    #[error("{id} is left out: {reason}")]
    LeftOut {
        /// The entry.
        id: EntryId,
        /// The reason why it cannot be picked.
        reason: PickRefusal,
    },
    /// The pick changes the model of this branch.
    #[error("sets the model of this branch to {}/{}", model.provider, model.model_id)]
    SetsModel {
        /// The model.
        model: ModelRef,
    },
    /// The pick changes the thinking level of this branch.
    #[error("sets the thinking level of this branch to {level}")]
    SetsThinkingLevel {
        /// The level.
        level: String,
    },
    /// The pick copies state of an extension.
    #[error("copies state of an extension: {custom_type}")]
    CopiesState {
        /// The type of the state.
        custom_type: String,
    },
    /// The pick has images, which not every model reads.
    #[error("carries {count} images")]
    Images {
        /// The number of images.
        count: usize,
    },
}

fn joined(ids: &[EntryId]) -> String {
    ids.iter().map(EntryId::as_str).collect::<Vec<_>>().join(", ")
}
