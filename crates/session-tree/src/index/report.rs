//! Diagnostics of loading, made from the index.

use super::{Index, NonEntryKind, NonEntryLine};
use crate::diagnostic::{Diagnostic, Problem};
use crate::tree::Node;

impl Index {
    /// Returns everything odd that loading noticed, in file order.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (number, gap) in self.non_entries.iter().enumerate() {
            if let Some(problem) = self.non_entry_problem(gap) {
                let line = u64::from(gap.rows) + number as u64 + 1;
                found.push(Diagnostic { line, bytes: span(gap.position, gap.len), problem });
            }
        }
        for (node, shown) in self.tree.damaged() {
            let reason = "the line is damaged";
            let id = self.tree.id(node);
            let problem =
                if shown { Problem::Placeholder { id, reason } } else { Problem::NotJson { reason } };
            found.push(self.at(node, problem));
        }
        for (old, new) in self.tree.moved_ids() {
            let earlier_line = self.line_number(old);
            found.push(self.at(new, Problem::DuplicateId { id: self.tree.id(new), earlier_line }));
        }
        for (copy, first) in self.tree.copies() {
            found.push(self.at(copy, Problem::RepeatedLine { id: self.tree.id(first) }));
        }
        let is_shown = |node: Node| self.tree.node_at(node.index()).is_some();
        for (node, parent) in self.tree.orphans().filter(|(node, _)| is_shown(*node)) {
            found.push(self.at(node, Problem::Orphan { id: self.tree.id(node), parent }));
        }
        for node in self.tree.cut_circles() {
            found.push(self.at(node, Problem::Cycle { id: self.tree.id(node) }));
        }
        found.extend(self.tail_problem());
        if self.byte_order_mark {
            found.push(Diagnostic { line: 1, bytes: 0..3, problem: Problem::ByteOrderMark });
        }
        found.sort_by_key(|diagnostic| diagnostic.bytes.start);
        found
    }

    fn non_entry_problem(&self, gap: &NonEntryLine) -> Option<Problem> {
        match gap.kind {
            NonEntryKind::Blank | NonEntryKind::TitleSlot => None,
            NonEntryKind::Header if self.is_newer() => Some(Problem::NewerVersion { version: self.version }),
            NonEntryKind::Header => self.uuid_spelling.then_some(Problem::UuidSpelling),
            NonEntryKind::SecondHeader => Some(Problem::SecondHeader),
            NonEntryKind::NotJson { reason } => Some(Problem::NotJson { reason }),
            NonEntryKind::NotAnObject => Some(Problem::NotAnObject),
            NonEntryKind::NoId => Some(Problem::NoId),
            NonEntryKind::TooLong => Some(Problem::LineTooLong { length: u64::from(gap.len) }),
        }
    }

    fn tail_problem(&self) -> Option<Diagnostic> {
        let lines = (self.tree.node_bound() + self.non_entries.len()) as u64;
        if let Some(torn) = &self.torn {
            return Some(Diagnostic { line: lines + 1, bytes: torn.clone(), problem: Problem::TornTail });
        }
        self.open_tail.then_some(Diagnostic {
            line: lines,
            bytes: self.end..self.end,
            problem: Problem::MissingLineFeed,
        })
    }

    pub(crate) fn at(&self, node: Node, problem: Problem) -> Diagnostic {
        let (position, len) = self.tree.place(node);
        Diagnostic { line: self.line_number(node), bytes: span(position, len), problem }
    }
}

fn span(position: u64, len: u32) -> std::ops::Range<u64> {
    position..position + u64::from(len)
}
