//! Repairs a session by appending to it. Existing bytes never change.
//!
//! A side branch of *session* that applies the fixes of [`check`](crate::Session::check): it appends stubs for lost
//! entries, copies of entries that share their line with something else, a record of the repair and a marker of the leaf,
//! with one write. Damage that appending cannot repair, and files without a header, are repaired in a copy.

#[cfg(feature = "fs")]
mod copy;
#[cfg(feature = "fs")]
mod headerless;

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use crate::check::{Fix, REPAIR, Recovered, Report};
use crate::draft::{Draft, Spelling};
use crate::error::{Error, Result};
use crate::id::{EntryId, Stamp};
use crate::journal::read_range;
use crate::line::{STUB, WITHDRAWN};
use crate::session::Session;
use crate::time::Timestamp;
use crate::tree::{Node, Tree};

#[cfg(feature = "fs")]
pub use headerless::{HeaderlessFile, read_headerless};

/// A planned repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairPlan {
    /// The state of the tree that was checked: the plan contains positions in its file.
    tree: Stamp,
    steps: Vec<Step>,
    leaf: Option<EntryId>,
    /// True if inferred fixes are part of it.
    infers: bool,
}

/// One fix, and the line it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    fix: Fix,
    line: u64,
    position: u64,
}

impl Step {
    /// Makes the stub for a lost entry.
    fn stub(&self) -> Draft {
        let data = serde_json::json!({ "line": self.line, "inferred": self.fix.is_inferred() });
        Draft::custom(STUB, Some(&data))
    }
}

/// The most rounds of one repair: an entry that comes back can make another fix possible.
const MAX_ROUNDS: usize = 5;

/// The result of applying one repair plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Repaired {
    /// The entries that were appended, in file order; empty if only a line feed was.
    pub appended: Vec<EntryId>,
    /// The entry that records the repair, for [`Session::undo_repair`]. None if there is nothing to undo.
    pub record: Option<EntryId>,
}

/// The result of all rounds of a repair.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepairRounds {
    /// The fixes that were applied, in the order of the rounds.
    pub fixes: Vec<Fix>,
    /// The entries that were appended, in file order.
    pub appended: Vec<EntryId>,
    /// The records of the repairs, one per round, for [`Session::undo_repair`].
    pub records: Vec<EntryId>,
    /// The plan for the remaining damage: empty unless only a copy can repair it or the rounds were used up.
    pub remaining: RepairPlan,
}

impl RepairPlan {
    /// Returns the planned fixes, in file order.
    pub fn fixes(&self) -> impl Iterator<Item = &Fix> {
        self.steps.iter().map(|step| &step.fix)
    }

    /// Returns true if appending repairs nothing.
    pub fn is_empty(&self) -> bool {
        self.fixes().all(Fix::needs_copy)
    }

    /// Returns true if some of it needs a [copy](Session::write_repaired_copy).
    pub fn needs_copy(&self) -> bool {
        self.fixes().any(Fix::needs_copy)
    }

    /// Returns the leaf after the repair.
    pub fn leaf(&self) -> Option<&EntryId> {
        self.leaf.as_ref()
    }

    /// Drops the fixes that are inferred instead of read from the file.
    pub fn without_inferred(mut self) -> Self {
        self.steps.retain(|step| !step.fix.is_inferred());
        self.infers = false;
        self
    }
}

impl Session {
    /// Plans the repair of the problems that a check of this session found. Changes nothing.
    ///
    /// After heavy damage a restored entry may name another one that can then be restored, too:
    /// [`Session::repair`] checks and plans again until the plan is empty.
    pub fn plan_repair(&self, report: &Report) -> RepairPlan {
        let mut steps: Vec<Step> = Vec::new();
        let mut seen = HashSet::new();
        for (diagnostic, fix) in report.findings() {
            let Some(fix) = fix else { continue };
            let is_new = match fix {
                Fix::Stub { id, .. } => seen.insert(id),
                _ => steps.last().is_none_or(|step| step.fix != *fix),
            };
            if is_new {
                steps.push(Step {
                    fix: fix.clone(),
                    line: diagnostic.line,
                    position: diagnostic.bytes.start,
                });
            }
        }
        let leaf = self.leaf_after_repair(report, &steps);
        RepairPlan { tree: report.tree, steps, leaf, infers: true }
    }

    /// Returns the leaf of the undamaged file: the current one, unless the last entry of the file is restored.
    fn leaf_after_repair(&self, report: &Report, steps: &[Step]) -> Option<EntryId> {
        let tree = self.tree();
        let is_whole =
            |node: &Node| report.damaged.binary_search(node).is_err() && !tree.is_placeholder(*node);
        let in_file = self.index.leaf(&*self.journal).ok().flatten();
        let last = tree.nodes().rev().find(is_whole).map_or(0, |last| tree.place(last).0);
        let entries = steps.iter().filter_map(|step| match &step.fix {
            Fix::Recover { entries } => Some(entries),
            _ => None,
        });
        let back = entries.flatten().rfind(|entry| !entry.is_aside && entry.bytes.start > last);
        match back {
            Some(entry) if in_file == self.leaf() => Some(entry.id.clone()),
            _ => self.leaf().and_then(|leaf| tree.ancestors(leaf).find(is_whole)).map(|leaf| tree.id(leaf)),
        }
    }

