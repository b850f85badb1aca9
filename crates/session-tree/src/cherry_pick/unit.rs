//! Units: what is copied or quoted as one, an answer with the results of its calls or any other entry alone.

use super::MessageReader;
use crate::context::OpenCalls;
use crate::entry::{Block, Message};
use crate::error::Result;
use crate::json::ValueRef;
use crate::kind::Role;
use crate::tree::Node;

/// An answer with the results of its calls, or any other entry.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    pub(crate) head: Node,
    /// The calls of an answer, in its order.
    pub(crate) calls: Vec<Call>,
}

/// One call and its result, if there is one.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) result: Option<Node>,
}

impl Unit {
    /// Returns the entries of the unit: the head, then the results in the order of the calls.
    pub(crate) fn nodes(&self) -> Vec<Node> {
        std::iter::once(self.head).chain(self.calls.iter().filter_map(|call| call.result)).collect()
    }

    /// Returns true if some call has no result.
    pub(crate) fn is_open(&self) -> bool {
        self.calls.iter().any(|call| call.result.is_none())
    }
}

/// Groups entries of one path, oldest first. A result goes to its call, wherever it stands.
pub(crate) fn units_of(reader: &MessageReader<'_>, nodes: &[Node]) -> Result<Vec<Unit>> {
    let mut units: Vec<Unit> = Vec::new();
    let mut open = OpenCalls::default();
    for node in nodes.iter().copied() {
        let mut unit = Unit { head: node, calls: Vec::new() };
        match reader.session.tree().role(node) {
            Some(Role::Assistant) => {
                unit.calls = reader.message(node)?.map_or_else(Vec::new, |answer| calls_of(&answer));
                let places = unit.calls.iter().enumerate();
                open.ask(places.map(|(place, call)| (call.id.clone(), (units.len(), place))));
            }
            Some(Role::ToolResult) => {
                let message = reader.message(node)?;
                let answered = message.as_ref().and_then(|result| open.answer(&call_id(result)));
                if let Some((at, place)) = answered {
                    units[at].calls[place].result = Some(node);
                    continue;
                }
            }
            _ => {}
        }
        units.push(unit);
    }
    Ok(units)
}

/// Returns the id of the call that a result answers.
pub(crate) fn call_id(result: &Message) -> String {
    let id = result.value().get("toolCallId").and_then(ValueRef::as_str);
    id.map_or_else(String::new, Into::into)
}

fn calls_of(answer: &Message) -> Vec<Call> {
    let call = |block: Block<'_>| match block {
        Block::ToolCall { id, .. } => Some(Call { id: id.into_owned(), result: None }),
        Block::Text(_) | Block::Image { .. } | Block::Thinking(_) | Block::Other(_) => None,
    };
    answer.content().blocks().filter_map(call).collect()
}
