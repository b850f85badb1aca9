//! Extensions, from their files to what comes of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod api;
mod basics;
mod dialects;
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