    /// Repairs in rounds: applies a plan, checks again and applies the next plan, until appending can repair nothing more.
    ///
    /// Later rounds infer only if the first plan does, see [`RepairPlan::without_inferred`].
    pub fn repair(&mut self, plan: RepairPlan) -> Result<RepairRounds> {
        let infers = plan.infers;
        let mut done =
            RepairRounds { fixes: Vec::new(), appended: Vec::new(), records: Vec::new(), remaining: plan };
        for _ in 0..MAX_ROUNDS {
            if done.remaining.is_empty() {
                break;
            }
            let repaired = self.apply_repair(&done.remaining)?;
            done.fixes.extend(done.remaining.fixes().filter(|fix| !fix.needs_copy()).cloned());
            done.appended.extend(repaired.appended);
            done.records.extend(repaired.record);
            let next = self.plan_repair(&self.check()?);
            done.remaining = if infers { next } else { next.without_inferred() };
        }
        Ok(done)
    }

    /// Returns the record of the last repair that was not undone.
    pub fn last_repair(&self) -> Result<Option<EntryId>> {
        let records = self.repair_records()?;
        let is_undone = |id: &EntryId| records.iter().any(|other| other.undoes.as_ref() == Some(id));
        let repairs = records.iter().rev().filter(|record| record.undoes.is_none());
        Ok(repairs.map(|record| self.tree().id(record.node)).find(|id| !is_undone(id)))
    }

    /// Applies the fixes that need no copy, by appending.
    ///
    /// Skips fixes that another session has applied since.
    ///
    /// # Errors
    ///
    /// [`Error::StalePlan`] if another session was checked, or this one before it was read again.
    pub fn apply_repair(&mut self, plan: &RepairPlan) -> Result<Repaired> {
        self.check_repair(plan)?;
        let mut done = Repaired::default();
        if plan.is_empty() {
            return Ok(done);
        }
        // Before a migration moves the lines.
        let copies = self.read_recovered(plan)?;
        self.append_composed(|session, now| {
            let mut writer = Lines::new(session, now);
            let record = writer.fixes(plan, &copies)?;
            if !writer.ids.is_empty() || plan.fixes().any(|fix| matches!(fix, Fix::LeafMarker { .. })) {
                done.record = writer.close(record, plan.leaf.as_ref());
            }
            done.appended = writer.ids;
            Ok(writer.bytes)
        })?;
        self.set_leaf_to(plan.leaf.as_ref());
        self.sync()?;
        Ok(done)
    }

    /// Undoes a repair: tree, leaf and context are as before it, and it can be planned again.
    ///
    /// Appends, for every line of the repair, an entry of the same id that [withdraws](crate::WITHDRAWN) it, a record,
    /// and a marker of the leaf before the repair. Other programs see entries without content or parent in these
    /// places. Their leaf is the parent of the marker, so they continue where we do. Entries that were appended below an
    /// undone entry become orphans.
    ///
    /// `record` is the id in [`Repaired::record`].
    ///
    /// # Errors
    ///
    /// [`Error::BadReference`] if `record` names no repair, or one that was undone before.
    pub fn undo_repair(&mut self, record: &str) -> Result<Repaired> {
        let (ids, leaf) = self.read_record(record)?;
        let mut done = Repaired::default();
        self.append_composed(|session, now| {
            let mut writer = Lines::new(session, now);
            for id in &ids {
                writer.withdraw(id, record)?;
            }
            done.record = writer.close(serde_json::json!({ "undoes": record }), leaf.as_ref());
            done.appended = writer.ids;
            Ok(writer.bytes)
        })?;
        self.set_leaf_to(leaf.as_ref());
        self.sync()?;
        Ok(done)
    }

    fn set_leaf_to(&mut self, leaf: Option<&EntryId>) {
        self.leaf = leaf.and_then(|leaf| self.tree().node(leaf.as_str()));
    }

    fn check_repair(&self, plan: &RepairPlan) -> Result<()> {
        if self.tree().stamp() == plan.tree { Ok(()) } else { Err(Error::StalePlan) }
    }

    fn read_recovered(&self, plan: &RepairPlan) -> Result<HashMap<EntryId, Vec<u8>>> {
        let mut copies = HashMap::new();
        for fix in plan.fixes() {
            let Fix::Recover { entries } = fix else { continue };
            for Recovered { id, bytes, .. } in entries {
                let len = (bytes.end - bytes.start) as usize;
                let line = read_range(&*self.journal, bytes.start, len);
                copies.insert(id.clone(), line.map_err(|source| self.io_error("read", source))?);
            }
        }
        Ok(copies)
    }

