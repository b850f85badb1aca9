//! The promises of the engine, tested through its public API.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod check;
mod crash;
mod faults;
mod fork;
mod navigation;
mod pi_context;
mod pi_fork;
mod pi_list;
mod pi_summary;
mod repair;
mod support;
mod writing;
