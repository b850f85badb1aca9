//! The path of a session as updates, in the order of the conversation.

use std::collections::HashMap;

use serde_json::{Value as Json, json};
use session_tree::json::ValueRef;
use session_tree::{Body, Position, Result, Session};

use super::update::{call_id, call_json, chunk, result_json};

/// Returns the updates that show the path of the leaf. Every message has the id of its entry.
pub(super) fn updates(session: &Session) -> Result<Vec<Json>> {
    let mut replay = Replay::default();
    for node in session.branch_path(Position::Leaf) {
        let entry = session.entry_at(node)?;
        let id = entry.id().as_str();
        match entry.body() {
            Body::Message(Some(message)) => {
                if let Some(message) = message.to_serde() {
                    replay.message(id, &message);
                }
            }
            Body::CustomMessage { content, display, .. } if display => {
                let content = content.and_then(ValueRef::to_serde).unwrap_or_default();
                replay.texts("agent_message_chunk", id, &content);
            }
            Body::BranchSummary { .. } | Body::Compaction { .. } => {
                let summary = entry.value().and_then(|value| value.get("summary")?.as_str());
                replay.updates.push(chunk("agent_message_chunk", &summary.unwrap_or_default(), id));
            }
            _ => {}
        }
    }
    Ok(replay.updates)
}

/// The updates so far, and the calls that may get a result.
#[derive(Default)]
struct Replay {
    updates: Vec<Json>,
    calls: HashMap<String, (String, String, Json)>,
}

impl Replay {
    fn message(&mut self, id: &str, message: &Json) {
        match message["role"].as_str() {
            Some("user") => self.texts("user_message_chunk", id, &message["content"]),
            Some("assistant") => self.answer(id, message),
            Some("toolResult") => self.result(message),
            Some("bashExecution") => {
                let command = message["command"].as_str().unwrap_or_default();
                let mut call = call_json("tool_call", id, "bash", &json!({ "command": command }));
                call["status"] = "completed".into();
                let output = json!({"type": "text", "text": message["output"]});
                call["content"] = json!([{"type": "content", "content": output}]);
                self.updates.push(call);
            }
            _ => {}
        }
    }

    /// Adds the texts and images of a content.
    fn texts(&mut self, kind: &str, id: &str, content: &Json) {
        if let Some(text) = content.as_str() {
            return self.updates.push(chunk(kind, text, id));
        }
        for block in content.as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("text") => {
                    self.updates.push(chunk(kind, block["text"].as_str().unwrap_or_default(), id));
                }
                Some("image") => {
                    self.updates.push(json!({"sessionUpdate": kind, "content": block, "messageId": id}));
                }
                _ => {}
            }
        }
    }

    fn answer(&mut self, id: &str, message: &Json) {
        for block in message["content"].as_array().into_iter().flatten() {
            let text = |key: &str| block[key].as_str().unwrap_or_default();
            match block["type"].as_str() {
                Some("text") => self.updates.push(chunk("agent_message_chunk", text("text"), id)),
                Some("thinking") => self.updates.push(chunk("agent_thought_chunk", text("thinking"), id)),
                Some("toolCall") => {
                    let known = call_id(id, text("id"));
                    let mut call = call_json("tool_call", &known, text("name"), &block["arguments"]);
                    call["status"] = "pending".into();
                    self.updates.push(call);
                    let call = (known, text("name").to_owned(), block["arguments"].clone());
                    self.calls.insert(text("id").to_owned(), call);
                }
                _ => {}
            }
        }
    }

    fn result(&mut self, message: &Json) {
        let id = message["toolCallId"].as_str().unwrap_or_default();
        let Some((known, tool, arguments)) = self.calls.remove(id) else { return };
        let content = message["content"].as_array().cloned().unwrap_or_default();
        let is_error = message["isError"] == Json::Bool(true);
        self.updates.push(result_json(&known, &tool, &arguments, &content, is_error));
    }
}
