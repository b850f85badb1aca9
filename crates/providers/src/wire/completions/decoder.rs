//! Frames of chat completions -> events.

use offshoot_agent::model::{BlockStart, StopReason, Usage};
use serde_json::{Map, Value as Json};

use super::THOUGHTS;
use crate::fault::Fault;
use crate::transform::DETAILS;
use crate::wire::events::{Events, fields};
use crate::wire::{Decoder, View};

/// Turns frames into events.
#[derive(Debug, Default)]
pub(crate) struct CompletionsDecoder {
    has_begun: bool,
    /// The text or the thoughts that grow, and the field they come in.
    open: Option<(usize, &'static str)>,
    calls: Vec<Call>,
    details: Vec<Json>,
    stop: Option<StopReason>,
    is_done: bool,
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
    fn frame(&mut self, frame: View<'_>, out: &mut Events) -> Result<(), Fault> {
        if !std::mem::replace(&mut self.has_begun, true) {
            out.begin(&frame.text("id"));
        }
        let choice = frame.at("choices").first();
        for counts in [frame.at("usage"), choice.at("usage")] {
            if counts.is_object() {
                out.usage(usage(counts));
            }
        }
        self.delta(choice.at("delta"), out);
        self.stop(&choice.text("finish_reason"))
    }

    fn finish(&mut self, out: &mut Events) -> Result<(), Fault> {
        if std::mem::replace(&mut self.is_done, true) {
            return Ok(());
        }
        let Some(stop) = self.stop else {
            return Err(Fault::BrokenOff("the stream ended before the answer did".into()));
        };
        self.close(out);
        for call in std::mem::take(&mut self.calls) {
            if let Some(index) = call.index {
                out.end(index, Map::new());
            }
        }
        self.add_details(out);
        out.stop(stop);
        Ok(())
    }
}

impl CompletionsDecoder {
    fn delta(&mut self, delta: View<'_>, out: &mut Events) {
        // Gateways send the same thoughts under two names.
        if let Some(field) = THOUGHTS.into_iter().find(|field| !delta.text(field).is_empty()) {
            self.grow(field, &delta.text(field), out);
        }
        for key in [TEXT, "refusal"] {
            self.grow(TEXT, &delta.text(key), out);
        }
        delta.at(TEXT).items().for_each(|part| self.part(part, out));
        delta.at("tool_calls").items().for_each(|call| self.call(call, out));
        for detail in delta.at("reasoning_details").items() {
            let detail = detail.to_json();
            out.count(detail.to_string().len());
            self.detail(&detail);
        }
    }

    /// Takes in a part of a list, which Mistral sends in place of a text while a model thinks.
    fn part(&mut self, part: View<'_>, out: &mut Events) {
        self.grow(TEXT, &part.text("text"), out);
        for thought in part.at("thinking").items() {
            self.grow(THOUGHT_PART, &thought.text("text"), out);
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

    fn call(&mut self, delta: View<'_>, out: &mut Events) {
        self.close(out);
        let known = self.calls.len();
        let place = self.place(delta);
        // A call without a name begins no block, and is kept all the same.
        out.count((self.calls.len() - known) * size_of::<Call>());
        let call = &mut self.calls[place];
        let function = delta.at("function");
        if call.name.is_empty() {
            call.name = function.text("name").into();
        }
        // Small servers send an object where a text belongs.
        let arguments = match function.at("arguments") {
            object if object.is_object() => object.to_json().to_string().into(),
            _ => function.text("arguments"),
        };
        match call.index {
            Some(index) => out.delta(index, &arguments),
            None if call.name.is_empty() => {
                out.count(arguments.len());
                call.early.push_str(&arguments);
            }
            None => {
                let id = if call.id.is_empty() { format!("call_{}", out.calls()) } else { call.id.clone() };
                let index = out.start(BlockStart::ToolCall { id, name: call.name.clone() });
                call.index = Some(index);
                out.delta(index, &std::mem::take(&mut call.early));
                out.delta(index, &arguments);
            }
        }
    }

    /// Finds the call a delta belongs to: by its number, by its id, or the last one; or begins one.
    fn place(&mut self, delta: View<'_>) -> usize {
        let (number, id) = (delta.at("index").as_u64(), delta.text("id"));
        let is_same = |call: &Call| match number {
            // Some servers number all calls zero and tell them apart by their ids.
            Some(_) => call.number == number && (id.is_empty() || call.id.is_empty() || call.id == id),
            None => id.is_empty() || call.id == id,
        };
        if let Some(place) = self.calls.iter().rposition(is_same) {
            if self.calls[place].id.is_empty() {
                self.calls[place].id = id.into_owned();
            }
            return place;
        }
        self.calls.push(Call { number, id: id.into_owned(), ..Call::default() });
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
                let complaint = crate::fault::Complaint { message: reason.into(), ..Default::default() };
                return Err(Fault::Complaint(complaint));
            }
            _ => Some(StopReason::Stop),
        };
        Ok(())
    }
}

/// Counts as services send them: the tokens of the request contain those of the cache.
fn usage(counts: View<'_>) -> Usage {
    let details = counts.at("prompt_tokens_details");
    let count = |value: View<'_>| value.as_u64().unwrap_or(0);
    let cache_read = details.at("cached_tokens").as_u64();
    let cache_read = cache_read.unwrap_or_else(|| count(counts.at("prompt_cache_hit_tokens")));
    let cache_write = count(details.at("cache_write_tokens"));
    let input = count(counts.at("prompt_tokens"));
    Usage {
        input: input.saturating_sub(cache_read + cache_write),
        output: count(counts.at("completion_tokens")),
        cache_read,
        cache_write,
    }
}
