//! The frames of an answer in each wire format, as the services send them.

use serde_json::{Value as Json, json};

use super::reply::{Answer, Block, Format, ScriptedStop, ScriptedUsage};

/// The frames of an answer.
pub(super) fn answer(format: Format, answer: &Answer) -> Vec<String> {
    match format {
        Format::Anthropic => named(&anthropic(answer)),
        Format::Responses => named(&responses(answer)),
        Format::Gemini => gemini(answer).iter().map(data).collect(),
        Format::Completions => {
            let frames = completions(answer);
            frames.iter().map(data).chain(["data: [DONE]\n\n".to_owned()]).collect()
        }
    }
}

/// An error in the words of the service.
pub(super) fn error(format: Format, status: u16, message: &str) -> Json {
    match format {
        Format::Anthropic => {
            let kind = match status {
                401 => "authentication_error",
                429 => "rate_limit_error",
                529 => "overloaded_error",
                500.. => "api_error",
                _ => "invalid_request_error",
            };
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Format::Completions | Format::Responses => {
            json!({"error": {"message": message, "type": "error", "code": null}})
        }
        Format::Gemini => json!([{"error": {"code": status, "message": message, "status": "FAILED"}}]),
    }
}

/// The complaint of each service about a conversation that is too long.
pub(super) fn overflow(format: Format) -> Json {
    match format {
        Format::Anthropic => error(format, 400, "prompt is too long: 210000 tokens > 200000 maximum"),
        Format::Completions => json!({"error": {
            "message": "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000.",
            "type": "invalid_request_error", "code": "context_length_exceeded",
        }}),
        Format::Responses => json!({"error": {
            "message": "Your input exceeds the context window of this model.",
            "type": "invalid_request_error", "code": "context_length_exceeded",
        }}),
        Format::Gemini => error(
            format,
            400,
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        ),
    }
}

fn data(frame: &Json) -> String {
    format!("data: {frame}\n\n")
}

/// Frames with the name of the event in front, which is the type in the data.
fn named(frames: &[Json]) -> Vec<String> {
    let name =
        |frame: &Json| format!("event: {}\n{}", frame["type"].as_str().unwrap_or_default(), data(frame));
    frames.iter().map(name).collect()
}

impl Answer {
    fn stop(&self) -> ScriptedStop {
        let calls = self.blocks.iter().any(|block| matches!(block, Block::Call { .. }));
        self.stop.unwrap_or(if calls { ScriptedStop::ToolUse } else { ScriptedStop::Stop })
    }
}

/// A text in pieces, as models say it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// The arguments of a call in two pieces, cut where it hurts.
fn halves(arguments: &Json) -> [String; 2] {
    let text = arguments.to_string();
    let middle = (text.len() / 2..).find(|place| text.is_char_boundary(*place)).unwrap_or(text.len());
    [text[..middle].to_owned(), text[middle..].to_owned()]
}

fn anthropic(answer: &Answer) -> Vec<Json> {
    let usage = answer.usage;
    let begin = json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "content": [], "stop_reason": null,
        "usage": {
            "input_tokens": usage.input, "output_tokens": 1,
            "cache_read_input_tokens": usage.cache_read, "cache_creation_input_tokens": usage.cache_write,
        },
    }});
    let mut frames = vec![begin, json!({"type": "ping"})];
    for (index, block) in answer.blocks.iter().enumerate() {
        let (start, deltas) = anthropic_block(block);
        frames.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        let delta = |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
        frames.extend(deltas.into_iter().map(delta));
        frames.push(json!({"type": "content_block_stop", "index": index}));
    }
    let reason = match answer.stop() {
        ScriptedStop::Stop => "end_turn",
        ScriptedStop::ToolUse => "tool_use",
        ScriptedStop::Length => "max_tokens",
    };
    frames.push(json!({
        "type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
        "usage": {"output_tokens": usage.output},
    }));
    frames.push(json!({"type": "message_stop"}));
    frames
}

fn anthropic_block(block: &Block) -> (Json, Vec<Json>) {
    match block {
        Block::Text(text) => {
            let deltas = words(text).map(|word| json!({"type": "text_delta", "text": word})).collect();
            (json!({"type": "text", "text": ""}), deltas)
        }
        Block::Thinking { text, signature } => {
            let deltas = words(text).map(|word| json!({"type": "thinking_delta", "thinking": word}));
            let signature = json!({"type": "signature_delta", "signature": signature});
            (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                deltas.chain([signature]).collect(),
            )
        }
        Block::Redacted(data) => (json!({"type": "redacted_thinking", "data": data}), Vec::new()),
        Block::Call { id, name, arguments } => {
            let deltas =
                halves(arguments).map(|half| json!({"type": "input_json_delta", "partial_json": half}));
            (json!({"type": "tool_use", "id": id, "name": name, "input": {}}), deltas.into())
        }
    }
}

