//! The lines of an extract: copied in whole ranges where nothing changes, spliced where something must.

use std::io::{self, Write};
use std::ops::Range;

use super::plan::{Extract, ExtractPlan, PlannedEntry};
use crate::draft::Draft;
use crate::error::Result;
use crate::id::{EntryId, derived_id};
use crate::index::{LineAt, NonEntryKind};
use crate::journal::{ReadAt, read_range};
use crate::json::{Doc, Edit, literal};
use crate::migrate;
use crate::session::{NewHeader, Session};
use crate::tree::Node;

/// The read size for a short range: the ranges of one path are often close together.
const SHORT_READ: usize = 64 * 1024;
/// The read size for a long range.
const LONG_READ: usize = 1024 * 1024;

impl Session {
    /// Writes the lines of a planned extract below a header, which
    /// [`Options::new_header`](crate::Options::new_header) makes, to wherever they are wanted.
    pub fn write_extract(&self, plan: &ExtractPlan, header: &NewHeader, out: &mut dyn Write) -> Result<()> {
        self.check_extract(plan)?;
        let written = out.write_all(header.line().as_bytes()).and_then(|()| out.write_all(b"\n"));
        let written =
            written.and_then(|()| self.write_planned(plan, &header.id, out)).and_then(|()| out.flush());
        written.map_err(|error| self.io_error("export", error))
    }

    /// Writes everything that follows the header.
    pub(super) fn write_planned(
        &self,
        plan: &ExtractPlan,
        new_id: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut copier = Copier::new(&*self.journal, out);
        if plan.what == Extract::All {
            self.write_all_lines(&mut copier)?;
            return copier.finish();
        }
        for entry in &plan.entries {
            if entry.is_spliced {
                copier.text(&self.spliced(entry)?)?;
            } else {
                let (position, len) = self.index.tree.place(entry.node);
                copier.range(position, len)?;
            }
        }
        copier.finish()?;
        out.write_all(&self.label_lines(plan, new_id))
    }

    /// Collects the lines that follow the header of a selection: ranges of the source, and new lines.
    pub(super) fn planned_parts(&self, plan: &ExtractPlan, new_id: &str) -> io::Result<Vec<Part>> {
        let mut parts = Vec::new();
        for entry in &plan.entries {
            if entry.is_spliced {
                let line = self.spliced(entry)?;
                parts.push(Part::New([line.as_slice(), b"\n"].concat()));
                continue;
            }
            let (position, len) = self.index.tree.place(entry.node);
            let end = position + u64::from(len) + 1;
            match parts.last_mut() {
                Some(Part::Shared(last)) if last.end == position => last.end = end,
                _ => parts.push(Part::Shared(position..end)),
            }
        }
        parts.push(Part::New(self.label_lines(plan, new_id)));
        Ok(parts)
    }

    /// Writes every line but the headers, including bad ones, which may be the last trace of an entry.
    fn write_all_lines(&self, copier: &mut Copier<'_>) -> io::Result<()> {
        let index = &self.index;
        for line in index.lines() {
            let (position, len) = index.place_of(line);
            match line {
                LineAt::NonEntry(gap)
                    if matches!(
                        gap.kind,
                        NonEntryKind::Header | NonEntryKind::SecondHeader | NonEntryKind::TitleSlot
                    ) => {}
                LineAt::Row(node) if !index.reads_as_written() => copier.text(&self.current(node)?)?,
                LineAt::Row(_) | LineAt::NonEntry(_) => copier.range(position, len)?,
            }
        }
        match &index.torn {
            Some(torn) => copier.range(torn.start, u32::try_from(torn.end - torn.start).unwrap_or(u32::MAX)),
            None => Ok(()),
        }
    }

    /// Reads a line as the current version spells it.
    pub(super) fn current(&self, node: Node) -> io::Result<Vec<u8>> {
        let (position, len) = self.index.tree.place(node);
        let raw = read_range(&*self.journal, position, len as usize)?;
        Ok(migrate::current_line(&self.index, node, &raw).unwrap_or(raw))
    }

