//! What a model says while it answers.

use serde_json::{Map, Value as Json};

/// One step of an answer.
///
/// Blocks are numbered in the order in which they begin, from zero. Blocks may grow side by side.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AnswerEvent {
    /// The service has begun to answer.
    Begin {
        /// The service's own name for the answer.
        response_id: Option<String>,
    },
    /// A block begins.
    BlockStart {
        /// Its number.
        index: usize,
        /// What it is.
        block: BlockStart,
    },
    /// A block goes on.
    BlockDelta {
        /// Its number.
        index: usize,
        /// The next part of its text, its thoughts, or the JSON of its arguments.
        text: String,
    },
    /// A block is complete.
    BlockEnd {
        /// Its number.
        index: usize,
        /// What is known only now.
        end: BlockEnd,
    },
    /// The tokens used so far; the latest counts.
    Usage(Usage),
    /// The answer is complete.
    End {
        /// Why it ended.
        stop: StopReason,
    },
}

/// What a block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockStart {
    /// Text.
    Text,
    /// Thoughts.
    Thinking,
    /// A call of a tool.
    ToolCall {
        /// The id that its result will name.
        id: String,
        /// The name of the tool.
        name: String,
    },
}

/// What is known only when a block is complete: fields that go into the stored block as they are, such as
/// `thinkingSignature`, `textSignature`, `thoughtSignature` or `redacted`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BlockEnd {
    /// The fields.
    pub fields: Map<String, Json>,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The model is done.
    Stop,
    /// The model wants tools to be run.
    ToolUse,
    /// The answer is as long as it may be.
    Length,
}

impl StopReason {
    /// Returns the name that files use.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Stop => "stop",
            StopReason::ToolUse => "toolUse",
            StopReason::Length => "length",
        }
    }
}

/// The tokens of an answer. `input` counts only what was neither read from nor written to a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the answer, thoughts included.
    pub output: u64,
    /// Tokens of the request that were found in a cache.
    pub cache_read: u64,
    /// Tokens of the request that were put into a cache.
    pub cache_write: u64,
}

impl Usage {
    /// Returns the sum of all.
    pub fn total(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}
