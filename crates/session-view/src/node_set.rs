//! A set of entries, one bit each.

use session_tree::Node;

/// A set of entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NodeSet {
    words: Vec<u64>,
}

impl NodeSet {
    pub(crate) fn with_bound(bound: usize) -> Self {
        Self { words: vec![0; bound.div_ceil(64)] }
    }

    /// Adds an entry; returns true if it is new.
    pub(crate) fn add(&mut self, node: Node) -> bool {
        let (word, bit) = place(node);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let before = self.words[word];
        self.words[word] |= bit;
        before & bit == 0
    }

    /// Removes an entry; returns true if it was in the set.
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
    (node.index() / 64, 1 << (node.index() % 64))
}
