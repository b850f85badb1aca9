//! Salvage: reading the entries of a file whose header cannot be read. The file itself is never changed.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::copy::{RepairedCopy, new_file};
use crate::check::{Report, hint};
use crate::entry::Header;
use crate::error::{Error, Mismatch, ReadOnlyReason, Result};
use crate::fs::{Access, Fs};
use crate::id::{digest, is_valid_session_id};
use crate::index::{self, LONGEST_LINE};
use crate::journal::{
    Capabilities, FileJournal, Journal, Locked, NewLines, Piece, ReadAt, copy_range, each_line, read_range,
};
use crate::json::{Doc, Kind, ValueRef};
use crate::kind::Kind as EntryKind;
use crate::line::trim;
use crate::session::{NewHeader, Session};
use crate::time::Timestamp;

/// The readable part of a file that is no longer a session.
#[derive(Debug)]
pub struct Salvage {
    session: Session,
    lost_header: Option<Range<u64>>,
    lines: u64,
    bytes: u64,
}

/// Reads the entries of a session file whose header is damaged or missing.
///
/// Every line that can be read becomes an entry of a session in memory, below a header made of what the old one
/// still contains. Fails if there is no entry: then the file was never a session.
pub fn salvage(fs: Arc<dyn Fs>, path: &Path) -> Result<Salvage> {
    let source = FileJournal::open(fs, path, Access::Read)?;
    let found = Findings::of(&source).map_err(Error::io("read", path))?;
    let first_line = FirstLine::of(&found.first_text);
    if first_line != FirstLine::Header && found.entries.is_foreign() {
        return Err(nothing(path));
    }
    let replaced = match (&found.first, first_line) {
        (_, FirstLine::Header) => None,
        // As an object it would pass for an entry.
        (Some(line), FirstLine::LostHeader) if Doc::parse(found.first_text.as_slice()).is_ok() => {
            Some(line.end + 1)
        }
        // Without the byte order mark, which is invalid in the middle of a file.
        (Some(line), FirstLine::Entry) => Some(line.start),
        (_, FirstLine::LostHeader | FirstLine::Entry) => Some(0),
    };
    let header = replaced.map(|_| fresh_header(&found.first_text, &found.entries, path));
    let journal = Headed { header: header.unwrap_or_default(), replaced: replaced.unwrap_or(0), source };
    let session = Session::load(Box::new(journal), Some(ReadOnlyReason::Asked))?;
    if session.tree().is_empty() {
        return Err(nothing(path));
    }
    let lost_header = found.first.filter(|_| first_line == FirstLine::LostHeader);
    Ok(Salvage { session, lost_header, lines: found.lines, bytes: found.bytes })
}

fn nothing(path: &Path) -> Error {
    Error::NotASession { path: path.into(), reason: "nothing in it can be read as an entry" }
}

impl Salvage {
    /// Returns the session as far as it can be read; it reads the damaged file and cannot be written.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns a report that says that the header is lost. Nothing else was checked.
    pub fn report(&self) -> Report {
        let header = self.lost_header.clone().unwrap_or(0..0);
        Report::of_lost_header(&self.session, header, self.lines, self.bytes)
    }

    /// Writes a new file with a fresh header and all other lines as they are.
    ///
    /// The file is private to its owner and must not exist yet.
    pub fn write_to(&self, fs: Arc<dyn Fs>, path: &Path) -> Result<RepairedCopy> {
        let journal = &*self.session.journal;
        let bytes = journal.len().map_err(Error::io("read", path))?;
        new_file(fs, path, &mut |_, out| copy_range(journal, 0..bytes, out), &|copy| {
            let found = index::load(copy, Some(path))?;
            if found.tree.len() != self.session.tree().len() {
                let mismatch =
                    Mismatch::Count { found: found.tree.len(), expected: self.session.tree().len() };
                return Err(Error::Verify { path: path.into(), mismatch });
            }
            Ok(RepairedCopy { entries: found.tree.len() as u64, bytes })
        })
    }
}

/// The kind of the first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstLine {
    Header,
    /// Damaged, or an object that is neither header nor entry.
    LostHeader,
    /// The header is gone.
    Entry,
}

impl FirstLine {
    fn of(line: &[u8]) -> Self {
        let Ok(doc) = Doc::parse(line) else { return FirstLine::LostHeader };
        let root = doc.root();
        // An entry of the first version has no parent, but a type that sessions have.
        let is_entry = root.get("parentId").is_some() || has_known_type(root) || root.kind() != Kind::Object;
        match Header::read(doc) {
            Some(_) => FirstLine::Header,
            None if is_entry => FirstLine::Entry,
            None => FirstLine::LostHeader,
        }
    }
}

/// A file below a header that replaces its first bytes.
#[derive(Debug)]
struct Headed {
    header: Vec<u8>,
    /// How many bytes of the file the header replaces.
    replaced: u64,
    source: FileJournal,
}

impl ReadAt for Headed {
    fn len(&self) -> io::Result<u64> {
        Ok(self.source.len()?.saturating_sub(self.replaced) + self.header.len() as u64)
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match position.checked_sub(self.header.len() as u64) {
            Some(behind) => self.source.read_at(self.replaced + behind, buffer),
            None => self.header.as_slice().read_at(position, buffer),
        }
    }
}

