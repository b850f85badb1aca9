//! OpenAI chat completions, and everything that is compatible with them by its address.
//!
//! The format has one text and one list of calls per answer, so borders between blocks are lost on the way back.
//! Thoughts go back under the name under which they came, which sessions keep as their signature.

use offshoot_agent::model::{BlockStart, Request, StopReason, ThinkingLevel, ToolSpec, Usage};
use serde_json::{Map, Value as Json, json};

use super::events::{Events, fields};
use super::{
    Decoder, cache_key, conversation, data_url, images_behind, items, level, level_word, max_output, number,
    text, usage,
};
use crate::catalogue::{Dialect, Target, ThinkingStyle};
use crate::request_error::RequestError;
use crate::transform::{AssistantBlock, DETAILS, Part, ToolResult, Turn, exact_id, fitting_id};

/// The fields in which services send thoughts.
const THOUGHTS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];
const LONGEST_ID: usize = 40;

/// Makes the body of a request.
pub(super) fn body(target: &Target, request: &Request) -> Json {
    let limit = if target.dialect.old_max_tokens { "max_tokens" } else { "max_completion_tokens" };
    let mut body = json!({
        "model": target.spec.id, "stream": true, "stream_options": {"include_usage": true},
        limit: max_output(target, request),
    });
    add_thinking(&mut body, target, level(target, request));
    if request.cache && target.dialect.cache_key {
        body["prompt_cache_key"] = json!(cache_key(request));
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body["messages"] = messages(target, request).into();
    body
}

fn messages(target: &Target, request: &Request) -> Vec<Json> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": content(&target.dialect, &request.system)}));
    }
    for turn in conversation(target, request) {
        add_turn(&mut messages, &target.dialect, &turn);
    }
    if request.cache && target.dialect.cache_marks {
        mark(messages.first_mut());
        mark(messages.iter_mut().rev().find(|message| message["role"] != "assistant"));
    }
    messages
}

/// A text; as a list if a mark may come to stand in it, so that only the mark moves.
fn content(dialect: &Dialect, text: &str) -> Json {
    if dialect.cache_marks { json!([{"type": "text", "text": text}]) } else { json!(text) }
}

/// Marks the last part of a message as the end of what is kept in the cache.
fn mark(message: Option<&mut Json>) {
    let parts = message.and_then(|message| message["content"].as_array_mut());
    if let Some(part) = parts.and_then(|parts| parts.last_mut()) {
        part["cache_control"] = json!({"type": "ephemeral"});
    }
}

fn add_thinking(body: &mut Json, target: &Target, level: ThinkingLevel) {
    if !target.spec.thinks() {
        return;
    }
    match (target.dialect.thinking, level_word(target, level)) {
        (ThinkingStyle::Usual | ThinkingStyle::Word, Some(word)) => body["reasoning_effort"] = json!(word),
        (ThinkingStyle::Nested, Some(word)) => body["reasoning"] = json!({"effort": word}),
        (ThinkingStyle::Nested, None) => body["reasoning"] = json!({"enabled": false}),
        (ThinkingStyle::Usual | ThinkingStyle::Word, None) | (ThinkingStyle::Untold, _) => {}
    }
}

fn tool(tool: &ToolSpec) -> Json {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.parameters,
    }})
}

fn add_turn(messages: &mut Vec<Json>, dialect: &Dialect, turn: &Turn) {
    match turn {
        Turn::User(parts) => messages.push(json!({"role": "user", "content": shown(dialect, parts)})),
        Turn::Assistant(blocks) => messages.extend(answer(dialect, blocks)),
        Turn::Results(results) => {
            messages.extend(results.iter().map(|result| tool_message(dialect, result)));
            messages.extend(images(results));
        }
    }
}

/// Returns the content of a prompt. A single text stays a plain string, because small servers read nothing else.
fn shown(dialect: &Dialect, parts: &[Part]) -> Json {
    if let [Part::Text(text)] = parts {
        return content(dialect, text);
    }
    parts.iter().map(part).collect()
}

fn part(part: &Part) -> Json {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image { data, mime_type } => {
            json!({"type": "image_url", "image_url": {"url": data_url(data, mime_type)}})
        }
    }
}

/// The one message of an answer; none if it has neither text nor calls.
fn answer(dialect: &Dialect, blocks: &[AssistantBlock]) -> Option<Json> {
    let (mut texts, mut calls) = (Vec::new(), Vec::new());
    let mut thoughts = None;
    for block in blocks {
        match block {
            AssistantBlock::Text { text, .. } => texts.push(text.as_str()),
            AssistantBlock::Thinking(thinking) => {
                add_thought(&mut thoughts, thinking.signature.as_deref(), &thinking.text);
            }
            AssistantBlock::Call { id, name, arguments, .. } => {
                calls.push(call(dialect, id, name, arguments));
            }
        }
    }
    if texts.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = json!({"role": "assistant"});
    message["content"] = if texts.is_empty() { Json::Null } else { json!(texts.join("\n")) };
    if let Some((field, text)) = thoughts {
        message[field] = json!(text);
    }
    let details: Vec<Json> = blocks.iter().flat_map(details).collect();
    for (key, list) in [("reasoning_details", details), ("tool_calls", calls)] {
        if !list.is_empty() {
            message[key] = list.into();
        }
    }
    Some(message)
}

