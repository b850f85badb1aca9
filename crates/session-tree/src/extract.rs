//! Extract: a new session made of entries of an old one. Fork, clone, export and import use it.
//!
//! session -> **plan** -> **lines** -> new session
//!
//! A plan lists the entries to copy, their parents and the labels to append; making one changes nothing.
//! Lines are copied byte for byte: only the parent of an entry that lost its parent, and the first kept entry of a
//! compaction that lost that, are spliced. The source is never touched; the new file appears whole or not at all.

mod copy;
mod create;
mod fork;
#[cfg(feature = "fs")]
mod import;
mod plan;

#[cfg(feature = "fs")]
pub(crate) use copy::LineCopier;
pub use create::Destination;
pub use fork::{ForkPlan, ForkPosition};
#[cfg(feature = "fs")]
pub use import::{fork_from, import};
pub use plan::{Extract, ExtractPlan, PlannedEntry};
