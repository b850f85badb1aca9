//! Events of the agent as updates of a session.

use std::collections::HashMap;

use offshoot_agent::event::AgentEvent;
use offshoot_agent::model::{AnswerEvent, BlockStart, StopReason};
use offshoot_agent::tool::{ToolCall, ToolOutput};
use serde_json::{Value as Json, json};
use session_tree::json::Doc;
use session_tree::{EntryId, Role, describe_call};

/// Translates events into updates. Remembers the answer that grows.
#[derive(Debug, Default)]
pub(super) struct Updates {
    /// The entry that the answer becomes.
    entry: Option<EntryId>,
    /// The blocks of the answer.
    blocks: Vec<BlockStart>,
    /// The ids that the editor knows tool calls by. Models repeat theirs.
    calls: HashMap<String, String>,
    /// The reason why the last answer ended.
    pub(super) stop: Option<StopReason>,
    /// The entry of the prompt.
    pub(super) prompt: Option<EntryId>,
    /// True if the editor shows compactions.
    shows_compactions: bool,
    compactions: u64,
}

impl Updates {
    pub(super) fn new(shows_compactions: bool) -> Self {
        Updates { shows_compactions, ..Updates::default() }
    }

    /// Forgets the prompt before.
    pub(super) fn begin_prompt(&mut self) {
        self.stop = None;
        self.prompt = None;
    }

    /// Returns the id that the editor knows a call of the current answer by.
    pub(super) fn call_id(&self, id: &str) -> String {
        self.calls.get(id).cloned().unwrap_or_else(|| id.to_owned())
    }

    /// Returns the updates for an event.
    pub(super) fn of(&mut self, event: &AgentEvent) -> Vec<Json> {
        match event {
            AgentEvent::TurnStart { entry, .. } => {
                self.entry = Some(entry.clone());
                self.blocks.clear();
                self.calls.clear();
                Vec::new()
            }
            AgentEvent::Answer(event) => self.of_answer(event).into_iter().collect(),
            AgentEvent::Message { id, message } => {
                if message.role() == Role::User {
                    self.prompt.get_or_insert_with(|| id.clone());
                }
                Vec::new()
            }
            AgentEvent::ToolStart(call) => {
                let mut update =
                    call_json("tool_call_update", &self.call_id(&call.id), &call.name, &call.arguments);
                update["status"] = "in_progress".into();
                vec![update]
            }
            AgentEvent::ToolUpdate { call_id, output } => vec![json!({
                "sessionUpdate": "tool_call_update", "toolCallId": self.call_id(call_id),
                "content": contents(&output.content),
            })],
            AgentEvent::ToolEnd { call, output } => vec![self.ended(call, output)],
            AgentEvent::CompactionStart { .. } if self.shows_compactions => {
                self.compactions += 1;
                vec![self.compaction("in_progress", None)]
            }
            AgentEvent::CompactionEnd { entry, error, .. } if self.shows_compactions => {
                let status = match (entry, error) {
                    (Some(_), _) => "completed",
                    (None, Some(_)) => "failed",
                    (None, None) => "cancelled",
                };
                vec![self.compaction(status, error.as_deref())]
            }
            AgentEvent::NameChanged { name } => {
                vec![json!({"sessionUpdate": "session_info_update", "title": name})]
            }
            _ => Vec::new(),
        }
    }

    fn of_answer(&mut self, event: &AnswerEvent) -> Option<Json> {
        let entry = self.entry.as_ref().map_or("", EntryId::as_str);
        match event {
            AnswerEvent::BlockStart { block, .. } => {
                self.blocks.push(block.clone());
                let BlockStart::ToolCall { id, name } = block else { return None };
                let known = call_id(entry, id);
                self.calls.insert(id.clone(), known.clone());
                let mut update = call_json("tool_call", &known, name, &json!({}));
                update["status"] = "pending".into();
                Some(update)
            }
            AnswerEvent::BlockDelta { index, text } => match self.blocks.get(*index)? {
                BlockStart::Text => Some(chunk("agent_message_chunk", text, entry)),
                BlockStart::Thinking => Some(chunk("agent_thought_chunk", text, entry)),
                BlockStart::ToolCall { .. } => None,
            },
            AnswerEvent::End { stop } => {
                self.stop = Some(*stop);
                None
            }
            _ => None,
        }
    }

