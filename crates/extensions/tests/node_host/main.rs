//! Extensions in a child process of Node: the tests of the embedded engine that hold for both, and those of the child.
//!
//! `OFFSHOOT_NODE` names a Node 22.15 or newer, `OFFSHOOT_OLD_NODE` an older one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

#[path = "../it/basics.rs"]
mod basics;
mod child;
mod choice;
#[path = "../it/dialects.rs"]
mod dialects;
#[path = "../it/events.rs"]
mod events;
#[path = "../it/examples.rs"]
mod examples;
mod harm;
#[path = "../it/hostile.rs"]
mod hostile;
mod modules;
#[path = "../it/node.rs"]
mod node;
#[path = "../it/screen.rs"]
mod screen;
#[path = "../it/seeds.rs"]
mod seeds;
#[path = "../it/session.rs"]
mod session;
#[allow(dead_code, reason = "the stage is shared with other tests")]
#[path = "../it/support.rs"]
mod support;

use std::path::PathBuf;

use offshoot_extensions::{EngineChoice, LoadOptions, Runtimes};

/// Returns the Node of these tests.
fn node() -> PathBuf {
    let Some(node) = std::env::var_os("OFFSHOOT_NODE") else {
        panic!("OFFSHOOT_NODE does not say where Node is");
    };
    node.into()
}

/// Returns the engine of these tests.
fn engine() -> LoadOptions {
    LoadOptions { engine: EngineChoice::Node, runtimes: Runtimes::at(node()), ..LoadOptions::default() }
}
