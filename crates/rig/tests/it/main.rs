//! The promises of the memory, through the traits of rig.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod agent;
mod damage;
mod files;
#[cfg(feature = "postgres")]
mod postgres;
mod shared;
