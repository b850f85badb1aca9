//! engine
#![forbid(unsafe_code)]

mod diagnostic;
mod error;
mod id;
mod kind;
mod time;

#[cfg(feature = "write")]
mod draft;
mod context;
mod entry;
#[cfg(feature = "file")]
pub mod fs;
mod index;
pub mod journal;
pub mod json;
mod line;
mod migrate;
mod session;
mod tree;

pub use context::{
    Context, ContextItem, LlmMessage, Mark, Mode, ModelRef, ProjectedItem, Projection, convert_to_llm, repair_pairs,
    replay_system, validate_pairs,
};
pub use diagnostic::{Diagnostic, Problem, Severity};
#[cfg(feature = "write")]
pub use draft::{Draft, FirstKept, NewBranchSummary, NewCompaction, NewContent};
pub use entry::{Block, Body, Content, Entry, Header, Message, Replacement};
pub use error::{Error, Loss, ReadOnlyReason, Result};
#[cfg(feature = "write")]
pub use id::RandomIds;
pub use id::{EntryId, IdSource, is_valid_session_id};
pub use index::Label;
pub use kind::{Kind, Role};
pub use line::LEAF_MARKER;
pub use session::{Options, Session};
#[cfg(feature = "write")]
pub use session::{Follower, NewSession, SyncPolicy};
#[cfg(feature = "write")]
pub use time::SystemClock;
pub use time::{Clock, Timestamp};
pub use tree::{Children, Depth, Node, Tree};
