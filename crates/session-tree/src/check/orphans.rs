//! Entries whose parent is not in the file, and the stubs that replace the missing parents.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::lines::BadLine;
use super::{Checker, Finding, Fix};
use crate::diagnostic::{Diagnostic, Problem};
use crate::error::Result;
use crate::id::EntryId;
use crate::tree::Node;

/// An entry whose parent is not in the file.
struct Orphan {
    id: EntryId,
    /// None if it shares its line with something else.
    node: Option<Node>,
    parent: EntryId,
    line: u64,
    bytes: Range<u64>,
}

/// The effects of earlier repairs.
#[derive(Default)]
struct EarlierRepairs {
    /// The entries that they restored: their positions in the file have no meaning.
    restored: HashSet<EntryId>,
    /// The position up to which earlier repairs have inferred parents: later repairs do not try again.
    inferred_until: u64,
}

impl EarlierRepairs {
    fn covers(&self, orphan: &Orphan) -> bool {
        orphan.bytes.start < self.inferred_until || self.restored.contains(&orphan.id)
    }
}

impl Checker<'_> {
    /// Reports the orphans, each with the stub for its missing parent.
    pub(super) fn orphan_problems(&self) -> Result<Vec<Finding>> {
        let mut orphans = self.find_orphans();
        orphans.sort_by_key(|orphan| orphan.bytes.start);
        let stubs = self.missing_parents(&orphans, &self.earlier_repairs()?);
        let report = |orphan: Orphan| {
            let fix = stubs.get(&orphan.parent).cloned().flatten();
            let problem = Problem::Orphan { id: orphan.id, parent: orphan.parent };
            (Diagnostic { line: orphan.line, bytes: orphan.bytes, problem }, fix)
        };
        Ok(orphans.into_iter().map(report).collect())
    }

    /// Returns the orphans of the tree, and entries on fused lines that will be orphans.
    fn find_orphans(&self) -> Vec<Orphan> {
        let (tree, scan) = (self.tree, &self.scan);
        let mut found = Vec::new();
        for (node, parent) in tree.orphans() {
            let id = tree.id(node);
            let is_kept = !scan.is_damaged(node) || self.damaged_parents.contains(&id);
            if tree.node_at(node.index()).is_some() && is_kept {
                let (position, len) = tree.place(node);
                let bytes = position..position + u64::from(len);
                found.push(Orphan {
                    id,
                    node: Some(node),
                    parent,
                    line: self.session.line_number(node),
                    bytes,
                });
            }
        }
        let on_fused_lines = self.ids_on_bad_lines();
        for bad in &scan.bad {
            for piece in self.lost_pieces(bad) {
                // A piece whose parent is a piece gets its parent back together with itself.
                let is_missing =
                    |parent: &&EntryId| !tree.holds(parent.as_str()) && !on_fused_lines.contains(parent);
                let Some(parent) = piece.parent.as_ref().filter(is_missing) else { continue };
                let (id, bytes) = (piece.entry.id.clone(), piece.entry.bytes.clone());
                found.push(Orphan { id, node: None, parent: parent.clone(), line: bad.number, bytes });
            }
        }
        found
    }

    fn ids_on_bad_lines(&self) -> HashSet<&EntryId> {
        self.scan.bad.iter().flat_map(|bad| &bad.pieces).map(|piece| &piece.entry.id).collect()
    }

    /// Returns the effects of earlier repairs that were not undone, from their records.
    fn earlier_repairs(&self) -> Result<EarlierRepairs> {
        let records = self.session.repair_records()?;
        let undone: HashSet<&EntryId> = records.iter().filter_map(|record| record.undoes.as_ref()).collect();
        let mut found = EarlierRepairs::default();
        for record in records.iter().filter(|record| !undone.contains(&self.tree.id(record.node))) {
            found.restored.extend(record.restored.iter().cloned());
            if record.infers {
                found.inferred_until = self.tree.place(record.node).0;
            }
        }
        Ok(found)
    }

    /// Infers the place of every missing parent.
    ///
    /// First a damaged line with its id; then, if just one parent is missing and one damaged line is left, that line;
    /// otherwise the entry before the orphan, if it has no children: forks that left entries out look so.
    fn missing_parents(&self, orphans: &[Orphan], earlier: &EarlierRepairs) -> HashMap<EntryId, Option<Fix>> {
        // An entry that is recovered needs no stub.
        let mut seen = self.ids_on_bad_lines();
        let mut first_of: Vec<&Orphan> =
            orphans.iter().filter(|orphan| seen.insert(&orphan.parent)).collect();
        let is_open = |bad: &&BadLine| {
            let is_readable = bad.id_hint.as_ref().is_some_and(|id| self.readable_line_of(id).is_some());
            bad.node.is_none() && bad.pieces.is_empty() && !is_readable
        };
        let mut lines: Vec<&BadLine> = self.scan.bad.iter().filter(is_open).collect();
        let by_hint: HashMap<&EntryId, &BadLine> =
            lines.iter().filter_map(|bad| Some((bad.id_hint.as_ref()?, *bad))).collect();
        let (mut stubs, mut used) = (HashMap::new(), HashSet::new());
        first_of.retain(|orphan| {
            let Some(bad) = by_hint.get(&orphan.parent) else { return true };
            used.insert(bad.number);
            stubs.insert(orphan.parent.clone(), self.stub_on_line(orphan, bad));
            false
        });
        lines.retain(|bad| !used.contains(&bad.number) && bad.bytes.start >= earlier.inferred_until);
        first_of.retain(|orphan| !earlier.covers(orphan));
        if let [orphan] = first_of.as_slice() {
            // A parent is written before its children.
            lines.retain(|bad| bad.bytes.start < orphan.bytes.start);
            if let [bad] = lines.as_slice() {
                stubs.insert(orphan.parent.clone(), self.stub_on_line(orphan, bad));
                return stubs;
            }
        }
        for orphan in first_of {
            let before = self.readable_entry_before(self.row_at(orphan.bytes.start));
            let tip = before.filter(|before| self.tree.children(*before).next().is_none());
            stubs.insert(orphan.parent.clone(), self.inferred_stub(orphan, tip));
        }
        stubs
    }

    /// Returns the stub for a missing parent whose line is damaged.
    fn stub_on_line(&self, orphan: &Orphan, bad: &BadLine) -> Option<Fix> {
        let id = &orphan.parent;
        let named = bad.parent_hint.as_ref().and_then(|parent| self.tree.node(parent.as_str()));
        let named = named.filter(|parent| !self.scan.is_damaged(*parent));
        if let Some(parent) = named.filter(|parent| !self.is_below(*parent, orphan)) {
            let parent = Some(self.tree.id(parent));
            return Some(Fix::Stub { id: id.clone(), parent, inferred: bad.id_hint.as_ref() != Some(id) });
        }
        self.inferred_stub(orphan, self.readable_entry_before(self.row_at(bad.bytes.start)))
    }

    fn inferred_stub(&self, orphan: &Orphan, parent: Option<Node>) -> Option<Fix> {
        let parent = parent.filter(|parent| !self.is_below(*parent, orphan))?;
        Some(Fix::Stub { id: orphan.parent.clone(), parent: Some(self.tree.id(parent)), inferred: true })
    }

    fn is_below(&self, node: Node, orphan: &Orphan) -> bool {
        match orphan.node {
            Some(top) => self.is_on_path(top, node),
            // Its children are orphans, too.
            None => {
                let children = self.orphans_of.get(&orphan.id).into_iter().flatten();
                children.into_iter().any(|child| self.is_on_path(*child, node))
            }
        }
    }

    /// Returns the first row at or after a position of the file.
    fn row_at(&self, position: u64) -> usize {
        let (mut low, mut high) = (0, self.tree.node_bound() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.tree.place(self.tree.node_of_row(middle)).0 < position {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low as usize
    }
}
