//! Extensions that pi brings along, unmodified, one small scenario each.
//!
//! They are read from the directory that `OFFSHOOT_PI_EXAMPLES` names: `examples/extensions` of the published package
//! `@earendil-works/pi-coding-agent`, version 0.74.2 or 1.5.0. None of them is part of this project.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod components;
mod guards;
mod later;
mod models;
mod small;
#[allow(dead_code, reason = "the other tests use more of the stage")]
#[path = "../it/support.rs"]
mod support;

use std::path::PathBuf;

use offshoot_extensions::{EngineChoice, LoadOptions, Runtimes};
use support::{Setup, Stage};

/// Returns the engine of these tests: the Node that `OFFSHOOT_NODE` names, or else the embedded one.
fn engine() -> LoadOptions {
    let (engine, runtimes) = match std::env::var_os("OFFSHOOT_NODE") {
        Some(node) => (EngineChoice::Node, Runtimes::at(node.into())),
        None => (EngineChoice::Embedded, Runtimes::default()),
    };
    LoadOptions { engine, runtimes, ..LoadOptions::default() }
}

/// Returns the file or directory of an example.
pub(crate) fn example(name: &str) -> PathBuf {
    let Some(directory) = std::env::var_os("OFFSHOOT_PI_EXAMPLES") else {
        panic!("OFFSHOOT_PI_EXAMPLES does not say where the examples of pi are");
    };
    let directory = PathBuf::from(directory);
    let file = directory.join(format!("{name}.ts"));
    if file.exists() { file } else { directory.join(name) }
}

/// Loads an example.
pub(crate) async fn stage(name: &str) -> Stage {
    of(name, Setup::default()).await
}

/// Loads an example with other settings.
pub(crate) async fn of(name: &str, setup: Setup) -> Stage {
    let stage = setup.of(&[example(name)]).await;
    assert_eq!(stage.errors, []);
    stage
}
