//! Tests of the agent through its public API.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod boundaries;
mod client;
mod commands;
mod compaction;
mod crash;
mod extensions;
mod navigation;
mod paths;
mod provenance;
mod secrets;
mod support;
mod tools;
mod turns;
