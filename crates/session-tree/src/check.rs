//! Checks a session: reads every line in full, follows every link, and finds a fix for each problem.
//!
//! A side branch of *session*. Streams the journal through one buffer; keeps nothing of a line without problems.
//! Never writes: `repair` applies the fixes.

mod ancestry;
mod fixes;
mod lines;
mod orphans;
mod pieces;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::diagnostic::{Diagnostic, Problem, Severity};
#[cfg(feature = "fs")]
use crate::error::Error;
use crate::error::Result;
use crate::id::{EntryId, Stamp};
use crate::index::NonEntryKind;
use crate::json::ValueRef;
use crate::kind::Kind;
use crate::session::Session;
use crate::tree::{Node, Tree};

use ancestry::Ancestry;
pub use fixes::{Fix, Recovered};
use lines::{BadLine, LineScan};
use pieces::FusedEntry;
#[cfg(feature = "fs")]
pub(crate) use pieces::find_field;

/// The `customType` of the entry that records a repair.
pub const REPAIR: &str = "session-tree.repair";

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The problems, in file order.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of lines, the header and blank ones counted.
    pub lines: u64,
    /// The number of entries in the tree.
    pub entries: u64,
    /// The number of bytes that were read.
    pub bytes: u64,
    /// The number of lines that are not JSON.
    pub bad_lines: u64,
    /// The fix of each diagnostic.
    fixes: Vec<Option<Fix>>,
    /// The entries whose lines cannot be read.
    pub(crate) damaged: Vec<Node>,
    /// The state of the tree that was checked.
    pub(crate) tree: Stamp,
}

impl Report {
    /// Returns true if there are no diagnostics.
    pub fn is_clean(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// Returns the severity of the worst diagnostic, or `None` without diagnostics.
    pub fn worst(&self) -> Option<Severity> {
        self.diagnostics.iter().map(|diagnostic| diagnostic.problem.severity()).max()
    }

    /// Returns each diagnostic with its fix.
    pub fn findings(&self) -> impl Iterator<Item = (&Diagnostic, Option<&Fix>)> {
        self.diagnostics.iter().zip(self.fixes.iter().map(Option::as_ref))
    }

    /// Reports a file whose header cannot be read; `session` has its readable entries.
    #[cfg(feature = "fs")]
    pub(crate) fn of_lost_header(session: &Session, header: Range<u64>, lines: u64, bytes: u64) -> Self {
        let diagnostic = Diagnostic { line: 1, bytes: header, problem: Problem::LostHeader };
        Report {
            diagnostics: vec![diagnostic],
            lines,
            entries: session.tree().len() as u64,
            bytes,
            bad_lines: 1,
            fixes: vec![Some(Fix::NewHeader)],
            damaged: Vec::new(),
            tree: session.tree().stamp(),
        }
    }

    fn of(session: &Session, scan: &LineScan, mut found: Vec<Finding>) -> Self {
        found.sort_by(|(one, _), (other, _)| {
            (one.bytes.start, one.problem.code()).cmp(&(other.bytes.start, other.problem.code()))
        });
        let (diagnostics, fixes) = found.into_iter().unzip();
        Report {
            diagnostics,
            lines: scan.lines,
            entries: session.tree().len() as u64,
            bytes: scan.bytes,
            bad_lines: scan.bad.len() as u64,
            fixes,
            damaged: scan.damaged.clone(),
            tree: session.tree().stamp(),
        }
    }
}

impl Session {
    /// Reads every line in full and follows every link. Changes nothing.
    ///
    /// ```
    /// # use session_tree::Session;
    /// # let bytes = concat!(
    /// #     r#"{"type":"session","version":3,"id":"s1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#, "\n",
    /// #     r#"{"type":"message","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"hi"}}"#, "\n",
    /// # );
    /// let session = Session::from_bytes(bytes.into())?;
    /// assert!(session.check()?.is_clean());
    /// # Ok::<(), session_tree::Error>(())
    /// ```
    pub fn check(&self) -> Result<Report> {
        let scan = self.scan_lines().map_err(|source| self.io_error("read", source))?;
        let checker = Checker::new(self, scan);
        let mut found = checker.loading_problems();
        found.extend(checker.bad_line_problems());
        found.extend(checker.orphan_problems()?);
        found.extend(checker.link_problems()?);
        found.extend(checker.leaf_problem()?);
        found.extend(checker.scan.found.iter().cloned().map(|diagnostic| (diagnostic, None)));
        Ok(Report::of(self, &checker.scan, found))
    }

