//! Prompts and texts of a selection, for those who want to ask or edit them again.

use serde_json::json;
use session_tree::{Message, Node, PromptImage, Role, Session, Timestamp, convert_to_llm};

use crate::error::Result;

/// Returns the prompts of a selection as new messages, in order.
pub(super) fn of(source: &Session, nodes: &[Node], now: Timestamp) -> Result<Vec<Message>> {
    let mut prompts = Vec::new();
    for message in messages(source, nodes)? {
        if message.role() == Role::User {
            prompts.extend(dated(&message, now));
        }
    }
    Ok(prompts)
}

/// Returns what is said in a selection, a blank line between messages, and the images of its prompts.
pub(super) fn editor(source: &Session, nodes: &[Node]) -> Result<(String, Vec<PromptImage>)> {
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for message in messages(source, nodes)? {
        if message.role() == Role::ToolResult {
            continue;
        }
        if message.role() == Role::User {
            images.extend(PromptImage::all_of(message.content()));
        }
        let said = convert_to_llm(&message).map(|message| message.text().trim().to_owned());
        texts.extend(said.filter(|text| !text.is_empty()));
    }
    Ok((texts.join("\n\n"), images))
}

fn messages(source: &Session, nodes: &[Node]) -> Result<Vec<Message>> {
    let mut messages = Vec::new();
    for node in nodes {
        let entry = source.entry_at(*node)?;
        messages.extend(entry.to_message());
    }
    Ok(messages)
}

/// Copies a prompt with another time.
fn dated(message: &Message, now: Timestamp) -> Option<Message> {
    let mut value: serde_json::Value = message.value().to_serde()?;
    value["timestamp"] = json!(now.as_millis());
    Message::from_value(&value).ok()
}