    fn ended(&self, call: &ToolCall, output: &ToolOutput) -> Json {
        let id = self.call_id(&call.id);
        result_json(&id, &call.name, &call.arguments, &output.content, output.is_error)
    }

    fn compaction(&self, status: &str, error: Option<&str>) -> Json {
        let mut update = json!({
            "sessionUpdate": "compaction_update", "status": status,
            "compactionId": format!("compaction-{}", self.compactions),
        });
        if let Some(error) = error {
            update["error"] = error.into();
        }
        update
    }
}

/// Spells a part of a message.
pub(super) fn chunk(kind: &str, text: &str, entry: &str) -> Json {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}, "messageId": entry})
}

/// Returns the id that the editor knows the call of an answer by.
pub(super) fn call_id(entry: &str, id: &str) -> String {
    format!("{entry}:{id}")
}

/// Spells a tool call, without its status.
pub(super) fn call_json(kind: &str, id: &str, tool: &str, arguments: &Json) -> Json {
    let mut update = call_fields(id, tool, arguments);
    update["sessionUpdate"] = kind.into();
    update
}

/// Spells the id, the title, the kind, the input and the files of a tool call.
pub(super) fn call_fields(id: &str, tool: &str, arguments: &Json) -> Json {
    let path = arguments["path"].as_str();
    let parsed = Doc::parse(arguments.to_string().into_bytes()).ok();
    let described = describe_call(tool, parsed.as_ref().map(Doc::root), None);
    let title = described.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(&described);
    let mut fields = json!({
        "toolCallId": id, "title": title, "kind": tool_kind(tool), "rawInput": arguments,
    });
    if let Some(path) = path {
        fields["locations"] = json!([{ "path": path }]);
    }
    fields
}

/// Spells the end of a tool call. A change of a file is shown as a difference.
pub(super) fn result_json(id: &str, tool: &str, arguments: &Json, content: &[Json], is_error: bool) -> Json {
    let status = if is_error { "failed" } else { "completed" };
    let mut shown = contents(content);
    if !is_error {
        shown.extend(changes(tool, arguments));
    }
    json!({
        "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": shown,
        "rawOutput": {"content": content},
    })
}

/// Spells the changes of a call that changed a file, from its arguments.
fn changes(tool: &str, arguments: &Json) -> Vec<Json> {
    let Some(path) = arguments["path"].as_str() else { return Vec::new() };
    match tool {
        "write" => vec![difference(path, None, arguments["content"].as_str().unwrap_or_default())],
        "edit" => arguments["edits"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|edit| Some(difference(path, edit["oldText"].as_str(), edit["newText"].as_str()?)))
            .collect(),
        _ => Vec::new(),
    }
}

/// Spells the change of a file.
pub(super) fn difference(path: &str, old: Option<&str>, new: &str) -> Json {
    json!({"type": "diff", "path": path, "oldText": old, "newText": new})
}

/// Spells the blocks of the output of a tool.
fn contents(blocks: &[Json]) -> Vec<Json> {
    let is_known = |block: &&Json| matches!(block["type"].as_str(), Some("text" | "image"));
    blocks.iter().filter(is_known).map(|block| json!({"type": "content", "content": block})).collect()
}

/// Returns the kind of a tool, by which editors choose a symbol.
fn tool_kind(tool: &str) -> &'static str {
    match tool {
        "read" => "read",
        "write" | "edit" => "edit",
        "bash" => "execute",
        "grep" | "find" | "ls" => "search",
        _ => "other",
    }
}
