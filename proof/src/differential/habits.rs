//! How pi reads the oddities that the engine reports, each as a change to the file or to the reading of its answer.
//!
//! Together the rows of the table in `docs/compat.md` that have to do with reading, in code. A habit changes what it is
//! about and nothing else, so that it explains no other difference.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use session_tree::{Diagnostic, Kind, Problem, Session};

use super::lines::{Lines, lines_with};

/// A file, the way one of the two programs takes it.
#[derive(Clone)]
pub(super) struct PiReading {
    lines: Lines,
    found: Vec<Diagnostic>,
    /// The number of the header's line, counted from zero.
    header: usize,
    /// The file is of version 1, which has no ids.
    pub(super) has_drawn_ids: bool,
    /// The file names no version, but its ids are taken as they are.
    keeps_ids: bool,
    /// The last entry of the file is the leaf, whatever it is.
    pub(super) leaf_is_last: bool,
    /// Every line of an id is listed.
    lists_copies: bool,
    /// True if an unreadable time is shown as `null`, and `null` as the year 1970.
    tells_bad_times: bool,
}

/// The way in which pi reads one kind of oddity.
pub(super) struct Habit {
    pub(super) name: &'static str,
    /// Changes the file as pi reads it; returns true if it had this oddity.
    pub(super) show: fn(&mut PiReading) -> bool,
}

/// All habits, in the order in which they meet a file.
pub(super) const HABITS: &[Habit] = &[
    Habit { name: "a damaged line is dropped", show: PiReading::drop_damaged_lines },
    Habit { name: "the last of two keys counts", show: PiReading::take_last_keys },
    Habit { name: "a line without id is the leaf", show: PiReading::name_the_nameless },
    Habit { name: "every line of an id is listed", show: PiReading::list_copies },
    Habit { name: "no version: ids replaced, tree flattened", show: PiReading::flatten },
    Habit { name: "a reset of oh-my-pi is not known", show: PiReading::forget_resets },
    Habit { name: "an unreadable time is shown", show: PiReading::show_bad_times },
    Habit { name: "the last entry is the leaf", show: PiReading::end_in_the_last_entry },
];

/// The name of an entry without id.
pub(super) const NO_ID: &str = "undefined";
/// The name of an entry whose id is `null`.
pub(super) const NULL_ID: &str = "null";

impl PiReading {
    /// Takes the file as it is.
    pub(super) fn new(bytes: &[u8], session: &Session) -> Self {
        let lines = Lines::of(bytes);
        let header = session.header().raw();
        let header = lines.iter().position(|line| line.ends_with(header)).unwrap_or_default();
        let has_drawn_ids = session.header().version() < 2;
        Self {
            header,
            found: session.check().map(|report| report.diagnostics).unwrap_or_default(),
            has_drawn_ids,
            keeps_ids: has_drawn_ids && keeps_ids(&lines, session),
            lines,
            leaf_is_last: false,
            lists_copies: false,
            tells_bad_times: false,
        }
    }

