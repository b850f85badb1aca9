//! Views of an AI conversation that [`session_tree`] keeps as a tree.
//!
//! - [`outline()`] prints the tree; an [`Outline`] gives it row by row, with filters, folds and a [`Search`].
//! - [`branches()`] lists the branches, [`branch_table`] with statistics, and [`compare`] shows what two of them did.
//! - [`Stats`] counts entries, turns, tools, tokens and cost.
//! - [`numbers`] formats tokens, bytes, money and counts.
//! - [`resolve`] finds the entry that a short reference such as `@label`, `leaf~2` or `branch:3` names.
//! - With the feature `serde`, [`write_nested`] writes the tree as JSON, and rows, branches, statistics and comparisons implement `serde::Serialize`, with `schema` also
//!   `schemars::JsonSchema`.
//!
//! Everything here reads a session through the public API of the engine and changes nothing.
//!
//! ```
//! use session_tree::{Options, Message};
//!
//! let mut session = Options::new().in_memory("/project")?;
//! let start = session.append(Message::user("Build a CLI"))?;
//! session.append(Message::user("Use Node"))?;
//! session.branch(start.as_str())?;
//! session.append(Message::user("Use Rust"))?;
//!
//! assert_eq!(
//!     session_view::outline(&session).to_string(),
//!     "user: Build a CLI\n├─ user: Use Rust\n└─ user: Use Node\n",
//! );
//! # Ok::<(), session_tree::Error>(())
//! ```
#![forbid(unsafe_code)]

mod branches;
mod comparison;
#[cfg(feature = "serde")]
mod nested;
mod node_set;
pub mod numbers;
mod outline;
mod reference;
mod stats;

pub use branches::{Branch, HIDDEN_BRANCH, branches, iter_branches, tips_by_activity};
pub use comparison::{CommandRun, Comparison, Outcome, Prompt, Side, compare};
#[cfg(feature = "serde")]
pub use nested::write_nested;
pub use outline::{
    Charset, Filter, Fold, FoldStep, Level, Outline, OutlineOptions, OutlineRow, OutlineText, Query,
    RowShape, RowStyle, Search, SearchProgress, TurnStats, TurnWalk, is_failure, outline, source_of,
};
pub use reference::{resolve, resolve_from, split_reference};
pub use stats::{
    BranchRow, BranchStats, ModelStats, Stats, ToolStats, Total, branch_table, iter_branch_table,
};
