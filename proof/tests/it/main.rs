//! The parts of the proof in small: each runs, counts and would notice; the documents tell the truth, and no crate
//! of the workspace may hold `unsafe`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod crates;
mod documents;
mod parts;
mod patches;
