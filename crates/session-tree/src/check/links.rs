//! Links between entries that stand in their bodies, and where the file says one would go on.

use crate::diagnostic::{Diagnostic, Problem};
use crate::error::Result;
use crate::id::EntryId;
use crate::index::GapKind;
use crate::json::Value;
use crate::kind::Kind;
use crate::session::Session;
use crate::tree::{Node, Tree};

use super::fixes::Fix;
use super::lines::Survey;

impl Session {
    /// Labels without target, and compactions that keep from an entry that is not on their path.
    pub(super) fn link_problems(&self, survey: &Survey) -> Result<Vec<Diagnostic>> {
        let mut found = Vec::new();
        let mut lineage = None;
        for node in survey.naming.iter().copied() {
            let entry = self.entry_at(node)?;
            let named = |key| entry.value().and_then(|value| value.get(key)).and_then(Value::as_str);
            let id = self.tree().id(node);
            let problem = if self.tree().kind(node) == Kind::Label {
                let target = named("targetId").map(|target| EntryId::from(&*target));
                let lost = target.filter(|target| self.tree().node(target.as_str()).is_none());
                lost.map(|target| Problem::LabelWithoutTarget { id, target })
            } else {
                let first_kept = named("firstKeptEntryId").map(|kept| EntryId::from(&*kept));
                let lineage = lineage.get_or_insert_with(|| Lineage::of(self.tree()));
                let is_above = |kept: &EntryId| {
                    self.tree().node(kept.as_str()).is_some_and(|kept| lineage.is_on_path(kept, node))
                };
                let lost = first_kept.filter(|kept| !is_above(kept));
                lost.map(|first_kept| Problem::FirstKeptNotOnPath { id, first_kept })
            };
            found.extend(problem.map(|problem| self.index.at(node, problem)));
        }
        Ok(found)
    }

    /// Tells whether another program, which goes on from the last entry, would go on elsewhere.
    pub(super) fn leaf_problem(&self) -> Result<Option<(Diagnostic, Option<Fix>)>> {
        let tree = self.tree();
        let leaf = self.index.leaf(&*self.journal).map_err(|source| self.io_error("read", source))?;
        let mut last = None;
        for node in tree.nodes().rev().filter(|node| !tree.is_placeholder(*node)) {
            if self.index.is_whole(&*self.journal, node).map_err(|source| self.io_error("read", source))? {
                last = Some(node);
                break;
            }
        }
        let (Some(leaf), Some(last)) = (leaf, last) else { return Ok(None) };
        let (position, _) = tree.place(last);
        let odd = self.index.gaps.iter().rev().take_while(|gap| gap.position > position);
        let odd = odd.filter(|gap| matches!(gap.kind, GapKind::NoId | GapKind::NotAnObject)).last();
        let agrees = last == leaf || (tree.is_leaf_marker(last) && tree.parent(last) == Some(leaf));
        if agrees && odd.is_none() {
            return Ok(None);
        }
        let leaf = tree.id(leaf);
        let fix = Fix::LeafMarker { target: Some(leaf.clone()) };
        Ok(Some((self.index.at(last, Problem::LeafIsNotLast { leaf }), Some(fix))))
    }
}

/// Who stands above whom, in constant time per question: each entry's place in a walk, and where its subtree ends.
struct Lineage {
    spans: Vec<(u32, u32)>,
}

impl Lineage {
    fn of(tree: &Tree) -> Self {
        let walk = tree.ordered();
        let mut spans = vec![(0, 0); tree.row_count()];
        let mut open: Vec<(Node, u32)> = Vec::new();
        for (at, (node, depth)) in walk.iter().enumerate() {
            while let Some((closed, _)) = open.pop_if(|(_, above)| *above >= *depth) {
                spans[closed.0 as usize].1 = at as u32;
            }
            spans[node.0 as usize].0 = at as u32;
            open.push((*node, *depth));
        }
        for (closed, _) in open {
            spans[closed.0 as usize].1 = walk.len() as u32;
        }
        Lineage { spans }
    }

    fn is_on_path(&self, ancestor: Node, node: Node) -> bool {
        let (start, end) = self.spans[ancestor.0 as usize];
        let (at, _) = self.spans[node.0 as usize];
        start <= at && at < end
    }
}