    /// Checks the session and the permissions of its file.
    #[cfg(feature = "fs")]
    pub fn check_file(&self, fs: &dyn crate::fs::Fs) -> Result<Report> {
        let mut report = self.check()?;
        let Some(path) = self.journal.path().filter(|_| self.is_saved()) else { return Ok(report) };
        let mode = fs.metadata(path).map_err(Error::io("read", path))?.mode & 0o777;
        if mode & 0o077 != 0 {
            let header = 0..self.header().raw().len() as u64;
            let problem = Problem::LooseMode { mode };
            report.diagnostics.insert(0, Diagnostic { line: 1, bytes: header, problem });
            report.fixes.insert(0, None);
        }
        Ok(report)
    }
}

/// A problem and its fix.
type Finding = (Diagnostic, Option<Fix>);

/// A session that is being checked, with tables that are built once: a file may be damaged on purpose, so no check may
/// walk over the file for one entry.
struct Checker<'s> {
    session: &'s Session,
    tree: &'s Tree,
    scan: LineScan,
    /// The entries whose parent is not in the file, with its id.
    orphans: HashMap<Node, EntryId>,
    /// The same entries by the id of the missing parent.
    orphans_of: HashMap<EntryId, Vec<Node>>,
    /// The damaged entries that have children, or will have when fused lines are separated.
    damaged_parents: HashSet<EntryId>,
    ancestry: OnceCell<Ancestry>,
    /// For each row, and the place behind the last one, the last readable entry before it.
    readable_before: OnceCell<Vec<Option<Node>>>,
    /// For each row, true if it is below a cycle that was cut at a readable entry.
    is_below_cycle: OnceCell<Vec<bool>>,
}

impl<'s> Checker<'s> {
    fn new(session: &'s Session, scan: LineScan) -> Self {
        let tree = session.tree();
        let (ancestry, readable_before, is_below_cycle) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        let (orphans, mut orphans_of) = (tree.orphans().collect(), HashMap::<EntryId, Vec<Node>>::new());
        for (node, parent) in tree.orphans() {
            orphans_of.entry(parent).or_default().push(node);
        }
        let mut checker = Checker {
            session,
            tree,
            scan,
            orphans,
            orphans_of,
            damaged_parents: HashSet::new(),
            ancestry,
            readable_before,
            is_below_cycle,
        };
        checker.damaged_parents = checker.find_damaged_parents();
        checker
    }

    /// Returns the problems that loading found, apart from those that the scan reports in more detail.
    fn loading_problems(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for diagnostic in self.session.index.diagnostics() {
            let is_bad = |line: u64| self.scan.is_bad(line);
            let fix = match &diagnostic.problem {
                Problem::NotJson { .. } | Problem::Placeholder { .. } | Problem::Orphan { .. } => continue,
                // A damaged line that shares its id is reported as mended.
                Problem::DuplicateId { earlier_line, .. } if is_bad(*earlier_line) => continue,
                Problem::DuplicateId { .. } | Problem::RepeatedLine { .. } if is_bad(diagnostic.line) => {
                    continue;
                }
                // Other programs do not see a cycle through a line that cannot be read.
                Problem::Cycle { .. } if is_bad(diagnostic.line) => None,
                Problem::TornTail | Problem::MissingLineFeed => Some(Fix::LineFeed),
                Problem::Cycle { id } => Some(Fix::Detach { id: id.clone() }),
                Problem::ByteOrderMark => Some(Fix::Omit { bytes: diagnostic.bytes.clone() }),
                _ => None,
            };
            found.push((diagnostic, fix));
        }
        found
    }

