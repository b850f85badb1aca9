//! The index of one session: the tree, the lines that are not part of it, labels and names, how far it reaches.
//!
//! bytes -> line -> **index** (header, tree) -> path -> context
//!
//! Made by one pass over the journal and extended by what is appended later. Reads, never writes.

mod labels;
mod leaf;
mod lines;
mod load;
mod report;

use std::io;
use std::ops::Range;

use hmac_sha256::Hash;

use crate::entry::Header;
use crate::error::ReadOnlyReason;
use crate::id::{EntryId, IdKey, first_free};
use crate::journal::{Piece, ReadAt, each_line, read_range};
use crate::json::{self, Doc, ValueRef};
use crate::kind::{Kind, Role};
use crate::line::{self, Flags, Head, Parent, Scan, Scanner};
use crate::tree::{Link, Node, Place, Row, SameId, Tree};

pub use labels::Label;
pub(crate) use labels::Labels;
pub(crate) use lines::{LineAt, NonEntryKind, NonEntryLine};
#[cfg(feature = "catalog")]
pub(crate) use load::{Refusal, try_load};
pub(crate) use load::{load, load_journal};

/// The length of the longest line, without its line feed, that is read as an entry. Longer ones are never written.
pub const LONGEST_LINE: u64 = 256 << 20;

/// The version that the engine writes. Entries of version 1 have no ids, and form one chain; in version 2 messages of
/// extensions have the role `hookMessage`.
const CURRENT_VERSION: u64 = 3;

/// The result of one pass over a journal.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) header: Header,
    pub(crate) tree: Tree,
    pub(crate) labels: Labels,
    /// The version of the format, at least 1.
    pub(crate) version: u64,
    /// Some line spells its id `uuid`.
    pub(crate) uuid_spelling: bool,
    /// Lines that are not part of the tree, in file order.
    pub(crate) non_entries: Vec<NonEntryLine>,
    /// The position after the last line that was indexed.
    pub(crate) end: u64,
    /// The last indexed line has no line feed yet.
    pub(crate) open_tail: bool,
    /// Bytes after `end` that are no line (yet).
    pub(crate) torn: Option<Range<u64>>,
    pub(crate) byte_order_mark: bool,
    /// The id that an early design gave the header.
    header_uuid: Option<IdKey<'static>>,
    /// How many of the non_entries are JSON objects.
    pub(crate) object_lines: usize,
    /// How many rows were known before a reading that failed; set until a later one succeeds.
    failed_at: Option<usize>,
}

impl Index {
    /// Starts the index of a session that has only a header so far.
    pub(crate) fn new(header: Header, len: u64) -> Self {
        let first = NonEntryLine { rows: 0, position: 0, len: len as u32 - 1, kind: NonEntryKind::Header };
        let uuid = header
            .value()
            .get("uuid")
            .and_then(ValueRef::as_str)
            .map(|uuid| IdKey::of_text(uuid).into_owned());
        Index {
            version: header.version().max(1),
            uuid_spelling: uuid.is_some(),
            header_uuid: uuid,
            header,
            tree: Tree::default(),
            labels: Labels::default(),
            non_entries: vec![first],
            end: len,
            open_tail: false,
            torn: None,
            byte_order_mark: false,
            object_lines: 1,
            failed_at: None,
        }
    }

    /// Returns why the session must not be written, if its version forbids it.
    pub(crate) fn read_only_reason(&self) -> Option<ReadOnlyReason> {
        self.is_newer().then_some(ReadOnlyReason::NewerVersion { version: self.version })
    }

    pub(crate) fn is_newer(&self) -> bool {
        self.version > CURRENT_VERSION
    }

    /// Returns true if the version is older than the one that is written.
    pub(crate) fn is_old(&self) -> bool {
        self.version < CURRENT_VERSION
    }

    /// Returns true if new entries spell their ids `uuid`, as the file itself does.
    ///
    /// A file that spells them `id` stays one, also if a stray line has a `uuid`.
    pub(crate) fn writes_uuids(&self) -> bool {
        match self.version {
            2 => self.uuid_spelling,
            3 => self.header_uuid.is_some(),
            _ => false,
        }
    }

