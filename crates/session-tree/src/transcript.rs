//! A conversation as plain text, for a model that is to summarise it and must not go on with it.
//!
//! A side branch of the walk: context -> messages for a model -> **transcript**
//!
//! The text is exactly the one pi makes, so that both ask models the same question. Never touches files.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::entry::{Block, Message};
use crate::json::{Doc, ValueRef};
use crate::kind::Role;

/// The UTF-16 units of a tool result that are kept.
const LONGEST_RESULT: usize = 2_000;

/// Writes messages, as they would be sent to a model, one after the other as plain text.
///
/// Thinking and images are left out and tool results are cut at 2,000 UTF-16 units. Other roles than user, assistant
/// and tool result say nothing here: turn a context into messages for a model first.
///
/// ```
/// use session_tree::{Message, Timestamp, serialize_conversation};
///
/// let hello = Message::user("hello").with_time(Timestamp::from_millis(0));
/// assert_eq!(serialize_conversation([&hello]), "[User]: hello");
/// ```
pub fn serialize_conversation<'m>(messages: impl IntoIterator<Item = &'m Message>) -> String {
    let mut parts = Vec::new();
    for message in messages {
        match message.role() {
            Role::User | Role::ToolResult if message.text().is_empty() => {}
            Role::User => parts.push(format!("[User]: {}", message.text())),
            Role::Assistant => add_answer(&mut parts, message),
            Role::ToolResult => parts.push(format!("[Tool result]: {}", cut_result(message.text()))),
            Role::BashExecution
            | Role::Custom
            | Role::System
            | Role::BranchSummary
            | Role::CompactionSummary
            | Role::FileMention
            | Role::Other => {}
        }
    }
    parts.join("\n\n")
}

fn add_answer(parts: &mut Vec<String>, message: &Message) {
    let mut texts = Vec::new();
    let mut calls = Vec::new();
    for block in message.content().blocks() {
        match block {
            Block::Text(text) => texts.push(text),
            Block::ToolCall { name, arguments, .. } => calls.push(call_text(&name, arguments)),
            Block::Image { .. } | Block::Thinking(_) | Block::Other(_) => {}
        }
    }
    // An answer with an empty text block said nothing, but it spoke.
    if !texts.is_empty() {
        parts.push(format!("[Assistant]: {}", texts.join("\n")));
    }
    if !calls.is_empty() {
        parts.push(format!("[Assistant tool calls]: {}", calls.join("; ")));
    }
}

/// Writes a call as `name(key=JSON, key=JSON)`.
fn call_text(name: &str, arguments: Option<ValueRef<'_>>) -> String {
    let mut out = format!("{name}(");
    // Written and read again, the keys come once each and in the order in which JavaScript lists them.
    let arguments = arguments.and_then(|value| Doc::parse(value.js_string().into_bytes()).ok());
    for (place, (key, value)) in arguments.iter().flat_map(|doc| doc.root().members()).enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        let key = key.as_str().unwrap_or_default();
        let _ = write!(out, "{comma}{key}={}", String::from_utf8_lossy(value.raw()));
    }
    out.push(')');
    out
}

/// Cuts the text of a tool result at the longest length and says how much is missing.
///
/// pi may cut a pair of surrogates in two there; the half that is left appears as U+FFFD here.
fn cut_result(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.len() <= LONGEST_RESULT {
        return text;
    }
    let units = text.chars().map(char::len_utf16).sum::<usize>();
    if units <= LONGEST_RESULT {
        return text;
    }
    let mut out = String::with_capacity(text.len().min(4 * LONGEST_RESULT));
    let mut left = LONGEST_RESULT;
    for char in text.chars() {
        if left == 0 {
            break;
        }
        out.push(if char.len_utf16() > left { char::REPLACEMENT_CHARACTER } else { char });
        left = left.saturating_sub(char.len_utf16());
    }
    let _ = write!(out, "\n\n[... {} more characters truncated]", units - LONGEST_RESULT);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests;
