//! Filters that read entries: those that failed, and those that touch files.
//!
//! Two filters ask for them. Each entry is read once; what its raw line cannot hold is not decoded.

use super::filter::Filter;
use crate::node_set::NodeSet;
use session_tree::json::{Cursor, Doc};
use session_tree::{Ending, FileOps, Node, Role, Session, Tree};

/// The entries that a filter asks for, as far as they were looked at.
#[derive(Debug, Default)]
pub(super) struct BodyFilter {
    filter: Filter,
    found: NodeSet,
    /// How many rows of the tree were looked at.
    rows: usize,
}

impl BodyFilter {
    /// Takes the result from a caller that has read all entries.
    pub(super) fn known(filter: Filter, found: NodeSet, rows: usize) -> Self {
        Self { filter, found, rows }
    }

    pub(super) fn has(&self, node: Node) -> bool {
        self.found.has(node)
    }

    /// Looks at what has not been looked at for this filter. Other filters need nothing.
    pub(super) fn prepare(&mut self, session: &Session, filter: Filter) {
        let rows = session.tree().node_bound();
        if filter != self.filter || rows < self.rows {
            *self = Self { filter, ..Self::default() };
        }
        let from = std::mem::replace(&mut self.rows, rows);
        match filter {
            Filter::Errors => self.look(session, from..rows, may_fail, failed),
            Filter::Files => self.look(session, from..rows, may_touch, touches_files),
            Filter::Default
            | Filter::NoTools
            | Filter::UserOnly
            | Filter::LabeledOnly
            | Filter::All
            | Filter::Turns
            | Filter::Branches => {}
        }
    }

    fn look(
        &mut self,
        session: &Session,
        rows: std::ops::Range<usize>,
        may_be: fn(&Tree, Node) -> bool,
        is_one: fn(Role, &[u8]) -> bool,
    ) {
        let tree = session.tree();
        let nodes: Vec<Node> =
            rows.filter_map(|row| tree.node_at(row)).filter(|node| may_be(tree, *node)).collect();
        let read = session.read_raw_lines(&nodes, &mut Vec::new(), |lines| {
            for node in lines.nodes() {
                let role = tree.role(*node).unwrap_or(Role::Other);
                if lines.line(*node).is_some_and(|raw| is_one(role, raw)) {
                    self.found.add(*node);
                }
            }
            Ok(())
        });
        if read.is_err() {
            // Reading a row reports the error, so there have to be rows.
            nodes.into_iter().for_each(|node| {
                self.found.add(node);
            });
        }
    }
}

fn may_fail(tree: &Tree, node: Node) -> bool {
    matches!(tree.role(node), Some(Role::Assistant | Role::ToolResult | Role::BashExecution))
}

fn may_touch(tree: &Tree, node: Node) -> bool {
    matches!(tree.role(node), Some(Role::Assistant | Role::ToolResult))
}

fn failed(_: Role, raw: &[u8]) -> bool {
    Cursor::new(raw).get("message").is_some_and(is_failure)
}

/// Returns true for an answer that failed or was aborted, a tool result that is an error, and a shell command that failed.
pub fn is_failure(message: Cursor<'_>) -> bool {
    let [role, stop_reason, is_error, cancelled, exit_code] =
        message.get_each(["role", "stopReason", "isError", "cancelled", "exitCode"]);
    let is_true = |value: Option<Cursor<'_>>| value.and_then(Cursor::as_bool).unwrap_or(false);
    let role = role.and_then(Cursor::as_str);
    match role.map_or(Role::Other, |role| Role::from_name(role.as_bytes())) {
        Role::Assistant => Ending::of_reason(stop_reason) != Ending::Fine,
        Role::ToolResult => is_true(is_error),
        Role::BashExecution => is_true(cancelled) || super::text::exited_badly(exit_code),
        _ => false,
    }
}

/// Returns true for an answer that calls a tool that touches files, and for the result of such a tool.
fn touches_files(role: Role, raw: &[u8]) -> bool {
    let Some(message) = Cursor::new(raw).get("message") else { return false };
    let [tool, nested] = match role {
        Role::ToolResult => message.get_each(["toolName", "nestedCalls"]),
        _ => [None, Some(message)],
    };
    let is_file_tool = |tool: Cursor<'_>| FileOps::TOOLS.iter().any(|name| tool.is_str(name));
    let is_touched = |doc: Doc| FileOps::is_touched_by(doc.root());
    tool.is_some_and(is_file_tool) || nested.is_some() && Doc::parse(message.raw()).is_ok_and(is_touched)
}
