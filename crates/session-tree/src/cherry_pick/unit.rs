//! Units: the entries that are copied or quoted together, an answer with the results of its calls or any other entry.

use super::MessageReader;
use crate::context::OpenCalls;
use crate::error::Result;
use crate::kind::Role;
use crate::tree::Node;

/// An answer with the results of its calls, or any other entry.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    pub(crate) head: Node,
    /// The results of the calls of an answer, in the order of the calls; none for a call without a result.
    pub(crate) results: Vec<Option<Node>>,
}

impl Unit {
    /// Returns the entries of the unit: the head, then the results in the order of the calls.
    pub(crate) fn nodes(&self) -> Vec<Node> {
        std::iter::once(self.head).chain(self.results.iter().copied().flatten()).collect()
    }

    /// Returns true if some call has no result.
    pub(crate) fn is_open(&self) -> bool {
        self.results.iter().any(Option::is_none)
    }
}

/// Groups entries of one path, oldest first. A result goes to its call, wherever it is on the path.
pub(crate) fn units_of(reader: &MessageReader<'_>, nodes: &[Node]) -> Result<Vec<Unit>> {
    let mut units: Vec<Unit> = Vec::new();
    let mut open = OpenCalls::default();
    for node in nodes.iter().copied() {
        let mut results = Vec::new();
        match reader.session.tree().role(node) {
            Some(Role::Assistant) => {
                let answer = reader.message(node)?;
                let ids: Vec<String> = answer.iter().flat_map(|answer| answer.call_ids()).collect();
                results = vec![None; ids.len()];
                open.ask(ids.into_iter().enumerate().map(|(call, id)| (id, (units.len(), call))));
            }
            Some(Role::ToolResult) => {
                let result = reader.message(node)?;
                let answered =
                    result.and_then(|result| open.answer(&result.tool_call_id().unwrap_or_default()));
                if let Some((unit, call)) = answered {
                    units[unit].results[call] = Some(node);
                    continue;
                }
            }
            _ => {}
        }
        units.push(Unit { head: node, results });
    }
    Ok(units)
}
