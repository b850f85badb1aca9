//! The fix for each problem.
//!
//! A fix names what was lost and where it belongs; `repair` carries it out. Nothing here writes.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;

use super::REPAIR;
use super::facts::Facts;
use super::lines::BadLine;
use crate::diagnostic::{Diagnostic, Problem};
use crate::error::Result;
use crate::id::EntryId;
use crate::json::ValueRef;
use crate::session::Session;
use crate::tree::Node;

/// A fix that a repair can apply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fix {
    /// Appends an entry without content that has the id of the lost one, so that its descendants find their
    /// ancestors again, in other programs too.
    Stub {
        /// The id that was lost.
        id: EntryId,
        /// The parent; `None` for a root.
        parent: Option<EntryId>,
        /// The place was not read from the file but concluded from the order of its lines.
        inferred: bool,
    },
    /// Appends entries again that are whole but stand on a line with something else.
    Recover {
        /// The entries, in the order of the file.
        entries: Vec<Recovered>,
    },
    /// Ends the last line.
    LineFeed,
    /// Appends a marker, so that other programs go on from the same entry.
    LeafMarker {
        /// The entry to go on from.
        target: Option<EntryId>,
    },
    /// Makes the entry a root; only possible in a copy.
    Detach {
        /// The entry.
        id: EntryId,
    },
    /// Leaves bytes out; only possible in a copy.
    Omit {
        /// The bytes.
        bytes: Range<u64>,
    },
    /// Writes the entries that can be read below a new header; only possible in a copy.
    Salvage,
}

/// A whole entry on a line with something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The id of the entry.
    pub id: EntryId,
    /// The range of its bytes in the file.
    pub bytes: Range<u64>,
    /// Nobody would go on from it.
    pub(crate) is_aside: bool,
}

/// An entry whose parent is not in the file.
struct Orphan {
    id: EntryId,
    /// None if it stands on a line with something else.
    node: Option<Node>,
    parent: EntryId,
    line: u64,
    bytes: Range<u64>,
}

/// The effects of earlier repairs.
#[derive(Default)]
struct EarlierRepairs {
    /// The entries that they restored: the positions of those lines have no meaning.
    restored: HashSet<EntryId>,
    /// The position up to which damage that is still there was left on purpose.
    looked_until: u64,
}

/// The record of a repair.
pub(crate) struct RepairRecord {
    pub(crate) node: Node,
    restored: Vec<EntryId>,
    infers: bool,
    /// The record of the repair that this one took back.
    pub(crate) undoes: Option<EntryId>,
}

impl RepairRecord {
    fn read(node: Node, data: ValueRef<'_>) -> Self {
        let id = |value: ValueRef<'_>| value.as_str().map(|id| EntryId::from(&*id));
        RepairRecord {
            node,
            restored: data.get("restored").into_iter().flat_map(|ids| ids.items()).filter_map(id).collect(),
            infers: data.get("inferred").and_then(ValueRef::as_bool) == Some(true),
            undoes: data.get("undoes").and_then(id),
        }
    }
}

impl EarlierRepairs {
    fn leaves_open(&self, orphan: &Orphan) -> bool {
        orphan.bytes.start >= self.looked_until && !self.restored.contains(&orphan.id)
    }
}

impl Fix {
    /// Returns true if appending is not enough, so that only a copy of the file can be repaired this way.
    pub fn needs_copy(&self) -> bool {
        match self {
            Fix::Detach { .. } | Fix::Omit { .. } | Fix::Salvage => true,
            Fix::Stub { .. } | Fix::Recover { .. } | Fix::LineFeed | Fix::LeafMarker { .. } => false,
        }
    }

    /// Returns true if the fix rests on a conclusion instead of on what the file says.
    pub fn is_inferred(&self) -> bool {
        matches!(self, Fix::Stub { inferred: true, .. })
    }
}

impl fmt::Display for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fix::Stub { id, parent, inferred } => {
                write!(f, "append an empty entry {id} ")?;
                match parent {
                    Some(parent) => write!(f, "below {parent}")?,
                    None => f.write_str("as a root")?,
                }
                f.write_str(if *inferred { ", which is a guess" } else { "" })
            }
            Fix::Recover { entries } => {
                let ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
                write!(f, "append again what is whole: {}", ids.join(", "))
            }
            Fix::LineFeed => f.write_str("end the last line"),
            Fix::LeafMarker { target } => {
                let target = target.as_ref().map_or("the start", EntryId::as_str);
                write!(f, "append a marker, so that other programs go on from {target}")
            }
            Fix::Detach { id } => write!(f, "make {id} a root"),
            Fix::Omit { bytes } => write!(f, "leave out the bytes {}..{}", bytes.start, bytes.end),
            Fix::Salvage => f.write_str("write the entries that can be read below a new header"),
        }
    }
}

