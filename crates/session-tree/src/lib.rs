//! The history of an AI conversation as a tree.
//!
//! A **session** is one append-only JSONL file: a header, then entries, each with an `id` and a `parentId`. The **leaf**
//! is the current position; an append makes a child of it. Moving the leaf back and appending makes a branch. Nothing is
//! ever edited or deleted. The format is the one of the `pi` coding agent, versions 1 to 3, read and written byte for
//! byte (`docs/format.md`).
//!
//! # Read a session
//!
//! ```no_run
//! use session_tree::Session;
//!
//! let session = Session::open_read_only("session.jsonl")?;
//! for (node, depth) in session.tree().ordered() {
//!     let entry = session.entry_at(node)?;
//!     println!("{}{} {}", " ".repeat(depth as usize), entry.id(), entry.type_name());
//! }
//! for message in session.build_context()?.messages() {
//!     println!("{}: {}", message.role(), message.text());
//! }
//! # Ok::<(), session_tree::Error>(())
//! ```
//!
//! # Write one
//!
//! ```
//! use session_tree::{NewBranchSummary, Options};
//!
//! let mut session = Options::new().in_memory("/project")?;   // or .create_in(directory, "/project")
//! let first = session.append_user_text("Build a CLI")?;
//! session.append_user_text("Use Node")?;
//!
//! // Go back and try something else; what was left behind is told in one line.
//! let summary = NewBranchSummary { summary: "tried Node, too slow".into(), ..Default::default() };
//! session.branch_with_summary(Some(first.as_str()), &summary)?;
//! session.append_user_text("Use Rust instead")?;
//!
//! let texts: Vec<_> = session.build_context()?.to_llm().iter().map(|m| m.message.text().into_owned()).collect();
//! assert_eq!(texts[0], "Build a CLI");
//! assert!(texts[1].contains("tried Node, too slow"));
//! assert_eq!(texts[2], "Use Rust instead");
//! # Ok::<(), session_tree::Error>(())
//! ```
//!
//! # What it promises
//!
//! - **Nothing is lost.** An append returns after the line is in the file; [`Session::sync`] makes it durable. A crash
//!   at any byte costs at most the line being written. A failed append leaves file and memory as they were.
//! - **Many writers.** Every append takes a kernel lock for some microseconds, reads what others appended, and draws a
//!   free id; two writers become two branches. Programs that do not lock are noticed.
//! - **Reading never writes**, whatever the version or the damage. What is odd in a file is a [`Diagnostic`], not an error.
//! - **Memory grows with the number of entries**, about fifty bytes each, never with their size. Bodies are read when they
//!   are asked for. With [`Options::sidecar_dir`] a large session opens again without being read again.
//! - **No surprises.** No global state, no threads but those of [`Listing::complete`], which end with it, no clock or
//!   randomness but those of [`Options`], no `unsafe`.
//!
//! # Where things are
//!
//! Modules follow the way of the data: journal (bytes), line, entry, tree, path, context. To the side: the
//! [names of branches](Session::branch_name), [compaction](CompactionPlan) and [branch summary](BranchSummaryPlan) plans,
//! [navigation](NavigationPlan), [picks](PickPlan) and [merges](MergePlan), [extraction](ExtractPlan) of forks,
//! [`Session::check`] and [repair](RepairPlan), the [`Catalog`] of many sessions. The crate `session-view` prints trees,
//! searches in a session, lists and compares branches, counts, and resolves short references to entries.
//! Everything that changes a session exists as a plan first: a value to show, to test, or to throw away.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `fs` (default) | session files: locks, sidecars, migration; the system's clock and random ids |
//! | `catalog` (default, implies `fs`) | lists of session files |
//! | none | sessions in memory: read, create, append, branch, merge and write them; the caller gives [clock and ids](Options::with) |
#![forbid(unsafe_code)]

