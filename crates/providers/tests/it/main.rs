//! The providers against a scripted server: what is sent, what comes back, what happens when the server misbehaves.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod broken;
mod history;
mod keys;
mod prefix;
mod retry;
mod stream;
mod support;
mod observer;
mod window;
