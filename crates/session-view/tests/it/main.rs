//! The views of a session, tested through the public API.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod comparison;
mod filters;
mod passing;
mod search;
#[cfg(feature = "serde")]
mod serialize;
mod stats;
mod support;
