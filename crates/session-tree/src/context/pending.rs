//! The unfinished part of a conversation: tool calls without results, and prompts without an answer.

use super::OpenCalls;
use crate::entry::{Message, ToolCall};
use crate::error::Result;
use crate::kind::{Role, StopReason};
use crate::session::Session;

impl Session {
    /// Returns the tool calls of the latest answer that have no result yet, in their order.
    ///
    /// There are some while tools run, or after the program was killed while they ran. Answer them with
    /// [`ToolCall::result`] or [`ToolCall::error`]. An answer that failed or was aborted, or that other messages follow,
    /// has no open calls: [`Context::to_request`](super::Context::to_request) deals with it.
    pub fn open_calls(&self) -> Result<Vec<ToolCall>> {
        let context = self.context()?;
        let messages: Vec<&Message> =
            context.messages().filter(|message| message.role() != Role::System).collect();
        let answer = messages.iter().rposition(|message| message.role() != Role::ToolResult);
        let Some(answer) = answer.filter(|place| !has_failed(messages[*place])) else {
            return Ok(Vec::new());
        };
        let calls = messages[answer].tool_calls();
        let mut open = OpenCalls::default();
        open.ask(calls.iter().enumerate().map(|(place, call)| (call.id.clone(), place)));
        let mut is_open = vec![true; calls.len()];
        for result in &messages[answer + 1..] {
            if let Some(place) = open.answer(&result.tool_call_id().unwrap_or_default()) {
                is_open[place] = false;
            }
        }
        Ok(calls.into_iter().zip(is_open).filter_map(|(call, is_open)| is_open.then_some(call)).collect())
    }

    /// Returns true if a model has something to answer: the request for the leaf does not end with an answer.
    ///
    /// This is the case after a prompt, after tool results, and after an answer that failed or was aborted.
    pub fn needs_answer(&self) -> Result<bool> {
        let request = self.context()?.to_request();
        let last = request.iter().rfind(|message| message.role() != Role::System);
        Ok(last.is_some_and(|last| last.role() != Role::Assistant))
    }
}

fn has_failed(answer: &Message) -> bool {
    matches!(answer.stop_reason(), Some(StopReason::Error | StopReason::Aborted))
}
