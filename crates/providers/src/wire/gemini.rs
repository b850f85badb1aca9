//! Google Gemini.
//!
//! An answer is a list of parts, each of which may be signed; signatures go back on the parts on which they came. The
//! format has no ids for calls that all models read: results are found by name and order.

mod decoder;

use offshoot_agent::model::{Request, ThinkingLevel, ToolSpec};
use serde_json::{Value as Json, json};

use super::{conversation, images_behind, level, level_word, max_output};
use crate::catalogue::{Target, ThinkingStyle};
use crate::transform::{Part, Said, ToolResult, Turn};

pub(super) use decoder::GeminiDecoder;

/// What the service takes in the place of a signature for a call that it has not made itself.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Makes the body of a request.
pub(super) fn body(target: &Target, request: &Request) -> Json {
    let mut config = json!({"maxOutputTokens": max_output(target, request)});
    if let Some(thinking) = thinking(target, request) {
        config["thinkingConfig"] = thinking;
    }
    let mut body = json!({"generationConfig": config});
    if !request.system.is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": request.system}]});
    }
    if !request.tools.is_empty() {
        let tools: Vec<Json> = request.tools.iter().map(tool).collect();
        body["tools"] = json!([{"functionDeclarations": tools}]);
    }
    let turns = conversation(target, request);
    body["contents"] = turns.iter().flat_map(|turn| contents(target, turn)).collect();
    body
}

fn thinking(target: &Target, request: &Request) -> Option<Json> {
    if !target.spec.thinks() {
        return None;
    }
    let level = level(target, request);
    match target.dialect.thinking {
        ThinkingStyle::Untold => None,
        ThinkingStyle::Word => {
            let word = level_word(target, level)?;
            Some(json!({"includeThoughts": true, "thinkingLevel": word.to_uppercase()}))
        }
        ThinkingStyle::Usual | ThinkingStyle::Nested if level == ThinkingLevel::Off => {
            Some(json!({"thinkingBudget": 0}))
        }
        ThinkingStyle::Usual | ThinkingStyle::Nested => {
            Some(json!({"includeThoughts": true, "thinkingBudget": budget(level)}))
        }
    }
}

fn budget(level: ThinkingLevel) -> u64 {
    match level {
        ThinkingLevel::Off => 0,
        ThinkingLevel::Minimal => 512,
        ThinkingLevel::Low => 2_048,
        ThinkingLevel::Medium => 8_192,
        ThinkingLevel::High | ThinkingLevel::Xhigh | ThinkingLevel::Max => 24_576,
    }
}

fn tool(tool: &ToolSpec) -> Json {
    json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters})
}

fn contents(target: &Target, turn: &Turn) -> Vec<Json> {
    match turn {
        Turn::User(parts) => {
            vec![json!({"role": "user", "parts": parts.iter().map(part).collect::<Vec<_>>()})]
        }
        Turn::Assistant(blocks) => vec![json!({"role": "model", "parts": answer(target, blocks)})],
        Turn::Results(results) => results_of(target, results),
    }
}

fn part(part: &Part) -> Json {
    match part {
        Part::Text(text) => json!({"text": text}),
        Part::Image { data, mime_type } => json!({"inlineData": {"mimeType": mime_type, "data": data}}),
    }
}

fn answer(target: &Target, blocks: &[Said]) -> Vec<Json> {
    let wants_signature = target.dialect.thinking == ThinkingStyle::Word;
    let mut is_first_call = true;
    let part = |block: &Said| match block {
        Said::Text { text, signature } => signed(json!({"text": text}), signature.as_deref()),
        Said::Thinking(thinking) => {
            signed(json!({"thought": true, "text": thinking.text}), thinking.signature.as_deref())
        }
        Said::Call { name, arguments, signature, .. } => {
            // Only the first call of an answer must be signed, and these models refuse one that is not.
            let stand_in = Some(UNSIGNED).filter(|_| wants_signature && is_first_call);
            is_first_call = false;
            signed(
                json!({"functionCall": {"name": name, "args": arguments}}),
                signature.as_deref().or(stand_in),
            )
        }
    };
    blocks.iter().map(part).collect()
}

fn signed(mut part: Json, signature: Option<&str>) -> Json {
    if let Some(signature) = signature {
        part["thoughtSignature"] = json!(signature);
    }
    part
}

/// All results of an answer in one content; images behind it, unless the model reads them inside.
fn results_of(target: &Target, results: &[ToolResult]) -> Vec<Json> {
    let inside = target.dialect.images_in_results;
    let parts: Vec<Json> = results.iter().map(|one| result(one, inside)).collect();
    let mut contents = vec![json!({"role": "user", "parts": parts})];
    let images = images_behind(results, part);
    if !inside && !images.is_empty() {
        contents.push(json!({"role": "user", "parts": images}));
    }
    contents
}

fn result(result: &ToolResult, with_images: bool) -> Json {
    let key = if result.is_error { "error" } else { "output" };
    let mut response = json!({"name": result.name, "response": {key: result.text()}});
    let images: Vec<Json> = result.images().map(part).collect();
    if with_images && !images.is_empty() {
        response["parts"] = images.into();
    }
    json!({"functionResponse": response})
}

#[cfg(test)]
mod tests;
