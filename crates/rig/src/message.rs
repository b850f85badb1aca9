//! Messages of rig as entries of a session, and back.
//!
//! An entry holds a message as every program that reads sessions expects it. If that form says less than the message of rig,
//! the entry also has a field `rig` with the message as rig writes it. One message of rig becomes several entries if it
//! has results of tools, because each of them is a separate message in a session.

mod decode;
mod encode;

use rig_core::completion::Message;
use rig_core::message::UserContent;
use serde::{Deserialize, Serialize};
use session_tree::{Draft, Session};

use crate::error::{Error, Result};
use crate::sessions::failed;

/// The field of an entry that holds what the message of the session cannot express.
const FIELD: &str = "rig";

/// The value of the field `rig`.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Extra {
    /// The message as rig writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
    /// True if the content continues that of the entry before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    continues: bool,
}

/// Returns the entries that hold messages.
pub(crate) fn drafts(conversation: &str, messages: &[Message]) -> Result<Vec<Draft>> {
    let mut drafts = Vec::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        let unstorable = |source| Error::Unstorable { index, source };
        for (part, piece) in split(message).into_iter().enumerate() {
            let shown = encode::message(&piece).map_err(failed(conversation))?;
            let is_exact = decode::message(&shown).is_some_and(|read| read == piece);
            let extra = Extra { message: (!is_exact).then_some(piece), continues: part > 0 };
            let mut draft = Draft::message(&shown).map_err(failed(conversation))?;
            if extra.message.is_some() || extra.continues {
                let value = serde_json::to_value(&extra).map_err(unstorable)?;
                // Read as `read` does, which refuses values that are nested too deeply.
                serde_json::from_str::<Extra>(&value.to_string()).map_err(unstorable)?;
                draft = draft.with_field(FIELD, &value).map_err(failed(conversation))?;
            }
            drafts.push(draft);
        }
    }
    Ok(drafts)
}

/// Splits a message into pieces that one entry can hold: each result of a tool, and the content between them.
fn split(message: &Message) -> Vec<Message> {
    let Message::User { content } = message else { return vec![message.clone()] };
    let is_result = |content: &UserContent| matches!(content, UserContent::ToolResult(_));
    let mut pieces: Vec<Vec<UserContent>> = Vec::new();
    for block in content {
        match pieces.last_mut() {
            Some(piece) if !is_result(block) && !piece.iter().any(is_result) => piece.push(block.clone()),
            _ => pieces.push(vec![block.clone()]),
        }
    }
    if pieces.is_empty() {
        pieces.push(Vec::new());
    }
    pieces.into_iter().map(|content| Message::User { content }).collect()
}

/// Returns the messages of the path to the leaf, with the summaries that stand for older ones.
pub(crate) fn read(session: &Session, conversation: &str) -> Result<Vec<Message>> {
    let context = session.context().map_err(failed(conversation))?;
    let mut messages: Vec<Message> = Vec::with_capacity(context.items.len());
    for item in context.items {
        let entry = session.entry_at(item.source).map_err(failed(conversation))?;
        // An edit of the context, or a summary, replaces the message of its entry.
        let is_original = entry.message().is_some_and(|message| message.raw() == item.message.raw());
        let field = entry.value().filter(|_| is_original).and_then(|value| value.get(FIELD));
        let extra = match field {
            None => Extra::default(),
            Some(value) => serde_json::from_slice(value.raw()).map_err(|source| Error::Unreadable {
                entry: entry.id().clone(),
                location: session.location().into_owned(),
                source,
            })?,
        };
        let Some(message) = extra.message.or_else(|| decode::message(&item.message)) else { continue };
        match (messages.last_mut(), message) {
            (Some(Message::User { content }), Message::User { content: more }) if extra.continues => {
                content.extend(more);
            }
            (_, message) => messages.push(message),
        }
    }
    Ok(messages)
}

#[cfg(test)]
mod tests;
