//! The lines of a new session: copied in whole ranges where nothing changes, spliced where something must.

use std::io::{self, Write};
use std::ops::Range;

use super::plan::{Extract, ExtractPlan, PlannedEntry};
use crate::draft::{Draft, Spelling};
use crate::error::Result;
use crate::id::{EntryId, derived_id};
use crate::index::{LineAt, NonEntryKind};
use crate::journal::{ReadAt, copy_range, read_range};
use crate::json::{Doc, Edit, literal};
use crate::migrate;
use crate::session::{NewHeader, ReadAhead, Session};
use crate::tree::Node;

/// Copies bytes of a journal line by line; adjacent lines are copied together.
pub(crate) struct LineCopier<'c> {
    source: &'c dyn ReadAt,
    /// The position after the last whole line of the source.
    end: u64,
    out: &'c mut dyn Write,
    /// Lines that are to be copied next, without the last line feed.
    pending: Option<Range<u64>>,
    ahead: ReadAhead,
}

impl LineCopier<'_> {
    /// Copies a range of the source as a line.
    pub(crate) fn line(&mut self, bytes: Range<u64>) -> io::Result<()> {
        match &mut self.pending {
            Some(pending) if pending.end + 1 == bytes.start => pending.end = bytes.end,
            _ => {
                self.finish()?;
                self.pending = Some(bytes);
            }
        }
        Ok(())
    }

    /// Writes a line that is not in the source.
    pub(crate) fn text(&mut self, line: &[u8]) -> io::Result<()> {
        self.finish()?;
        self.out.write_all(line)?;
        self.out.write_all(b"\n")
    }

    /// Copies the pending lines.
    fn finish(&mut self) -> io::Result<()> {
        let Some(range) = self.pending.take() else { return Ok(()) };
        let Self { source, end, out, ahead, .. } = self;
        match usize::try_from(range.end - range.start) {
            Ok(len) if len <= ReadAhead::WINDOW => {
                ahead.read(*source, (range.start, len), *end, |bytes| out.write_all(bytes))??;
            }
            _ => copy_range(*source, range, *out)?,
        }
        out.write_all(b"\n")
    }
}

impl Session {
    /// Writes the lines of a planned extract below a header, which
    /// [`Options::new_header`](crate::Options::new_header) makes.
    pub fn write_extract(&self, plan: &ExtractPlan, header: &NewHeader, out: &mut dyn Write) -> Result<()> {
        self.check_extract(plan)?;
        let written = writeln!(out, "{}", header.line());
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
        if plan.what == Extract::All {
            return self.write_all_lines(out);
        }
        let mut copier = self.line_copier(out);
        for entry in &plan.entries {
            if entry.is_spliced {
                copier.text(&self.spliced(entry)?)?;
            } else {
                copier.line(self.index.range_of(LineAt::Row(entry.node)))?;
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
    fn write_all_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        self.copy_lines(out, |copier, line, bytes| match line {
            Some(LineAt::NonEntry(gap))
                if matches!(
                    gap.kind,
                    NonEntryKind::Header | NonEntryKind::SecondHeader | NonEntryKind::TitleSlot
                ) =>
            {
                Ok(())
            }
            Some(LineAt::Row(node)) if !self.index.reads_as_written() => copier.text(&self.current(node)?),
            Some(LineAt::Row(_) | LineAt::NonEntry(_)) | None => copier.line(bytes),
        })
    }

    /// Calls `copy` with every line and its range, which writes the line or leaves it out. An incomplete last line is
    /// passed as `None`.
    pub(crate) fn copy_lines(
        &self,
        out: &mut dyn Write,
        mut copy: impl FnMut(&mut LineCopier<'_>, Option<LineAt>, Range<u64>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut copier = self.line_copier(out);
        for line in self.index.lines() {
            copy(&mut copier, Some(line), self.index.range_of(line))?;
        }
        if let Some(torn) = &self.index.torn {
            copy(&mut copier, None, torn.clone())?;
        }
        copier.finish()
    }

    fn line_copier<'c>(&'c self, out: &'c mut dyn Write) -> LineCopier<'c> {
        let (source, end) = (&*self.journal, self.index.end);
        LineCopier { source, end, out, pending: None, ahead: ReadAhead::default() }
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
        let mut edit = Edit::new(doc.root());
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
        let mut above: Option<EntryId> = plan.entries.last().map(|entry| self.index.tree.id(entry.node));
        for (target, label) in &plan.labels {
            let target = self.index.tree.id(*target);
            let id = derived_id(&[new_id, "label", target.as_str()], |id| self.index.tree.holds(id));
            let draft = Draft::label(&target, Some(&label.text));
            draft.write_spelled(&mut lines, &id, above.as_ref(), label.set_at, &Spelling::Id);
            above = Some(id);
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
