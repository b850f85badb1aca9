//! How many tokens messages take: a guess by length, and what providers reported.
//!
//! A side branch of the walk: context -> **estimate** -> compaction, branch summary
//!
//! Lengths are UTF-16 code units and four of them make a token, because every number that pi stores or compares was
//! counted so. Never touches files, and calls no tokenizer; an application that has one brings an [`Estimator`].

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

/// Guesses how many tokens a message takes.
pub trait Estimator {
    /// Returns the number of tokens of a message.
    fn tokens(&self, message: &Message) -> u64;
}

/// Counts four UTF-16 units as one token, as pi does: far too low for Chinese or Japanese text, but comparable.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CharsPerToken;

impl Estimator for CharsPerToken {
    fn tokens(&self, message: &Message) -> u64 {
        estimate_tokens(message)
    }
}

/// What a conversation takes, as far as a provider reported it, and what was guessed beyond that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextEstimate {
    /// All tokens.
    pub tokens: u64,
    /// The tokens that the last usable answer reported, itself included.
    pub usage_tokens: u64,
    /// The guess for the messages after that answer, or for all of them.
    pub trailing_tokens: u64,
    /// The place of that answer among the messages.
    pub last_usage: Option<usize>,
}

/// Guesses how many tokens a message takes by its length.
///
/// ```
/// use session_tree::{Message, Timestamp, estimate_tokens};
///
/// assert_eq!(estimate_tokens(&Message::user("abcde").with_time(Timestamp::from_millis(0))), 2);
/// ```
pub fn estimate_tokens(message: &Message) -> u64 {
    let value = message.value();
    let units = match message.role() {
        Role::User | Role::Custom | Role::ToolResult => content_units(value),
        Role::Assistant => answer_units(value),
        Role::BashExecution => units_of(value.get("command")) + units_of(value.get("output")),
        Role::BranchSummary | Role::CompactionSummary => units_of(value.get("summary")),
        Role::System => system_units(value),
        Role::FileMention => file_units(value),
        Role::Other => 0,
    };
    units.div_ceil(UNITS_PER_TOKEN)
}

impl ContextEstimate {
    fn of(reported: Option<(usize, u64)>, trailing_tokens: u64) -> Self {
        let usage_tokens = reported.map_or(0, |(_, tokens)| tokens);
        let last_usage = reported.map(|(place, _)| place);
        Self {
            tokens: usage_tokens.saturating_add(trailing_tokens),
            usage_tokens,
            trailing_tokens,
            last_usage,
        }
    }
}

impl Session {
    /// Estimates the tokens of the context at a position.
    ///
    /// The usage that an answer reported counts only if no context edit and no compaction came after it.
    pub fn context_estimate(&self, position: impl Into<Position>) -> Result<ContextEstimate> {
        let at = self.node_of(&position.into())?;
        let context = self.context_of(at)?;
        let path = at.map_or_else(Vec::new, |at| self.tree().path(at));
        Ok(self.projected(&path, &context.items, &CharsPerToken))
    }

    /// Estimates the items that a path gives.
    pub(crate) fn projected(
        &self,
        path: &[Node],
        items: &[ContextItem],
        estimator: &dyn Estimator,
    ) -> ContextEstimate {
        let is_change = |node: &Node| matches!(self.tree().kind(*node), Kind::ContextEdit | Kind::Compaction);
        let unchanged = &path[path.iter().rposition(is_change).map_or(0, |place| place + 1)..];
        let last = items
            .iter()
            .enumerate()
            .rev()
            .find_map(|(place, item)| reported_tokens(&item.message).map(|tokens| (place, tokens)));
        let trusted = last.filter(|(place, _)| unchanged.contains(&items[*place].source));
        let trailing = match trusted {
            Some((place, _)) => items[place + 1..].iter().map(|item| estimator.tokens(&item.message)).sum(),
            None => replayed_tokens(items, estimator),
        };
        ContextEstimate::of(trusted, trailing)
    }
}

/// Sums all items, with the system messages as the one that they amount to.
fn replayed_tokens(items: &[ContextItem], estimator: &dyn Estimator) -> u64 {
    let is_system = |item: &&ContextItem| item.message.role() == Role::System;
    let others = items.iter().filter(|item| !is_system(item));
    let system = context::replay_system(items.iter().map(|item| &item.message));
    others.map(|item| &item.message).chain(system.as_ref()).map(|message| estimator.tokens(message)).sum()
}

/// Returns what a usable answer reported: one that did not fail and spent anything at all.
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

/// The units of text and images; other blocks count nothing.
fn content_units(message: ValueRef<'_>) -> u64 {
    let content = message.get("content");
    let blocks = content.into_iter().flat_map(ValueRef::items).map(|block| match block_type(block) {
        BlockType::Text => units_of(block.get("text")),
        BlockType::Image => IMAGE_UNITS,
        BlockType::Thinking | BlockType::ToolCall | BlockType::Other => 0,
    });
    units_of(content) + blocks.sum::<u64>()
}

/// The units of an answer: what it says, thinks and calls.
fn answer_units(message: ValueRef<'_>) -> u64 {
    let content = message.get("content");
    let blocks = content.into_iter().flat_map(ValueRef::items).map(|block| match block_type(block) {
        BlockType::Text => units_of(block.get("text")),
        BlockType::Thinking => units_of(block.get("thinking")),
        BlockType::ToolCall => units_of(block.get("name")) + block.get("arguments").map_or(0, json_units),
        BlockType::Image | BlockType::Other => 0,
    });
    units_of(content) + blocks.sum::<u64>()
}

fn system_units(message: ValueRef<'_>) -> u64 {
    let sections = message.get("sections").into_iter().flat_map(ValueRef::members);
    let sections = sections.map(|(_, text)| units_of(Some(text))).sum::<u64>();
    content_units(message) + sections + message.get("toolsAdded").map_or(0, json_units)
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

/// The types of blocks that count.
enum BlockType {
    Text,
    Image,
    Thinking,
    ToolCall,
    Other,
}

fn block_type(block: ValueRef<'_>) -> BlockType {
    match block.get("type").and_then(ValueRef::as_str).as_deref() {
        Some("text") => BlockType::Text,
        Some("image") => BlockType::Image,
        Some("thinking") => BlockType::Thinking,
        Some("toolCall") => BlockType::ToolCall,
        _ => BlockType::Other,
    }
}

#[cfg(test)]
mod tests;