    /// Reads a line and puts its new links into it; all other bytes stay.
    fn spliced(&self, entry: &PlannedEntry) -> io::Result<Vec<u8>> {
        let line = self.current(entry.node)?;
        let Ok(doc) = Doc::parse(line.as_slice()) else { return Ok(line) };
        let Some(mut edit) = Edit::new(doc.root()) else { return Ok(line) };
        let id = |node: Node| self.index.tree.id(node);
        let written = doc.root().get("parentId");
        match entry.parent.map(id) {
            Some(parent) if !written.is_some_and(|written| written.is_str(parent.as_str())) => {
                edit.set("parentId", literal(parent.as_str()).as_bytes());
            }
            None if !written.is_some_and(|written| written.is_null()) => edit.set("parentId", b"null"),
            _ => {}
        }
        if let Some(first_kept) = entry.first_kept {
            edit.set("firstKeptEntryId", literal(id(first_kept).as_str()).as_bytes());
        }
        Ok(edit.document())
    }

    /// Writes the label entries that end an extract, each below the one before.
    fn label_lines(&self, plan: &ExtractPlan, new_id: &str) -> Vec<u8> {
        let mut lines = Vec::new();
        let mut made: Vec<EntryId> = Vec::new();
        let last = plan.entries.last().map(|entry| self.index.tree.id(entry.node));
        for (target, label) in &plan.labels {
            let target = self.index.tree.id(*target);
            let id = derived_id(&[new_id, "label", target.as_str()], |id| self.index.tree.holds(id));
            let parent = made.last().or(last.as_ref());
            Draft::label(&target, Some(&label.text)).write_line(&mut lines, &id, parent, label.set_at);
            made.push(id);
        }
        lines
    }
}

/// Lines of an extract.
pub(super) enum Part {
    /// Whole lines of the source, with their line feeds.
    Shared(Range<u64>),
    /// Lines that the source does not have.
    New(Vec<u8>),
}

/// Copies lines; what is contiguous in the source goes in one go.
struct Copier<'c> {
    source: &'c dyn ReadAt,
    out: &'c mut dyn Write,
    /// Lines that are to be copied next, from the first byte to the one before the last line feed.
    pending: Option<Range<u64>>,
    window: Vec<u8>,
    window_at: u64,
}

impl<'c> Copier<'c> {
    fn new(source: &'c dyn ReadAt, out: &'c mut dyn Write) -> Self {
        Copier { source, out, pending: None, window: Vec::new(), window_at: 0 }
    }

    /// Copies a line of the source.
    fn range(&mut self, position: u64, len: u32) -> io::Result<()> {
        let end = position + u64::from(len);
        match &mut self.pending {
            Some(pending) if pending.end + 1 == position => pending.end = end,
            _ => {
                self.finish()?;
                self.pending = Some(position..end);
            }
        }
        Ok(())
    }

    /// Writes a line that is not in the source.
    fn text(&mut self, line: &[u8]) -> io::Result<()> {
        self.finish()?;
        self.out.write_all(line)?;
        self.out.write_all(b"\n")
    }

    /// Copies what is pending.
    fn finish(&mut self) -> io::Result<()> {
        let Some(range) = self.pending.take() else { return Ok(()) };
        let mut at = range.start;
        while at < range.end {
            let bytes = self.window(at, range.end)?;
            let bytes = bytes.start..bytes.end.min(bytes.start + (range.end - at) as usize);
            self.out.write_all(&self.window[bytes.clone()])?;
            at += bytes.len() as u64;
        }
        self.out.write_all(b"\n")
    }

    /// Makes sure that the byte at `at` is in the window; gives where the window holds it and what follows.
    fn window(&mut self, at: u64, end: u64) -> io::Result<Range<usize>> {
        let held = self.window_at..self.window_at + self.window.len() as u64;
        if !held.contains(&at) {
            let wanted = usize::try_from(end - at).unwrap_or(usize::MAX).clamp(SHORT_READ, LONG_READ);
            self.window.resize(wanted, 0);
            let read = self.source.read_at(at, &mut self.window);
            self.window.truncate(*read.as_ref().unwrap_or(&0));
            self.window_at = at;
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return self.window(at, end),
                Err(error) => return Err(error),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
            }
        }
        Ok((at - self.window_at) as usize..self.window.len())
    }
}