    /// Returns the position after everything that was looked at, torn bytes included.
    pub(crate) fn known_end(&self) -> u64 {
        self.torn.as_ref().map_or(self.end, |torn| torn.end)
    }

    /// Returns how many rows are known for certain: not those of a reading that failed on its way.
    pub(crate) fn known_rows(&self) -> usize {
        self.failed_at.unwrap_or_else(|| self.tree.node_bound())
    }

    /// Reads what was appended since; gives the new entries. After an error none of them is part of the tree, and
    /// the next call gives them all.
    pub(crate) fn catch_up(&mut self, source: &dyn ReadAt, to: u64) -> io::Result<Vec<Node>> {
        let before = self.known_rows();
        let known = (self.end, self.open_tail, self.torn.clone(), self.non_entries.len());
        let read = match self.failed_at {
            Some(_) => self.reload(source, to),
            None => self.read_on(source, to),
        };
        if let Err(error) = read {
            // Roll back so that a retry reads the same lines again.
            (self.end, self.open_tail, self.torn) = (known.0, known.1, known.2);
            self.non_entries.truncate(known.3);
            self.tree.hide_from(before);
            self.failed_at = Some(before);
            return Err(error);
        }
        self.failed_at = None;
        Ok((before..self.tree.node_bound()).filter_map(|at| self.tree.node_at(at)).collect())
    }

    /// Indexes the lines behind those that are known.
    fn read_on(&mut self, source: &dyn ReadAt, to: u64) -> io::Result<()> {
        let before = self.tree.node_bound();
        // A tail that was read although it had no line feed yet: only that can follow.
        let from = self.end;
        let scanner = Scanner::default();
        each_line(source, from, to, &mut |position, piece, ended| {
            self.take(&IncomingLine::new(source, &scanner, position, piece), ended)
        })?;
        if self.tree.has_withdrawals(before) {
            // Entries may hang below a withdrawn line, so the links are made again from the beginning of the file.
            return self.reload(source, to);
        }
        self.resolve_links(source)
    }

    /// Takes one line into the index.
    fn take(&mut self, line: &IncomingLine<'_>, ended: bool) -> io::Result<()> {
        if self.open_tail && line.len == 0 && ended {
            // The line feed of a line that was already read.
            self.open_tail = false;
            self.end = line.position + 1;
            return Ok(());
        }
        if !ended && !line.is_whole_object()? {
            self.torn = Some(line.position..line.position + line.len);
            return Ok(());
        }
        // Bytes that were no whole line before are looked at closely: an end that looks right does not make them one.
        let was_torn = self.torn.take().is_some_and(|torn| torn.start == line.position);
        self.end = line.position + line.len + u64::from(ended);
        self.open_tail = !ended;
        let whole;
        let scan = match line.scan().filter(|_| !was_torn) {
            Some(scan) => scan,
            None => {
                let Some(read) = line.read_whole()? else {
                    self.add_non_entry(line, NonEntryKind::TooLong);
                    return Ok(());
                };
                whole = read;
                if was_torn { line::exact(&whole) } else { line.scanner.scan(&whole) }
            }
        };
        match scan {
            Scan::Blank => self.add_non_entry(line, NonEntryKind::Blank),
            Scan::NotAnObject => self.add_non_entry(line, NonEntryKind::NotAnObject),
            Scan::Damaged { reason, head } => self.take_damaged(line, reason, head),
            Scan::Object(head) if head.is_header() => self.add_non_entry(line, NonEntryKind::SecondHeader),
            Scan::Object(head) => self.take_object(line, head)?,
        }
        Ok(())
    }

    fn take_object(&mut self, line: &IncomingLine<'_>, head: Head<'_>) -> io::Result<()> {
        self.uuid_spelling |= head.uuid_spelling;
        let row = row(line, &head);
        if self.version == 1 {
            let id = v1_entry_id(&self.header.id(), self.object_count(), |id| self.tree.holds(id));
            let link = self.tree.last_row().map_or(Link::Root, Link::To);
            let node = self.tree.push(row, IdKey::of(id.as_str()), link);
            // The next id must not be this one.
            self.resolve_links(line.source)?;
            return self.note_body(line, node);
        }
        let Some(id) = head.id else {
            self.add_non_entry(line, NonEntryKind::NoId);
            return Ok(());
        };
        let link = self.link(head.parent);
        let node = self.tree.push(row, id, link);
        self.note_body(line, node)
    }

