//! The program as a person runs it: what it prints, what it leaves alone, how it ends.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

#[cfg(feature = "server")]
mod acp;
mod append;
mod arguments;
mod check;
mod completions;
mod demo;
mod docs;
mod export;
mod extensions;
mod follow;
mod forks;
mod front_ends;
mod cherry_pick_and_merge;
mod hostile;
mod interactive;
mod labels;
mod locks;
mod log;
mod large;
mod login;
mod mcp;
mod models;
mod moves;
mod paths;
mod permissions;
mod postgres;
mod reading;
mod repair;
#[cfg(feature = "server")]
mod resources;
mod report;
#[cfg(feature = "server")]
mod rpc;
mod schema;
mod secrets;
mod sessions;
mod settings;
mod stats;
mod support;
mod talk;
mod trust;
mod undoing;
mod uuid;
