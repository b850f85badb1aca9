//! Checking a session: every line read in full, every link looked at, and for each oddity what a repair would do.
//!
//! A side branch of *session*. Streams the journal through one buffer; holds nothing of a line that is in order.
//! Reads, never writes: see `repair` for the writing half.

mod facts;
mod fixes;
mod lines;
mod links;
mod pieces;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::diagnostic::{Diagnostic, Problem, Severity};
#[cfg(feature = "fs")]
use crate::error::Error;
use crate::error::Result;
use crate::id::{EntryId, Stamp};
use crate::session::Session;
use crate::tree::Node;

use facts::Facts;
pub use fixes::{Fix, Recovered};
use lines::{BadLine, Survey};
use pieces::Fused;
#[cfg(feature = "fs")]
pub(crate) use pieces::hint;

/// The `customType` of the entry that records a repair.
pub const REPAIR: &str = "session-tree.repair";

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Everything odd, in file order.
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

    /// Returns how much the worst diagnostic matters; none if there is none.
    pub fn worst(&self) -> Option<Severity> {
        self.diagnostics.iter().map(|diagnostic| diagnostic.problem.severity()).max()
    }

    /// Returns each diagnostic with what a repair would do about it.
    pub fn findings(&self) -> impl Iterator<Item = (&Diagnostic, Option<&Fix>)> {
        self.diagnostics.iter().zip(self.fixes.iter().map(Option::as_ref))
    }

    /// Reports a file whose header cannot be read; `session` has the entries that can.
    #[cfg(feature = "fs")]
    pub(crate) fn of_lost_header(session: &Session, header: Range<u64>, lines: u64, bytes: u64) -> Self {
        let diagnostic = Diagnostic { line: 1, bytes: header, problem: Problem::LostHeader };
        Report {
            diagnostics: vec![diagnostic],
            lines,
            entries: session.tree().len() as u64,
            bytes,
            bad_lines: 1,
            fixes: vec![Some(Fix::Salvage)],
            damaged: Vec::new(),
            tree: session.tree().stamp(),
        }
    }

    fn of(session: &Session, survey: &Survey, mut found: Vec<(Diagnostic, Option<Fix>)>) -> Self {
        found.sort_by(|(one, _), (other, _)| {
            (one.bytes.start, one.problem.code()).cmp(&(other.bytes.start, other.problem.code()))
        });
        let (diagnostics, fixes) = found.into_iter().unzip();
        Report {
            diagnostics,
            lines: survey.lines,
            entries: session.tree().len() as u64,
            bytes: survey.bytes,
            bad_lines: survey.bad.len() as u64,
            fixes,
            damaged: survey.damaged.clone(),
            tree: session.tree().stamp(),
        }
    }
}

