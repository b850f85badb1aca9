//! Native copies: messages without the parts that are valid only in their original place.

use crate::entry::{Block, Message};
use crate::json::{self, Edit, ValueRef};
use crate::kind::Role;

/// The usage of a copied answer.
const NO_USAGE: &[u8] = br#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}"#;

/// The fields of provider signatures, which are valid only for the original message.
const SIGNATURES: [&str; 4] = ["textSignature", "thoughtSignature", "thinkingSignature", "signature"];

/// The tools that change something outside the conversation.
const EFFECTS: [&str; 3] = ["write", "edit", "bash"];

/// Copies an answer without thoughts and signatures, and without usage.
pub(super) fn answer(message: &Message) -> Message {
    let mut edit = Edit::new(message.value());
    edit.set("usage", NO_USAGE);
    if let Some(content) = message.value().get("content").filter(|content| content.as_str().is_none()) {
        let blocks = content.items().filter(|block| !is_thought(*block)).map(unsigned);
        edit.set("content", &json::array(blocks));
    }
    clean(&edit.object_text())
}

/// Copies a message as it is.
pub(super) fn verbatim(message: &Message) -> Message {
    clean(message.raw())
}

/// Makes a message that can be written: without white space between its parts, and with invalid UTF-8 replaced, as
/// every reader of the source replaces it.
fn clean(text: &[u8]) -> Message {
    Message::built(String::from_utf8_lossy(&json::minify(text)).into_owned())
}

/// Returns true if a prompt or an answer has text, images or tool calls.
pub(super) fn says_something(message: &Message) -> bool {
    message.content().blocks().any(|block| match block {
        Block::Text(text) => !text.trim().is_empty(),
        Block::ToolCall { .. } | Block::Image { .. } => true,
        Block::Thinking(_) | Block::Other(_) => false,
    })
}

/// Returns the tools that an answer calls and that change something outside the conversation, each once.
pub(super) fn effects(answer: &Message) -> Vec<String> {
    let mut names = Vec::new();
    for block in answer.content().blocks() {
        if let Block::ToolCall { name, .. } = block
            && EFFECTS.contains(&&*name)
            && !names.iter().any(|known| *known == name)
        {
            names.push(name.into_owned());
        }
    }
    names
}

/// Gives the calls of an answer, or the call that a result answers, their new ids, in the order of the calls.
pub(super) fn with_call_ids(message: &Message, ids: &[String]) -> Message {
    let mut ids = ids.iter();
    match (message.role(), message.value().get("content")) {
        (Role::Assistant, Some(content)) if content.as_str().is_none() => {
            let blocks = content.items().map(|block| match block.get("type") {
                Some(kind) if kind.is_str("toolCall") => with_id(block, "id", ids.next()),
                _ => block.raw().to_vec(),
            });
            message.with_content(&json::array(blocks))
        }
        (Role::ToolResult, _) => Message::built(with_id(message.value(), "toolCallId", ids.next())),
        _ => message.clone(),
    }
}

/// Returns an object with the call id at `key` replaced by its new one.
fn with_id(object: ValueRef<'_>, key: &str, new: Option<&String>) -> Vec<u8> {
    let mut edit = Edit::new(object);
    if let Some(new) = new {
        edit.set(key, json::literal(new).as_bytes());
    }
    edit.object_text()
}

fn is_thought(block: ValueRef<'_>) -> bool {
    block.get("type").and_then(ValueRef::as_str).is_some_and(|kind| kind.to_lowercase().contains("thinking"))
}

fn unsigned(block: ValueRef<'_>) -> Vec<u8> {
    let mut edit = Edit::new(block);
    for key in SIGNATURES {
        edit.remove(key);
    }
    edit.object_text()
}
