//! A file that was replaced, deleted or truncated by another program while the session was open.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, Read};
use std::path::PathBuf;

use super::super::Session;
use super::append::InsertAt;
use crate::draft::Draft;
use crate::error::{Error, FileLoss, ReadOnlyReason, Result};
use crate::id::EntryId;
use crate::index::{self, Index, LONGEST_LINE, LineAt, NonEntryKind, NonEntryLine};
use crate::journal::{NewLine, Reader, name_of, read_range};
use crate::kind::Kind;
use crate::line::{self, STUB, Scan};
use crate::migrate;
use crate::tree::{Node, Tree};

impl Session {
    /// Continues with the file that has replaced this one, for example after a migration. Returns the place in it; `None` if it
    /// is not the same session.
    pub(super) fn follow_replacement(&mut self, loss: FileLoss, place: InsertAt) -> Result<Option<InsertAt>> {
        if loss != FileLoss::Replaced {
            return Ok(None);
        }
        let Ok(Some(journal)) = self.journal.reopened() else { return Ok(None) };
        let Ok(index) = index::load_journal(&*journal) else { return Ok(None) };
        let same = index.header.id() == self.index.header.id();
        let find = |node: Option<Node>| same_node(&self.index.tree, node, &index.tree);
        let (parent, leaf) = (find(place.parent), find(self.leaf));
        let (Some(parent), Some(leaf), true) = (parent, leaf, same) else { return Ok(None) };
        self.journal = journal;
        self.replace_index(index, leaf);
        Ok(Some(InsertAt { parent, ..place }))
    }

    /// Reads the lines that others appended. Returns the place in the new tree.
    pub(super) fn catch_up_at(&mut self, place: InsertAt, len: u64) -> Result<InsertAt> {
        self.catch_up_to(len)?;
        let tree = &self.index.tree;
        let current =
            |node: Node| tree.current(node).ok_or_else(|| Error::UnknownEntry { id: tree.id(node) });
        Ok(InsertAt { parent: place.parent.map(current).transpose()?, ..place })
    }

    /// Saves the entries that can still be read, and those that were to be appended, beside the lost file.
    pub(super) fn rescue(&mut self, loss: FileLoss, place: InsertAt, drafts: &[Draft]) -> Error {
        match self.write_rescue(place, drafts) {
            Ok((rescue, missing)) => {
                self.read_only = Some(ReadOnlyReason::Lost { what: loss });
                Error::Replaced { path: name_of(&*self.journal), what: loss, rescue, missing }
            }
            Err(error) => error,
        }
    }

    /// Writes the rescue file. Returns its path and the number of lost entries.
    fn write_rescue(&mut self, place: InsertAt, drafts: &[Draft]) -> Result<(Option<PathBuf>, u64)> {
        let (_, lines) = self.prepare(place.parent, drafts, self.writer.clock.now());
        let end = self.journal.len().map_err(|error| self.io_error("read", error))?;
        if end >= self.index.known_end() && !self.needs_migration() {
            // A file that lost its name can still be read through its descriptor. It may be larger than memory.
            let end = self.index.known_end();
            let is_open = self.ends_inside_a_line(end).map_err(|error| self.io_error("read", error))?;
            let feed: &[u8] = if is_open { b"\n" } else { b"" };
            let known = Reader::new(&*self.journal, 0..end);
            let rescue = self.journal.rescue(&mut known.chain(feed).chain(lines.as_slice()))?;
            return Ok((rescue, 0));
        }
        let labels = self.lost_titles(place.parent, end);
        let mut salvage = SalvagedLines::new(self, end);
        let rescue =
            self.journal.rescue(&mut salvage.by_ref().chain(labels.as_slice()).chain(lines.as_slice()))?;
        Ok((rescue, salvage.missing))
    }

    fn ends_inside_a_line(&self, end: u64) -> io::Result<bool> {
        let Some(last) = end.checked_sub(1) else { return Ok(false) };
        Ok(read_range(&*self.journal, last, 1)? != b"\n")
    }

    /// Writes the labels and the name of the session as new entries, if the lines that set them may be lost.
    fn lost_titles(&mut self, parent: Option<Node>, end: u64) -> Vec<u8> {
        let tree = &self.index.tree;
        let is_lost = |node: Node, kinds: &[Kind]| {
            let (position, len) = tree.place(node);
            position + u64::from(len) > end && kinds.contains(&tree.kind(node))
        };
        let lost = |kinds: &[Kind]| tree.nodes().any(|node| is_lost(node, kinds));
        let mut drafts = Vec::new();
        if lost(&[Kind::Label]) {
            let labels = self.labels();
            drafts.extend(
                labels.iter().map(|(target, label)| {
                    (Draft::label(&tree.id(*target), Some(&label.text)), label.set_at)
                }),
            );
        }
        if lost(&[Kind::SessionInfo])
            && let Some(name) = self.name()
        {
            drafts.push((Draft::session_info(name), self.writer.clock.now()));
        }
        let above = parent.map(|parent| tree.id(parent));
        let spelling = self.spelling();
        let (mut lines, mut drawn) = (Vec::new(), HashSet::new());
        for (draft, time) in drafts {
            let id = self.free_id(&mut drawn);
            draft.write_spelled(&mut lines, &id, above.as_ref(), time, &spelling);
        }
        lines
    }
}