    /// Returns the problems of lines that are not JSON.
    fn bad_line_problems(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for bad in &self.scan.bad {
            let lost: Vec<Recovered> = self.lost_pieces(bad).map(|piece| piece.entry.clone()).collect();
            let recover = (!lost.is_empty()).then_some(Fix::Recover { entries: lost });
            let mut report = |bytes: &Range<u64>, problem, fix| {
                found.push((Diagnostic { line: bad.number, bytes: bytes.clone(), problem }, fix));
            };
            if let Some(nuls) = &bad.nuls {
                let fix = recover.clone().filter(|_| !bad.is_glued());
                report(nuls, Problem::NulRun { length: nuls.end - nuls.start }, fix);
            }
            let named = self.mended(bad, recover.is_some()).or_else(|| self.placeholder(bad));
            let is_mended = recover.is_none() && matches!(named, Some((Problem::Mended { .. }, _)));
            if bad.is_glued() && !is_mended {
                let ids = bad.pieces.iter().map(|piece| piece.entry.id.clone()).collect();
                report(&bad.bytes, Problem::GluedLines { ids }, recover.clone());
            }
            // One problem per line is enough, unless an entry lost its content there.
            let is_reported = bad.is_glued() || bad.is_torn || (bad.nuls.is_some() && recover.is_some());
            match named {
                Some((problem, fix)) => report(&bad.bytes, problem, fix),
                None if is_reported => {}
                None => report(&bad.bytes, Problem::NotJson { reason: bad.reason }, recover),
            }
        }
        found
    }

    /// Reports a bad line whose entry another line has.
    fn mended(&self, bad: &BadLine, is_recovered: bool) -> Option<(Problem, Option<Fix>)> {
        let id = match bad.node {
            Some(node) => self.tree.id(node),
            None if is_recovered => return None,
            None => bad.pieces.first()?.entry.id.clone(),
        };
        let holder = self.readable_line_of(&id)?;
        Some((Problem::Mended { id, by_line: self.session.line_number(holder) }, None))
    }

    /// Reports a bad line whose entry has children.
    fn placeholder(&self, bad: &BadLine) -> Option<(Problem, Option<Fix>)> {
        let node = bad.node?;
        let id = self.tree.id(node);
        if !self.damaged_parents.contains(&id) || bad.pieces.iter().any(|piece| piece.entry.id == id) {
            return None;
        }
        Some((Problem::Placeholder { id, reason: bad.reason }, self.stub_for(node)))
    }

    /// Returns the stub for an entry whose line cannot be read, with the parent that the line names.
    fn stub_for(&self, node: Node) -> Option<Fix> {
        if self.is_below_cycle(node) {
            // Other programs do not cut cycles: with this entry they would follow one for ever.
            return None;
        }
        let parent = self.tree.parent(node).map(|parent| self.tree.id(parent));
        let parent = parent.or_else(|| self.orphans.get(&node).cloned());
        Some(Fix::Stub { id: self.tree.id(node), parent, inferred: false })
    }

    /// Finds the damaged entries that have children, or will have when fused lines are separated.
    fn find_damaged_parents(&self) -> HashSet<EntryId> {
        let (tree, scan) = (self.tree, &self.scan);
        let damaged: HashMap<EntryId, Node> =
            scan.damaged.iter().map(|node| (tree.id(*node), *node)).collect();
        let lost = scan.bad.iter().flat_map(|bad| self.lost_pieces(bad));
        let mut open: Vec<EntryId> = lost.filter_map(|piece| piece.parent.clone()).collect();
        let has_child = |node: &&Node| tree.children(**node).any(|child| !scan.is_damaged(child));
        open.extend(scan.damaged.iter().filter(has_child).map(|node| tree.id(*node)));
        let mut found = HashSet::new();
        while let Some(id) = open.pop() {
            let Some(node) = damaged.get(&id) else { continue };
            if found.insert(id) {
                let parent = tree.parent(*node).map(|parent| tree.id(parent));
                open.extend(parent.or_else(|| self.orphans.get(node).cloned()));
            }
        }
        found
    }

