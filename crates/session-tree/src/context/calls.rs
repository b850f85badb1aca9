//! Tool calls and their results.
//!
//! Model services choose the ids of calls, and some give one id to several calls of an answer, or none at all. Moving in
//! a tree, a kill in the middle of a turn or a compaction between a call and its result leave calls without results and
//! results without calls. Providers refuse such a list, and every later request with it.

use std::collections::{HashMap, VecDeque};

use super::convert::text_block;
use crate::entry::{Ending, Message, ToolCall};
use crate::error::Result;
use crate::json::{ObjectWriter, ValueRef};
use crate::kind::Role;
use crate::session::Session;

/// The calls of a path, oldest first, that wait for their results; `P` is the position of a call.
///
/// Ids need not be unique: a result goes to the first open call with its id among those of the latest answer that has
/// one.
///
/// ```
/// let mut open = session_tree::OpenCalls::default();
/// open.ask([("same".to_owned(), "first"), ("same".to_owned(), "second")]);
/// assert_eq!((open.answer("same"), open.answer("same")), (Some("first"), Some("second")));
/// ```
#[derive(Debug)]
pub struct OpenCalls<P> {
    by_id: HashMap<String, VecDeque<P>>,
}

impl<P> Default for OpenCalls<P> {
    fn default() -> Self {
        Self { by_id: HashMap::new() }
    }
}

impl<P> OpenCalls<P> {
    /// Adds the calls of an answer, in its order. Calls of earlier answers with the same ids wait no longer.
    pub fn ask(&mut self, calls: impl IntoIterator<Item = (String, P)>) {
        let mut asked: HashMap<String, VecDeque<P>> = HashMap::new();
        for (id, place) in calls {
            asked.entry(id).or_default().push_back(place);
        }
        self.by_id.extend(asked);
    }

    /// Returns the call that a result with this id answers; it waits no longer.
    pub fn answer(&mut self, id: &str) -> Option<P> {
        self.by_id.get_mut(id)?.pop_front()
    }

    /// Returns true if there was a call with this id, waiting or not.
    pub fn knows(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }
}

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

/// Makes a list of messages acceptable to providers: every tool call followed by its result, and nothing else.
///
/// - An answer that ended in an error or was aborted is left out together with the results of its calls.
/// - A result without its call is left out, and so is a second result of the same call.
/// - Results follow their answer directly, in the order of its calls.
/// - A call without a result gets one that reports an error: `No result provided`.
///
/// If nothing would be left, the messages are returned as they are, because a request must not be empty.
pub(super) fn pair_results(messages: Vec<Message>) -> Vec<Message> {
    let results = match_results(&messages);
    let mut out = Vec::with_capacity(messages.len());
    for (message, results) in messages.iter().zip(&results) {
        let role = message.role();
        if role == Role::ToolResult || role == Role::Assistant && has_failed(message) {
            continue;
        }
        out.push(message.clone());
        for (call, result) in calls(message).zip(results) {
            let result = result.and_then(|place| messages.get(place)).cloned();
            out.push(result.unwrap_or_else(|| missing_result(message, call)));
        }
    }
    if out.is_empty() { messages } else { out }
}

/// Finds for each message the places of the results of its calls, in the order of the calls: for each call the first
/// result behind it with its id, before the same id is used again.
fn match_results(messages: &[Message]) -> Vec<Vec<Option<usize>>> {
    let mut results = vec![Vec::new(); messages.len()];
    let mut open = OpenCalls::default();
    for (place, message) in messages.iter().enumerate() {
        match message.role() {
            Role::Assistant => {
                let asked = calls(message).enumerate();
                open.ask(asked.map(|(number, call)| (id_text(call.get("id")), (place, number))));
                results[place] = vec![None; calls(message).count()];
            }
            Role::ToolResult => {
                if let Some((caller, number)) = open.answer(&id_text(message.value().get("toolCallId"))) {
                    results[caller][number] = Some(place);
                }
            }
            _ => {}
        }
    }
    results
}

/// Makes the result for a call that has none, with the time of the answer.
fn missing_result(answer: &Message, call: ValueRef<'_>) -> Message {
    let member = |key: &str| call.get(key).map_or(&b"\"\""[..], ValueRef::raw);
    let result = ObjectWriter::new().string("role", "toolResult").raw("toolCallId", member("id"));
    let result = result.raw("toolName", member("name")).raw("content", text_block(b"\"No result provided\""));
    result.bool("isError", true).copy("timestamp", answer.value()).message()
}

/// The tool calls of an answer; other messages make none.
fn calls(message: &Message) -> impl Iterator<Item = ValueRef<'_>> {
    let content = (message.role() == Role::Assistant).then(|| message.value().get("content")).flatten();
    let blocks = content.into_iter().flat_map(ValueRef::items);
    blocks.filter(|block| block.get("type").is_some_and(|kind| kind.is_str("toolCall")))
}

/// Returns the text of an id; another value as it is spelled, and nothing for a missing one.
fn id_text(id: Option<ValueRef<'_>>) -> String {
    id.map_or_else(String::new, |id| id.as_str().map_or_else(|| id.js_string(), Into::into))
}

fn has_failed(answer: &Message) -> bool {
    Ending::of(answer.value()) != Ending::Fine
}
