//! The parts of the proof with few runs; the documents are correct, and no crate
//! of the workspace may hold `unsafe`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod crates;
mod documents;
mod parts;
mod patches;
