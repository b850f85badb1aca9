//! OpenAI responses.
//!
//! An answer is a list of items; thoughts come encrypted. Sessions keep an item of thoughts whole, as the signature of
//! its block, and the ids of texts and calls, so that the same model gets its items back as they were. Nothing is
//! stored at the service.

mod decoder;

use offshoot_agent::model::{Request, ToolSpec};
use serde_json::{Value as Json, json};

use super::{cache_key, conversation, data_url, level, level_word, max_output};
use crate::catalogue::{Target, ThinkingStyle};
use crate::transform::{Part, Said, Thinking, ToolResult, Turn, fitting_id, item_id};

pub(super) use decoder::ResponsesDecoder;

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
    body["input"] = turns.iter().flat_map(items).collect();
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

fn items(turn: &Turn) -> Vec<Json> {
    match turn {
        Turn::User(parts) => {
            vec![json!({"role": "user", "content": parts.iter().map(part).collect::<Vec<_>>()})]
        }
        Turn::Assistant(blocks) => blocks.iter().filter_map(said).collect(),
        Turn::Results(results) => results.iter().map(result).collect(),
    }
}

fn said(said: &Said) -> Option<Json> {
    match said {
        Said::Text { text, signature } => Some(text_item(text, signature.as_deref())),
        Said::Thinking(thinking) => thought(thinking),
        Said::Call { id, name, arguments, .. } => Some(call_item(id, name, arguments)),
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

#[cfg(test)]
mod tests;
