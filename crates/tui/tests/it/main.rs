//! What the crate promises, through its public interface.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod hostile;
