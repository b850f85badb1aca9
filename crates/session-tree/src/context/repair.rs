//! Tool calls and their results, brought into the order that providers demand.
//!
//! Moving in a tree, a kill in the middle of a turn or a compaction between a call and its result leave calls
//! without results and results without calls. Providers refuse such a list, and every later request with it.

use super::OpenCalls;
use crate::entry::{Ending, Message};
use crate::json::{ValueRef, literal};
use crate::kind::Role;

const NO_RESULT: &str = "No result provided";

/// Makes a list of messages acceptable to providers: every tool call followed by its result, and nothing else.
///
/// - An answer that ended in an error or was aborted is left out together with the results of its calls.
/// - A result whose call is not there is left out, and so is a second result of the same call.
/// - Results stand directly behind their answer, in the order of its calls, wherever they stood before.
/// - A call without a result gets one that reports an error: `No result provided`.
///
/// If nothing would be left, the messages are returned as they are: a repair must not make an empty request of a
/// conversation.
pub(super) fn repair_pairs(messages: Vec<Message>) -> Vec<Message> {
    if validate_pairs(&messages) {
        return messages;
    }
    let repaired = arranged(&messages, &match_results(&messages));
    if repaired.is_empty() || !validate_pairs(&repaired) {
        return messages;
    }
    repaired
}

/// Tells whether every tool call is followed by its result, every result follows its call, and no answer that
/// failed is there.
pub(super) fn validate_pairs(messages: &[Message]) -> bool {
    let mut rest = messages.iter();
    while let Some(item) = rest.next() {
        match item.role() {
            Role::ToolResult => return false,
            Role::Assistant if has_failed(item) => return false,
            Role::Assistant => {
                let is_answered = |call: Call<'_>| {
                    let next = rest.next();
                    next.is_some_and(|next| next.role() == Role::ToolResult && same(call_id(next), call.id))
                };
                if !calls(item).all(is_answered) {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

/// For each message the places of the results of its calls, in the order of the calls.
type Results = Vec<Vec<Option<usize>>>;

/// Finds for each call its result: the first one behind it that names it, before the same id is used again.
fn match_results(messages: &[Message]) -> Results {
    let mut results: Results = vec![Vec::new(); messages.len()];
    let mut open = OpenCalls::default();
    for (place, item) in messages.iter().enumerate() {
        match item.role() {
            Role::Assistant => {
                let asked = calls(item).enumerate();
                open.ask(asked.map(|(number, call)| (key(call.id), (place, number))));
                results[place] = vec![None; calls(item).count()];
            }
            Role::ToolResult => {
                if let Some((caller, number)) = open.answer(&key(call_id(item))) {
                    results[caller][number] = Some(place);
                }
            }
            _ => {}
        }
    }
    results
}

fn arranged(messages: &[Message], results: &Results) -> Vec<Message> {
    let mut out = Vec::with_capacity(messages.len());
    for (item, results) in messages.iter().zip(results) {
        let role = item.role();
        if role == Role::ToolResult || role == Role::Assistant && has_failed(item) {
            continue;
        }
        out.push(item.clone());
        for (call, result) in calls(item).zip(results) {
            let result = result.and_then(|place| messages.get(place)).cloned();
            out.push(result.unwrap_or_else(|| missing_result(item, call)));
        }
    }
    out
}

/// Stands in for the result that a call never got; with the time of the answer, because nobody knows another.
fn missing_result(answer: &Message, call: Call<'_>) -> Message {
    let mut out = b"{\"role\":\"toolResult\"".to_vec();
    for (key, value) in [("toolCallId", call.id), ("toolName", call.name)] {
        let value = value.map_or(&b"\"\""[..], ValueRef::raw);
        out.extend([b",\"", key.as_bytes(), b"\":", value].concat());
    }
    let text = literal(NO_RESULT);
    out.extend(
        [b",\"content\":[{\"type\":\"text\",\"text\":", text.as_bytes(), b"}],\"isError\":true"].concat(),
    );
    if let Some(time) = answer.value().get("timestamp") {
        out.extend([b",\"timestamp\":", time.raw()].concat());
    }
    out.push(b'}');
    Message::built(out)
}

#[derive(Clone, Copy)]
struct Call<'m> {
    id: Option<ValueRef<'m>>,
    name: Option<ValueRef<'m>>,
}

/// The tool calls of an answer; other messages make none.
fn calls(message: &Message) -> impl Iterator<Item = Call<'_>> {
    let content = (message.role() == Role::Assistant).then(|| message.value().get("content")).flatten();
    let blocks = content.into_iter().flat_map(ValueRef::items);
    let is_call = |block: &ValueRef<'_>| block.get("type").is_some_and(|kind| kind.is_str("toolCall"));
    blocks.filter(is_call).map(|block| Call { id: block.get("id"), name: block.get("name") })
}

fn call_id(result: &Message) -> Option<ValueRef<'_>> {
    result.value().get("toolCallId")
}

fn same(one: Option<ValueRef<'_>>, other: Option<ValueRef<'_>>) -> bool {
    // Nearly all ids are spelled alike.
    one.map(ValueRef::raw) == other.map(ValueRef::raw) || key(one) == key(other)
}

/// Ids are compared as texts; what is no text is compared as it is spelled, what is missing is empty.
fn key(id: Option<ValueRef<'_>>) -> String {
    let Some(id) = id else { return String::new() };
    id.as_str().map_or_else(|| id.js_string(), Into::into)
}

fn has_failed(answer: &Message) -> bool {
    Ending::of(answer.value()) != Ending::Fine
}
