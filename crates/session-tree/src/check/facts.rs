//! Tables that the checks use; each is built once, on first use.
//!
//! A file may be damaged on purpose: no answer may take a walk over the file.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::lines::Survey;
use crate::id::EntryId;
use crate::session::Session;
use crate::tree::{Node, Tree};

/// Marks a row that was not visited, or has no predecessor.
const NONE: u32 = u32::MAX;

/// The facts about a session that is being checked.
pub(super) struct Facts<'s> {
    tree: &'s Tree,
    pub(super) survey: Survey,
    /// The entries whose parent is not in the file, with its id.
    pub(super) orphans: HashMap<Node, EntryId>,
    /// The damaged entries that others hang below, or will when fused lines are taken apart.
    pub(super) awaited: HashSet<EntryId>,
    /// The same orphans by the id of the missing parent.
    by_parent: HashMap<EntryId, Vec<Node>>,
    lineage: OnceCell<Lineage>,
    good: OnceCell<Vec<u32>>,
    circling: OnceCell<Vec<bool>>,
}

impl<'s> Facts<'s> {
    pub(super) fn of(session: &'s Session, survey: Survey) -> Self {
        let tree = session.tree();
        let orphans: HashMap<Node, EntryId> = tree.orphans().collect();
        let awaited = session.awaited(&survey, &orphans);
        let mut by_parent: HashMap<EntryId, Vec<Node>> = HashMap::new();
        for (node, parent) in tree.orphans() {
            by_parent.entry(parent).or_default().push(node);
        }
        let (lineage, good, circling) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Facts { tree, survey, orphans, awaited, by_parent, lineage, good, circling }
    }

    /// Returns true if `ancestor` lies on the path to `node`.
    pub(super) fn is_on_path(&self, ancestor: Node, node: Node) -> bool {
        self.lineage.get_or_init(|| Lineage::of(self.tree)).is_on_path(ancestor, node)
    }

    /// Returns the orphans that name `parent`.
    pub(super) fn orphans_below(&self, parent: &EntryId) -> &[Node] {
        self.by_parent.get(parent).map_or(&[], Vec::as_slice)
    }

    /// Returns the last entry before a row of the tree that can be read.
    pub(super) fn good_entry_before(&self, row: usize) -> Option<Node> {
        let good = self.good.get_or_init(|| self.last_good());
        good.get(row).copied().filter(|at| *at != NONE).map(|at| self.tree.node_of_row(at))
    }

    /// For each row, and the place behind the last one, the last good entry before it.
    fn last_good(&self) -> Vec<u32> {
        let rows = self.tree.node_bound();
        let mut last = NONE;
        let mut good = Vec::with_capacity(rows + 1);
        for at in 0..rows {
            good.push(last);
            if self.tree.node_at(at).is_some_and(|node| !self.survey.is_damaged(node)) {
                last = at as u32;
            }
        }
        good.push(last);
        good
    }

    /// Returns true if an entry hangs below a circle that was cut at an entry that can be read.
    pub(super) fn hangs_below_a_circle(&self, node: Node) -> bool {
        if self.tree.cut_circles().next().is_none() {
            return false;
        }
        self.circling.get_or_init(|| self.below_circles())[node.index()]
    }

    fn below_circles(&self) -> Vec<bool> {
        let whole = self.tree.cut_circles().filter(|cut| !self.survey.is_damaged(*cut));
        let cut: HashSet<Node> = whole.collect();
        let tops = tops(self.tree);
        tops.into_iter().map(|top| cut.contains(&self.tree.node_of_row(top))).collect()
    }
}

/// For each row, part of the tree or not, the row without parent that is above it.
fn tops(tree: &Tree) -> Vec<u32> {
    let mut tops = vec![NONE; tree.node_bound()];
    let mut trail = Vec::new();
    for start in 0..tree.node_bound() as u32 {
        let mut at = start;
        while tops[at as usize] == NONE {
            trail.push(at);
            match tree.parent(tree.node_of_row(at)) {
                Some(parent) => at = parent.row,
                None => tops[at as usize] = at,
            }
        }
        for below in trail.drain(..) {
            tops[below as usize] = tops[at as usize];
        }
    }
    tops
}

/// Ancestry in constant time per question: each entry's place in a walk, and the end of its subtree.
struct Lineage {
    spans: Vec<(u32, u32)>,
}

impl Lineage {
    fn of(tree: &Tree) -> Self {
        let walk = tree.ordered();
        // What is not part of the tree is on no path.
        let mut spans = vec![(NONE, 0); tree.node_bound()];
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
        Lineage { spans }
    }

    fn is_on_path(&self, ancestor: Node, node: Node) -> bool {
        let (start, end) = self.spans[ancestor.index()];
        let (at, _) = self.spans[node.index()];
        start <= at && at < end
    }
}
