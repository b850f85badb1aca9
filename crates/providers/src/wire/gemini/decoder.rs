//! Frames of Gemini -> events.

use offshoot_agent::model::{BlockStart, StopReason, Usage};
use serde_json::{Map, Value as Json};

use crate::fault::{Complaint, Fault};
use crate::wire::events::{Events, fields};
use crate::wire::{Decoder, View};

/// Turns frames into events.
#[derive(Debug, Default)]
pub(crate) struct GeminiDecoder {
    has_begun: bool,
    response_id: String,
    open: Option<Open>,
    stop: Option<StopReason>,
    is_done: bool,
}

/// The text or the thoughts that grow.
#[derive(Debug)]
struct Open {
    index: usize,
    is_thought: bool,
    signature: String,
}

impl Decoder for GeminiDecoder {
    fn frame(&mut self, frame: View<'_>, out: &mut Events) -> Result<(), Fault> {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.response_id = frame.text("responseId").into();
            out.begin(&self.response_id);
        }
        let counts = frame.at("usageMetadata");
        if counts.is_object() {
            out.usage(usage(counts));
        }
        let blocked = frame.at("promptFeedback").text("blockReason");
        if !blocked.is_empty() {
            return Err(Fault::refusal(&format!("the service blocked the prompt: {blocked}")));
        }
        let candidate = frame.at("candidates").first();
        candidate.at("content").at("parts").items().for_each(|part| self.part(part, out));
        self.stop(&candidate.text("finishReason"))
    }

    /// The format has no mark for the end; the reason to stop is one, and counts may follow it.
    fn finish(&mut self, out: &mut Events) -> Result<(), Fault> {
        let Some(stop) = self.stop else {
            return Err(Fault::BrokenOff("the stream ended before the answer did".into()));
        };
        if !std::mem::replace(&mut self.is_done, true) {
            self.close(out);
            out.stop(stop);
        }
        Ok(())
    }
}

impl GeminiDecoder {
    fn part(&mut self, part: View<'_>, out: &mut Events) {
        let (signature, call) = (part.text("thoughtSignature"), part.at("functionCall"));
        if call.is_object() {
            self.close(out);
            self.call(call, &signature, out);
        } else if part.at("text").is_string() {
            self.grow(part.at("thought").is_true(), &part.text("text"), &signature, out);
        }
    }

    /// A call comes whole.
    fn call(&self, call: View<'_>, signature: &str, out: &mut Events) {
        let own_id = call.text("id");
        let id = match (&*own_id, self.response_id.as_str()) {
            ("", "") => format!("call_{}", out.calls()),
            ("", response) => format!("{response}_{}", out.calls()),
            (id, _) => id.to_owned(),
        };
        let index = out.start(BlockStart::ToolCall { id, name: call.text("name").into() });
        let arguments = call.at("args");
        if arguments.is_object() {
            out.delta(index, &arguments.to_json().to_string());
        }
        out.end(index, fields([("thoughtSignature", signature.to_owned())]));
    }

    /// Text and thoughts grow; what follows a signature is a part of its own.
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

    fn close(&mut self, out: &mut Events) {
        let Some(open) = self.open.take() else { return };
        let key = if open.is_thought { "thinkingSignature" } else { "textSignature" };
        let fields: Map<String, Json> = fields([(key, open.signature)]);
        out.end(open.index, fields);
    }

    fn stop(&mut self, reason: &str) -> Result<(), Fault> {
        self.stop = match reason {
            "" | "FINISH_REASON_UNSPECIFIED" => return Ok(()),
            "STOP" => Some(StopReason::Stop),
            "MAX_TOKENS" => Some(StopReason::Length),
            // The model stumbled; asked again, it may not.
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "OTHER" => {
                let message = format!("the answer ended with {reason}");
                return Err(Fault::Complaint(Complaint { message, ..Complaint::default() }));
            }
            other => return Err(Fault::refusal(&format!("the service stopped the answer: {other}"))),
        };
        Ok(())
    }
}

/// Counts as the service sends them: the tokens of the request contain those of the cache, those of the answer do not
/// contain the thoughts.
fn usage(counts: View<'_>) -> Usage {
    let count = |key: &str| counts.at(key).as_u64().unwrap_or(0);
    let cache_read = count("cachedContentTokenCount");
    let input = count("promptTokenCount") + count("toolUsePromptTokenCount");
    Usage {
        input: input.saturating_sub(cache_read),
        output: count("candidatesTokenCount") + count("thoughtsTokenCount"),
        cache_read,
        cache_write: 0,
    }
}
