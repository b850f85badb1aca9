//! The events of a streamed answer.

use serde_json::{Map, Value as Json};

/// One step of an answer.
///
/// Blocks are numbered from zero in the order in which they start. They may be streamed concurrently.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AnswerEvent {
    /// The service has started to answer.
    Begin {
        /// The id of the answer in the service.
        response_id: Option<String>,
    },
    /// A block starts.
    BlockStart {
        /// Its number.
        index: usize,
        /// The type of the block.
        block: BlockStart,
    },
    /// A part of a block.
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
        /// The final fields of the block.
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

/// The type of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockStart {
    /// Text.
    Text,
    /// Thoughts.
    Thinking,
    /// A call of a tool.
    ToolCall {
        /// The id that the result refers to.
        id: String,
        /// The name of the tool.
        name: String,
    },
}

/// The fields of a complete block that are stored unchanged, such as `thinkingSignature`, `textSignature`,
/// `thoughtSignature` or `redacted`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BlockEnd {
    /// The fields.
    pub fields: Map<String, Json>,
}

/// The reason why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The model has finished.
    Stop,
    /// The model calls tools.
    ToolUse,
    /// The answer reached the output limit.
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

/// The tokens of an answer. `input` excludes tokens read from or written to a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the answer, including thinking.
    pub output: u64,
    /// Tokens of the request that were read from a cache.
    pub cache_read: u64,
    /// Tokens of the request that were written to a cache.
    pub cache_write: u64,
}

impl Usage {
    /// Returns the sum of all tokens.
    pub fn total(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}
