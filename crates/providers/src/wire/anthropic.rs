//! Anthropic messages.
//!
//! Blocks keep their order and borders both ways, so an answer goes back byte for byte. Tokens of the request are
//! known from the first frame on, so an answer that is stopped has its usage.

use std::collections::HashMap;

use offshoot_agent::model::{BlockStart, Request, StopReason, Usage};
use serde_json::{Map, Value as Json, json};

use super::events::{Events, fields};
use super::{Decoder, conversation, level, level_word, max_output, number, text};
use crate::catalogue::{Target, ThinkingStyle};
use crate::request_error::RequestError;
use crate::transform::{AssistantBlock, Part, Thinking, ToolResult, Turn, fitting_id};

/// The version of the format, and thinking between calls of tools.
pub(super) const HEADERS: &[(&str, &str)] =
    &[("anthropic-version", "2023-06-01"), ("anthropic-beta", "interleaved-thinking-2025-05-14")];

const LONGEST_ID: usize = 64;
/// The tokens for thinking, by level.
const BUDGETS: [u64; 7] = [0, SMALLEST_BUDGET, 4_096, 10_240, 20_480, 32_768, 61_440];
/// The tokens that a budget must leave for the answer, and the smallest budget.
const SMALLEST_BUDGET: u64 = 1_024;

/// Makes the body of a request.
pub(super) fn body(target: &Target, request: &Request) -> Json {
    let max_tokens = max_output(target, request);
    let mut body = json!({"model": target.spec.id, "max_tokens": max_tokens, "stream": true});
    add_thinking(&mut body, target, request, max_tokens);
    if !request.system.is_empty() {
        body["system"] = json!([{"type": "text", "text": request.system}]);
        mark(request, body["system"].as_array_mut());
    }
    if !request.tools.is_empty() {
        let tool = |tool: &offshoot_agent::model::ToolSpec| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters});
        body["tools"] = request.tools.iter().map(tool).collect();
        mark(request, body["tools"].as_array_mut());
    }
    let mut messages: Vec<Json> = conversation(target, request).iter().map(message).collect();
    let last_shown = messages.iter_mut().rev().find(|message| message["role"] == "user");
    mark(request, last_shown.and_then(|message| message["content"].as_array_mut()));
    body["messages"] = messages.into();
    body
}

/// Marks the last block of a list as the end of what is kept in the cache.
fn mark(request: &Request, blocks: Option<&mut Vec<Json>>) {
    if let Some(block) = blocks.filter(|_| request.cache).and_then(|blocks| blocks.last_mut()) {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}

fn add_thinking(body: &mut Json, target: &Target, request: &Request, max_tokens: u64) {
    let level = level(target, request);
    if !target.spec.thinks() {
        return;
    }
    match target.dialect.thinking {
        ThinkingStyle::Word => match level_word(target, level) {
            Some(word) => {
                body["thinking"] = json!({"type": "adaptive", "display": "summarized"});
                body["output_config"] = json!({"effort": word});
            }
            None => body["thinking"] = json!({"type": "disabled"}),
        },
        ThinkingStyle::Usual | ThinkingStyle::Nested => {
            let budget = BUDGETS[level as usize].min(max_tokens.saturating_sub(SMALLEST_BUDGET));
            if budget >= SMALLEST_BUDGET {
                body["thinking"] = json!({"type": "enabled", "budget_tokens": budget});
            }
        }
        ThinkingStyle::Untold => {}
    }
}

fn message(turn: &Turn) -> Json {
    let (role, content): (_, Vec<Json>) = match turn {
        Turn::User(parts) => ("user", parts.iter().map(part).collect()),
        Turn::Assistant(blocks) => ("assistant", blocks.iter().map(said).collect()),
        // All results of an answer are one message: with several, the model learns to call one tool at a time.
        Turn::Results(results) => ("user", results.iter().map(result).collect()),
    };
    json!({"role": role, "content": content})
}

fn part(part: &Part) -> Json {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image { data, mime_type } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": mime_type, "data": data}})
        }
    }
}

fn said(said: &AssistantBlock) -> Json {
    match said {
        AssistantBlock::Text { text, .. } => json!({"type": "text", "text": text}),
        AssistantBlock::Thinking(thinking) => thought(thinking),
        AssistantBlock::Call { id, name, arguments, .. } => {
            json!({"type": "tool_use", "id": fitting_id(id, LONGEST_ID), "name": name, "input": arguments})
        }
    }
}

fn thought(thinking: &Thinking) -> Json {
    match &thinking.signature {
        Some(signature) if thinking.is_redacted => json!({"type": "redacted_thinking", "data": signature}),
        Some(signature) => json!({"type": "thinking", "thinking": thinking.text, "signature": signature}),
        // The service refuses thoughts without its signature.
        None => json!({"type": "text", "text": thinking.text}),
    }
}

