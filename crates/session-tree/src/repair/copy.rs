//! Repaired copies: for what appending cannot heal. The original is never touched.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::{RepairPlan, Step, time_of};
use crate::check::Fix;
use crate::draft::Draft;
use crate::error::{Error, Mismatch, Result};
use crate::fs::Fs;
use crate::id::{EntryId, derived_id};
use crate::index::{self, LONGEST_LINE};
use crate::journal::{FileJournal, Journal, Piece, ReadAt, WriteCopy, copy_range, each_line, read_range};
use crate::json::{Doc, Edit};
use crate::session::Session;
use crate::time::Timestamp;

/// A repaired copy of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepairedCopy {
    /// The number of entries in it.
    pub entries: u64,
    /// Its length.
    pub bytes: u64,
}

impl Session {
    /// Writes a new file with everything the plan heals: lines that were fused stand apart again, lost entries have
    /// their stubs in place, circles are cut, a byte order mark is left out. All other lines are copied as they are.
    ///
    /// The file is private to its owner and must not exist yet. It appears under its name when it is whole and was
    /// read back.
    pub fn write_repaired_copy(
        &self,
        plan: &RepairPlan,
        fs: Arc<dyn Fs>,
        path: &Path,
    ) -> Result<RepairedCopy> {
        self.check_repair(plan)?;
        new_file(fs, path, &mut |_, out| Copier { session: self, plan, out }.copy(), &|copy| {
            let found = index::load(copy, Some(path))?;
            let whole = self.tree().nodes().filter(|node| !self.tree().is_placeholder(*node));
            match whole.map(|node| self.tree().id(node)).find(|id| !found.tree.holds(id.as_str())) {
                Some(id) => Err(Error::Verify { path: path.into(), mismatch: Mismatch::Missing { id } }),
                None => Ok(RepairedCopy { entries: found.tree.len() as u64, bytes: found.end }),
            }
        })
    }
}

struct Copier<'c, 'o> {
    session: &'c Session,
    plan: &'c RepairPlan,
    out: &'o mut dyn Write,
}

impl Copier<'_, '_> {
    fn copy(&mut self) -> io::Result<()> {
        let session = self.session;
        let mut steps = self.plan.steps.as_slice();
        each_line(&*session.journal, 0, session.index.known_end(), &mut |position, piece, _| {
            let len = match piece {
                Piece::Whole(line) => line.len() as u64,
                Piece::Ends { len, .. } => len,
            };
            let bytes = position..position + len;
            let count = steps.partition_point(|step| step.position <= bytes.end);
            let (own, rest) = steps.split_at(count);
            steps = rest;
            self.line(&bytes, own)
        })?;
        self.marker()
    }

    /// Writes one line and what is to stand before it.
    fn line(&mut self, bytes: &Range<u64>, steps: &[Step]) -> io::Result<()> {
        let mut pieces: Vec<Range<u64>> = Vec::new();
        let (mut from, mut detached) = (bytes.start, None);
        for step in steps {
            match &step.fix {
                Fix::Stub { id, parent, .. } => {
                    let time = time_of(self.session.tree(), id, parent.as_ref());
                    let time = time.unwrap_or(Timestamp::from_millis(0));
                    let mut out = Vec::new();
                    step.stub().write_spelled(&mut out, id, parent.as_ref(), time, &self.session.spelling());
                    self.out.write_all(&out)?;
                }
                Fix::Recover { entries } => pieces.extend(entries.iter().map(|entry| entry.bytes.clone())),
                Fix::Omit { bytes } => from = bytes.end,
                Fix::Detach { id } => detached = Some(id),
                Fix::LineFeed | Fix::LeafMarker { .. } | Fix::Salvage => {}
            }
        }
        if detached.is_some()
            && let Some(line) = self.detached(bytes)?
        {
            return self.out.write_all(&[line.as_slice(), b"\n"].concat());
        }
        if pieces.is_empty() {
            self.range(from..bytes.end)?;
            return self.out.write_all(b"\n");
        }
        for piece in pieces {
            self.fragment(from..piece.start)?;
            self.range(piece.clone())?;
            self.out.write_all(b"\n")?;
            from = piece.end;
        }
        self.fragment(from..bytes.end)
    }

    /// Writes the bytes between two entries of one line as a separate line; zero bytes are dropped.
    fn fragment(&mut self, bytes: Range<u64>) -> io::Result<()> {
        if bytes.end - bytes.start > LONGEST_LINE {
            self.range(bytes)?;
            return self.out.write_all(b"\n");
        }
        let text = read_range(&*self.session.journal, bytes.start, (bytes.end - bytes.start) as usize)?;
        let is_empty = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
        if text.iter().all(is_empty) {
            return Ok(());
        }
        self.out.write_all(&text)?;
        self.out.write_all(b"\n")
    }

    fn range(&mut self, bytes: Range<u64>) -> io::Result<()> {
        copy_range(&*self.session.journal, bytes, self.out)
    }

    /// The line of an entry as that of a root.
    fn detached(&self, bytes: &Range<u64>) -> io::Result<Option<Vec<u8>>> {
        let line = read_range(&*self.session.journal, bytes.start, (bytes.end - bytes.start) as usize)?;
        let Ok(doc) = Doc::parse(line) else { return Ok(None) };
        let Some(mut edit) = Edit::new(doc.root()) else { return Ok(None) };
        edit.set("parentId", b"null");
        Ok(Some(edit.document()))
    }

    /// Marks the leaf if the last entry is not it.
    fn marker(&mut self) -> io::Result<()> {
        let session = self.session;
        let moved = session.index.leaf(&*session.journal)? != session.leaf();
        if !moved && !self.plan.fixes().any(|fix| matches!(fix, Fix::LeafMarker { .. })) {
            return Ok(());
        }
        let made = self.plan.made();
        let is_taken = |id: &str| session.tree().holds(id) || made.contains(id);
        let leaf = self.plan.leaf().map_or("", EntryId::as_str);
        let id = derived_id(&[&session.header().id(), "leaf", leaf], is_taken);
        let time =
            session.tree().last().map_or(Timestamp::from_millis(0), |last| session.tree().timestamp(last));
        let mut out = Vec::new();
        let marker = Draft::leaf_marker(self.plan.leaf());
        marker.write_spelled(&mut out, &id, self.plan.leaf(), time, &session.spelling());
        self.out.write_all(&out)
    }
}

/// Writes a file that must not exist yet: all of it, read back and durable, or none.
pub(super) fn new_file<T>(
    fs: Arc<dyn Fs>,
    path: &Path,
    write: WriteCopy<'_>,
    verify: &dyn Fn(&dyn ReadAt) -> Result<T>,
) -> Result<T> {
    let mut journal = FileJournal::unsaved(fs, path.into());
    let mut verified = None;
    journal.replace("", write, &mut |copy| {
        verified = Some(verify(copy)?);
        Ok(())
    })?;
    // Tells if the name did not reach the disk.
    journal.sync()?;
    verified.ok_or(Error::NotSaved)
}
