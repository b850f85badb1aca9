//! An answer while it is streamed, and the message made from it.

use serde_json::{Map, Value as Json, json};
use session_tree::{Message, Timestamp};

use super::event::{AnswerEvent, BlockStart, StopReason, Usage};
use super::spec::ModelSpec;

/// An answer while it is streamed.
///
/// An interrupted answer is not lost: [`Answer::into_aborted`] and [`Answer::into_failed`] make a message from its
/// parts.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    response_id: Option<String>,
    blocks: Vec<Block>,
    usage: Usage,
    stop: Option<StopReason>,
}

#[derive(Debug, Clone)]
struct Block {
    start: BlockStart,
    text: String,
    fields: Map<String, Json>,
    is_complete: bool,
}

impl Answer {
    /// Adds one event.
    pub fn take(&mut self, event: &AnswerEvent) {
        match event {
            AnswerEvent::Begin { response_id } => self.response_id.clone_from(response_id),
            AnswerEvent::BlockStart { index, block } => self.start(*index, block),
            AnswerEvent::BlockDelta { index, text } => {
                if let Some(block) = self.blocks.get_mut(*index) {
                    block.text.push_str(text);
                }
            }
            AnswerEvent::BlockEnd { index, end } => {
                if let Some(block) = self.blocks.get_mut(*index) {
                    block.fields.extend(end.fields.clone());
                    block.is_complete = true;
                }
            }
            AnswerEvent::Usage(usage) => self.usage = *usage,
            AnswerEvent::End { stop } => self.stop = Some(*stop),
        }
    }

    fn start(&mut self, index: usize, block: &BlockStart) {
        debug_assert_eq!(index, self.blocks.len(), "blocks are numbered in the order in which they begin");
        self.blocks.push(Block {
            start: block.clone(),
            text: String::new(),
            fields: Map::new(),
            is_complete: false,
        });
    }

    /// Returns why the answer ended. `None` while it is streamed, or if it was interrupted.
    pub fn stop(&self) -> Option<StopReason> {
        self.stop
    }

    /// Returns the tokens used so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the text of all blocks, joined by line feeds.
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter(|block| block.start == BlockStart::Text);
        texts.map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Returns the change made by an event, as extensions and programs see it. `None` if no block changed.
    pub fn update_json(&self, event: &AnswerEvent) -> Option<Json> {
        let (index, step) = match event {
            AnswerEvent::BlockStart { index, .. } => (*index, "start"),
            AnswerEvent::BlockDelta { index, .. } => (*index, "delta"),
            AnswerEvent::BlockEnd { index, .. } => (*index, "end"),
            AnswerEvent::Begin { .. } | AnswerEvent::Usage(_) | AnswerEvent::End { .. } => return None,
        };
        let block = self.blocks.get(index)?;
        let kind = match block.start {
            BlockStart::Text => "text",
            BlockStart::Thinking => "thinking",
            BlockStart::ToolCall { .. } => "toolcall",
        };
        let mut update = json!({"type": format!("{kind}_{step}"), "contentIndex": index});
        match (event, &block.start) {
            (AnswerEvent::BlockDelta { text, .. }, _) => update["delta"] = text.as_str().into(),
            (AnswerEvent::BlockEnd { .. }, BlockStart::ToolCall { .. }) => {
                update["toolCall"] = block.stored(false).unwrap_or_default();
            }
            (AnswerEvent::BlockEnd { .. }, _) => update["content"] = block.text.as_str().into(),
            (AnswerEvent::BlockStart { .. }, BlockStart::ToolCall { id, name }) => {
                update["id"] = id.as_str().into();
                update["toolName"] = name.as_str().into();
            }
            _ => {}
        }
        Some(update)
    }

    /// Returns the block that an event starts or ends. `None` for other events and for empty blocks.
    pub(crate) fn block_json(&self, event: &AnswerEvent) -> Option<Json> {
        match event {
            AnswerEvent::BlockStart { index, .. } | AnswerEvent::BlockEnd { index, .. } => {
                self.blocks.get(*index)?.stored(false)
            }
            _ => None,
        }
    }

    /// Makes the message of a complete answer.
    pub fn into_message(self, model: &ModelSpec, time: Timestamp) -> Message {
        let stop = self.stop.map_or("stop", StopReason::name);
        self.message(model, time, stop, None)
    }

    /// Makes the message of a cancelled answer. Incomplete tool calls are left out.
    pub fn into_aborted(self, model: &ModelSpec, time: Timestamp) -> Message {
        self.message(model, time, "aborted", Some("Request was aborted"))
    }

    /// Makes the message of an interrupted answer. Incomplete tool calls are left out.
    pub fn into_failed(self, model: &ModelSpec, time: Timestamp, error: &str) -> Message {
        self.message(model, time, "error", Some(error))
    }

    fn message(self, model: &ModelSpec, time: Timestamp, stop: &str, error: Option<&str>) -> Message {
        let blocks = self.blocks.iter().filter_map(|block| block.stored(error.is_some()));
        let message = blocks.fold(Message::assistant(), |message, block| message.block(&block));
        let Usage { input, output, cache_read, cache_write } = self.usage;
        let usage = session_tree::Usage { input, output, cache_read, cache_write, ..Default::default() };
        let mut message = message
            .api(&model.api)
            .model(&model.provider, &model.id)
            .usage(usage)
            .cost(model.cost(&self.usage))
            .stop_reason(session_tree::StopReason::from_name(stop.as_bytes()));
        if let Some(error) = error {
            message = message.error_message(error);
        }
        if let Some(id) = self.response_id {
            message = message.response_id(id);
        }
        message.build().with_time(time)
    }
}

impl Block {
    fn is_call(&self) -> bool {
        matches!(self.start, BlockStart::ToolCall { .. })
    }

    /// Returns the block as sessions store it, or `None` if it is empty.
    fn stored(&self, broke_off: bool) -> Option<Json> {
        let mut stored = match &self.start {
            BlockStart::Text => json!({"type": "text", "text": self.text}),
            BlockStart::Thinking => json!({"type": "thinking", "thinking": self.text}),
            BlockStart::ToolCall { id, name } => {
                if broke_off && !self.is_complete {
                    return None;
                }
                json!({"type": "toolCall", "id": id, "name": name, "arguments": self.arguments()})
            }
        };
        if self.text.is_empty() && self.fields.is_empty() && !self.is_call() {
            return None;
        }
        if let Some(object) = stored.as_object_mut() {
            object.extend(self.fields.clone());
        }
        Some(stored)
    }

    /// Returns the arguments of a call. Text that is not a JSON object is stored under a special key, so that the tool
    /// can refuse it.
    fn arguments(&self) -> Json {
        let text = self.text.trim();
        if text.is_empty() {
            return json!({});
        }
        match serde_json::from_str(text) {
            Ok(Json::Object(object)) => Json::Object(object),
            _ => json!({ MALFORMED_ARGUMENTS: self.text }),
        }
    }
}

/// The key of arguments that are not a JSON object.
pub(crate) const MALFORMED_ARGUMENTS: &str = "malformedArguments";

#[cfg(test)]
mod tests;
