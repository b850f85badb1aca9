//! The share of the context window that is left for an answer.
//!
//! Services count the request and the longest possible answer together, and refuse what exceeds the window. Never calls
//! a tokenizer.

use offshoot_agent::model::{Request, ToolSpec};
use session_tree::json::ValueRef;
use session_tree::{Block, Message};

use crate::catalogue::Target;

/// The most tokens kept free, because the size of the request is an estimate.
const MOST_MARGIN: u64 = 4_096;
/// The least that is asked for. If not even that is left, the service refuses the request and it is compacted.
const SMALLEST_ANSWER: u64 = 1_024;
/// The tokens of an image; services scale larger ones down.
const IMAGE_TOKENS: u64 = 1_600;

/// Returns the most tokens of the answer: what is wanted, what the model can write, and what the window has left.
pub(super) fn max_output(target: &Target, request: &Request) -> u64 {
    let spec = &target.spec;
    let wanted = request.max_output.map_or(spec.max_output, |wanted| wanted.min(spec.max_output));
    let window = spec.context_window;
    if window == 0 {
        return wanted;
    }
    let used = request.input_tokens.unwrap_or_else(|| estimate(request));
    let left = window.saturating_sub(used).saturating_sub((window / 50).min(MOST_MARGIN));
    wanted.min(left.max(SMALLEST_ANSWER))
}

/// Estimates the tokens of a request from its length.
fn estimate(request: &Request) -> u64 {
    let tools = request.tools.iter().map(tool_tokens).sum::<u64>();
    text_tokens(&request.system) + tools + request.messages.iter().map(message_tokens).sum::<u64>()
}

fn tool_tokens(tool: &ToolSpec) -> u64 {
    text_tokens(&tool.name) + text_tokens(&tool.description) + text_tokens(&tool.parameters.to_string())
}

fn message_tokens(message: &Message) -> u64 {
    let tokens = |block: Block<'_>| match block {
        Block::Text(text) | Block::Thinking(text) => text_tokens(&text),
        Block::Image { .. } => IMAGE_TOKENS,
        Block::ToolCall { name, arguments, .. } => {
            let arguments = arguments.and_then(ValueRef::to_serde).map(|json| json.to_string());
            text_tokens(&name) + text_tokens(&arguments.unwrap_or_default())
        }
        Block::Other(_) => 0,
    };
    message.content().blocks().map(tokens).sum()
}

/// Two tokens for seven ASCII characters, and one for each other character: Chinese has no shorter words.
fn text_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().count() - ascii;
    u64::try_from((ascii * 2).div_ceil(7) + others).unwrap_or(u64::MAX)
}
