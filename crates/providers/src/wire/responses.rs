//! OpenAI responses.
//!
//! An answer is a list of items; thoughts come encrypted. Sessions keep an item of thoughts whole, as the signature of
//! its block, and the ids of texts and calls, so that the same model gets its items back as they were. Nothing is
//! stored at the service.

use std::collections::HashMap;

use offshoot_agent::model::{BlockStart, Request, StopReason, ToolSpec};
use serde_json::{Map, Value as Json, json};

use super::events::{Events, fields};
use super::{
    Decoder, cache_key, conversation, data_url, items, level, level_word, max_output, number, text, usage,
};
use crate::catalogue::{Target, ThinkingStyle};
use crate::request_error::{ApiError, RequestError};
use crate::transform::{AssistantBlock, Part, Thinking, ToolResult, Turn, fitting_id, item_id};

const LONGEST_ID: usize = 64;
/// The service takes no smaller limit.
const SMALLEST_LIMIT: u64 = 16;

/// Makes the body of a request.
pub(super) fn body(target: &Target, request: &Request) -> Json {
    let mut body = json!({
        "model": target.spec.id, "stream": true, "store": false,
        "max_output_tokens": max_output(target, request).max(SMALLEST_LIMIT),
    });
    add_thinking(&mut body, target, request);
    if request.cache && target.dialect.cache_key {
        body["prompt_cache_key"] = json!(cache_key(request));
    }
    if !request.system.is_empty() {
        body["instructions"] = json!(request.system);
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    let turns = conversation(target, request);
    body["input"] = turns.iter().flat_map(turn_items).collect();
    body
}

fn add_thinking(body: &mut Json, target: &Target, request: &Request) {
    if !target.spec.thinks() || target.dialect.thinking == ThinkingStyle::Untold {
        return;
    }
    let level = level(target, request);
    let Some(word) = level_word(target, level) else { return };
    body["reasoning"] = json!({"effort": word, "summary": "auto"});
    body["include"] = json!(["reasoning.encrypted_content"]);
}

fn tool(tool: &ToolSpec) -> Json {
    json!({
        "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters,
        "strict": false,
    })
}

fn turn_items(turn: &Turn) -> Vec<Json> {
    match turn {
        Turn::User(parts) => {
            vec![json!({"role": "user", "content": parts.iter().map(part).collect::<Vec<_>>()})]
        }
        Turn::Assistant(blocks) => blocks.iter().filter_map(said).collect(),
        Turn::Results(results) => results.iter().map(result).collect(),
    }
}

fn said(said: &AssistantBlock) -> Option<Json> {
    match said {
        AssistantBlock::Text { text, signature } => Some(text_item(text, signature.as_deref())),
        AssistantBlock::Thinking(thinking) => thought(thinking),
        AssistantBlock::Call { id, name, arguments, .. } => Some(call_item(id, name, arguments)),
    }
}

/// Thoughts go back as the item they came in; others cannot be said.
fn thought(thinking: &Thinking) -> Option<Json> {
    let item: Json = serde_json::from_str(thinking.signature.as_deref()?).ok()?;
    (item["type"] == "reasoning").then_some(item)
}

/// A text; its signature is its id, or an object with its id and its phase.
///
/// The service refuses an output message without an id, so a text of another model is an input message.
fn text_item(text: &str, signature: Option<&str>) -> Json {
    let parts = signature.map(|signature| match serde_json::from_str(signature) {
        Ok(parts @ Json::Object(_)) => parts,
        _ => json!({"id": signature}),
    });
    let id = parts.as_ref().and_then(|parts| parts["id"].as_str());
    let Some(id) = id.filter(|id| id.starts_with("msg_") && id.len() <= LONGEST_ID) else {
        return json!({"role": "assistant", "content": text});
    };
    let mut item = json!({
        "type": "message", "role": "assistant", "status": "completed", "id": id,
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    });
    if let Some(phase) = parts.as_ref().and_then(|parts| parts.get("phase")) {
        item["phase"] = phase.clone();
    }
    item
}

fn call_item(id: &str, name: &str, arguments: &Json) -> Json {
    let mut item = json!({"type": "function_call"});
    if let Some(own) = item_id(id).filter(|own| own.starts_with("fc_") && own.len() <= LONGEST_ID) {
        item["id"] = json!(own);
    }
    item["call_id"] = json!(fitting_id(id, LONGEST_ID));
    item["name"] = json!(name);
    item["arguments"] = json!(arguments.to_string());
    item
}

fn part(part: &Part) -> Json {
    match part {
        Part::Text(text) => json!({"type": "input_text", "text": text}),
        Part::Image { data, mime_type } => {
            json!({"type": "input_image", "detail": "auto", "image_url": data_url(data, mime_type)})
        }
    }
}

fn result(result: &ToolResult) -> Json {
    // The format has no place for failure.
    let failure = result.is_error.then(|| json!({"type": "input_text", "text": "Error:"}));
    let output: Json = match (result.images().next(), result.is_error) {
        (None, true) => json!(format!("Error: {}", result.text())),
        (None, false) => json!(result.text()),
        (Some(_), _) => failure.into_iter().chain(result.parts.iter().map(part)).collect(),
    };
    json!({"type": "function_call_output", "call_id": fitting_id(&result.id, LONGEST_ID), "output": output})
}

/// Turns frames into events.
#[derive(Debug, Default)]
pub(super) struct ResponsesDecoder {
    open: HashMap<u64, Open>,
}

/// An item that is not complete.
#[derive(Debug)]
struct Open {
    index: usize,
    /// Whether anything has come in pieces; if not, the complete item says it all.
    has_grown: bool,
    /// Which part of the thoughts or the text grows.
    part: u64,
}

impl Decoder for ResponsesDecoder {
    fn frame(&mut self, frame: &Json, out: &mut Events) -> Result<(), RequestError> {
        match text(frame, "type") {
            "response.created" => out.begin(text(&frame["response"], "id")),
            "response.output_item.added" => self.start(frame, out),
            "response.output_item.done" => self.end(frame, out),
            "response.reasoning_summary_text.delta" => self.delta(frame, "summary_index", out),
            "response.reasoning_text.delta" | "response.output_text.delta" | "response.refusal.delta" => {
                self.delta(frame, "content_index", out);
            }
            "response.function_call_arguments.delta" => self.delta(frame, "", out),
            "response.completed" | "response.incomplete" | "response.done" => {
                return self.complete(&frame["response"], out);
            }
            "response.failed" => return Err(failure(&frame["response"])),
            "error" => return Err(failure(&json!({"error": frame}))),
            // Repetitions of what has come in pieces, and what comes in later versions.
            _ => {}
        }
        Ok(())
    }
}

impl ResponsesDecoder {
    fn start(&mut self, frame: &Json, out: &mut Events) {
        if let Some(block) = block(&frame["item"]) {
            let index = out.start(block);
            self.open.insert(number(frame, "output_index"), Open { index, has_grown: false, part: 0 });
        }
    }

    fn delta(&mut self, frame: &Json, part_key: &str, out: &mut Events) {
        let Some(open) = self.open.get_mut(&number(frame, "output_index")) else { return };
        let part = number(frame, part_key);
        if part != open.part && open.has_grown {
            out.delta(open.index, PARTS);
        }
        open.part = part;
        open.has_grown = true;
        out.delta(open.index, text(frame, "delta"));
    }

    fn end(&mut self, frame: &Json, out: &mut Events) {
        let number = number(frame, "output_index");
        if !self.open.contains_key(&number) {
            self.start(frame, out);
        }
        let Some(open) = self.open.remove(&number) else { return };
        let item = &frame["item"];
        if !open.has_grown {
            out.delta(open.index, &whole(item));
        }
        out.end(open.index, signature(item));
    }

    fn complete(&mut self, response: &Json, out: &mut Events) -> Result<(), RequestError> {
        let counts = &response["usage"];
        if counts.is_object() {
            let (input, details) = (number(counts, "input_tokens"), &counts["input_tokens_details"]);
            let (read, write) = (number(details, "cached_tokens"), number(details, "cache_write_tokens"));
            out.usage(usage(input, number(counts, "output_tokens"), read, write));
        }
        let reason = text(&response["incomplete_details"], "reason");
        out.stop = Some(match (text(response, "status"), reason) {
            ("failed" | "cancelled", _) => return Err(failure(response)),
            ("incomplete", "content_filter") => {
                return Err(RequestError::refusal("the service filtered the answer"));
            }
            ("incomplete", _) => StopReason::Length,
            _ => StopReason::Stop,
        });
        out.finish(self)
    }
}

/// The separator between two parts of the thoughts or of a text.
const PARTS: &str = "\n\n";

fn block(item: &Json) -> Option<BlockStart> {
    match text(item, "type") {
        "message" => Some(BlockStart::Text),
        "reasoning" => Some(BlockStart::Thinking),
        "function_call" => {
            let id = format!("{}|{}", text(item, "call_id"), text(item, "id"));
            Some(BlockStart::ToolCall { id, name: text(item, "name").into() })
        }
        _ => None,
    }
}

/// Returns the text or the arguments of a complete item.
fn whole(item: &Json) -> String {
    if text(item, "type") == "function_call" {
        return text(item, "arguments").into();
    }
    let parts = ["summary", "content"].into_iter().flat_map(|key| items(item, key));
    let texts = parts.map(|part| [text(part, "text"), text(part, "refusal")].concat());
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(PARTS)
}

/// Returns the fields that are needed to send an item back.
fn signature(item: &Json) -> Map<String, Json> {
    match text(item, "type") {
        "reasoning" => fields([("thinkingSignature", item.to_string())]),
        "message" => {
            let mut signature = json!({"v": 1, "id": text(item, "id")});
            if let Some(phase) = item["phase"].as_str() {
                signature["phase"] = phase.into();
            }
            fields([("textSignature", signature.to_string())])
        }
        _ => Map::new(),
    }
}

fn failure(response: &Json) -> RequestError {
    let error = ApiError::read(0, response).map(RequestError::Api);
    error.unwrap_or_else(|| RequestError::api("the response failed"))
}

#[cfg(test)]
mod tests;
