//! Frames of Gemini -> events.

use offshoot_agent::model::{BlockStart, StopReason};
use serde_json::{Map, Value as Json};

use crate::fault::Fault;
use crate::wire::events::{Events, fields};
use crate::wire::{Decoder, items, number, text, usage};

/// Turns frames into events.
#[derive(Debug, Default)]
pub(crate) struct GeminiDecoder {
    response_id: String,
    open: Option<Open>,
    stop: Option<StopReason>,
}

/// The text or the thoughts that grow.
#[derive(Debug)]
struct Open {
    index: usize,
    is_thought: bool,
    signature: String,
}

impl Decoder for GeminiDecoder {
    fn frame(&mut self, frame: &Json, out: &mut Events) -> Result<(), Fault> {
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
            return Err(Fault::refusal(&format!("the service blocked the prompt: {blocked}")));
        }
        let candidate = &frame["candidates"][0];
        items(&candidate["content"], "parts").for_each(|part| self.part(part, out));
        self.stop(text(candidate, "finishReason"))
    }

    /// The format has no mark for the end; the reason to stop is one, and counts may follow it.
    fn finish(&mut self, out: &mut Events) -> Result<(), Fault> {
        if self.stop.is_some() {
            self.close(out);
        }
        out.stop(self.stop)
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
                return Err(Fault::complaint(&format!("the answer ended with {reason}")));
            }
            other => return Err(Fault::refusal(&format!("the service stopped the answer: {other}"))),
        };
        Ok(())
    }
}