impl Session {
    /// Reads every line in full and looks at every link. Changes nothing.
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
        let survey = self.survey().map_err(|source| self.io_error("read", source))?;
        let facts = Facts::of(self, survey);
        let mut found: Vec<(Diagnostic, Option<Fix>)> = Vec::new();
        found.extend(self.known_problems(&facts.survey));
        found.extend(self.bad_line_problems(&facts));
        found.extend(self.orphan_problems(&facts)?);
        found.extend(self.link_problems(&facts)?.into_iter().map(|diagnostic| (diagnostic, None)));
        found.extend(self.leaf_problem()?);
        found.extend(facts.survey.found.iter().cloned().map(|diagnostic| (diagnostic, None)));
        Ok(Report::of(self, &facts.survey, found))
    }

    /// Checks the session, and who may read its file.
    #[cfg(feature = "fs")]
    pub fn check_file(&self, fs: &dyn crate::fs::Fs) -> Result<Report> {
        let mut report = self.check()?;
        let Some(path) = self.file().filter(|_| self.is_saved()) else { return Ok(report) };
        let mode = fs.metadata(path).map_err(Error::io("read", path))?.mode & 0o777;
        if mode & 0o077 != 0 {
            let header = 0..self.header().raw().len() as u64;
            let problem = Problem::LooseMode { mode };
            report.diagnostics.insert(0, Diagnostic { line: 1, bytes: header, problem });
            report.fixes.insert(0, None);
        }
        Ok(report)
    }

    /// Returns the problems that loading found, apart from those that the survey reports in more detail.
    fn known_problems(&self, survey: &Survey) -> Vec<(Diagnostic, Option<Fix>)> {
        let mut found = Vec::new();
        for diagnostic in self.index.diagnostics() {
            let fix = match &diagnostic.problem {
                Problem::NotJson { .. } | Problem::Placeholder { .. } | Problem::Orphan { .. } => continue,
                // A damaged line that shares its id is reported as mended.
                Problem::DuplicateId { earlier_line, .. } if survey.is_bad(*earlier_line) => continue,
                Problem::DuplicateId { .. } | Problem::RepeatedLine { .. }
                    if survey.is_bad(diagnostic.line) =>
                {
                    continue;
                }
                // Nobody else sees a circle through a line that cannot be read.
                Problem::Cycle { .. } if survey.is_bad(diagnostic.line) => None,
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
    fn bad_line_problems(&self, facts: &Facts<'_>) -> Vec<(Diagnostic, Option<Fix>)> {
        let (mut found, survey) = (Vec::new(), &facts.survey);
        for bad in &survey.bad {
            let lost = self.recoverable(bad, survey);
            let recover = (!lost.is_empty()).then_some(Fix::Recover { entries: lost });
            let mut tell = |bytes: &Range<u64>, problem, fix| {
                found.push((Diagnostic { line: bad.number, bytes: bytes.clone(), problem }, fix));
            };
            if let Some(nuls) = &bad.nuls {
                let fix = recover.clone().filter(|_| !bad.is_glued());
                tell(nuls, Problem::NulRun { length: nuls.end - nuls.start }, fix);
            }
            let named = self.mended(bad, survey, recover.is_some()).or_else(|| self.placeholder(bad, facts));
            let is_mended = recover.is_none() && matches!(named, Some((Problem::Mended { .. }, _)));
            if bad.is_glued() && !is_mended {
                let ids = bad.pieces.iter().map(|piece| piece.id.clone()).collect();
                tell(&bad.bytes, Problem::GluedLines { ids }, recover.clone());
            }
            // One word for the line is enough, unless an entry lost its content there.
            let is_told = bad.is_glued() || bad.is_torn || (bad.nuls.is_some() && recover.is_some());
            match named {
                Some((problem, fix)) => tell(&bad.bytes, problem, fix),
                None if is_told => {}
                None => tell(&bad.bytes, Problem::NotJson { reason: bad.reason }, recover),
            }
        }
        found
    }

    /// Reports a bad line whose entry another line has.
    fn mended(&self, bad: &BadLine, survey: &Survey, is_recovered: bool) -> Option<(Problem, Option<Fix>)> {
        let (id, holder) = self.holder_of(bad, survey).filter(|_| bad.node.is_some() || !is_recovered)?;
        Some((Problem::Mended { id, by_line: self.line_number(holder) }, None))
    }

    /// Reports a bad line whose entry has children.
    fn placeholder(&self, bad: &BadLine, facts: &Facts<'_>) -> Option<(Problem, Option<Fix>)> {
        let (node, tree) = (bad.node?, self.tree());
        let id = tree.id(node);
        if !facts.awaited.contains(&id) || bad.pieces.iter().any(|piece| piece.id == id) {
            return None;
        }
        Some((Problem::Placeholder { id, reason: bad.reason }, self.stub_for(node, facts)))
    }

    /// The damaged entries that others hang below, or will when fused lines are taken apart.
    fn awaited(&self, survey: &Survey, orphans: &HashMap<Node, EntryId>) -> HashSet<EntryId> {
        let tree = self.tree();
        let damaged: HashMap<EntryId, Node> =
            survey.damaged.iter().map(|node| (tree.id(*node), *node)).collect();
        let lost = survey.bad.iter().flat_map(|bad| self.lost_pieces(bad, survey));
        let mut open: Vec<EntryId> = lost.filter_map(|piece| piece.parent.clone()).collect();
        let has_child = |node: &&Node| tree.children(**node).any(|child| !survey.is_damaged(child));
        open.extend(survey.damaged.iter().filter(has_child).map(|node| tree.id(*node)));
        let mut found = HashSet::new();
        while let Some(id) = open.pop() {
            let Some(node) = damaged.get(&id) else { continue };
            if found.insert(id) {
                open.extend(
                    tree.parent(*node).map(|parent| tree.id(parent)).or_else(|| orphans.get(node).cloned()),
                );
            }
        }
        found
    }

    /// Finds another line that holds the entry of a bad one.
    fn holder_of(&self, bad: &BadLine, survey: &Survey) -> Option<(EntryId, Node)> {
        let id = match bad.node {
            Some(node) => self.tree().id(node),
            None => bad.pieces.first()?.id.clone(),
        };
        let holder = self.whole_holder(&id, survey)?;
        Some((id, holder))
    }

    /// The whole entries on a bad line that no other line holds.
    fn recoverable(&self, bad: &BadLine, survey: &Survey) -> Vec<Recovered> {
        let lost = self.lost_pieces(bad, survey);
        lost.map(|piece| Recovered {
            id: piece.id.clone(),
            bytes: piece.bytes.clone(),
            is_aside: piece.is_aside,
        })
        .collect()
    }

    /// The whole entries on a bad line that no other line holds.
    ///
    /// One whose id a damaged line elsewhere has too, below another parent, is a splinter.
    fn lost_pieces<'b>(&self, bad: &'b BadLine, survey: &Survey) -> impl Iterator<Item = &'b Fused> {
        let tree = self.tree();
        bad.pieces.iter().filter(move |piece| {
            let elsewhere = tree.node(piece.id.as_str()).filter(|node| Some(*node) != bad.node);
            let named = elsewhere.map(|node| tree.parent(node).map(|parent| tree.id(parent)));
            let is_splinter = named.is_some_and(|parent| parent != piece.parent);
            !is_splinter && !self.is_held(&piece.id, survey)
        })
    }

    /// Returns true if a readable line has an id.
    fn is_held(&self, id: &EntryId, survey: &Survey) -> bool {
        self.whole_holder(id, survey).is_some()
    }

    fn whole_holder(&self, id: &EntryId, survey: &Survey) -> Option<Node> {
        let holder = self.tree().node(id.as_str())?;
        if survey.is_damaged(holder) { survey.earlier.get(&holder).copied() } else { Some(holder) }
    }
}
