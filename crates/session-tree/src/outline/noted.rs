//! Entries that only their bodies tell: those that ended badly, and those that touch files.
//!
//! Two filters ask for them. Each entry is read once; what its raw line cannot hold is not decoded.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use super::call;
use super::filter::Filter;
use super::haystack::has_odd_escapes;
use super::marks::Marks;
use super::stretch::each_line;
use crate::entry::{Ending, Entry, PlainResult};
use crate::file_ops::{FILE_TOOLS, nested_calls, touches_file};
use crate::json::{Doc, ValueRef};
use crate::kind::Role;
use crate::session::Session;
use crate::tree::{Node, Tree};

/// The tools that touch files, as their names stand in a line.
static QUOTED: LazyLock<Vec<Finder<'static>>> = LazyLock::new(|| {
    FILE_TOOLS.iter().map(|tool| Finder::new(&format!("\"{tool}\"")).into_owned()).collect()
});

/// The entries that a filter asks for, as far as they were looked at.
#[derive(Debug, Default)]
pub(super) struct Noted {
    filter: Filter,
    marks: Marks,
    /// How many rows of the tree were looked at.
    rows: usize,
}

impl Noted {
    /// Takes what somebody else found out about all entries.
    pub(super) fn known(filter: Filter, marks: Marks, rows: usize) -> Self {
        Self { filter, marks, rows }
    }

    pub(super) fn has(&self, node: Node) -> bool {
        self.marks.has(node)
    }

    /// Looks at what has not been looked at for this filter. Other filters need nothing.
    pub(super) fn prepare(&mut self, session: &Session, filter: Filter) {
        let rows = session.tree().row_count();
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
            rows.filter_map(|row| tree.shown(row)).filter(|node| may_be(tree, *node)).collect();
        let read = each_line(session, &nodes, &mut |node, raw| {
            if is_one(tree.role(node).unwrap_or(Role::Other), raw) {
                self.marks.add(node);
            }
        });
        if read.is_err() {
            // Asking for rows will say what is wrong, so there have to be some.
            nodes.into_iter().for_each(|node| {
                self.marks.add(node);
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
    (may_have || has_odd_escapes(raw, false)) && asked(raw, |message| is_failure(role, message))
}

fn is_failure(role: Role, message: ValueRef<'_>) -> bool {
    let is_true = |key: &str| message.get(key).and_then(ValueRef::as_bool).unwrap_or(false);
    match role {
        Role::Assistant => Ending::of(message) != Ending::Fine,
        Role::ToolResult => is_true("isError"),
        Role::BashExecution => is_true("cancelled") || super::text::exited_badly(message),
        _ => false,
    }
}

/// Tells whether an answer calls a tool that touches files, or a result is that of such a tool.
fn touches_files(role: Role, raw: &[u8]) -> bool {
    let may_have = QUOTED.iter().any(|tool| tool.find(raw).is_some());
    (may_have || has_odd_escapes(raw, false)) && asked(raw, |message| names_files(role, message))
}

fn names_files(role: Role, message: ValueRef<'_>) -> bool {
    match role {
        Role::Assistant => {
            let is_call =
                |block: &ValueRef<'_>| block.get("type").is_some_and(|kind| kind.is_str("toolCall"));
            let blocks = message.get("content").into_iter().flat_map(ValueRef::items);
            blocks.filter(|block| touches_file(*block)).any(|block| is_call(&block))
        }
        Role::ToolResult => {
            let is_one = |tool: ValueRef<'_>| FILE_TOOLS.iter().any(|name| tool.is_str(name));
            message.get("toolName").is_some_and(is_one) || nested_calls(message).any(touches_file)
        }
        _ => false,
    }
}

fn holds(raw: &[u8], part: &[u8]) -> bool {
    memmem::find(raw, part).is_some()
}

/// What the two filters ask of an entry that was read already.
impl Entry {
    /// Tells whether this is an answer that failed or was aborted, a tool that returned an error, or a command of the
    /// person that failed; and whether it is an answer that calls a tool that touches files, or the result of one.
    pub fn failed_and_touches_files(&self) -> (bool, bool) {
        let asked = |message: ValueRef<'_>| {
            let role = message.get("role").and_then(ValueRef::as_str);
            let role = role.map_or(Role::Other, |role| Role::from_name(role.as_bytes()));
            (is_failure(role, message), names_files(role, message))
        };
        self.message().map_or((false, false), asked)
    }
}

impl PlainResult<'_> {
    /// Tells whether this is the result of a tool that touches files.
    pub fn touches_files(&self) -> bool {
        FILE_TOOLS.contains(&self.tool)
    }
}

/// Asks the message of a line.
fn asked(raw: &[u8], question: impl Fn(ValueRef<'_>) -> bool) -> bool {
    let doc = Doc::parse(raw);
    doc.as_ref().ok().and_then(call::message).is_some_and(question)
}
