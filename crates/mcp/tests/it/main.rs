//! The server through raw messages of both revisions, and the client with servers that misbehave.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod answers;
mod http;
mod nasty;
