//! Frames of responses -> events.

use std::collections::HashMap;

use offshoot_agent::model::{BlockStart, StopReason};
use serde_json::{Map, Value as Json, json};

use crate::fault::{Complaint, Fault};
use crate::wire::events::{Events, fields};
use crate::wire::{Decoder, items, number, text, usage};

/// Turns frames into events.
#[derive(Debug, Default)]
pub(crate) struct ResponsesDecoder {
    open: HashMap<u64, Open>,
    stop: Option<StopReason>,
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
    fn frame(&mut self, frame: &Json, out: &mut Events) -> Result<(), Fault> {
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

    fn finish(&mut self, out: &mut Events) -> Result<(), Fault> {
        out.stop(self.stop)
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

    fn complete(&mut self, response: &Json, out: &mut Events) -> Result<(), Fault> {
        let counts = &response["usage"];
        if counts.is_object() {
            let (input, details) = (number(counts, "input_tokens"), &counts["input_tokens_details"]);
            let (read, write) = (number(details, "cached_tokens"), number(details, "cache_write_tokens"));
            out.usage(usage(input, number(counts, "output_tokens"), read, write));
        }
        let reason = text(&response["incomplete_details"], "reason");
        let stop = match (text(response, "status"), reason) {
            ("failed" | "cancelled", _) => return Err(failure(response)),
            ("incomplete", "content_filter") => {
                return Err(Fault::refusal("the service filtered the answer"));
            }
            ("incomplete", _) => StopReason::Length,
            _ => StopReason::Stop,
        };
        self.stop = Some(stop);
        out.stop(self.stop)
    }
}

/// What stands between two parts of the thoughts or of a text.
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

/// What a complete item says.
fn whole(item: &Json) -> String {
    if text(item, "type") == "function_call" {
        return text(item, "arguments").into();
    }
    let parts = ["summary", "content"].into_iter().flat_map(|key| items(item, key));
    let texts = parts.map(|part| [text(part, "text"), text(part, "refusal")].concat());
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(PARTS)
}

/// What is needed to send an item back.
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

fn failure(response: &Json) -> Fault {
    let complaint = Complaint::read(0, response).map(Fault::Complaint);
    complaint.unwrap_or_else(|| Fault::complaint("the response failed"))
}
