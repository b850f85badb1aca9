//! The tree as plain bytes, for the sidecar.

use smol_str::SmolStr;

use super::{Columns, Exceptions, Flags, IdKey, Tree};
use crate::codec::{Codec, Parts, column, encode, fields};

/// How many parts a tree is stored in: five columns, odd ids, the sorted ids, and the lists of what is odd.
pub(crate) const TREE_PARTS: usize = 8;

impl Tree {
    /// Returns everything that is needed to have the same tree again.
    pub(crate) fn to_parts(&self) -> Vec<Vec<u8>> {
        let columns = &self.columns;
        let mut sorted: Vec<u64> = (0..columns.len() as u32)
            .filter(|at| {
                columns.flags(*at) & Flags::ODD_ID == 0 && self.holder(&self.key_at(*at)) == Some(*at)
            })
            .map(|at| u64::from(columns.id(at)) << 32 | u64::from(at))
            .collect();
        sorted.sort_unstable();
        vec![
            column(&columns.len, u32::to_le_bytes),
            column(&columns.parent, u32::to_le_bytes),
            column(&columns.id, u32::to_le_bytes),
            column(&columns.time, i64::to_le_bytes),
            column(&columns.tag, u32::to_le_bytes),
            encode(&self.odd_ids),
            column(&sorted, u64::to_le_bytes),
            encode(&self.exceptions),
        ]
    }

    /// Makes a tree of its parts, from `first` on. `non_entries` has the number of rows before each other line, and the
    /// position after it. `None` if the parts do not fit together.
    pub(crate) fn from_parts(parts: &Parts, first: usize, non_entries: &[(u32, u64)]) -> Option<Self> {
        let len = parts.column(first, u32::from_le_bytes)?;
        let columns = Columns {
            position: positions(&len, non_entries),
            parent: parts.column(first + 1, u32::from_le_bytes)?,
            id: parts.column(first + 2, u32::from_le_bytes)?,
            time: parts.column(first + 3, i64::from_le_bytes)?,
            tag: parts.column(first + 4, u32::from_le_bytes)?,
            len,
        };
        let count = columns.len.len();
        let lengths = [columns.parent.len(), columns.id.len(), columns.time.len(), columns.tag.len()];
        if lengths.iter().any(|len| *len != count) {
            return None;
        }
        let mut tree = Tree {
            odd_ids: parts.decode(first + 5)?,
            stored: parts.column(first + 6, u64::from_le_bytes)?,
            hidden: (0..count as u32).filter(|at| columns.flags(*at) & Flags::HIDDEN != 0).count(),
            columns,
            learned: count,
            exceptions: parts.decode(first + 7)?,
            ..Tree::default()
        };
        // Ids that are not hex numbers are not among the sorted ones; they are few, or the file is small.
        for at in 0..count as u32 {
            let looked_at = Flags::ODD_ID | Flags::WITHDRAWN | Flags::LOST_ID;
            if tree.columns.flags(at) & looked_at == Flags::ODD_ID {
                tree.learn_id(at);
            }
        }
        Some(tree)
    }
}

fields! { Exceptions { shadowed, copies, moved, placeholders, cut, has_forward_links, waiting } }

impl Codec for IdKey<'static> {
    fn write(&self, out: &mut Vec<u8>) {
        SmolStr::new(self.to_id()).write(out);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        SmolStr::read(bytes).map(|id| IdKey::of(&id).into_owned())
    }
}

/// Finds where each line begins: right after the one before, unless another line stands between.
fn positions(lengths: &Vec<u32>, non_entries: &[(u32, u64)]) -> Vec<u64> {
    let mut positions = Vec::with_capacity(lengths.capacity());
    let mut non_entries = non_entries.iter().peekable();
    let mut at = 0;
    for (row, len) in lengths.iter().enumerate() {
        while let Some((_, after)) = non_entries.next_if(|(rows, _)| *rows as usize <= row) {
            at = *after;
        }
        positions.push(at);
        at += u64::from(*len) + 1;
    }
    positions
}
