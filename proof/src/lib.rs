//! Checks that the promises of the engine and the program hold, and counts the checks.
//!
//! A [part](part::Part) is one kind of proof: it does something many times, drawn from a seed, and fails when a
//! promise is broken. `offshoot-proof quick` runs what takes minutes and is no test of a crate, `soak` everything for
//! hours; see `docs/reliability.md`.
//! Works on simulated disks and on temporary directories; never touches a session of the user.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a broken promise panics, and the part catches the panic"
)]

pub mod attempt;
pub mod crash;
pub mod differential;
pub mod disk_bugs;
pub mod fuzz;
pub mod growth;
pub mod incidents;
pub mod kills;
pub mod model;
pub mod part;
pub mod planted;
pub mod postgres;
pub mod power;
pub mod suites;