/// Returns the details that a gateway requires unchanged; pi stores them with the call that they belong to.
fn details(block: &AssistantBlock) -> Vec<Json> {
    match block {
        AssistantBlock::Text { .. } => Vec::new(),
        AssistantBlock::Thinking(thinking) => {
            thinking.details.iter().filter_map(Json::as_array).flatten().cloned().collect()
        }
        AssistantBlock::Call { signature, .. } => {
            signature.iter().filter_map(|text| serde_json::from_str(text).ok()).collect()
        }
    }
}

fn add_thought<'f>(thoughts: &mut Option<(&'f str, String)>, field: Option<&'f str>, text: &str) {
    if text.is_empty() {
        return;
    }
    match (thoughts, field) {
        (Some((_, thought)), _) => {
            thought.push('\n');
            thought.push_str(text);
        }
        (thoughts @ None, Some(field)) if THOUGHTS.contains(&field) => *thoughts = Some((field, text.into())),
        (None, _) => {}
    }
}

fn call(dialect: &Dialect, id: &str, name: &str, arguments: &Json) -> Json {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!({"id": call_id(dialect, id), "type": "function", "function": function})
}

fn call_id(dialect: &Dialect, id: &str) -> String {
    dialect.tool_id_length.map_or_else(|| fitting_id(id, LONGEST_ID), |length| exact_id(id, length))
}

fn tool_message(dialect: &Dialect, result: &ToolResult) -> Json {
    // The format has no place for failure.
    let text = if result.is_error { format!("Error: {}", result.text()) } else { result.text() };
    json!({"role": "tool", "tool_call_id": call_id(dialect, &result.id), "content": content(dialect, &text)})
}

/// The images of results, behind all of them: tool messages cannot carry them, and nothing may stand between.
fn images(results: &[ToolResult]) -> Option<Json> {
    let content = images_behind(results, part);
    (!content.is_empty()).then(|| json!({"role": "user", "content": content}))
}

/// Turns frames into events.
#[derive(Debug, Default)]
pub(super) struct CompletionsDecoder {
    /// The text or the thoughts that grow, and the field they come in.
    open: Option<(usize, &'static str)>,
    calls: Vec<Call>,
    details: Vec<Json>,
}

/// A call while it grows.
#[derive(Debug, Default)]
struct Call {
    number: Option<u64>,
    id: String,
    name: String,
    /// Its block, as soon as its name is known.
    index: Option<usize>,
    /// Arguments that came before the name.
    early: String,
}

const TEXT: &str = "content";
/// Thoughts that come as a part of the content. They are not sent back: Mistral refuses fields it does not know.
const THOUGHT_PART: &str = "thinking";
/// The fields of details that come in pieces.
const GROWING: [&str; 3] = ["text", "summary", "data"];

impl Decoder for CompletionsDecoder {
    fn frame(&mut self, frame: &Json, out: &mut Events) -> Result<(), RequestError> {
        out.begin(text(frame, "id"));
        let choice = &frame["choices"][0];
        for counts in [&frame["usage"], &choice["usage"]] {
            if counts.is_object() {
                out.usage(usage_of(counts));
            }
        }
        self.delta(&choice["delta"], out);
        stop(text(choice, "finish_reason"), out)
    }

    fn close(&mut self, out: &mut Events) {
        self.close_run(out);
        for index in self.calls.iter().filter_map(|call| call.index) {
            out.end(index, Map::new());
        }
        self.add_details(out);
    }
}

impl CompletionsDecoder {
    fn delta(&mut self, delta: &Json, out: &mut Events) {
        // Gateways send the same thoughts under two names.
        if let Some(field) = THOUGHTS.into_iter().find(|field| !text(delta, field).is_empty()) {
            self.grow(field, text(delta, field), out);
        }
        for key in [TEXT, "refusal"] {
            self.grow(TEXT, text(delta, key), out);
        }
        items(delta, TEXT).for_each(|part| self.part(part, out));
        items(delta, "tool_calls").for_each(|call| self.call(call, out));
        for detail in items(delta, "reasoning_details") {
            out.count(detail.to_string().len());
            self.detail(detail);
        }
    }

    /// Takes a part of a list, which Mistral sends in place of a text while a model thinks.
    fn part(&mut self, part: &Json, out: &mut Events) {
        self.grow(TEXT, text(part, "text"), out);
        for thought in items(part, "thinking") {
            self.grow(THOUGHT_PART, text(thought, "text"), out);
        }
    }

