//! The tree as plain bytes, for the sidecar.

use std::borrow::Cow;
use std::sync::OnceLock;

use smol_str::SmolStr;

use crate::parts::Parts;

use super::{Columns, Flags, IdKey, SortedIds, Tree};

/// How many parts a tree is stored in: five columns, odd ids, the sorted ids, and the lists of what is odd.
pub(crate) const TREE_PARTS: usize = 8;

impl Tree {
    /// Gives everything that is needed to have the same tree again.
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
            bytes_of(&columns.len, u32::to_le_bytes),
            bytes_of(&columns.parent, u32::to_le_bytes),
            bytes_of(&columns.id, u32::to_le_bytes),
            bytes_of(&columns.time, i64::to_le_bytes),
            bytes_of(&columns.tag, u32::to_le_bytes),
            texts_of(self.odd_ids.iter().map(SmolStr::as_str)),
            bytes_of(&sorted, u64::to_le_bytes),
            self.oddities(),
        ]
    }

    /// Makes a tree of its parts, from `first` on. `gaps`: how many rows stand before each other line, and where the line after it
    /// begins. `None` if the parts do not fit together.
    pub(crate) fn from_parts(parts: &Parts, first: usize, gaps: &[(u32, u64)]) -> Option<Self> {
        let len = parts.numbers(first, u32::from_le_bytes)?;
        let columns = Columns {
            position: positions(&len, gaps),
            parent: parts.numbers(first + 1, u32::from_le_bytes)?,
            id: parts.numbers(first + 2, u32::from_le_bytes)?,
            time: parts.numbers(first + 3, i64::from_le_bytes)?,
            tag: parts.numbers(first + 4, u32::from_le_bytes)?,
            len,
        };
        let count = columns.len.len();
        let fits = [columns.parent.len(), columns.id.len(), columns.time.len(), columns.tag.len()];
        if fits.iter().any(|len| *len != count) {
            return None;
        }
        let mut tree = Tree { columns, odd_ids: texts(&parts.bytes(first + 5)?)?, ..Tree::default() };
        tree.stored = SortedIds { pairs: parts.numbers(first + 6, u64::from_le_bytes)? };
        tree.take_oddities(&parts.bytes(first + 7)?)?;
        tree.hidden = (0..count as u32).filter(|at| tree.columns.flags(*at) & Flags::HIDDEN != 0).count();
        tree.learned = count;
        // Ids that are no hex numbers are not among the sorted ones; they are few, or the file is small.
        for at in 0..count as u32 {
            let looked_at = Flags::ODD_ID | Flags::WITHDRAWN | Flags::LOST_ID;
            if tree.columns.flags(at) & looked_at == Flags::ODD_ID {
                tree.learn_odd(at);
            }
        }
        tree.links = OnceLock::new();
        Some(tree)
    }

    /// The short lists, each with its length before it.
    fn oddities(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for pairs in [&self.shadowed, &self.copies, &self.moved] {
            push_list(&mut out, pairs.iter().flat_map(|(one, other)| [*one, *other]));
        }
        push_list(&mut out, self.placeholders.iter().copied());
        push_list(&mut out, self.cut.iter().copied());
        push_list(&mut out, [u32::from(self.has_forward_links)].into_iter());
        push_list(&mut out, self.waiting.iter().map(|(at, _)| *at));
        let names: Vec<String> = self.waiting.iter().map(|(_, id)| id.to_id().to_string()).collect();
        out.extend(texts_of(names.iter().map(String::as_str)));
        out
    }

    fn take_oddities(&mut self, mut bytes: &[u8]) -> Option<()> {
        for target in [&mut self.shadowed, &mut self.copies, &mut self.moved] {
            let list = take_list(&mut bytes)?;
            *target = list.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        }
        self.placeholders = take_list(&mut bytes)?;
        self.cut = take_list(&mut bytes)?;
        self.has_forward_links = take_list(&mut bytes)?.first() == Some(&1);
        let waiting = take_list(&mut bytes)?;
        let names = texts(bytes)?;
        let keys = names.iter().map(|name| IdKey::of_text(Cow::Borrowed(name.as_str())).into_owned());
        self.waiting = waiting.into_iter().zip(keys).collect();
        Some(())
    }
}

/// Finds where each line begins: right after the one before, unless another line stands between.
fn positions(lengths: &Vec<u32>, gaps: &[(u32, u64)]) -> Vec<u64> {
    let mut positions = Vec::with_capacity(lengths.capacity());
    let mut gaps = gaps.iter().peekable();
    let mut at = 0;
    for (row, len) in lengths.iter().enumerate() {
        while let Some((_, after)) = gaps.next_if(|(rows, _)| *rows as usize <= row) {
            at = *after;
        }
        positions.push(at);
        at += u64::from(*len) + 1;
    }
    positions
}

fn bytes_of<T: Copy, const N: usize>(values: &[T], bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    let mut out = Vec::with_capacity(values.len() * N);
    for value in values {
        out.extend_from_slice(&bytes(*value));
    }
    out
}

fn texts_of<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<u8> {
    let mut out = Vec::new();
    for text in texts {
        out.extend_from_slice(&(text.len() as u32).to_le_bytes());
        out.extend_from_slice(text.as_bytes());
    }
    out
}

fn texts(mut bytes: &[u8]) -> Option<Vec<SmolStr>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        found.push(SmolStr::new(std::str::from_utf8(text).ok()?));
        bytes = rest;
    }
    Some(found)
}

fn push_list(out: &mut Vec<u8>, list: impl Iterator<Item = u32>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut count = 0_u32;
    for number in list {
        out.extend_from_slice(&number.to_le_bytes());
        count += 1;
    }
    out[start..start + 4].copy_from_slice(&count.to_le_bytes());
}

fn take_list(bytes: &mut &[u8]) -> Option<Vec<u32>> {
    let (count, rest) = bytes.split_first_chunk::<4>()?;
    let (list, rest) = rest.split_at_checked((u32::from_le_bytes(*count) as usize).checked_mul(4)?)?;
    *bytes = rest;
    Some(list.as_chunks::<4>().0.iter().map(|number| u32::from_le_bytes(*number)).collect())
}
