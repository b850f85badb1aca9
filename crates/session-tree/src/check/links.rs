//! Links between entries that stand in their bodies, and where the file says one would go on.

use crate::diagnostic::{Diagnostic, Problem};
use crate::error::Result;
use crate::id::EntryId;
use crate::index::NonEntryKind;
use crate::json::ValueRef;
use crate::kind::Kind;
use crate::session::Session;

use super::facts::Facts;
use super::fixes::Fix;

impl Session {
    /// Labels without target, and compactions that keep from an entry that is not on their path.
    pub(super) fn link_problems(&self, facts: &Facts<'_>) -> Result<Vec<Diagnostic>> {
        let mut found = Vec::new();
        for node in facts.survey.naming.iter().copied() {
            let entry = self.entry_at(node)?;
            let named = |key| entry.value().and_then(|value| value.get(key)).and_then(ValueRef::as_str);
            let id = self.tree().id(node);
            let problem = if self.tree().kind(node) == Kind::Label {
                let target = named("targetId").map(|target| EntryId::from(&*target));
                let lost = target.filter(|target| self.tree().node(target.as_str()).is_none());
                lost.map(|target| Problem::LabelWithoutTarget { id, target })
            } else {
                let first_kept = named("firstKeptEntryId").map(|kept| EntryId::from(&*kept));
                let is_above = |kept: &EntryId| {
                    self.tree().node(kept.as_str()).is_some_and(|kept| facts.is_on_path(kept, node))
                };
                let lost = first_kept.filter(|kept| !is_above(kept));
                lost.map(|first_kept| Problem::FirstKeptNotOnPath { id, first_kept })
            };
            found.extend(problem.map(|problem| self.index.at(node, problem)));
        }
        Ok(found)
    }

    /// Returns true if another program, which goes on from the last entry, would go on elsewhere.
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
        let odd = self.index.non_entries.iter().rev().take_while(|gap| gap.position > position);
        let odd = odd.filter(|gap| matches!(gap.kind, NonEntryKind::NoId | NonEntryKind::NotAnObject)).last();
        let agrees = last == leaf || (tree.is_leaf_marker(last) && tree.parent(last) == Some(leaf));
        if agrees && odd.is_none() {
            return Ok(None);
        }
        let leaf = tree.id(leaf);
        let fix = Fix::LeafMarker { target: Some(leaf.clone()) };
        Ok(Some((self.index.at(last, Problem::LeafIsNotLast { leaf }), Some(fix))))
    }
}