    /// Lets the text or the thoughts grow; a change from one to the other ends a block and begins one.
    fn grow(&mut self, field: &'static str, said: &str, out: &mut Events) {
        if said.is_empty() {
            return;
        }
        if self.open.is_none_or(|(_, open)| open != field) {
            self.close_run(out);
            let block = if field == TEXT { BlockStart::Text } else { BlockStart::Thinking };
            self.open = Some((out.start(block), field));
        }
        if let Some((index, _)) = self.open {
            out.delta(index, said);
        }
    }

    /// Ends the text or the thoughts that grow.
    fn close_run(&mut self, out: &mut Events) {
        let Some((index, field)) = self.open.take() else { return };
        let signature = if field == TEXT { String::new() } else { field.to_owned() };
        out.end(index, fields([("thinkingSignature", signature)]));
    }

    fn call(&mut self, delta: &Json, out: &mut Events) {
        self.close_run(out);
        let known = self.calls.len();
        let place = self.place(delta);
        // A call without a name begins no block, and is kept all the same.
        out.count((self.calls.len() - known) * size_of::<Call>());
        let call = &mut self.calls[place];
        let function = &delta["function"];
        if call.name.is_empty() {
            call.name = text(function, "name").into();
        }
        // Small servers send an object where a text belongs.
        let arguments = match &function["arguments"] {
            object @ Json::Object(_) => object.to_string(),
            _ => text(function, "arguments").to_owned(),
        };
        match call.index {
            Some(index) => out.delta(index, &arguments),
            None if call.name.is_empty() => {
                out.count(arguments.len());
                call.early.push_str(&arguments);
            }
            None => {
                let id = if call.id.is_empty() { format!("call_{}", out.calls) } else { call.id.clone() };
                let index = out.start(BlockStart::ToolCall { id, name: call.name.clone() });
                call.index = Some(index);
                out.delta(index, &std::mem::take(&mut call.early));
                out.delta(index, &arguments);
            }
        }
    }

    /// Finds the call that a delta belongs to (by its number, by its id, or the last one), or begins one.
    fn place(&mut self, delta: &Json) -> usize {
        let (number, id) = (delta["index"].as_u64(), text(delta, "id"));
        let is_same = |call: &Call| match number {
            // Some servers number all calls zero and distinguish them by their ids.
            Some(_) => call.number == number && (id.is_empty() || call.id.is_empty() || call.id == id),
            None => id.is_empty() || call.id == id,
        };
        if let Some(place) = self.calls.iter().rposition(is_same) {
            if self.calls[place].id.is_empty() {
                self.calls[place].id = id.to_owned();
            }
            return place;
        }
        self.calls.push(Call { number, id: id.to_owned(), ..Call::default() });
        self.calls.len() - 1
    }

    /// Joins the pieces of the details that OpenRouter requires back.
    fn detail(&mut self, piece: &Json) {
        let is_same = |known: &&mut Json| {
            piece["index"].is_number() && known["index"] == piece["index"] && known["type"] == piece["type"]
        };
        let Some(known) = self.details.iter_mut().find(is_same) else {
            self.details.push(piece.clone());
            return;
        };
        for (key, value) in piece.as_object().into_iter().flatten() {
            match (&mut known[key], value) {
                (Json::String(begun), Json::String(more)) if GROWING.contains(&&**key) => {
                    begun.push_str(more);
                }
                (_, Json::Null) => {}
                (known, value) => *known = value.clone(),
            }
        }
    }

    /// Stores the details if the thoughts alone do not suffice to restore them.
    fn add_details(&mut self, out: &mut Events) {
        let details = std::mem::take(&mut self.details);
        let has = |detail: &Json, key: &str| detail[key].as_str().is_some_and(|text| !text.is_empty());
        let is_sealed = |detail: &Json| has(detail, "signature") || has(detail, "data");
        if details.iter().any(is_sealed) {
            let index = out.start(BlockStart::Thinking);
            out.end(index, Map::from_iter([(DETAILS.to_owned(), details.into())]));
        }
    }
}

fn stop(reason: &str, out: &mut Events) -> Result<(), RequestError> {
    out.stop = match reason {
        "" => return Ok(()),
        "length" => Some(StopReason::Length),
        "tool_calls" | "function_call" => Some(StopReason::ToolUse),
        "content_filter" => return Err(RequestError::refusal("the service filtered the answer")),
        "error" | "network_error" | "model_context_window_exceeded" => return Err(RequestError::api(reason)),
        _ => Some(StopReason::Stop),
    };
    Ok(())
}

/// Reads counts; of two spellings for cached tokens the first is that of OpenAI.
fn usage_of(counts: &Json) -> Usage {
    let details = &counts["prompt_tokens_details"];
    let cached = details["cached_tokens"].as_u64();
    let cache_read = cached.unwrap_or_else(|| number(counts, "prompt_cache_hit_tokens"));
    let output = number(counts, "completion_tokens");
    usage(number(counts, "prompt_tokens"), output, cache_read, number(details, "cache_write_tokens"))
}

#[cfg(test)]
mod tests;