    /// Returns the file.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.lines.bytes()
    }

    /// Reads what pi said, in the words in which the engine says it.
    pub(super) fn read(&self, answer: &Value) -> HashMap<&'static str, Value> {
        let mut said: HashMap<&'static str, Value> =
            ["ids", "leaf", "path", "context"].map(|part| (part, answer[part].clone())).into();
        if self.lists_copies {
            said.insert("ids", last_ones(&answer["ids"]));
        }
        if self.tells_bad_times {
            said.insert("context", without_bad_times(&answer["context"]));
        }
        said
    }

    fn lines_with(&self, wanted: impl Fn(&Problem) -> bool) -> Vec<usize> {
        lines_with(&self.found, wanted)
    }

    fn drop_damaged_lines(&mut self) -> bool {
        self.lines.clear(&self.lines_with(|problem| {
            matches!(
                problem,
                Problem::NotJson { .. }
                    | Problem::TornTail
                    | Problem::Placeholder { .. }
                    | Problem::GluedLines { .. }
                    | Problem::NulRun { .. }
                    | Problem::Mended { .. }
            )
        }))
    }

    fn take_last_keys(&mut self) -> bool {
        let lines = self.lines_with(|problem| matches!(problem, Problem::DuplicateKey { .. }));
        self.lines.repeat_last_values(&lines)
    }

    /// An object without an id is an entry all the same, and so is any other value that is true for JavaScript.
    fn name_the_nameless(&mut self) -> bool {
        let lines = self.lines_with(|problem| matches!(problem, Problem::NoId | Problem::NotAnObject));
        for line in &lines {
            match self.lines.value(*line) {
                Some(Value::Object(_)) => {}
                Some(value) if !is_false(&value) => *self.lines.get_mut(*line) = b"{}".into(),
                _ => self.lines.get_mut(*line).clear(),
            }
        }
        self.lists_copies |= !lines.is_empty();
        let before = self.clone();
        self.lines.edit(&lines, |line, entry| {
            let id = before.lines.value(line).and_then(|value| value.get("id").map(Value::to_string));
            if !before.has_drawn_ids {
                entry.set("id", json!(id.as_deref().unwrap_or(NO_ID)).to_string().as_bytes());
            }
            // Two lines that say the same are two entries.
            entry.set("line", line.to_string().as_bytes());
        })
    }

    fn list_copies(&mut self) -> bool {
        let copies = self.lines_with(|problem| matches!(problem, Problem::RepeatedLine { .. }));
        for copy in &copies {
            let text = self.lines.get_mut(*copy).clone();
            let same = self.lines.iter().take(*copy).enumerate().filter(|(_, line)| *line == text);
            let same: Vec<usize> = same.map(|(line, _)| line).collect();
            self.lines.clear(&same);
        }
        let others = self.lines_with(|problem| matches!(problem, Problem::DuplicateId { .. }));
        self.lists_copies |= !copies.is_empty() || !others.is_empty();
        self.lists_copies
    }

    fn flatten(&mut self) -> bool {
        if !self.keeps_ids {
            return false;
        }
        let lines: Vec<usize> = (self.header + 1..self.lines.iter().count()).collect();
        let mut above = "null".to_owned();
        self.lines.edit(&lines, |line, entry| {
            let id = format!("\"drawn {line}\"");
            entry.set("id", id.as_bytes());
            entry.set("parentId", std::mem::replace(&mut above, id).as_bytes());
        })
    }

    fn forget_resets(&mut self) -> bool {
        let wire = json!(Kind::ResetBoundary.to_string());
        let is_reset = |line: &usize| self.lines.value(*line).is_some_and(|value| value["type"] == wire);
        let lines: Vec<usize> = (0..self.lines.iter().count()).filter(is_reset).collect();
        self.lines.edit(&lines, |_, entry| entry.set("type", b"\"custom\""))
    }

    fn show_bad_times(&mut self) -> bool {
        let lines = self.lines_with(|problem| matches!(problem, Problem::BadTimestamp { .. }));
        self.tells_bad_times = !lines.is_empty();
        self.tells_bad_times
    }

    /// Our leaf may be another one: a marker moves it, a name or figures from a stale client do not.
    fn end_in_the_last_entry(&mut self) -> bool {
        let session = Session::from_bytes(self.bytes());
        self.leaf_is_last = session.is_ok_and(|session| session.leaf() != session.tree().last());
        self.leaf_is_last
    }
}

/// Tells whether the ids of a session are those of its lines.
fn keeps_ids(lines: &Lines, session: &Session) -> bool {
    let tree = session.tree();
    tree.nodes().any(|node| {
        let line = lines.value(session.line_number(node) as usize - 1);
        line.is_some_and(|line| line["id"].as_str() == Some(tree.id(node).as_str()))
    })
}

/// Returns true for values that are falsy in JavaScript.
fn is_false(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is) => !is,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// The last of each id.
fn last_ones(ids: &Value) -> Value {
    let mut seen = HashSet::new();
    let mut kept: Vec<&Value> =
        ids.as_array().into_iter().flatten().rev().filter(|id| seen.insert(id.to_string())).collect();
    kept.reverse();
    kept.into_iter().cloned().collect()
}

/// The messages of pi, without invalid times.
fn without_bad_times(context: &Value) -> Value {
    let made = ["custom", "branchSummary", "compactionSummary"];
    let without = |message: &Value| {
        let text = message.as_str().unwrap_or_default();
        let Ok(mut value) = serde_json::from_str::<Value>(text) else { return message.clone() };
        let is_made = made.iter().any(|role| value["role"] == **role);
        if is_made && (value["timestamp"].is_null() || value["timestamp"] == 0) {
            value.as_object_mut().map(|message| message.shift_remove("timestamp"));
            return Value::from(value.to_string());
        }
        message.clone()
    };
    context.as_array().into_iter().flatten().map(without).collect()
}
