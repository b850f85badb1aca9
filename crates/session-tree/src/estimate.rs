//! Estimates of tokens: by the length of messages, and from the usage that providers reported.
//!
//! A side branch of the walk: context -> **estimate** -> compaction, branch summary
//!
//! Four UTF-16 code units count as one token, as in pi, so that all stored numbers are comparable. The result is far too
//! low for Chinese or Japanese text.

use crate::context::{self, ContextItem};
use crate::entry::{Ending, Message, Usage};
use crate::error::Result;
use crate::json::ValueRef;
use crate::kind::{Kind, Role};
use crate::position::Position;
use crate::session::Session;
use crate::tree::Node;

/// The units that one image counts for, whatever its size.
const IMAGE_UNITS: u64 = 4_800;

/// The units that make one token.
pub(crate) const UNITS_PER_TOKEN: u64 = 4;

/// The tokens of a conversation: those that a provider reported, and an estimate of the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextEstimate {
    /// All tokens.
    pub tokens: u64,
    /// The tokens that the last usable answer reported, itself included.
    pub usage_tokens: u64,
    /// The estimate for the messages after that answer, or for all of them.
    pub trailing_tokens: u64,
    /// The place of that answer among the messages.
    pub last_usage: Option<usize>,
}

/// Estimates the tokens of a message by its length.
///
/// ```
/// use session_tree::{Message, Timestamp, estimate_tokens};
///
/// assert_eq!(estimate_tokens(&Message::user("abcde").with_time(Timestamp::from_millis(0))), 2);
/// ```
pub fn estimate_tokens(message: &Message) -> u64 {
    let value = message.value();
    let units = match message.role() {
        Role::User | Role::Custom | Role::ToolResult => content_units(value, false),
        Role::Assistant => content_units(value, true),
        Role::BashExecution => units_of(value.get("command")) + units_of(value.get("output")),
        Role::BranchSummary | Role::CompactionSummary => units_of(value.get("summary")),
        Role::System => system_units(value),
        Role::FileMention => file_units(value),
        Role::Other => 0,
    };
    units.div_ceil(UNITS_PER_TOKEN)
}

impl Session {
    /// Estimates the tokens of the context at a position.
    ///
    /// The usage that an answer reported counts only if no context edit and no compaction came after it.
    pub fn context_estimate(&self, position: impl Into<Position>) -> Result<ContextEstimate> {
        let at = self.node_of(&position.into())?;
        let context = self.context_of(at)?;
        let path = at.map_or_else(Vec::new, |at| self.tree().path(at));
        Ok(self.estimate_items(&path, &context.items))
    }

    /// Estimates the tokens of the context items of a path.
    pub(crate) fn estimate_items(&self, path: &[Node], items: &[ContextItem]) -> ContextEstimate {
        let is_change = |node: &Node| matches!(self.tree().kind(*node), Kind::ContextEdit | Kind::Compaction);
        let unchanged = &path[path.iter().rposition(is_change).map_or(0, |place| place + 1)..];
        let last = items
            .iter()
            .enumerate()
            .rev()
            .find_map(|(place, item)| reported_tokens(&item.message).map(|tokens| (place, tokens)));
        let (last_usage, usage_tokens) =
            last.filter(|(place, _)| unchanged.contains(&items[*place].source)).unzip();
        let usage_tokens = usage_tokens.unwrap_or(0);
        let trailing_tokens = match last_usage {
            Some(place) => items[place + 1..].iter().map(|item| estimate_tokens(&item.message)).sum(),
            None => replayed_tokens(items),
        };
        let tokens = usage_tokens.saturating_add(trailing_tokens);
        ContextEstimate { tokens, usage_tokens, trailing_tokens, last_usage }
    }
}

/// Sums all items; the system messages count as the one message that results from them.
fn replayed_tokens(items: &[ContextItem]) -> u64 {
    let is_system = |item: &&ContextItem| item.message.role() == Role::System;
    let others = items.iter().filter(|item| !is_system(item));
    let system = context::replay_system(items.iter().map(|item| &item.message));
    others.map(|item| &item.message).chain(system.as_ref()).map(estimate_tokens).sum()
}

/// Returns the tokens that an answer reported, unless it failed or reported none.
fn reported_tokens(message: &Message) -> Option<u64> {
    let value = message.value();
    if message.role() != Role::Assistant || Ending::of(value) != Ending::Fine {
        return None;
    }
    value.get("usage").map(|usage| Usage::of(usage).total).filter(|tokens| *tokens > 0)
}

fn units_of(text: Option<ValueRef<'_>>) -> u64 {
    text.map_or(0, |text| text.utf16_len() as u64)
}

/// The units of a content: text and images, or of an answer text, thinking and calls. Other blocks count nothing.
fn content_units(message: ValueRef<'_>, is_answer: bool) -> u64 {
    let content = message.get("content");
    let block_units = |block: ValueRef<'_>| {
        let kind = block.get("type").and_then(ValueRef::as_str);
        match (kind.as_deref(), is_answer) {
            (Some("text"), _) => units_of(block.get("text")),
            (Some("image"), false) => IMAGE_UNITS,
            (Some("thinking"), true) => units_of(block.get("thinking")),
            (Some("toolCall"), true) => {
                units_of(block.get("name")) + block.get("arguments").map_or(0, json_units)
            }
            _ => 0,
        }
    };
    units_of(content) + content.into_iter().flat_map(ValueRef::items).map(block_units).sum::<u64>()
}

fn system_units(message: ValueRef<'_>) -> u64 {
    let sections = message.get("sections").into_iter().flat_map(ValueRef::members);
    let sections = sections.map(|(_, text)| units_of(Some(text))).sum::<u64>();
    content_units(message, false) + sections + message.get("toolsAdded").map_or(0, json_units)
}

/// The units of the files that oh-my-pi put into the conversation.
fn file_units(message: ValueRef<'_>) -> u64 {
    let files = message.get("files").into_iter().flat_map(ValueRef::items);
    files.map(|file| units_of(file.get("path")) + units_of(file.get("content"))).sum()
}

/// The units of a value written as JavaScript writes it.
fn json_units(value: ValueRef<'_>) -> u64 {
    let text = value.js_string();
    if text.is_ascii() { text.len() as u64 } else { text.encode_utf16().count() as u64 }
}

#[cfg(test)]
mod tests;
