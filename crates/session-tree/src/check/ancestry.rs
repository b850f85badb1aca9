//! Ancestry of many entries: each answer takes constant time after one walk over the tree.

use std::collections::HashSet;

use super::Checker;
use crate::tree::{Node, Tree};

const NO_ROW: u32 = u32::MAX;

impl Checker<'_> {
    /// Returns true if `ancestor` is on the path to `node`.
    pub(super) fn is_on_path(&self, ancestor: Node, node: Node) -> bool {
        self.ancestry.get_or_init(|| Ancestry::of(self.tree)).is_on_path(ancestor, node)
    }

    /// Returns the last readable entry before a row of the tree.
    pub(super) fn readable_entry_before(&self, row: usize) -> Option<Node> {
        let readable_before = self.readable_before.get_or_init(|| {
            let mut last = None;
            let mut before = vec![None];
            for row in 0..self.tree.node_bound() {
                last = self.tree.node_at(row).filter(|node| !self.scan.is_damaged(*node)).or(last);
                before.push(last);
            }
            before
        });
        readable_before.get(row).copied().flatten()
    }

    /// Returns true if an entry is below a cycle that was cut at a readable entry.
    pub(super) fn is_below_cycle(&self, node: Node) -> bool {
        if self.tree.cut_circles().next().is_none() {
            return false;
        }
        self.is_below_cycle.get_or_init(|| {
            let cuts = self.tree.cut_circles().filter(|cut| !self.scan.is_damaged(*cut));
            let cuts: HashSet<Node> = cuts.collect();
            let roots = roots(self.tree).into_iter();
            roots.map(|root| cuts.contains(&self.tree.node_of_row(root))).collect()
        })[node.index()]
    }
}

/// Returns for each row, part of the tree or not, the row without parent that is above it.
fn roots(tree: &Tree) -> Vec<u32> {
    let mut roots = vec![NO_ROW; tree.node_bound()];
    let mut trail = Vec::new();
    for start in 0..tree.node_bound() as u32 {
        let mut at = start;
        while roots[at as usize] == NO_ROW {
            trail.push(at);
            match tree.parent(tree.node_of_row(at)) {
                Some(parent) => at = parent.row,
                None => roots[at as usize] = at,
            }
        }
        for below in trail.drain(..) {
            roots[below as usize] = roots[at as usize];
        }
    }
    roots
}

/// The place of each entry in a walk over the tree, and the end of its subtree.
pub(super) struct Ancestry {
    spans: Vec<(u32, u32)>,
}

impl Ancestry {
    fn of(tree: &Tree) -> Self {
        let walk = tree.ordered();
        // Rows that are not part of the tree are on no path.
        let mut spans = vec![(u32::MAX, 0); tree.node_bound()];
        let mut open: Vec<(Node, u32)> = Vec::new();
        for (at, (node, depth)) in walk.iter().enumerate() {
            while let Some((closed, _)) = open.pop_if(|(_, above)| *above >= *depth) {
                spans[closed.index()].1 = at as u32;
            }
            spans[node.index()].0 = at as u32;
            open.push((*node, *depth));
        }
        for (closed, _) in open {
            spans[closed.index()].1 = walk.len() as u32;
        }
        Ancestry { spans }
    }

    fn is_on_path(&self, ancestor: Node, node: Node) -> bool {
        let (start, end) = self.spans[ancestor.index()];
        let (at, _) = self.spans[node.index()];
        start <= at && at < end
    }
}
