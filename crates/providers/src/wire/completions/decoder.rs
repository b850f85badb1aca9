//! Frames of chat completions -> events.

use offshoot_agent::model::{BlockStart, StopReason, Usage};
use serde_json::{Map, Value as Json};

use super::THOUGHTS;
use crate::fault::Fault;
use crate::transform::DETAILS;
use crate::wire::events::{Events, fields};
use crate::wire::{Decoder, items, number, text, usage};

/// Turns frames into events.
#[derive(Debug, Default)]
pub(crate) struct CompletionsDecoder {
    /// The text or the thoughts that grow, and the field they come in.
    open: Option<(usize, &'static str)>,
    calls: Vec<Call>,
    details: Vec<Json>,
    stop: Option<StopReason>,
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
    fn frame(&mut self, frame: &Json, out: &mut Events) -> Result<(), Fault> {
        out.begin(text(frame, "id"));
        let choice = &frame["choices"][0];
        for counts in [&frame["usage"], &choice["usage"]] {
            if counts.is_object() {
                out.usage(usage_of(counts));
            }
        }
        self.delta(&choice["delta"], out);
        self.stop(text(choice, "finish_reason"))
    }

    fn finish(&mut self, out: &mut Events) -> Result<(), Fault> {
        if self.stop.is_none() || out.has_ended {
            return out.stop(self.stop);
        }
        self.close(out);
        for call in std::mem::take(&mut self.calls) {
            if let Some(index) = call.index {
                out.end(index, Map::new());
            }
        }
        self.add_details(out);
        out.stop(self.stop)
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

    /// Takes in a part of a list, which Mistral sends in place of a text while a model thinks.
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
            self.close(out);
            let block = if field == TEXT { BlockStart::Text } else { BlockStart::Thinking };
            self.open = Some((out.start(block), field));
        }
        if let Some((index, _)) = self.open {
            out.delta(index, said);
        }
    }

    fn close(&mut self, out: &mut Events) {
        let Some((index, field)) = self.open.take() else { return };
        let signature = if field == TEXT { String::new() } else { field.to_owned() };
        out.end(index, fields([("thinkingSignature", signature)]));
    }

    fn call(&mut self, delta: &Json, out: &mut Events) {
        self.close(out);
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

    /// Finds the call a delta belongs to: by its number, by its id, or the last one; or begins one.
    fn place(&mut self, delta: &Json) -> usize {
        let (number, id) = (delta["index"].as_u64(), text(delta, "id"));
        let is_same = |call: &Call| match number {
            // Some servers number all calls zero and tell them apart by their ids.
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

    /// Puts the pieces of what OpenRouter wants to have back together.
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

    /// Keeps what cannot be told from the thoughts themselves.
    fn add_details(&mut self, out: &mut Events) {
        let details = std::mem::take(&mut self.details);
        let has = |detail: &Json, key: &str| detail[key].as_str().is_some_and(|text| !text.is_empty());
        let is_sealed = |detail: &Json| has(detail, "signature") || has(detail, "data");
        if details.iter().any(is_sealed) {
            let index = out.start(BlockStart::Thinking);
            out.end(index, Map::from_iter([(DETAILS.to_owned(), details.into())]));
        }
    }

    fn stop(&mut self, reason: &str) -> Result<(), Fault> {
        self.stop = match reason {
            "" => return Ok(()),
            "length" => Some(StopReason::Length),
            "tool_calls" | "function_call" => Some(StopReason::ToolUse),
            "content_filter" => return Err(Fault::refusal("the service filtered the answer")),
            "error" | "network_error" | "model_context_window_exceeded" => {
                return Err(Fault::complaint(reason));
            }
            _ => Some(StopReason::Stop),
        };
        Ok(())
    }
}

/// Reads counts; of two spellings for cached tokens the first is that of OpenAI.
fn usage_of(counts: &Json) -> Usage {
    let details = &counts["prompt_tokens_details"];
    let cached = details["cached_tokens"].as_u64();
    let cache_read = cached.unwrap_or_else(|| number(counts, "prompt_cache_hit_tokens"));
    let output = number(counts, "completion_tokens");
    usage(number(counts, "prompt_tokens"), output, cache_read, number(details, "cache_write_tokens"))
}