fn result(result: &ToolResult) -> Json {
    let content: Vec<Json> = match result.parts.is_empty() {
        true => vec![json!({"type": "text", "text": result.text()})],
        false => result.parts.iter().map(part).collect(),
    };
    let mut block = json!({
        "type": "tool_result", "tool_use_id": fitting_id(&result.id, LONGEST_ID), "content": content,
    });
    if result.is_error {
        block["is_error"] = json!(true);
    }
    block
}

/// Turns frames into events.
#[derive(Debug, Default)]
pub(super) struct AnthropicDecoder {
    open: HashMap<u64, Open>,
    usage: Usage,
}

/// A block that is not complete.
#[derive(Debug, Default)]
struct Open {
    index: usize,
    signature: String,
    is_redacted: bool,
    /// Arguments that came with the start of the block, in case no others come.
    input: String,
}

impl Decoder for AnthropicDecoder {
    fn frame(&mut self, frame: &Json, out: &mut Events) -> Result<(), RequestError> {
        match text(frame, "type") {
            "message_start" => {
                out.begin(text(&frame["message"], "id"));
                self.count(&frame["message"]["usage"], out);
            }
            "content_block_start" => self.start(frame, out),
            "content_block_delta" => self.delta(frame, out),
            "content_block_stop" => self.end(frame, out),
            "message_delta" => {
                self.count(&frame["usage"], out);
                return stop(text(&frame["delta"], "stop_reason"), out);
            }
            "message_stop" => return out.finish(self),
            // `ping`, and what comes in later versions.
            _ => {}
        }
        Ok(())
    }
}

impl AnthropicDecoder {
    /// Takes counts in; those that are not mentioned stay as they were.
    fn count(&mut self, counts: &Json, out: &mut Events) {
        let set = |value: &mut u64, key: &str| *value = counts[key].as_u64().unwrap_or(*value);
        set(&mut self.usage.input, "input_tokens");
        set(&mut self.usage.output, "output_tokens");
        set(&mut self.usage.cache_read, "cache_read_input_tokens");
        set(&mut self.usage.cache_write, "cache_creation_input_tokens");
        if counts.is_object() {
            out.usage(self.usage);
        }
    }

    fn start(&mut self, frame: &Json, out: &mut Events) {
        let block = &frame["content_block"];
        let kind = text(block, "type");
        let (start, first) = match kind {
            "text" => (BlockStart::Text, text(block, "text")),
            "thinking" => (BlockStart::Thinking, text(block, "thinking")),
            "redacted_thinking" => (BlockStart::Thinking, ""),
            "tool_use" => {
                let (id, name) = (text(block, "id").into(), text(block, "name").into());
                (BlockStart::ToolCall { id, name }, "")
            }
            // Blocks of tools that the service runs itself, which we never ask for.
            _ => return,
        };
        let index = out.start(start);
        out.delta(index, first);
        let is_redacted = kind == "redacted_thinking";
        let signature = text(block, if is_redacted { "data" } else { "signature" }).into();
        let is_given = block["input"].as_object().is_some_and(|input| !input.is_empty());
        let input = if is_given { block["input"].to_string() } else { String::new() };
        self.open.insert(number(frame, "index"), Open { index, signature, is_redacted, input });
    }

    fn delta(&mut self, frame: &Json, out: &mut Events) {
        let Some(open) = self.open.get_mut(&number(frame, "index")) else { return };
        let delta = &frame["delta"];
        match text(delta, "type") {
            "text_delta" => out.delta(open.index, text(delta, "text")),
            "thinking_delta" => out.delta(open.index, text(delta, "thinking")),
            "signature_delta" => {
                let signature = text(delta, "signature");
                out.count(signature.len());
                open.signature.push_str(signature);
            }
            "input_json_delta" => {
                open.input.clear();
                out.delta(open.index, text(delta, "partial_json"));
            }
            _ => {}
        }
    }

    fn end(&mut self, frame: &Json, out: &mut Events) {
        let Some(open) = self.open.remove(&number(frame, "index")) else { return };
        out.delta(open.index, &open.input);
        let mut fields: Map<String, Json> = fields([("thinkingSignature", open.signature)]);
        if open.is_redacted {
            fields.insert("redacted".into(), json!(true));
        }
        out.end(open.index, fields);
    }
}

fn stop(reason: &str, out: &mut Events) -> Result<(), RequestError> {
    out.stop = match reason {
        "" => return Ok(()),
        "tool_use" => Some(StopReason::ToolUse),
        "max_tokens" | "model_context_window_exceeded" => Some(StopReason::Length),
        "refusal" => return Err(RequestError::refusal("the model declined to answer")),
        _ => Some(StopReason::Stop),
    };
    Ok(())
}

#[cfg(test)]
mod tests;
