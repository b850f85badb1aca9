//! What the JSON forms of several commands have in common. All of it is described in `docs/commands.md`.
//!
//! Entries and messages are given as they stand in the file, byte for byte: numbers, repeated keys and half
//! characters stay what they are. Lines that are no JSON at all are `null`.

use std::borrow::Cow;

use serde_json::value::RawValue;
use session_tree::json::ValueRef;
use session_tree::{Entry, Message};

/// Returns an entry as the current version spells it; `None` if its line cannot be read.
pub(crate) fn entry(entry: &Entry) -> Option<Box<RawValue>> {
    entry.value().and_then(value)
}

/// Returns a message as it is stored.
pub(crate) fn message(message: &Message) -> Option<Box<RawValue>> {
    value(message.value())
}

/// Returns a value with its exact bytes; bytes that are no text are replaced.
pub(crate) fn value(value: ValueRef<'_>) -> Option<Box<RawValue>> {
    let text: Cow<'_, str> = String::from_utf8_lossy(value.raw());
    // A line feed is white space between the parts of a value, and would tear a line in two.
    let text = text.replace(['\n', '\r'], " ");
    RawValue::from_string(text).ok()
}
