//! The latest lines that a session wrote, kept in memory for the case that the file is lost.

use std::collections::{HashMap, VecDeque};

use crate::id::EntryId;
use crate::journal::NewLine;

/// The maximum size of all lines in bytes.
const MAX_BYTES: usize = 8 << 20;

/// The latest lines that a session wrote, oldest first.
#[derive(Debug, Default)]
pub(crate) struct RecentLines {
    lines: VecDeque<(EntryId, Box<[u8]>)>,
    bytes: usize,
}

impl RecentLines {
    /// Keeps entries that were written.
    pub(super) fn note(&mut self, lines: &[NewLine<'_>]) {
        for NewLine { bytes, id, .. } in lines {
            if let Some(id) = id {
                self.push(id.clone(), bytes.strip_suffix(b"\n").unwrap_or(bytes));
            }
        }
    }

    fn push(&mut self, id: EntryId, line: &[u8]) {
        if line.len() > MAX_BYTES {
            return;
        }
        self.bytes += line.len();
        self.lines.push_back((id, line.into()));
        while self.bytes > MAX_BYTES
            && let Some((_, oldest)) = self.lines.pop_front()
        {
            self.bytes -= oldest.len();
        }
    }

    /// Returns the lines by the ids of their entries.
    pub(super) fn by_id(&self) -> HashMap<&EntryId, &[u8]> {
        self.lines.iter().map(|(id, line)| (id, &**line)).collect()
    }
}