/// Read-only: nothing is ever appended to a salvaged session.
impl Journal for Headed {
    fn name(&self) -> Cow<'_, str> {
        self.source.name()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { read_only: true, ..Capabilities::default() }
    }

    fn exists(&self) -> bool {
        false
    }

    fn lock(&mut self) -> Result<Locked> {
        Err(read_only())
    }

    fn unlock(&mut self) {}

    fn append(&mut self, _: &NewLines<'_>) -> Result<()> {
        Err(read_only())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }
}

fn read_only() -> Error {
    Error::ReadOnly { reason: ReadOnlyReason::Asked }
}

/// The result of one pass over a damaged file.
#[derive(Debug, Default)]
struct Findings {
    /// The range of the first line that is not blank, without a byte order mark.
    first: Option<Range<u64>>,
    /// The bytes of the first line, or its beginning if it is longer than the engine reads.
    first_text: Vec<u8>,
    entries: Entries,
    lines: u64,
    bytes: u64,
}

impl Findings {
    fn of(source: &FileJournal) -> io::Result<Self> {
        let len = source.len()?;
        let beginning = read_range(source, 0, len.min(64 << 10) as usize)?;
        let mut found =
            Findings { entries: Entries::new(&beginning, len), bytes: len, ..Findings::default() };
        each_line(source, 0, len, &mut |position, piece, _| {
            found.lines += 1;
            match piece {
                Piece::Whole(line) => found.take(position, line.len() as u64, line),
                // A bad line, whatever it holds.
                Piece::Ends { head, len, .. } if len > LONGEST_LINE => found.take_first(position, len, head),
                Piece::Ends { len, .. } => {
                    found.take(position, len, &read_range(source, position, len as usize)?);
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn take(&mut self, position: u64, len: u64, line: &[u8]) {
        self.take_first(position, len, line);
        self.entries.take(line);
    }

    fn take_first(&mut self, position: u64, len: u64, line: &[u8]) {
        let mark = if position == 0 && line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let text = &line[mark..];
        if self.first.is_none() && !trim(text).is_empty() {
            self.first = Some(position + mark as u64..position + len);
            self.first_text = text.to_vec();
        }
    }
}

/// Makes a header from the remains of the old one, the entries and the name of the file.
fn fresh_header(old: &[u8], entries: &Entries, path: &Path) -> Vec<u8> {
    let named = || Some(path.file_stem()?.to_str()?.rsplit_once('_')?.1.to_owned());
    let id = hint(old, "id").filter(|id| is_valid_session_id(id));
    let id = id.or_else(|| named().filter(|id| is_valid_session_id(id)));
    let id = id.unwrap_or_else(|| entries.digest.clone());
    let time = hint(old, "timestamp").and_then(|time| Timestamp::parse(&time)).or(entries.time);
    let cwd = hint(old, "cwd").unwrap_or_default();
    let parent_session = hint(old, "parentSession");
    let line = NewHeader { id, cwd, parent_session, time: time.unwrap_or(Timestamp::from_millis(0)) }.line();
    let line = line.replacen("\"version\":3", &format!("\"version\":{}", entries.version()), 1);
    format!("{line}\n").into_bytes()
}

/// Returns true if a line has a type that entries of sessions have.
fn has_known_type(line: ValueRef<'_>) -> bool {
    let kind = line.get("type").and_then(ValueRef::as_str);
    kind.is_some_and(|kind| EntryKind::from_name(kind.as_bytes()) != EntryKind::Opaque)
}

/// Facts about the file, collected from its entries.
#[derive(Debug, Default)]
struct Entries {
    time: Option<Timestamp>,
    has_ids: bool,
    has_hook_messages: bool,
    /// Some line has a type that sessions have.
    has_types: bool,
    /// An id for a session whose own is lost, the same whenever the same file is salvaged.
    digest: String,
}

impl Entries {
    /// Starts with the beginning of the file and its length.
    fn new(beginning: &[u8], len: u64) -> Self {
        let mut digest = digest([beginning, &len.to_le_bytes()].into_iter());
        digest.truncate(32);
        Entries { digest, ..Entries::default() }
    }

    fn take(&mut self, line: &[u8]) {
        let Ok(doc) = Doc::parse(line) else { return };
        let root = doc.root();
        self.has_ids |= root.get("id").is_some() && root.get("parentId").is_some();
        self.has_types |= has_known_type(root);
        let role = root.get("message").and_then(|message| message.get("role"));
        self.has_hook_messages |= role.is_some_and(|role| role.is_str("hookMessage"));
        let time = || Timestamp::parse(&root.get("timestamp").and_then(ValueRef::as_str)?);
        self.time = self.time.or_else(time);
    }

    fn is_foreign(&self) -> bool {
        !self.has_ids && !self.has_types
    }

    fn version(&self) -> u32 {
        match (self.has_ids, self.has_hook_messages) {
            (false, _) => 1,
            (true, true) => 2,
            (true, false) => 3,
        }
    }
}