fn completions(answer: &Answer) -> Vec<Json> {
    let chunk = |delta: Json, reason: Json| {
        json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        })
    };
    let mut frames = vec![chunk(json!({"role": "assistant", "content": ""}), Json::Null)];
    let mut calls = 0;
    for block in &answer.blocks {
        let deltas = completions_block(block, calls);
        calls += usize::from(matches!(block, Block::Call { .. }));
        frames.extend(deltas.into_iter().map(|delta| chunk(delta, Json::Null)));
    }
    let reason = match answer.stop() {
        ScriptedStop::Stop => "stop",
        ScriptedStop::ToolUse => "tool_calls",
        ScriptedStop::Length => "length",
    };
    frames.push(chunk(json!({}), json!(reason)));
    let ScriptedUsage { input, output, cache_read, .. } = answer.usage;
    frames.push(json!({"id": "chatcmpl-1", "choices": [], "usage": {
        "prompt_tokens": input + cache_read, "completion_tokens": output,
        "prompt_tokens_details": {"cached_tokens": cache_read},
    }}));
    frames
}

fn completions_block(block: &Block, number: usize) -> Vec<Json> {
    match block {
        Block::Text(text) => words(text).map(|word| json!({"content": word})).collect(),
        Block::Thinking { text, .. } => words(text).map(|word| json!({"reasoning_content": word})).collect(),
        Block::Redacted(_) => Vec::new(),
        Block::Call { id, name, arguments } => {
            let start = json!({"index": number, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
            let piece = |half: String| json!({"index": number, "function": {"arguments": half}});
            let calls = std::iter::once(start).chain(halves(arguments).map(piece));
            calls.map(|call| json!({"tool_calls": [call]})).collect()
        }
    }
}

fn responses(answer: &Answer) -> Vec<Json> {
    let mut frames =
        vec![json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}})];
    for (index, block) in answer.blocks.iter().enumerate() {
        frames.extend(responses_item(block, index));
    }
    let ScriptedUsage { input, output, cache_read, cache_write } = answer.usage;
    let is_cut = answer.stop() == ScriptedStop::Length;
    let (kind, status) =
        if is_cut { ("response.incomplete", "incomplete") } else { ("response.completed", "completed") };
    let details = if is_cut { json!({"reason": "max_output_tokens"}) } else { Json::Null };
    frames.push(json!({"type": kind, "response": {
        "id": "resp_1", "status": status, "incomplete_details": details,
        "usage": {
            "input_tokens": input + cache_read + cache_write, "output_tokens": output,
            "input_tokens_details": {"cached_tokens": cache_read, "cache_write_tokens": cache_write},
        },
    }}));
    frames
}

fn responses_item(block: &Block, index: usize) -> Vec<Json> {
    let (item, kind, pieces) = match block {
        Block::Text(text) => (
            json!({"type": "message", "id": format!("msg_{index}"), "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]}),
            "response.output_text.delta",
            words(text).map(str::to_owned).collect::<Vec<_>>(),
        ),
        Block::Thinking { text, signature } => (
            json!({"type": "reasoning", "id": format!("rs_{index}"), "encrypted_content": signature,
                "summary": [{"type": "summary_text", "text": text}]}),
            "response.reasoning_summary_text.delta",
            words(text).map(str::to_owned).collect(),
        ),
        Block::Redacted(_) => return Vec::new(),
        Block::Call { id, name, arguments } => (
            json!({"type": "function_call", "id": format!("fc_{index}"), "call_id": id, "name": name,
                "arguments": arguments.to_string(), "status": "completed"}),
            "response.function_call_arguments.delta",
            halves(arguments).into(),
        ),
    };
    let added = json!({"type": "response.output_item.added", "output_index": index, "item": begun(&item)});
    let done = json!({"type": "response.output_item.done", "output_index": index, "item": item});
    let delta = |piece| json!({"type": kind, "output_index": index, "delta": piece});
    [added].into_iter().chain(pieces.into_iter().map(delta)).chain([done]).collect()
}

/// An item as it is when it begins: named, but with nothing in it yet.
fn begun(item: &Json) -> Json {
    let mut begun = item.clone();
    for (key, nothing) in [("content", json!([])), ("summary", json!([])), ("arguments", json!(""))] {
        if let Some(value) = begun.get_mut(key) {
            *value = nothing;
        }
    }
    begun
}

fn gemini(answer: &Answer) -> Vec<Json> {
    let chunk = |part: Json| json!({"responseId": "gem_1", "candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]});
    let mut frames: Vec<Json> = answer.blocks.iter().flat_map(gemini_parts).map(chunk).collect();
    let reason = if answer.stop() == ScriptedStop::Length { "MAX_TOKENS" } else { "STOP" };
    let ScriptedUsage { input, output, cache_read, .. } = answer.usage;
    frames.push(json!({
        "responseId": "gem_1",
        "candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": reason, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": input + cache_read, "candidatesTokenCount": output,
            "cachedContentTokenCount": cache_read,
        },
    }));
    frames
}

fn gemini_parts(block: &Block) -> Vec<Json> {
    match block {
        Block::Text(text) => words(text).map(|word| json!({"text": word})).collect(),
        Block::Thinking { text, signature } => {
            let parts = words(text).map(|word| json!({"thought": true, "text": word}));
            parts.chain([json!({"thought": true, "text": "", "thoughtSignature": signature})]).collect()
        }
        Block::Redacted(_) => Vec::new(),
        Block::Call { id, name, arguments } => {
            vec![json!({"functionCall": {"id": id, "name": name, "args": arguments}})]
        }
    }
}
