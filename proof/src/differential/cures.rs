//! What makes pi give up on a file that the engine reads, and the smallest change after which it does not.
//!
//! A cured file has to show the engine what the file itself shows it, and is then compared with pi like any other.

use serde_json::Value;
use session_tree::{Kind, Node, Problem, Session};

use super::lines::{Lines, lines_with};

/// A file that pi can read, and what was in its way.
pub(super) struct Cured {
    pub(super) reason: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// Finds out why pi refuses a file, dies of it or never comes back from it.
pub(super) fn cure(bytes: &[u8], session: &Session, answer: &Value) -> Option<Cured> {
    let mut lines = Lines::of(bytes);
    let error = answer["error"].as_str().unwrap_or_default();
    let reason = if answer["circle"] == true {
        cut_circles(&mut lines, session).then_some("pi follows a circle for ever")
    } else if error.contains("is not a valid pi session") {
        drop_mark(&mut lines).then_some("pi refuses a byte order mark")
    } else if error.starts_with("Cannot create property 'id' on") {
        drop_values(&mut lines, session).then_some("pi dies of a line of version 1 that is no object")
    } else if error.contains("(reading 'role')") {
        keep_envelopes(&mut lines, session).then_some("pi dies of a message entry without message")
    } else {
        None
    };
    reason.map(|reason| Cured { reason, bytes: lines.bytes() })
}

/// Makes roots of the entries at which the engine cut a circle.
fn cut_circles(lines: &mut Lines, session: &Session) -> bool {
    let cut = lines_with(&session.diagnostics(), |problem| matches!(problem, Problem::Cycle { .. }));
    lines.edit(&cut, |_, entry| entry.set("parentId", b"null"))
}

fn drop_mark(lines: &mut Lines) -> bool {
    let mark = b"\xEF\xBB\xBF";
    let first = lines.get_mut(0);
    let has_mark = first.starts_with(mark);
    if has_mark {
        first.drain(..mark.len());
    }
    has_mark
}

fn drop_values(lines: &mut Lines, session: &Session) -> bool {
    let values = lines_with(&session.diagnostics(), |problem| *problem == Problem::NotAnObject);
    session.header().version() < 2 && lines.clear(&values)
}

/// Turns message entries that carry no message into entries that pi ignores.
fn keep_envelopes(lines: &mut Lines, session: &Session) -> bool {
    let tree = session.tree();
    let is_empty = |node: &Node| {
        let entry = session.entry_at(*node).ok();
        entry.is_none_or(|entry| entry.value().is_none_or(|value| value.get("message").is_none()))
    };
    let empty = tree.nodes().filter(|node| tree.kind(*node) == Kind::Message && is_empty(node));
    let empty: Vec<usize> = empty.map(|node| session.line_number(node) as usize - 1).collect();
    lines.edit(&empty, |_, entry| entry.set("type", b"\"custom\""))
}
