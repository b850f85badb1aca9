#![cfg_attr(feature = "catalog", doc = include_str!("../README.md"))]
//!
//! # The model in six words
//!
//! A [`Session`] holds **entries**, each with an `id` and a `parentId`. The **leaf** is the current position: an
//! [append](Session::append) makes a child of it and moves onto it. [`Session::move_to`] moves the leaf back, and the next
//! append makes a **branch**. The [path](Session::branch_path) from the root to the leaf gives the [`Context`] of a model.
//! A [`Position`] is an entry, the leaf, or the start of the session. The format is that of the `pi` coding agent, read
//! and written byte for byte (`docs/format.md`).
//!
//! # Promises
//!
//! - **Nothing is lost.** An append returns after the line is in the file; [`Session::sync`] makes it durable. A crash at
//!   any byte costs at most the line being written. A failed append leaves file and memory as they were.
//! - **Many writers.** Every append takes a kernel lock for some microseconds, reads what others appended, and draws a
//!   free id; two writers become two branches. Programs that do not lock are noticed.
//! - **Reading never writes**, whatever the version or the damage. Damage is reported as a [`Diagnostic`], not as an error.
//! - **One set of rules for messages.** Every way to append a message applies them ([`InvalidReason`]);
//!   [`Message::parse_unchecked`] waives them.
//! - **Memory grows with the number of entries**, about fifty bytes each, never with their size. Bodies are read on
//!   demand. With [`Options::sidecar_dir`] a large session is not read again when it is opened again.
//! - **No surprises.** No global state, no threads but those of [`Listing::complete`], which end with it, no clock or
//!   randomness but those of [`Options`], no `unsafe`.
//!
//! # Names of pi
//!
//! A port of a program for pi finds pi's names in Rust case. Each is documented with the name that new programs use:
//!
//! | pi | here |
//! |---|---|
//! | `append_message`, `append_custom_message` | [`Session::append`] |
//! | `append_label_change`, `append_session_info` | [`Session::set_label`], [`Session::set_name`] |
//! | `branch`, `reset_leaf` | [`Session::move_to`] |
//! | `build_context` | [`Session::context`], [`Session::context_at`] |
//! | `append_compaction` | [`Session::compact`] |
//!
//! # Where things are
//!
//! Modules follow the way of the data: journal (bytes), line, entry, tree, path, context. To the side: the
//! [names of branches](Session::branch_name), [compaction](CompactionPlan) and [branch summary](BranchSummaryPlan) plans,
//! [navigation](NavigationPlan), [picks](cherry_pick::PickPlan) and [merges](merge::MergePlan), [extraction](ExtractPlan) of forks,
//! [`Session::check`] and [repair](repair::RepairPlan), the [`Catalog`] of many sessions. The crate `session-view` prints trees,
//! searches in a session, lists and compares branches, counts, and resolves short references to entries.
//! Everything that changes a session exists as a plan first: a value to show, to test, or to throw away.
//! A session can be kept in any storage that implements [`journal::Journal`].
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `fs` (default) | session files: locks, sidecars, migration; the system's clock and random ids |
//! | `catalog` (default, implies `fs`) | lists of session files, regular expressions in queries |
//! | `conformance` | a test suite for other storages, `journal::conformance` |
//! | `serde` | `serde::Serialize` for entries, messages, diagnostics, reports, plans, contexts and summaries of sessions |
//! | `schema` (implies `serde`) | `schemars::JsonSchema` for the same types |
//! | none | sessions in memory: read, create, append, branch, merge and write them; the caller gives [clock and ids](Options::with) |
#![forbid(unsafe_code)]

// Base types.
mod diagnostic;
mod error;
mod excerpt;
mod id;
mod kind;
mod naming;
#[cfg(feature = "catalog")]
mod pattern;
mod position;
mod query_error;
mod time;

// The straight walk: a module uses only modules above it.
#[cfg(feature = "fs")]
pub mod fs;
pub mod journal;
pub mod json;
#[cfg(feature = "fs")]
mod codec;
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
pub mod cherry_pick;
pub mod merge;
pub mod repair;
// and of many sessions.
#[cfg(feature = "catalog")]
mod catalog;
// Their JSON.
#[cfg(feature = "serde")]
mod serialize;

pub use branch_summary::{
    Abandoned, BRANCH_SUMMARY_PREAMBLE, BranchSummaryPlan, BranchSummarySettings, branch_summary_text,
};
pub use call::describe_call;
#[cfg(feature = "catalog")]
pub use catalog::{
    Catalog, CatalogStore, Damage, Listing, Progress, Relevance, SUB_AGENT_MARKER, SessionQuery,
    SessionSummary,
};
pub use check::{Fix, REPAIR, Recovered, Report};
pub use compaction::{CompactionPlan, CompactionSettings, should_compact};
pub use context::{
    Context, ContextItem, Inclusion, Mode, ModelRef, OpenCalls, ProjectedItem, Projection, convert_to_llm,
    replay_system,
};
pub use diagnostic::{Diagnostic, Problem, Severity};
pub use draft::{Draft, KeepFrom, NewBranchSummary, NewCompaction, NewContent, spelled_name};
pub use entry::{
    AssistantBuilder, BashBuilder, Block, Body, Content, CustomBuilder, Ending, Entry, Header, Image,
    Message, PlainResult, Replacement, StopReason, ToolCall, ToolResultBuilder, Usage,
};
pub use error::{Error, FileLoss, InvalidReason, LockHolder, Mismatch, PickRefusal, ReadOnlyReason, Result};
pub use estimate::{ContextEstimate, estimate_tokens};
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
pub use line::{LEAF_MARKER, STUB, WITHDRAWN, line_head};
pub use naming::{encode_cwd, session_file_name};
pub use navigate::{Navigated, NavigationPlan, PUSH_PREFIX, PopPlan, push_label};
#[cfg(feature = "catalog")]
pub use pattern::Pattern;
pub use position::Position;
pub use query_error::QueryError;
pub use session::{NewHeader, NewSession, Options, RawLines, Session, SyncPolicy};
#[cfg(feature = "fs")]
pub use time::SystemClock;
pub use time::{Clock, Timestamp};
pub use transcript::serialize_conversation;
pub use tree::{Node, Tree};