impl Session {
    /// The stub for an entry whose line cannot be read, at the place that the line names.
    pub(super) fn stub_for(&self, node: Node, facts: &Facts<'_>) -> Option<Fix> {
        let tree = self.tree();
        if facts.hangs_below_a_circle(node) {
            // Other programs do not cut circles: with this entry they would walk one for ever.
            return None;
        }
        let parent = tree.parent(node).map(|parent| tree.id(parent));
        let parent = parent.or_else(|| facts.orphans.get(&node).cloned());
        Some(Fix::Stub { id: tree.id(node), parent, inferred: false })
    }

    /// The orphans, each with the stub that would give it its ancestors back.
    pub(super) fn orphan_problems(&self, facts: &Facts<'_>) -> Result<Vec<(Diagnostic, Option<Fix>)>> {
        let mut orphans = self.orphans_of(facts);
        orphans.sort_by_key(|orphan| orphan.bytes.start);
        let fixes = self.missing_parents(&orphans, facts, &self.earlier_repairs()?);
        let tell = |orphan: Orphan| {
            let fix = fixes.get(&orphan.parent).cloned().flatten();
            let problem = Problem::Orphan { id: orphan.id, parent: orphan.parent };
            (Diagnostic { line: orphan.line, bytes: orphan.bytes, problem }, fix)
        };
        Ok(orphans.into_iter().map(tell).collect())
    }

    /// The orphans of the tree, and entries on fused lines that will be.
    fn orphans_of(&self, facts: &Facts<'_>) -> Vec<Orphan> {
        let (tree, survey) = (self.tree(), &facts.survey);
        let counts = |node: Node| {
            let is_there = !survey.is_damaged(node) || facts.awaited.contains(&tree.id(node));
            tree.node_at(node.index()).is_some() && is_there
        };
        let shown = tree.orphans().filter(|(node, _)| counts(*node));
        let mut found: Vec<Orphan> = shown
            .map(|(node, parent)| {
                let (position, len) = tree.place(node);
                let bytes = position..position + u64::from(len);
                Orphan { id: tree.id(node), node: Some(node), parent, line: self.line_number(node), bytes }
            })
            .collect();
        for bad in &survey.bad {
            for piece in self.lost_pieces(bad, survey) {
                let parent = piece.parent.clone().filter(|parent| !tree.holds(parent.as_str()));
                let Some(parent) = parent else { continue };
                let (id, bytes) = (piece.id.clone(), piece.bytes.clone());
                found.push(Orphan { id, node: None, parent, line: bad.number, bytes });
            }
        }
        let pieces = survey.bad.iter().flat_map(|bad| &bad.pieces);
        let on_fused_lines: HashSet<&EntryId> = pieces.map(|piece| &piece.id).collect();
        // A piece whose parent is a piece has its parent back together with itself.
        found.retain(|orphan| orphan.node.is_some() || !on_fused_lines.contains(&orphan.parent));
        found
    }

    /// Returns the effects of earlier repairs that were not undone, from their records.
    fn earlier_repairs(&self) -> Result<EarlierRepairs> {
        let records = self.repair_records()?;
        let undone: HashSet<&EntryId> = records.iter().filter_map(|record| record.undoes.as_ref()).collect();
        let mut found = EarlierRepairs::default();
        for record in records.iter().filter(|record| !undone.contains(&self.tree().id(record.node))) {
            found.restored.extend(record.restored.iter().cloned());
            if record.infers {
                found.looked_until = self.tree().place(record.node).0;
            }
        }
        Ok(found)
    }

    /// The records of repairs and of what undid them, in file order.
    pub(crate) fn repair_records(&self) -> Result<Vec<RepairRecord>> {
        let mut found = Vec::new();
        for node in self.tree().nodes().filter(|node| self.tree().is_internal(*node)) {
            let entry = self.entry_at(node)?;
            let is_record =
                |value: &ValueRef<'_>| value.get("customType").is_some_and(|name| name.is_str(REPAIR));
            let data = entry.value().filter(is_record).and_then(|value| value.get("data"));
            found.extend(data.map(|data| RepairRecord::read(node, data)));
        }
        Ok(found)
    }

