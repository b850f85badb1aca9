//! Extensions, from their files to what comes of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod api;
mod basics;
mod dialects;
mod embedded;
mod event_table;
mod events;
mod examples;
mod fetch;
mod hostile;
mod modules;
mod node;
mod providers;
mod node_parts;
mod screen;
mod sdk;
mod secrets;
mod seeds;
mod session;
#[allow(dead_code, reason = "the stage is shared with the tests of pi's extensions")]
mod support;

use offshoot_extensions::{EngineChoice, LoadOptions};

/// Returns the engine of these tests. Many of them run in Node, too: see `tests/node_host`.
fn engine() -> LoadOptions {
    LoadOptions { engine: EngineChoice::Embedded, ..LoadOptions::default() }
}
