//! The parts of the proof in small: each runs, counts and would notice; and the documents tell the truth.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod documents;
mod parts;
