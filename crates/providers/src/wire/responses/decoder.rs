//! Frames of responses -> events.

use std::collections::HashMap;

use offshoot_agent::model::{BlockStart, StopReason, Usage};
use serde_json::{Map, Value as Json, json};

use crate::fault::{Complaint, Fault};
use crate::wire::events::{Events, fields};
use crate::wire::{Decoder, View};

/// Turns frames into events.
#[derive(Debug, Default)]
pub(crate) struct ResponsesDecoder {
    open: HashMap<u64, Open>,
    is_done: bool,
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
    fn frame(&mut self, frame: View<'_>, out: &mut Events) -> Result<(), Fault> {
        match &*frame.text("type") {
            "response.created" => out.begin(&frame.at("response").text("id")),
            "response.output_item.added" => self.start(frame, out),
            "response.output_item.done" => self.end(frame, out),
            "response.reasoning_summary_text.delta" => self.delta(frame, "summary_index", out),
            "response.reasoning_text.delta" | "response.output_text.delta" | "response.refusal.delta" => {
                self.delta(frame, "content_index", out);
            }
            "response.function_call_arguments.delta" => self.delta(frame, "", out),
            "response.completed" | "response.incomplete" | "response.done" => {
                return self.complete(frame.at("response"), out);
            }
            "response.failed" => return Err(failure(&frame.at("response").to_json())),
            "error" => return Err(failure(&json!({"error": frame.to_json()}))),
            // Repetitions of what has come in pieces, and what comes in later versions.
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, _: &mut Events) -> Result<(), Fault> {
        if self.is_done {
            Ok(())
        } else {
            Err(Fault::BrokenOff("the stream ended before the response did".into()))
        }
    }
}

impl ResponsesDecoder {
    fn start(&mut self, frame: View<'_>, out: &mut Events) {
        if let Some(block) = block(frame.at("item")) {
            let index = out.start(block);
            self.open.insert(number(frame), Open { index, has_grown: false, part: 0 });
        }
    }

    fn delta(&mut self, frame: View<'_>, part_key: &str, out: &mut Events) {
        let Some(open) = self.open.get_mut(&number(frame)) else { return };
        let part = frame.at(part_key).as_u64().unwrap_or(0);
        if part != open.part && open.has_grown {
            out.delta(open.index, PARTS);
        }
        open.part = part;
        open.has_grown = true;
        out.delta(open.index, &frame.text("delta"));
    }

    fn end(&mut self, frame: View<'_>, out: &mut Events) {
        if !self.open.contains_key(&number(frame)) {
            self.start(frame, out);
        }
        let Some(open) = self.open.remove(&number(frame)) else { return };
        let item = frame.at("item");
        if !open.has_grown {
            out.delta(open.index, &whole(item));
        }
        out.end(open.index, signature(item));
    }

    fn complete(&mut self, response: View<'_>, out: &mut Events) -> Result<(), Fault> {
        let counts = response.at("usage");
        if counts.is_object() {
            out.usage(usage(counts));
        }
        let reason = response.at("incomplete_details").text("reason");
        let stop = match (&*response.text("status"), &*reason) {
            ("failed" | "cancelled", _) => return Err(failure(&response.to_json())),
            ("incomplete", "content_filter") => {
                return Err(Fault::refusal("the service filtered the answer"));
            }
            ("incomplete", _) => StopReason::Length,
            _ => StopReason::Stop,
        };
        self.is_done = true;
        out.stop(stop);
        Ok(())
    }
}

/// What stands between two parts of the thoughts or of a text.
const PARTS: &str = "\n\n";

fn number(frame: View<'_>) -> u64 {
    frame.at("output_index").as_u64().unwrap_or(0)
}

fn block(item: View<'_>) -> Option<BlockStart> {
    match &*item.text("type") {
        "message" => Some(BlockStart::Text),
        "reasoning" => Some(BlockStart::Thinking),
        "function_call" => {
            let id = format!("{}|{}", item.text("call_id"), item.text("id"));
            Some(BlockStart::ToolCall { id, name: item.text("name").into() })
        }
        _ => None,
    }
}

/// What a complete item says.
fn whole(item: View<'_>) -> String {
    if item.text("type") == "function_call" {
        return item.text("arguments").into();
    }
    let parts = ["summary", "content"].into_iter().flat_map(|key| item.at(key).items());
    let texts = parts.map(|part| [part.text("text"), part.text("refusal")].concat());
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(PARTS)
}

/// What is needed to send an item back.
fn signature(item: View<'_>) -> Map<String, Json> {
    match &*item.text("type") {
        "reasoning" => fields([("thinkingSignature", item.to_json().to_string())]),
        "message" => {
            let mut signature = json!({"v": 1, "id": item.text("id")});
            if let Some(phase) = item.at("phase").as_str() {
                signature["phase"] = phase.into();
            }
            fields([("textSignature", signature.to_string())])
        }
        _ => Map::new(),
    }
}

fn failure(response: &Json) -> Fault {
    let unknown = || Complaint { message: "the response failed".into(), ..Complaint::default() };
    Fault::Complaint(Complaint::read(0, response).unwrap_or_else(unknown))
}

/// Counts as the service sends them: the tokens of the request contain those of the cache.
fn usage(counts: View<'_>) -> Usage {
    let count = |value: View<'_>| value.as_u64().unwrap_or(0);
    let details = counts.at("input_tokens_details");
    let (cache_read, cache_write) =
        (count(details.at("cached_tokens")), count(details.at("cache_write_tokens")));
    Usage {
        input: count(counts.at("input_tokens")).saturating_sub(cache_read + cache_write),
        output: count(counts.at("output_tokens")),
        cache_read,
        cache_write,
    }
}
