//! Extract: a new session made of entries of an old one. What stands behind fork, clone, export and import.
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

pub use create::Destination;
#[cfg(feature = "fs")]
pub use create::fork_from;
pub use fork::{ForkPlan, ForkPosition};
#[cfg(feature = "fs")]
pub use import::import;
pub use plan::{Extract, ExtractPlan, PlannedEntry};
