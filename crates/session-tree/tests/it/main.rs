//! The promises of the engine, tested through its public API.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod append;
mod check;
mod cherry_pick;
mod crash;
mod embedding;
mod faults;
mod fork;
mod journals;
mod labels;
mod layers;
mod loading;
mod merge;
mod messages;
mod migration;
mod navigation;
mod nodes;
mod outcomes;
mod persistence;
mod pi_context;
mod pi_fork;
mod pi_list;
mod pi_summary;
mod pi_tree;
mod planted_files;
mod pop;
mod processes;
mod properties;
mod repair;
mod replacing;
#[cfg(feature = "serde")]
mod serialize;
mod sidecars;
mod stale_plans;
mod support;
mod writing;