    /// Concludes for every missing parent where it stood.
    ///
    /// First a damaged line that names it; then, if just one parent is missing and one damaged line is left, that
    /// line; otherwise the entry before the orphan, if nothing follows it: forks that left entries out look so.
    fn missing_parents(
        &self,
        orphans: &[Orphan],
        facts: &Facts<'_>,
        earlier: &EarlierRepairs,
    ) -> HashMap<EntryId, Option<Fix>> {
        let survey = &facts.survey;
        let pieces = survey.bad.iter().flat_map(|bad| &bad.pieces);
        // An entry that is recovered comes back by itself.
        let mut seen: HashSet<&EntryId> = pieces.map(|piece| &piece.id).collect();
        let mut first_of: Vec<&Orphan> =
            orphans.iter().filter(|orphan| seen.insert(&orphan.parent)).collect();
        let is_open = |bad: &&BadLine| {
            let is_held = bad.id_hint.as_ref().is_some_and(|id| self.is_held(id, survey));
            bad.node.is_none() && bad.pieces.is_empty() && !is_held
        };
        let mut lines: Vec<&BadLine> = survey.bad.iter().filter(is_open).collect();
        let by_hint: HashMap<&EntryId, &BadLine> =
            lines.iter().filter_map(|bad| Some((bad.id_hint.as_ref()?, *bad))).collect();
        let (mut fixes, mut used) = (HashMap::new(), HashSet::new());
        first_of.retain(|orphan| {
            let Some(bad) = by_hint.get(&orphan.parent) else { return true };
            used.insert(bad.number);
            fixes.insert(orphan.parent.clone(), self.stub_on_line(orphan, bad, facts));
            false
        });
        lines.retain(|bad| !used.contains(&bad.number) && bad.bytes.start >= earlier.looked_until);
        first_of.retain(|orphan| earlier.leaves_open(orphan));
        if let [orphan] = first_of.as_slice() {
            // A parent stands before its children.
            lines.retain(|bad| bad.bytes.start < orphan.bytes.start);
            if let [bad] = lines.as_slice() {
                fixes.insert(orphan.parent.clone(), self.stub_on_line(orphan, bad, facts));
                return fixes;
            }
        }
        for orphan in first_of {
            let before = facts.good_entry_before(self.row_at(orphan.bytes.start));
            let tip = before.filter(|before| self.tree().children(*before).next().is_none());
            fixes.insert(orphan.parent.clone(), self.inferred_stub(orphan, tip, facts));
        }
        fixes
    }

    /// The stub for a missing parent that stood on a damaged line.
    fn stub_on_line(&self, orphan: &Orphan, bad: &BadLine, facts: &Facts<'_>) -> Option<Fix> {
        let id = &orphan.parent;
        let named = bad.parent_hint.as_ref().and_then(|parent| self.tree().node(parent.as_str()));
        let named = named.filter(|parent| !facts.survey.is_damaged(*parent));
        if let Some(parent) = named.filter(|parent| !is_below(*parent, orphan, facts)) {
            let parent = Some(self.tree().id(parent));
            return Some(Fix::Stub { id: id.clone(), parent, inferred: bad.id_hint.as_ref() != Some(id) });
        }
        let before = facts.good_entry_before(self.row_at(bad.bytes.start));
        self.inferred_stub(orphan, before, facts)
    }

    fn inferred_stub(&self, orphan: &Orphan, parent: Option<Node>, facts: &Facts<'_>) -> Option<Fix> {
        let parent = parent.filter(|parent| !is_below(*parent, orphan, facts))?;
        Some(Fix::Stub { id: orphan.parent.clone(), parent: Some(self.tree().id(parent)), inferred: true })
    }

    /// The first row at or after a position of the file.
    fn row_at(&self, position: u64) -> usize {
        let (mut low, mut high) = (0, self.tree().node_bound() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.tree().place(self.tree().node_of_row(middle)).0 < position {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low as usize
    }
}

fn is_below(node: Node, orphan: &Orphan, facts: &Facts<'_>) -> bool {
    match orphan.node {
        Some(top) => facts.is_on_path(top, node),
        // Its children are orphans still.
        None => facts.orphans_below(&orphan.id).iter().any(|child| facts.is_on_path(*child, node)),
    }
}
