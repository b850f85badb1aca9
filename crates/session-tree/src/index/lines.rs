//! All lines of a session in file order: entries, and the gaps between them.

use super::Index;
use crate::tree::Node;

/// A line that is not part of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NonEntryLine {
    /// How many rows of the tree stand before it.
    pub(crate) rows: u32,
    pub(crate) position: u64,
    pub(crate) len: u32,
    pub(crate) kind: NonEntryKind,
}

/// Why a line is not part of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NonEntryKind {
    Blank,
    Header,
    TitleSlot,
    SecondHeader,
    NotJson { reason: &'static str },
    NotAnObject,
    NoId,
    TooLong,
}

impl NonEntryKind {
    /// The kinds that sidecars store, each as its place in this list.
    #[cfg(feature = "fs")]
    pub(crate) const STORED: [Self; 6] = [
        NonEntryKind::Blank,
        NonEntryKind::Header,
        NonEntryKind::TitleSlot,
        NonEntryKind::SecondHeader,
        NonEntryKind::NotAnObject,
        NonEntryKind::NoId,
    ];

    /// Returns true if the line is a JSON object, which version 1 counts.
    pub(crate) fn is_object(self) -> bool {
        match self {
            NonEntryKind::Header
            | NonEntryKind::TitleSlot
            | NonEntryKind::SecondHeader
            | NonEntryKind::NoId => true,
            NonEntryKind::Blank
            | NonEntryKind::NotJson { .. }
            | NonEntryKind::NotAnObject
            | NonEntryKind::TooLong => false,
        }
    }
}

/// One line of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineAt {
    /// A row of the tree, shown or not.
    Row(Node),
    NonEntry(NonEntryLine),
}

impl Index {
    /// Returns all lines in file order.
    pub(crate) fn lines(&self) -> impl Iterator<Item = LineAt> + '_ {
        let mut gaps = self.non_entries.iter().copied().peekable();
        let mut row = 0_u32;
        let rows = self.tree.node_bound() as u32;
        std::iter::from_fn(move || {
            if let Some(gap) = gaps.next_if(|gap| gap.rows <= row) {
                return Some(LineAt::NonEntry(gap));
            }
            (row < rows).then(|| {
                row += 1;
                LineAt::Row(self.tree.node_of_row(row - 1))
            })
        })
    }

    /// Returns the number of the line of an entry, counted from 1; 0 for a stale node.
    pub(crate) fn line_number(&self, node: Node) -> u64 {
        let Some(row) = self.tree.row(node) else { return 0 };
        let lines_before = self.non_entries.partition_point(|line| line.rows <= row);
        u64::from(row) + lines_before as u64 + 1
    }

    /// Returns the bytes of a line in the file, without its line feed.
    pub(crate) fn range_of(&self, line: LineAt) -> std::ops::Range<u64> {
        let (position, len) = self.place_of(line);
        position..position + u64::from(len)
    }

    /// Returns the position and length of a line, without its line feed.
    pub(crate) fn place_of(&self, line: LineAt) -> (u64, u32) {
        match line {
            LineAt::Row(node) => self.tree.place(node),
            LineAt::NonEntry(gap) => (gap.position, gap.len),
        }
    }
}
