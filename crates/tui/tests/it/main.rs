//! Tests of the crate through its public API.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod hostile;
