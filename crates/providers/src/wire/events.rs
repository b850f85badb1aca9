//! The events that a decoder emits, with the numbers of blocks kept in order and the size of the answer counted.

use std::collections::VecDeque;

use offshoot_agent::model::{AnswerEvent, BlockEnd, BlockStart, StopReason, Usage};
use serde_json::{Map, Value as Json};

use super::Decoder;
use crate::request_error::RequestError;

/// Events that wait to be taken.
#[derive(Debug, Default)]
pub(crate) struct Events {
    waiting: VecDeque<AnswerEvent>,
    has_begun: bool,
    has_ended: bool,
    /// The reason to stop that the service gave.
    pub(crate) stop: Option<StopReason>,
    blocks: usize,
    /// How many tools were called.
    pub(crate) calls: usize,
    /// The size of the answer so far.
    pub(crate) bytes: usize,
}

/// The bytes that a block counts for besides its text.
const BLOCK_BYTES: usize = 256;

impl Events {
    /// Takes the next event.
    pub(crate) fn pop(&mut self) -> Option<AnswerEvent> {
        self.waiting.pop_front()
    }

    /// The answer has begun; only the first call counts.
    pub(crate) fn begin(&mut self, response_id: &str) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        let response_id = (!response_id.is_empty()).then(|| response_id.to_owned());
        self.waiting.push_back(AnswerEvent::Begin { response_id });
    }

    /// A block begins; returns its number.
    pub(crate) fn start(&mut self, block: BlockStart) -> usize {
        let index = self.blocks;
        self.blocks += 1;
        self.count(BLOCK_BYTES);
        if let BlockStart::ToolCall { id, name } = &block {
            self.count(id.len() + name.len());
        }
        self.calls += usize::from(matches!(block, BlockStart::ToolCall { .. }));
        self.waiting.push_back(AnswerEvent::BlockStart { index, block });
        index
    }

    /// A block goes on.
    pub(crate) fn delta(&mut self, index: usize, text: &str) {
        if !text.is_empty() {
            self.count(text.len());
            self.waiting.push_back(AnswerEvent::BlockDelta { index, text: text.into() });
        }
    }

    /// A block is complete.
    pub(crate) fn end(&mut self, index: usize, fields: Map<String, Json>) {
        let length = |value: &Json| value.as_str().map_or_else(|| value.to_string().len(), str::len);
        self.count(fields.values().map(length).sum());
        self.waiting.push_back(AnswerEvent::BlockEnd { index, end: BlockEnd { fields } });
    }

    /// Tokens are counted.
    pub(crate) fn usage(&mut self, usage: Usage) {
        self.waiting.push_back(AnswerEvent::Usage(usage));
    }

    /// Ends the answer, or fails if the service gave no reason to stop. Only the first call counts. An answer with tool
    /// calls always ends with [`StopReason::ToolUse`], unless it was cut off.
    pub(crate) fn finish(&mut self, decoder: &mut dyn Decoder) -> Result<(), RequestError> {
        let Some(stop) = self.stop else {
            return Err(RequestError::BrokenOff("the stream ended before the answer did".into()));
        };
        if !std::mem::replace(&mut self.has_ended, true) {
            decoder.close(self);
            let stop = if stop == StopReason::Stop && self.calls > 0 { StopReason::ToolUse } else { stop };
            self.waiting.push_back(AnswerEvent::End { stop });
        }
        Ok(())
    }

    /// Counts bytes that a decoder keeps until it can emit them.
    pub(crate) fn count(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The fields of a block that is complete, without those that are empty.
pub(crate) fn fields<const N: usize>(pairs: [(&str, String); N]) -> Map<String, Json> {
    let kept = pairs.into_iter().filter(|(_, value)| !value.is_empty());
    kept.map(|(key, value)| (key.to_owned(), Json::String(value))).collect()
}
