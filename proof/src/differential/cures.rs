//! Causes for which pi refuses a file that the engine reads, each with the smallest change that removes it.
//!
//! A cured file has to show the engine what the file itself shows it, and is then compared with pi like any other.

use serde_json::Value;
use session_tree::{Problem, Session};

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
        match drop_mark(&mut lines) {
            true => Some("pi refuses a byte order mark"),
            false => drop_early_values(&mut lines, session).then_some("pi refuses a value before the header"),
        }
    } else if error.starts_with("Cannot create property 'id' on") {
        drop_values(&mut lines, session).then_some("pi dies of a line of version 1 that is no object")
    } else if error.contains("(reading 'role')") {
        keep_envelopes(&mut lines).then_some("pi dies of a message entry without message")
    } else if error.contains("(reading 'content')") {
        let is_none = |entry: &Value| entry["type"] == "context_edit" && entry.get("replacement").is_none();
        hide(&mut lines, is_none).then_some("pi dies of an edit without replacement")
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

fn drop_early_values(lines: &mut Lines, session: &Session) -> bool {
    let header = lines.iter().position(|line| line == session.header().raw()).unwrap_or_default();
    let mut values = lines_with(&session.diagnostics(), |problem| *problem == Problem::NotAnObject);
    values.retain(|line| *line < header);
    lines.clear(&values)
}

fn drop_values(lines: &mut Lines, session: &Session) -> bool {
    let values = lines_with(&session.diagnostics(), |problem| *problem == Problem::NotAnObject);
    session.header().version() < 2 && lines.clear(&values)
}

/// Turns message entries that carry no message into entries that pi ignores.
fn keep_envelopes(lines: &mut Lines) -> bool {
    hide(lines, |entry| entry["type"] == "message" && entry["message"].is_null())
}

/// Messages that only pi sends to a model: values that are not messages, and messages without content.
pub(super) fn unsaid(bytes: &[u8]) -> Option<Cured> {
    let mut lines = Lines::of(bytes);
    let is_no_message = |entry: &Value| entry["type"] == "message" && !entry["message"].is_object();
    let is_no_edit = |entry: &Value| {
        entry["type"] == "context_edit"
            && entry["replacement"].is_object()
            && entry["replacement"]["content"].is_null()
    };
    let reason = if hide(&mut lines, is_no_message) {
        "a message that is not an object is sent"
    } else if hide(&mut lines, is_no_edit) {
        "an edit without content leaves none"
    } else {
        return None;
    };
    Some(Cured { reason, bytes: lines.bytes() })
}

/// Turns entries into entries that no program sends to a model.
fn hide(lines: &mut Lines, is_meant: impl Fn(&Value) -> bool) -> bool {
    let count = lines.iter().count();
    let meant: Vec<usize> =
        (0..count).filter(|line| lines.value(*line).is_some_and(|entry| is_meant(&entry))).collect();
    lines.edit(&meant, |_, entry| entry.set("type", b"\"custom\""))
}