// Base types.
mod diagnostic;
mod error;
mod excerpt;
mod id;
mod kind;
mod naming;
mod pattern;
mod query_error;
mod time;

// The straight walk: a module uses only modules above it.
#[cfg(feature = "fs")]
pub mod fs;
pub mod journal;
pub mod json;
#[cfg(feature = "fs")]
mod parts;
mod line;
mod entry;
mod tree;
mod index;
mod migrate;
#[cfg(feature = "fs")]
mod sidecar;
mod draft;
mod session;
mod context;

// Side branches, in the same order: of the context,
mod file_ops;
mod transcript;
mod estimate;
mod branch_summary;
mod compaction;
// of the tree,
mod call;
mod branch;
// of the path,
mod navigate;
// of the session,
mod check;
mod extract;
mod cherry_pick;
mod merge;
mod repair;
// and of many sessions.
#[cfg(feature = "catalog")]
mod catalog;

pub use branch_summary::{
    Abandoned, BRANCH_SUMMARY_PREAMBLE, BranchSummaryPlan, BranchSummarySettings, branch_summary_text,
};
pub use call::describe_call;
#[cfg(feature = "catalog")]
pub use catalog::{
    Catalog, Damage, Listing, Progress, Relevance, SUB_AGENT_MARKER, SessionQuery, SessionSummary,
};
pub use check::{Fix, REPAIR, Recovered, Report};
pub use cherry_pick::{CHERRY_PICK, PickItem, PickMode, PickPlan, PickRequest, PickWarning, Selection};
pub use compaction::{CompactionPlan, CompactionSettings, should_compact};
pub use context::{
    Context, ContextItem, LlmMessage, Mark, Mode, ModelRef, OpenCalls, ProjectedItem, Projection,
    convert_to_llm, repair_pairs, replay_system, validate_pairs,
};
pub use diagnostic::{Diagnostic, Problem, Severity};
pub use draft::{Draft, FirstKept, NewBranchSummary, NewCompaction, NewContent, spelled_name};
pub use entry::{
    AssistantBuilder, BashBuilder, Block, Body, Content, CustomBuilder, Ending, Entry, Header, Image,
    Message, PlainResult, Replacement, StopReason, ToolCall, ToolResultBuilder, Usage,
};
pub use error::{Error, InvalidReason, LockHolder, Loss, PickRefusal, ReadOnlyReason, Result};
pub use estimate::{CharsPerToken, ContextEstimate, Estimator, estimate_tokens};
pub use excerpt::{excerpt, skip_headings};
pub use extract::{Destination, Extract, ExtractPlan, ForkPlan, ForkPosition, PlannedEntry};
#[cfg(feature = "fs")]
pub use extract::{fork_from, import};
pub use file_ops::FileOps;
#[cfg(feature = "fs")]
pub use id::RandomIds;
pub use id::{EntryId, IdSource, is_valid_session_id};
pub use index::{LONGEST_LINE, Label};
pub use kind::{Kind, Role};
pub use line::{LEAF_MARKER, STUB, WITHDRAWN};
pub use merge::{
    Conflict, EarlierMerge, Merge, MergeContent, MergeMode, MergeOutcome, MergePlan, MergeRequest, MergeText,
    Merged, SettingDifference,
};
pub use naming::{encode_cwd, session_file_name};
pub use navigate::{Navigated, NavigationPlan, PUSH_PREFIX, PopPlan, push_label};
pub use pattern::Pattern;
pub use query_error::QueryError;
pub use repair::{RepairPlan, RepairRounds, Repaired};
#[cfg(feature = "fs")]
pub use repair::{RepairedCopy, Salvage, salvage};
pub use session::{Follower, Options, RawLines, Session};
pub use session::{NewHeader, NewSession, SyncPolicy};
#[cfg(feature = "fs")]
pub use time::SystemClock;
pub use time::{Clock, Timestamp};
pub use transcript::serialize_conversation;
pub use tree::{Children, Depth, Node, Tree};