    /// Returns the whole entries on a bad line that no other line has.
    ///
    /// An entry whose id is also on a damaged line elsewhere, with another parent, is only a fragment of that line.
    fn lost_pieces<'b>(&self, bad: &'b BadLine) -> impl Iterator<Item = &'b FusedEntry> {
        let tree = self.tree;
        bad.pieces.iter().filter(move |piece| {
            let id = &piece.entry.id;
            let elsewhere = tree.node(id.as_str()).filter(|node| Some(*node) != bad.node);
            let named = elsewhere.map(|node| tree.parent(node).map(|parent| tree.id(parent)));
            let is_fragment = named.is_some_and(|parent| parent != piece.parent);
            !is_fragment && self.readable_line_of(id).is_none()
        })
    }

    /// Returns the row of a readable line with this id.
    fn readable_line_of(&self, id: &EntryId) -> Option<Node> {
        let node = self.tree.node(id.as_str())?;
        if self.scan.is_damaged(node) { self.scan.earlier.get(&node).copied() } else { Some(node) }
    }

    /// Reports labels without target, and compactions whose first kept entry is not on their path.
    fn link_problems(&self) -> Result<Vec<Finding>> {
        let mut found = Vec::new();
        for node in self.scan.naming.iter().copied() {
            let entry = self.session.entry_at(node)?;
            let named = |key| {
                let id = entry.value().and_then(|value| value.get(key)).and_then(ValueRef::as_str);
                id.map(|id| EntryId::from(&*id))
            };
            let id = self.tree.id(node);
            let problem = if self.tree.kind(node) == Kind::Label {
                let lost = named("targetId").filter(|target| self.tree.node(target.as_str()).is_none());
                lost.map(|target| Problem::LabelWithoutTarget { id, target })
            } else {
                let is_above = |kept: &EntryId| {
                    self.tree.node(kept.as_str()).is_some_and(|kept| self.is_on_path(kept, node))
                };
                let lost = named("firstKeptEntryId").filter(|kept| !is_above(kept));
                lost.map(|first_kept| Problem::FirstKeptNotOnPath { id, first_kept })
            };
            found.extend(problem.map(|problem| (self.session.index.at(node, problem), None)));
        }
        Ok(found)
    }

    /// Reports if another program, which continues from the last entry, would continue elsewhere.
    fn leaf_problem(&self) -> Result<Option<Finding>> {
        let (session, tree, index) = (self.session, self.tree, &self.session.index);
        let leaf = index.leaf(&*session.journal).map_err(|source| session.io_error("read", source))?;
        let mut last = None;
        for node in tree.nodes().rev().filter(|node| !tree.is_placeholder(*node)) {
            if index.is_whole(&*session.journal, node).map_err(|source| session.io_error("read", source))? {
                last = Some(node);
                break;
            }
        }
        let (Some(leaf), Some(last)) = (leaf, last) else { return Ok(None) };
        let (position, _) = tree.place(last);
        let later = index.non_entries.iter().rev().take_while(|gap| gap.position > position);
        let has_later_value =
            later.into_iter().any(|gap| matches!(gap.kind, NonEntryKind::NoId | NonEntryKind::NotAnObject));
        let agrees = last == leaf || (tree.is_leaf_marker(last) && tree.parent(last) == Some(leaf));
        if agrees && !has_later_value {
            return Ok(None);
        }
        let leaf = tree.id(leaf);
        let fix = Fix::LeafMarker { target: Some(leaf.clone()) };
        Ok(Some((index.at(last, Problem::LeafIsNotLast { leaf }), Some(fix))))
    }
}
