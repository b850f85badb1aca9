//! The lines of a file, looked at and changed one by one.

use serde_json::Value;
use session_tree::json::{Doc, Edit};
use session_tree::{Diagnostic, Problem};

/// The lines of a file, without their line feeds, counted from zero.
#[derive(Clone)]
pub(super) struct Lines(Vec<Vec<u8>>);

impl Lines {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.0.join(&b'\n')
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(Vec::as_slice)
    }

    pub(super) fn get_mut(&mut self, line: usize) -> &mut Vec<u8> {
        &mut self.0[line]
    }

    /// Reads a line as JavaScript does: what is no UTF-8 becomes replacement characters.
    pub(super) fn value(&self, line: usize) -> Option<Value> {
        serde_json::from_str(&String::from_utf8_lossy(&self.0[line])).ok()
    }

    /// Blanks lines, which all programs skip; returns true if there were any.
    pub(super) fn clear(&mut self, lines: &[usize]) -> bool {
        lines.iter().for_each(|line| self.0[*line].clear());
        !lines.is_empty()
    }

    /// Sets every member of a line and of its message to the last value of that name; returns true if there were
    /// any such lines.
    pub(super) fn repeat_last_values(&mut self, lines: &[usize]) -> bool {
        let repeat = |object: session_tree::json::ValueRef<'_>, edit: &mut Edit<'_>| {
            for (key, _) in object.members() {
                let Some(key) = key.as_str() else { continue };
                if let Some(last) = object.get(&key) {
                    edit.replace(&key, last.raw());
                }
            }
        };
        for line in lines {
            let Ok(doc) = Doc::parse(self.0[*line].as_slice()) else { continue };
            let mut edit = Edit::new(doc.root());
            repeat(doc.root(), &mut edit);
            if let Some(message) = doc.root().get("message") {
                let mut inner = Edit::new(message);
                repeat(message, &mut inner);
                edit.replace("message", &inner.object_text());
            }
            self.0[*line] = edit.document();
        }
        !lines.is_empty()
    }

    /// Changes members of lines that are objects, and no other byte; returns true if there were any such lines.
    pub(super) fn edit(&mut self, lines: &[usize], mut change: impl FnMut(usize, &mut Edit<'_>)) -> bool {
        for line in lines {
            let Ok(doc) = Doc::parse(self.0[*line].as_slice()) else { continue };
            let mut edit = Edit::new(doc.root());
            change(*line, &mut edit);
            self.0[*line] = edit.document();
        }
        !lines.is_empty()
    }
}

/// Returns the numbers of the lines with a problem.
pub(super) fn lines_with(found: &[Diagnostic], wanted: impl Fn(&Problem) -> bool) -> Vec<usize> {
    let found = found.iter().filter(|found| wanted(&found.problem));
    found.map(|found| found.line as usize - 1).collect()
}
