//! Repaired copies, for damage that appending cannot repair. The original is never touched.

use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::{RepairPlan, Step, time_of};
use crate::check::Fix;
use crate::draft::Draft;
use crate::error::{Error, Mismatch, Result};
use crate::extract::LineCopier;
use crate::fs::Fs;
use crate::id::{EntryId, derived_id};
use crate::index::{self, LONGEST_LINE};
use crate::journal::{FileJournal, Journal, ReadAt, read_range};
use crate::json::{Doc, Edit};
use crate::session::Session;
use crate::time::Timestamp;

impl Session {
    /// Writes a new file with all fixes of the plan: fused lines are separated, lost entries have their stubs in place,
    /// cycles are cut, a byte order mark is left out. All other lines are copied as they are.
    ///
    /// The file is private to its owner and must not exist yet. It appears under its name when it is complete and was
    /// read back.
    pub fn write_repaired_copy(&self, plan: &RepairPlan, fs: Arc<dyn Fs>, path: &Path) -> Result<()> {
        self.check_repair(plan)?;
        let mut journal = FileJournal::unsaved(fs, path.into());
        let verify = &mut |copy: &dyn ReadAt| {
            let found = index::load(copy, Some(path))?;
            let whole = self.tree().nodes().filter(|node| !self.tree().is_placeholder(*node));
            match whole.map(|node| self.tree().id(node)).find(|id| !found.tree.holds(id.as_str())) {
                Some(id) => Err(Error::Verify { path: path.into(), mismatch: Mismatch::Missing { id } }),
                None => Ok(()),
            }
        };
        journal.replace("", &mut |_, out| self.write_repaired(plan, out), verify)?;
        // Fails if the name did not reach the disk.
        journal.sync()
    }

    fn write_repaired(&self, plan: &RepairPlan, out: &mut dyn Write) -> io::Result<()> {
        let mut steps = plan.steps.as_slice();
        self.copy_lines(out, |copier, _, bytes| {
            let own;
            (own, steps) = steps.split_at(steps.partition_point(|step| step.position <= bytes.end));
            self.write_repaired_line(own, copier, &bytes)
        })?;
        out.write_all(&self.leaf_marker(plan)?)
    }

    /// Writes one line, with the stubs that belong before it.
    fn write_repaired_line(
        &self,
        steps: &[Step],
        copier: &mut LineCopier<'_>,
        bytes: &Range<u64>,
    ) -> io::Result<()> {
        let mut pieces: Vec<Range<u64>> = Vec::new();
        let (mut from, mut is_detached) = (bytes.start, false);
        for step in steps {
            match &step.fix {
                Fix::Stub { id, parent, .. } => {
                    let time = time_of(self.tree(), id, parent.as_ref());
                    let time = time.unwrap_or(Timestamp::from_millis(0));
                    let mut stub = Vec::new();
                    step.stub().write_spelled(&mut stub, id, parent.as_ref(), time, &self.spelling());
                    copier.text(stub.trim_ascii_end())?;
                }
                Fix::Recover { entries } => pieces.extend(entries.iter().map(|entry| entry.bytes.clone())),
                Fix::Omit { bytes } => from = bytes.end,
                Fix::Detach { .. } => is_detached = true,
                Fix::LineFeed | Fix::LeafMarker { .. } | Fix::NewHeader => {}
            }
        }
        if is_detached {
            let line = read_range(&*self.journal, bytes.start, (bytes.end - bytes.start) as usize)?;
            if let Ok(doc) = Doc::parse(line) {
                let mut edit = Edit::new(doc.root());
                edit.set("parentId", b"null");
                return copier.text(&edit.document());
            }
        }
        if pieces.is_empty() {
            return copier.line(from..bytes.end);
        }
        for piece in pieces {
            self.copy_rest(copier, from..piece.start)?;
            from = piece.end;
            copier.line(piece)?;
        }
        self.copy_rest(copier, from..bytes.end)
    }

    /// Copies the bytes between two entries of one line as a separate line, unless they are zero or blank.
    fn copy_rest(&self, copier: &mut LineCopier<'_>, bytes: Range<u64>) -> io::Result<()> {
        let len = bytes.end - bytes.start;
        let is_empty = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
        if len > LONGEST_LINE || !read_range(&*self.journal, bytes.start, len as usize)?.iter().all(is_empty)
        {
            copier.line(bytes)?;
        }
        Ok(())
    }

    /// Returns a marker of the leaf if the last entry is not the leaf, else nothing.
    fn leaf_marker(&self, plan: &RepairPlan) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let has_moved = self.index.leaf(&*self.journal)? != self.leaf();
        if has_moved || plan.fixes().any(|fix| matches!(fix, Fix::LeafMarker { .. })) {
            let restored: HashSet<&EntryId> = plan.fixes().flat_map(Fix::restored).collect();
            let is_taken = |id: &str| self.tree().holds(id) || restored.contains(&EntryId::from(id));
            let leaf = plan.leaf().map_or("", EntryId::as_str);
            let id = derived_id(&[&self.header().id(), "leaf", leaf], is_taken);
            let last = self.tree().last();
            let time = last.map_or(Timestamp::from_millis(0), |last| self.tree().timestamp(last));
            let marker = Draft::leaf_marker(plan.leaf());
            marker.write_spelled(&mut line, &id, plan.leaf(), time, &self.spelling());
        }
        Ok(line)
    }
}