/// The lines of a session whose file lost a part, from the rest of the file and from memory.
///
/// A line that is lost becomes a stub with its id and parent, so that the entries below it keep their places. All lines
/// are in the current version.
struct SalvagedLines<'s> {
    session: &'s Session,
    /// The current length of the file.
    end: u64,
    lines: Box<dyn Iterator<Item = LineAt> + 's>,
    recent: HashMap<&'s EntryId, &'s [u8]>,
    /// The current line, and the number of its bytes that were read.
    line: Vec<u8>,
    at: usize,
    /// The number of entries that are lost.
    missing: u64,
}

impl<'s> SalvagedLines<'s> {
    fn new(session: &'s Session, end: u64) -> Self {
        let (lines, recent) = (Box::new(session.index.lines()), session.writer.recent.by_id());
        SalvagedLines { session, end, lines, recent, line: Vec::new(), at: 0, missing: 0 }
    }

    /// Returns the next line of the rescue file.
    fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        while let Some(at) = self.lines.next() {
            let line = match at {
                LineAt::NonEntry(gap) => self.gap(gap)?,
                LineAt::Row(node) => self.row(node)?,
            };
            if let Some(mut line) = line {
                line.push(b'\n');
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    fn gap(&self, gap: NonEntryLine) -> io::Result<Option<Vec<u8>>> {
        let index = &self.session.index;
        match gap.kind {
            NonEntryKind::Header => {
                let current = migrate::current_header(index).filter(|_| !index.writes_uuids());
                Ok(Some(current.unwrap_or_else(|| index.header.raw().to_vec())))
            }
            NonEntryKind::Blank => Ok(None),
            NonEntryKind::TitleSlot
            | NonEntryKind::SecondHeader
            | NonEntryKind::NotJson { .. }
            | NonEntryKind::NotAnObject
            | NonEntryKind::NoId
            | NonEntryKind::TooLong => self.on_disk((gap.position, gap.len)),
        }
    }

    fn row(&mut self, node: Node) -> io::Result<Option<Vec<u8>>> {
        let index = &self.session.index;
        let tree = &index.tree;
        let id = tree.id(node);
        let on_disk = self.on_disk(tree.place(node))?.filter(|line| self.is_line_of(node, line));
        let known = on_disk.or_else(|| self.recent.get(&id).map(|line| line.to_vec()));
        if let Some(line) = known {
            return Ok(Some(current_line(index, node, line)));
        }
        if let Some(doc) = self.session.known_doc(node) {
            return Ok(Some(doc.text().to_vec()));
        }
        if tree.node_at(node.index()).is_none() {
            // Copies, and entries that lost their id to a later one.
            return Ok(None);
        }
        self.missing += 1;
        let parent = tree.parent(node).map(|parent| tree.id(parent));
        let mut line = Vec::new();
        let data = serde_json::json!({ "line": index.line_number(node), "inferred": false });
        let stub = Draft::custom(STUB, Some(&data));
        stub.write_spelled(&mut line, &id, parent.as_ref(), tree.timestamp(node), &self.session.spelling());
        line.pop();
        Ok(Some(line))
    }

    /// Reads a line of the file; none if it is gone.
    fn on_disk(&self, (position, len): (u64, u32)) -> io::Result<Option<Vec<u8>>> {
        let len = u64::from(len);
        if position + len > self.end || len > LONGEST_LINE {
            return Ok(None);
        }
        let line = read_range(&*self.session.journal, position, len as usize)?;
        Ok(Some(line).filter(|line| !line.contains(&b'\n')))
    }

    /// Returns true if these bytes are the line that was indexed: a file may be truncated and then filled again.
    fn is_line_of(&self, node: Node, line: &[u8]) -> bool {
        let index = &self.session.index;
        let key = index.tree.key_at(node.row).into_owned();
        match line::exact(line) {
            Scan::Object(_) if index.version == 1 => true,
            Scan::Object(head) => head.id == Some(key),
            Scan::Damaged { head, .. } => head.is_some_and(|head| head.id == Some(key)),
            Scan::Blank | Scan::NotAnObject => false,
        }
    }
}

impl Read for SalvagedLines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.line.len() {
            (self.line, self.at) = (self.next_line()?.unwrap_or_default(), 0);
        }
        let rest = &self.line[self.at..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

fn current_line(index: &Index, node: Node, line: Vec<u8>) -> Vec<u8> {
    if index.writes_uuids() {
        return line;
    }
    migrate::current_line(index, node, &line).unwrap_or(line)
}

pub(super) fn same_node(old: &Tree, node: Option<Node>, new: &Tree) -> Option<Option<Node>> {
    match node {
        None => Some(None),
        Some(node) => new.node(old.id(node).as_str()).map(Some),
    }
}

/// The maximum size of the latest lines in bytes.
const MAX_RECENT_BYTES: usize = 8 << 20;

/// The latest lines that a session wrote, oldest first, kept for the case that the file is lost.
#[derive(Debug, Default)]
pub(crate) struct RecentLines {
    lines: VecDeque<(EntryId, Box<[u8]>)>,
    bytes: usize,
}

impl RecentLines {
    /// Keeps entries that were written.
    pub(super) fn note(&mut self, lines: &[NewLine<'_>]) {
        for NewLine { bytes, id, .. } in lines {
            let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            if let Some(id) = id.clone().filter(|_| line.len() <= MAX_RECENT_BYTES) {
                self.bytes += line.len();
                self.lines.push_back((id, line.into()));
            }
        }
        while self.bytes > MAX_RECENT_BYTES
            && let Some((_, oldest)) = self.lines.pop_front()
        {
            self.bytes -= oldest.len();
        }
    }

    /// Returns the lines by the ids of their entries.
    pub(super) fn by_id(&self) -> HashMap<&EntryId, &[u8]> {
        self.lines.iter().map(|(id, line)| (id, &**line)).collect()
    }
}
