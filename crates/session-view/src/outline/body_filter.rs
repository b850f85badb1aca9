//! Entries that only their bodies tell: those that ended badly, and those that touch files.
//!
//! Two filters ask for them. Each entry is read once; what its raw line cannot hold is not decoded.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use super::call;
use super::filter::Filter;
use super::haystack::has_odd_escapes;
use crate::node_set::NodeSet;
use session_tree::json::{Doc, ValueRef};
use session_tree::{Ending, FileOps, Node, Role, Session, Tree};

/// The tools that touch files, as their names stand in a line.
static QUOTED: LazyLock<Vec<Finder<'static>>> = LazyLock::new(|| {
    FileOps::TOOLS.iter().map(|tool| Finder::new(&format!("\"{tool}\"")).into_owned()).collect()
});

/// The entries that a filter asks for, as far as they were looked at.
#[derive(Debug, Default)]
pub(super) struct BodyFilter {
    filter: Filter,
    found: NodeSet,
    /// How many rows of the tree were looked at.
    rows: usize,
}

impl BodyFilter {
    /// Takes what somebody else found out about all entries.
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

/// Tells whether an answer failed or was aborted, a tool returned an error, or a command of the person failed.
fn failed(role: Role, raw: &[u8]) -> bool {
    let may_have = match role {
        Role::Assistant => holds(raw, b"\"error\"") || holds(raw, b"\"aborted\""),
        Role::ToolResult => {
            memmem::find_iter(raw, b"\"isError\"").any(|at| !raw[at..].starts_with(b"\"isError\":false"))
        }
        _ => true,
    };
    (may_have || has_odd_escapes(raw, false)) && asked(raw, is_failure)
}

/// Returns true for an answer that failed or was aborted, a tool result that is an error, and a shell command that failed.
pub fn is_failure(message: ValueRef<'_>) -> bool {
    let role = message.get("role").and_then(ValueRef::as_str);
    let is_true = |key: &str| message.get(key).and_then(ValueRef::as_bool).unwrap_or(false);
    match role.map_or(Role::Other, |role| Role::from_name(role.as_bytes())) {
        Role::Assistant => Ending::of(message) != Ending::Fine,
        Role::ToolResult => is_true("isError"),
        Role::BashExecution => is_true("cancelled") || super::text::exited_badly(message),
        _ => false,
    }
}

/// Tells whether an answer calls a tool that touches files, or a result is that of such a tool.
fn touches_files(_: Role, raw: &[u8]) -> bool {
    let may_have = QUOTED.iter().any(|tool| tool.find(raw).is_some());
    (may_have || has_odd_escapes(raw, false)) && asked(raw, FileOps::is_touched_by)
}

fn holds(raw: &[u8], part: &[u8]) -> bool {
    memmem::find(raw, part).is_some()
}

/// Asks the message of a line.
fn asked(raw: &[u8], question: impl Fn(ValueRef<'_>) -> bool) -> bool {
    let doc = Doc::parse(raw);
    doc.as_ref().ok().and_then(call::message).is_some_and(question)
}
