//! A set of entries: one bit per row of the tree.

use crate::tree::Node;

/// A set of entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    words: Vec<u64>,
}

impl Marks {
    pub(crate) fn with_rows(rows: usize) -> Self {
        Self { words: vec![0; rows.div_ceil(64)] }
    }

    /// Adds an entry; tells whether it is new.
    pub(crate) fn add(&mut self, node: Node) -> bool {
        let (word, bit) = place(node);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let before = self.words[word];
        self.words[word] |= bit;
        before & bit == 0
    }

    /// Removes an entry; tells whether it was there.
    pub(crate) fn remove(&mut self, node: Node) -> bool {
        let (word, bit) = place(node);
        let Some(slot) = self.words.get_mut(word) else { return false };
        let was_there = *slot & bit != 0;
        *slot &= !bit;
        was_there
    }

    pub(crate) fn has(&self, node: Node) -> bool {
        let (word, bit) = place(node);
        self.words.get(word).is_some_and(|slot| slot & bit != 0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }
}

fn place(node: Node) -> (usize, u64) {
    (node.0 as usize / 64, 1 << (node.0 % 64))
}
