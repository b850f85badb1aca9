//! Exports: their text, their redaction, and the page in a browser.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod hostile;
mod paper;
mod reading;
mod redaction;
mod searching;
mod size;
mod support;
mod using;
mod walking;
