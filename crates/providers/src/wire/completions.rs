//! OpenAI chat completions, and everything that is compatible with them by its address.
//!
//! The format has one text and one list of calls per answer, so borders between blocks are lost on the way back.
//! Thoughts go back under the name under which they came, which sessions keep as their signature.

mod decoder;

use offshoot_agent::model::{Request, ThinkingLevel, ToolSpec};
use serde_json::{Value as Json, json};

use super::{cache_key, conversation, data_url, images_behind, level, level_word, max_output};
use crate::catalogue::{Dialect, Target, ThinkingStyle};
use crate::transform::{Part, Said, ToolResult, Turn, exact_id, fitting_id};

pub(super) use decoder::CompletionsDecoder;

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

/// What a user says: plain text if it is one, for small servers read nothing else.
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
fn answer(dialect: &Dialect, blocks: &[Said]) -> Option<Json> {
    let (mut texts, mut calls) = (Vec::new(), Vec::new());
    let mut thoughts = None;
    for block in blocks {
        match block {
            Said::Text { text, .. } => texts.push(text.as_str()),
            Said::Thinking(thinking) => {
                add_thought(&mut thoughts, thinking.signature.as_deref(), &thinking.text);
            }
            Said::Call { id, name, arguments, .. } => calls.push(call(dialect, id, name, arguments)),
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

/// What a gateway wants to have back as it came; pi keeps it with the call it belongs to.
fn details(block: &Said) -> Vec<Json> {
    match block {
        Said::Text { .. } => Vec::new(),
        Said::Thinking(thinking) => {
            thinking.details.iter().filter_map(Json::as_array).flatten().cloned().collect()
        }
        Said::Call { signature, .. } => {
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

#[cfg(test)]
mod tests;
