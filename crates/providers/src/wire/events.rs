//! The events a decoder gives out, with the numbers of blocks kept in order.

use std::collections::VecDeque;

use offshoot_agent::model::{AnswerEvent, BlockEnd, BlockStart, StopReason, Usage};
use serde_json::{Map, Value as Json};

/// Events that wait to be taken.
#[derive(Debug, Default)]
pub(crate) struct Events {
    waiting: VecDeque<AnswerEvent>,
    blocks: usize,
    calls: usize,
}

impl Events {
    /// Takes the next event.
    pub(crate) fn pop(&mut self) -> Option<AnswerEvent> {
        self.waiting.pop_front()
    }

    /// The answer has begun.
    pub(crate) fn begin(&mut self, response_id: &str) {
        let response_id = (!response_id.is_empty()).then(|| response_id.to_owned());
        self.waiting.push_back(AnswerEvent::Begin { response_id });
    }

    /// A block begins; returns its number.
    pub(crate) fn start(&mut self, block: BlockStart) -> usize {
        let index = self.blocks;
        self.blocks += 1;
        self.calls += usize::from(matches!(block, BlockStart::ToolCall { .. }));
        self.waiting.push_back(AnswerEvent::BlockStart { index, block });
        index
    }

    /// A block goes on.
    pub(crate) fn delta(&mut self, index: usize, text: &str) {
        if !text.is_empty() {
            self.waiting.push_back(AnswerEvent::BlockDelta { index, text: text.into() });
        }
    }

    /// A block is complete.
    pub(crate) fn end(&mut self, index: usize, fields: Map<String, Json>) {
        self.waiting.push_back(AnswerEvent::BlockEnd { index, end: BlockEnd { fields } });
    }

    /// Tokens are counted.
    pub(crate) fn usage(&mut self, usage: Usage) {
        self.waiting.push_back(AnswerEvent::Usage(usage));
    }

    /// The answer is complete. Who calls tools wants them to be run, whatever the service says.
    pub(crate) fn stop(&mut self, stop: StopReason) {
        let stop = if stop == StopReason::Stop && self.calls > 0 { StopReason::ToolUse } else { stop };
        self.waiting.push_back(AnswerEvent::End { stop });
    }

    /// Returns how many tools were called.
    pub(crate) fn calls(&self) -> usize {
        self.calls
    }
}

/// The fields of a block that is complete, without those that are empty.
pub(crate) fn fields<const N: usize>(pairs: [(&str, String); N]) -> Map<String, Json> {
    let kept = pairs.into_iter().filter(|(_, value)| !value.is_empty());
    kept.map(|(key, value)| (key.to_owned(), Json::String(value))).collect()
}
