//! Files whose header cannot be read. The file itself is never changed.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::check::{Report, find_field};
use crate::entry::Header;
use crate::error::{Error, ReadOnlyReason, Result};
use crate::fs::{Access, Fs};
use crate::id::{digest, is_valid_session_id};
use crate::index::LONGEST_LINE;
use crate::journal::{
    Capabilities, FileJournal, Journal, Locked, NewLines, Piece, ReadAt, each_line, read_range,
};
use crate::json::{Doc, Kind, ValueRef};
use crate::kind::Kind as EntryKind;
use crate::line::trim;
use crate::session::{NewHeader, Session};
use crate::time::Timestamp;

/// A session file whose header is damaged or missing.
#[derive(Debug)]
pub struct HeaderlessFile {
    /// The entries of the file below a new header. The session is read only;
    /// [`Session::write_repaired_copy`] saves it.
    pub session: Session,
    /// The range of the damaged header in the file; none if there is no trace of one.
    pub lost_header: Option<Range<u64>>,
    lines: u64,
    bytes: u64,
}

impl HeaderlessFile {
    /// Returns a report of the lost header. Nothing else is checked.
    pub fn report(&self) -> Report {
        let header = self.lost_header.clone().unwrap_or(0..0);
        Report::of_lost_header(&self.session, header, self.lines, self.bytes)
    }
}

/// Reads the entries of a session file whose header is damaged or missing.
///
/// Every readable line becomes an entry of the session, below a header made of the readable parts of the old one. Fails
/// if there is no entry: then the file was never a session.
pub fn read_headerless(fs: Arc<dyn Fs>, path: &Path) -> Result<HeaderlessFile> {
    let no_entries =
        || Error::NotASession { path: path.into(), reason: "nothing in it can be read as an entry" };
    let source = FileJournal::open(fs, path, Access::Read)?;
    let found = FileFacts::of(&source).map_err(Error::io("read", path))?;
    let first_line = FirstLine::of(&found.first_text);
    if first_line != FirstLine::Header && !found.has_ids && !found.has_types {
        return Err(no_entries());
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
    let header = replaced.map(|_| new_header(&found, path)).unwrap_or_default();
    let journal = FileBelowHeader { header, replaced: replaced.unwrap_or(0), source };
    let session = Session::load(Box::new(journal), Some(ReadOnlyReason::Asked))?;
    if session.tree().is_empty() {
        return Err(no_entries());
    }
    let lost_header = found.first.filter(|_| first_line == FirstLine::LostHeader);
    Ok(HeaderlessFile { session, lost_header, lines: found.lines, bytes: found.bytes })
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
struct FileBelowHeader {
    header: Vec<u8>,
    /// How many bytes of the file the header replaces.
    replaced: u64,
    source: FileJournal,
}

impl ReadAt for FileBelowHeader {
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

/// Read only: nothing is appended to a file without a header.
impl Journal for FileBelowHeader {
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

/// The result of one pass over a file.
#[derive(Debug, Default)]
struct FileFacts {
    lines: u64,
    bytes: u64,
    /// The range of the first line that is not blank, without a byte order mark.
    first: Option<Range<u64>>,
    /// The bytes of the first line, or its beginning if it is longer than the engine reads.
    first_text: Vec<u8>,
    /// The time of the first entry.
    time: Option<Timestamp>,
    has_ids: bool,
    has_hook_messages: bool,
    /// True if some line has a type that sessions have.
    has_types: bool,
    /// An id for the session that depends only on the content of the file.
    digest: String,
}

impl FileFacts {
    fn of(source: &FileJournal) -> io::Result<Self> {
        let len = source.len()?;
        let beginning = read_range(source, 0, len.min(64 << 10) as usize)?;
        let mut digest = digest([&*beginning, &len.to_le_bytes()].into_iter());
        digest.truncate(32);
        let mut found = FileFacts { digest, bytes: len, ..FileFacts::default() };
        each_line(source, 0, len, &mut |position, piece, _| {
            found.lines += 1;
            match piece {
                Piece::Whole(line) => found.add(position, line.len() as u64, line),
                // A bad line, whatever it contains.
                Piece::Ends { head, len, .. } if len > LONGEST_LINE => found.add_first(position, len, head),
                Piece::Ends { len, .. } => {
                    found.add(position, len, &read_range(source, position, len as usize)?);
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn add_first(&mut self, position: u64, len: u64, line: &[u8]) {
        let mark = if position == 0 && line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let text = &line[mark..];
        if self.first.is_none() && !trim(text).is_empty() {
            self.first = Some(position + mark as u64..position + len);
            self.first_text = text.to_vec();
        }
    }

    fn add(&mut self, position: u64, len: u64, line: &[u8]) {
        self.add_first(position, len, line);
        let Ok(doc) = Doc::parse(line) else { return };
        let root = doc.root();
        self.has_ids |= root.get("id").is_some() && root.get("parentId").is_some();
        self.has_types |= has_known_type(root);
        let role = root.get("message").and_then(|message| message.get("role"));
        self.has_hook_messages |= role.is_some_and(|role| role.is_str("hookMessage"));
        let time = || Timestamp::parse(&root.get("timestamp").and_then(ValueRef::as_str)?);
        self.time = self.time.or_else(time);
    }

    fn version(&self) -> u32 {
        match (self.has_ids, self.has_hook_messages) {
            (false, _) => 1,
            (true, true) => 2,
            (true, false) => 3,
        }
    }
}

/// Makes a header from the readable parts of the old one, the entries and the name of the file.
fn new_header(found: &FileFacts, path: &Path) -> Vec<u8> {
    let old = &found.first_text;
    let named = || Some(path.file_stem()?.to_str()?.rsplit_once('_')?.1.to_owned());
    let id = find_field(old, "id").filter(|id| is_valid_session_id(id));
    let id = id.or_else(|| named().filter(|id| is_valid_session_id(id)));
    let id = id.unwrap_or_else(|| found.digest.clone());
    let time = find_field(old, "timestamp").and_then(|time| Timestamp::parse(&time)).or(found.time);
    let cwd = find_field(old, "cwd").unwrap_or_default();
    let parent_session = find_field(old, "parentSession");
    let line = NewHeader { id, cwd, parent_session, time: time.unwrap_or(Timestamp::from_millis(0)) }.line();
    let line = line.replacen("\"version\":3", &format!("\"version\":{}", found.version()), 1);
    format!("{line}\n").into_bytes()
}

/// Returns true if a line has a type that entries of sessions have.
fn has_known_type(line: ValueRef<'_>) -> bool {
    let kind = line.get("type").and_then(ValueRef::as_str);
    kind.is_some_and(|kind| EntryKind::from_name(kind.as_bytes()) != EntryKind::Opaque)
}