    /// Returns the entries that a repair appended, and the leaf before it.
    fn read_record(&self, record: &str) -> Result<(Vec<EntryId>, Option<EntryId>)> {
        let refuse = |reason| Error::BadReference { reference: record.to_owned(), reason };
        let (node, records) = (self.node(record)?, self.repair_records()?);
        let found = records.iter().find(|other| other.node == node);
        let found = found.ok_or(refuse("it is not the record of a repair"))?;
        let Some(leaf) = &found.leaf_before else {
            return Err(refuse("it records no repair that could be undone"));
        };
        if records.iter().any(|other| other.undoes.as_ref().is_some_and(|id| *id == record)) {
            return Err(refuse("it was undone before"));
        }
        Ok((found.restored.iter().chain(&found.marker).cloned().collect(), leaf.clone()))
    }
}

/// The lines of a repair while they are written.
struct Lines<'s> {
    session: &'s mut Session,
    spelling: Spelling,
    now: Timestamp,
    bytes: Vec<u8>,
    ids: Vec<EntryId>,
    taken: HashSet<EntryId>,
}

impl<'s> Lines<'s> {
    fn new(session: &'s mut Session, now: Timestamp) -> Self {
        let spelling = session.spelling();
        Lines { session, spelling, now, bytes: Vec::new(), ids: Vec::new(), taken: HashSet::new() }
    }

    /// Writes stubs and copies; returns the record of the repair.
    fn fixes(&mut self, plan: &RepairPlan, copies: &HashMap<EntryId, Vec<u8>>) -> Result<Json> {
        for step in &plan.steps {
            match &step.fix {
                Fix::Stub { id, parent, .. } if self.is_lost(id)? => {
                    let time = time_of(self.session.tree(), id, parent.as_ref()).unwrap_or(self.now);
                    self.line(id.clone(), parent.as_ref(), time, &step.stub());
                }
                Fix::Recover { entries } => {
                    for Recovered { id, .. } in entries {
                        let Some(line) = copies.get(id) else { continue };
                        if !self.is_lost(id)? {
                            continue;
                        }
                        self.bytes.extend_from_slice(line);
                        self.bytes.push(b'\n');
                        self.take(id.clone());
                    }
                }
                Fix::Stub { .. }
                | Fix::LineFeed
                | Fix::LeafMarker { .. }
                | Fix::Detach { .. }
                | Fix::Omit { .. }
                | Fix::NewHeader => {}
            }
        }
        let leaf = self.session.leaf_id();
        Ok(serde_json::json!({
            "restored": self.ids.iter().map(EntryId::as_str).collect::<Vec<_>>(),
            "inferred": plan.infers,
            "leafBefore": leaf.as_ref().map(EntryId::as_str),
        }))
    }

    /// Withdraws a line of an earlier repair, unless that is done already.
    fn withdraw(&mut self, id: &EntryId, record: &str) -> Result<()> {
        if !self.is_lost(id)? {
            let data = serde_json::json!({ "undoes": record });
            self.line(id.clone(), None, self.now, &Draft::custom(WITHDRAWN, Some(&data)));
        }
        Ok(())
    }

    /// Writes the record and, behind it, the marker of the leaf.
    ///
    /// The parent of the record is the leaf before the repair, which stays when the repair is undone.
    fn close(&mut self, mut record: Json, leaf: Option<&EntryId>) -> Option<EntryId> {
        let id = self.session.free_id(&mut self.taken);
        self.take(id.clone());
        let marker = self.session.free_id(&mut self.taken);
        record["marker"] = marker.as_str().into();
        let before = record.get("leafBefore").and_then(Json::as_str).map(EntryId::from);
        let above = before.as_ref().or(leaf);
        let record = Draft::custom(REPAIR, Some(&record));
        record.write_spelled(&mut self.bytes, &id, above, self.now, &self.spelling);
        self.line(marker, leaf, self.now, &Draft::leaf_marker(leaf));
        Some(id)
    }

    fn line(&mut self, id: EntryId, parent: Option<&EntryId>, time: Timestamp, draft: &Draft) {
        draft.write_spelled(&mut self.bytes, &id, parent, time, &self.spelling);
        self.take(id);
    }

    fn take(&mut self, id: EntryId) {
        self.taken.insert(id.clone());
        self.ids.push(id);
    }

    /// Returns true if no readable line has an id. An I/O error is not evidence of data loss.
    fn is_lost(&self, id: &EntryId) -> Result<bool> {
        if self.taken.contains(id) {
            return Ok(false);
        }
        let Some(holder) = self.session.tree().node(id.as_str()) else { return Ok(true) };
        let is_whole = self.session.index.is_whole(&*self.session.journal, holder);
        is_whole.map(|is_whole| !is_whole).map_err(|source| self.session.io_error("read", source))
    }
}

/// Returns the time of a lost entry or of its parent, so that it keeps its place among its siblings.
fn time_of(tree: &Tree, id: &EntryId, parent: Option<&EntryId>) -> Option<Timestamp> {
    let known = tree.node(id.as_str()).or_else(|| tree.node(parent?.as_str()));
    known.map(|node| tree.timestamp(node))
}