    /// A damaged line keeps its place in the tree if its id can be read.
    fn take_damaged(&mut self, line: &IncomingLine<'_>, reason: &'static str, head: Option<Box<Head<'_>>>) {
        match head.map(|head| *head) {
            Some(mut head) if self.version != 1 && head.id.is_some() => {
                head.flags |= Flags::PLACEHOLDER;
                let row = row(line, &head);
                let link = self.link(std::mem::take(&mut head.parent));
                if let Some(id) = head.id {
                    self.tree.push(row, id, link);
                }
            }
            _ => self.add_non_entry(line, NonEntryKind::NotJson { reason }),
        }
    }

    fn link<'h>(&self, parent: Parent<'h>) -> Link<'h> {
        match parent {
            Parent::Absent | Parent::Null => Link::Root,
            // An early design made the header the root of the tree.
            Parent::Id(id) if self.header_uuid.as_ref() == Some(&id) => Link::Root,
            Parent::Id(id) => Link::Named(id),
        }
    }

    /// Resolves the links of new entries, and compares lines that have the same id.
    fn resolve_links(&mut self, source: &dyn ReadAt) -> io::Result<()> {
        let mut result = Ok(());
        self.tree.resolve_links(|earlier, later| match compare(source, earlier, later) {
            Ok(same) => same,
            Err(error) => {
                result = Err(error);
                SameId::Copy
            }
        });
        result
    }

    /// Labels and names are few and count for the whole file: they are read at once.
    fn note_body(&mut self, line: &IncomingLine<'_>, node: Node) -> io::Result<()> {
        self.note(node, || line.read_whole())
    }

    /// Reads labels and names again, without those that were withdrawn.
    fn reread_labels(&mut self, source: &dyn ReadAt) -> io::Result<()> {
        self.labels = Labels::titled(self.labels.title.take());
        for at in 0..self.tree.node_bound() as u32 {
            if !self.tree.is_withdrawn(at) {
                let node = self.tree.node_of_row(at);
                let place = self.tree.place(node);
                self.note(node, || read_line(source, place))?;
            }
        }
        Ok(())
    }

    fn note(&mut self, node: Node, read: impl FnOnce() -> io::Result<Option<Vec<u8>>>) -> io::Result<()> {
        let kind = self.tree.kind(node);
        if !matches!(kind, Kind::Label | Kind::SessionInfo) {
            return Ok(());
        }
        if let Some(doc) = read()?.and_then(|line| Doc::parse(line).ok()) {
            self.labels.note(kind, doc.root(), self.tree.timestamp(node));
        }
        Ok(())
    }

    fn add_non_entry(&mut self, line: &IncomingLine<'_>, kind: NonEntryKind) {
        let len = u32::try_from(line.len).unwrap_or(u32::MAX);
        self.object_lines += usize::from(kind.is_object());
        self.non_entries.push(NonEntryLine {
            rows: self.tree.node_bound() as u32,
            position: line.position,
            len,
            kind,
        });
    }

    /// Counts the JSON objects so far, header included: the numbering of version 1.
    fn object_count(&self) -> usize {
        self.tree.node_bound() + self.object_lines
    }

    /// Finds the entry at a number of version 1, which counts JSON objects and the header as the first.
    pub(crate) fn row_of_object(&self, number: f64) -> Option<Node> {
        if number.fract() != 0.0 || number < 0.0 || number > f64::from(u32::MAX) {
            return None;
        }
        let wanted = number as u32;
        let mut skipped = 0;
        for gap in self.non_entries.iter().filter(|gap| gap.kind.is_object()) {
            let own_number = gap.rows + skipped;
            if own_number == wanted {
                return None;
            }
            if own_number > wanted {
                break;
            }
            skipped += 1;
        }
        let row = wanted - skipped;
        ((row as usize) < self.tree.node_bound()).then(|| self.tree.node_of_row(row))
    }

    /// Returns true if lines are used exactly as they stand in the file.
    pub(crate) fn reads_as_written(&self) -> bool {
        !self.is_old() && !self.uuid_spelling
    }

    /// Reads the bytes after the last line; `None` if they are more than the engine reads.
    pub(crate) fn read_tail(&self, source: &dyn ReadAt) -> io::Result<Option<Vec<u8>>> {
        match &self.torn {
            Some(torn) => read_bounded(source, torn.start, torn.end - torn.start),
            None => Ok(Some(Vec::new())),
        }
    }
}

