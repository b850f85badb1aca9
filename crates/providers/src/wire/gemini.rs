//! Google Gemini.
//!
//! An answer is a list of parts, each of which may be signed; signatures go back on the parts on which they came. The
//! format has no ids for calls that all models read: results are found by name and order.

use offshoot_agent::model::{BlockStart, Request, StopReason, ThinkingLevel, ToolSpec};
use serde_json::{Value as Json, json};

use super::events::{Events, fields};
use super::{
    Decoder, conversation, images_behind, items, level, level_word, max_output, number, text, usage,
};
use crate::catalogue::{Target, ThinkingStyle};
use crate::request_error::RequestError;
use crate::transform::{AssistantBlock, Part, ToolResult, Turn};

/// The tokens for thinking, by level.
const BUDGETS: [u64; 7] = [0, 512, 2_048, 8_192, 24_576, 24_576, 24_576];
/// The signature that the service accepts for a call of another model.
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
            Some(json!({"includeThoughts": true, "thinkingBudget": BUDGETS[level as usize]}))
        }
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

fn answer(target: &Target, blocks: &[AssistantBlock]) -> Vec<Json> {
    let wants_signature = target.dialect.thinking == ThinkingStyle::Word;
    let mut is_first_call = true;
    let part = |block: &AssistantBlock| match block {
        AssistantBlock::Text { text, signature } => signed(json!({"text": text}), signature.as_deref()),
        AssistantBlock::Thinking(thinking) => {
            signed(json!({"thought": true, "text": thinking.text}), thinking.signature.as_deref())
        }
        AssistantBlock::Call { name, arguments, signature, .. } => {
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

/// Turns frames into events.
#[derive(Debug, Default)]
pub(super) struct GeminiDecoder {
    response_id: String,
    open: Option<Open>,
}

/// The text or the thoughts that grow.
#[derive(Debug)]
struct Open {
    index: usize,
    is_thought: bool,
    signature: String,
}

impl Decoder for GeminiDecoder {
    fn frame(&mut self, frame: &Json, out: &mut Events) -> Result<(), RequestError> {
        out.begin(text(frame, "responseId"));
        if self.response_id.is_empty() {
            self.response_id = text(frame, "responseId").into();
        }
        let counts = &frame["usageMetadata"];
        if counts.is_object() {
            // The tokens of the answer do not contain the thoughts.
            let input = number(counts, "promptTokenCount") + number(counts, "toolUsePromptTokenCount");
            let output = number(counts, "candidatesTokenCount") + number(counts, "thoughtsTokenCount");
            out.usage(usage(input, output, number(counts, "cachedContentTokenCount"), 0));
        }
        let blocked = text(&frame["promptFeedback"], "blockReason");
        if !blocked.is_empty() {
            return Err(RequestError::refusal(&format!("the service blocked the prompt: {blocked}")));
        }
        let candidate = &frame["candidates"][0];
        items(&candidate["content"], "parts").for_each(|part| self.part(part, out));
        stop(text(candidate, "finishReason"), out)
    }

    fn close(&mut self, out: &mut Events) {
        let Some(open) = self.open.take() else { return };
        let key = if open.is_thought { "thinkingSignature" } else { "textSignature" };
        out.end(open.index, fields([(key, open.signature)]));
    }
}

impl GeminiDecoder {
    fn part(&mut self, part: &Json, out: &mut Events) {
        let (signature, call) = (text(part, "thoughtSignature"), &part["functionCall"]);
        if call.is_object() {
            self.close(out);
            self.call(call, signature, out);
        } else if let Some(said) = part["text"].as_str() {
            self.grow(part["thought"] == true, said, signature, out);
        }
    }

    /// A call comes whole.
    fn call(&self, call: &Json, signature: &str, out: &mut Events) {
        let id = match (text(call, "id"), self.response_id.as_str()) {
            ("", "") => format!("call_{}", out.calls),
            ("", response) => format!("{response}_{}", out.calls),
            (id, _) => id.to_owned(),
        };
        let index = out.start(BlockStart::ToolCall { id, name: text(call, "name").into() });
        if call["args"].is_object() {
            out.delta(index, &call["args"].to_string());
        }
        out.end(index, fields([("thoughtSignature", signature.to_owned())]));
    }

    /// Adds to the text or the thoughts; a part after a signature begins a new block.
    fn grow(&mut self, is_thought: bool, said: &str, signature: &str, out: &mut Events) {
        let goes_on =
            |open: &Open| open.is_thought == is_thought && (open.signature.is_empty() || said.is_empty());
        if !self.open.as_ref().is_some_and(goes_on) {
            if said.is_empty() && signature.is_empty() {
                return;
            }
            self.close(out);
            let block = if is_thought { BlockStart::Thinking } else { BlockStart::Text };
            self.open = Some(Open { index: out.start(block), is_thought, signature: String::new() });
        }
        if let Some(open) = &mut self.open {
            out.delta(open.index, said);
            if !signature.is_empty() {
                open.signature = signature.into();
            }
        }
    }
}

/// Takes the reason to stop. Counts may follow it, so the answer ends with the stream.
fn stop(reason: &str, out: &mut Events) -> Result<(), RequestError> {
    out.stop = match reason {
        "" | "FINISH_REASON_UNSPECIFIED" => return Ok(()),
        "STOP" => Some(StopReason::Stop),
        "MAX_TOKENS" => Some(StopReason::Length),
        // A second request may succeed.
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "OTHER" => {
            return Err(RequestError::api(&format!("the answer ended with {reason}")));
        }
        other => return Err(RequestError::refusal(&format!("the service stopped the answer: {other}"))),
    };
    Ok(())
}

#[cfg(test)]
mod tests;