fn row(line: &IncomingLine<'_>, head: &Head<'_>) -> Row {
    Row {
        position: line.position,
        len: u32::try_from(line.len).unwrap_or(u32::MAX),
        kind: head.kind(),
        role: head.role.unwrap_or(Role::Other),
        flags: head.flags,
        time: head.time,
    }
}

/// Reads a line; `None` if it is longer than the engine reads.
pub(crate) fn read_line(source: &dyn ReadAt, (position, len): Place) -> io::Result<Option<Vec<u8>>> {
    read_bounded(source, position, u64::from(len))
}

fn read_bounded(source: &dyn ReadAt, position: u64, len: u64) -> io::Result<Option<Vec<u8>>> {
    if len > LONGEST_LINE {
        return Ok(None);
    }
    read_range(source, position, len as usize).map(Some)
}

/// Compares two lines that have the same id.
fn compare(source: &dyn ReadAt, earlier: Place, later: Place) -> io::Result<SameId> {
    let Some(line) = read_line(source, later)? else { return Ok(SameId::Other) };
    if json::validate(&line).is_err() {
        // A line that only looks whole takes no id from one that is.
        return Ok(SameId::Damaged);
    }
    let is_copy = earlier.1 == later.1 && read_line(source, earlier)? == Some(line);
    Ok(if is_copy { SameId::Copy } else { SameId::Other })
}

/// Returns the id of an entry of version 1, which has none: the first digits of a checksum of its place.
fn v1_entry_id(session_id: &str, index: usize, is_taken: impl Fn(&str) -> bool) -> EntryId {
    first_free(is_taken, |retry| {
        let mut hash = Hash::new();
        hash.update(format!("{session_id}\0{index}"));
        if retry > 0 {
            hash.update(format!("\0{retry}"));
        }
        hash.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect()
    })
}

/// A line that is being indexed.
struct IncomingLine<'l> {
    source: &'l dyn ReadAt,
    scanner: &'l Scanner,
    position: u64,
    /// The bytes of the line, or its head if `len` is another length.
    piece: Piece<'l>,
    len: u64,
}

impl<'l> IncomingLine<'l> {
    fn new(source: &'l dyn ReadAt, scanner: &'l Scanner, position: u64, piece: Piece<'l>) -> Self {
        let len = match piece {
            Piece::Whole(line) => line.len() as u64,
            Piece::Ends { len, .. } => len,
        };
        IncomingLine { source, scanner, position, piece, len }
    }

    fn scan(&self) -> Option<Scan<'l>> {
        match self.piece {
            Piece::Whole(_) if self.len > LONGEST_LINE => None,
            Piece::Whole(line) => Some(self.scanner.scan(line)),
            Piece::Ends { head, tail, .. } => self.scanner.scan_ends(head, tail),
        }
    }

    /// Reads all of the line; `None` if it is longer than the engine reads.
    fn read_whole(&self) -> io::Result<Option<Vec<u8>>> {
        match self.piece {
            Piece::Whole(line) if line.len() as u64 == self.len => Ok(Some(line.to_vec())),
            Piece::Whole(_) | Piece::Ends { .. } => read_bounded(self.source, self.position, self.len),
        }
    }

    fn is_whole_object(&self) -> io::Result<bool> {
        let is_object = |line: &[u8]| matches!(json::validate(line), Ok(json::Kind::Object));
        match self.piece {
            Piece::Whole(line) => Ok(is_object(line)),
            Piece::Ends { .. } => Ok(self.read_whole()?.is_some_and(|line| is_object(&line))),
        }
    }
}

#[cfg(test)]
mod tests;
