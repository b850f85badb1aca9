//! Salvage: what is left of a file whose header cannot be read. The file itself is never touched.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::copy::{RepairedCopy, new_file};
use crate::check::hint;
use crate::entry::Header;
use crate::error::{Error, Result};
use crate::fs::{Access, Fs};
use crate::id::{digest, is_valid_session_id};
use crate::index;
use crate::journal::{FileJournal, ReadAt, copy_range, read_range};
use crate::json::{Doc, Kind, Value};
use crate::kind::Kind as EntryKind;
use crate::line::trim;
use crate::session::{Session, header_line};
use crate::time::Timestamp;

/// What could be read of a file that is no session any more.
#[derive(Debug)]
pub struct Salvage {
    session: Session,
    lost_header: Option<Range<u64>>,
}

/// Reads what is left of a session file whose header is damaged or gone.
///
/// Every line that can be read becomes an entry of a session in memory, below a header made of what the old one
/// still tells. Fails if there is not a single entry: then the file is none of ours.
pub fn salvage(fs: Arc<dyn Fs>, path: &Path) -> Result<Salvage> {
    let mut bytes = read_file(fs, path)?;
    let first = first_line(&bytes);
    let old = first.clone().map_or(&[][..], |line| &bytes[line]);
    let found = FirstLine::of(old);
    let entries = Entries::of(&bytes);
    if found != FirstLine::Header && entries.is_foreign() {
        return Err(nothing(path));
    }
    let replaced = match (&first, found) {
        (_, FirstLine::Header) => None,
        // As an object it would pass for an entry.
        (Some(line), FirstLine::LostHeader) if Doc::parse(old).is_ok() => {
            Some(0..(line.end + 1).min(bytes.len()))
        }
        // Without the byte order mark, which is none in the middle of a file.
        (Some(line), FirstLine::Entry) => Some(0..line.start),
        (_, FirstLine::LostHeader | FirstLine::Entry) => Some(0..0),
    };
    if let Some(replaced) = replaced {
        // In place: there may not be room for the file twice.
        let header = fresh_header(old, &entries, path);
        bytes.splice(replaced, header);
    }
    let session = Session::from_bytes(bytes)?;
    if session.tree().is_empty() {
        return Err(nothing(path));
    }
    let is_lost = found == FirstLine::LostHeader;
    let lost_header = first.filter(|_| is_lost).map(|line| line.start as u64..line.end as u64);
    Ok(Salvage { session, lost_header })
}

fn nothing(path: &Path) -> Error {
    Error::NotASession { path: path.into(), reason: "nothing in it can be read as an entry" }
}

impl Salvage {
    /// Returns the session as far as it can be read; it lives in memory and cannot be written.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns where the damaged header stands in the file; none if there was no trace of one.
    pub fn lost_header(&self) -> Option<Range<u64>> {
        self.lost_header.clone()
    }

    /// Writes a new file with a fresh header and all other lines as they are.
    ///
    /// The file is private to its owner and must not exist yet.
    pub fn write_to(&self, fs: Arc<dyn Fs>, path: &Path) -> Result<RepairedCopy> {
        let journal = &*self.session.journal;
        let bytes = journal.len().map_err(Error::io("read", path))?;
        new_file(fs, path, &mut |out| copy_range(journal, 0..bytes, out), &|copy| {
            let found = index::load(copy, Some(path))?;
            if found.tree.len() != self.session.tree().len() {
                let reason = format!("{} entries instead of {}", found.tree.len(), self.session.tree().len());
                return Err(Error::Verify { path: path.into(), reason });
            }
            Ok(RepairedCopy { entries: found.tree.len() as u64, bytes })
        })
    }
}

/// What stands where the header should.
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

fn read_file(fs: Arc<dyn Fs>, path: &Path) -> Result<Vec<u8>> {
    let source = FileJournal::open(fs, path, Access::Read)?;
    let len = source.len().map_err(Error::io("read", path))?;
    read_range(&source, 0, len as usize).map_err(Error::io("read", path))
}

/// The first line that is not blank, without a byte order mark.
fn first_line(bytes: &[u8]) -> Option<Range<usize>> {
    let mut start = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    for line in bytes[start..].split(|byte| *byte == b'\n') {
        if !trim(line).is_empty() {
            return Some(start..start + line.len());
        }
        start += line.len() + 1;
    }
    None
}

/// A header made of what the old one, the entries and the name of the file still tell.
fn fresh_header(old: &[u8], entries: &Entries, path: &Path) -> Vec<u8> {
    let named = || Some(path.file_stem()?.to_str()?.rsplit_once('_')?.1.to_owned());
    let id = hint(old, "id").filter(|id| is_valid_session_id(id));
    let id = id.or_else(|| named().filter(|id| is_valid_session_id(id)));
    let id = id.unwrap_or_else(|| entries.digest.clone());
    let time = hint(old, "timestamp").and_then(|time| Timestamp::parse(&time)).or(entries.time);
    let cwd = hint(old, "cwd").unwrap_or_default();
    let parent = hint(old, "parentSession");
    let line = header_line(&id, time.unwrap_or(Timestamp::from_millis(0)), &cwd, parent.as_deref());
    let line = line.replacen("\"version\":3", &format!("\"version\":{}", entries.version()), 1);
    format!("{line}\n").into_bytes()
}

/// Tells whether a line has a type that entries of sessions have.
fn has_known_type(line: Value<'_>) -> bool {
    let kind = line.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| EntryKind::from_name(kind.as_bytes()) != EntryKind::Opaque)
}

/// What the entries tell about the file.
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
    fn of(bytes: &[u8]) -> Self {
        let beginning = &bytes[..bytes.len().min(64 << 10)];
        let mut digest = digest([beginning, &bytes.len().to_le_bytes()].into_iter());
        digest.truncate(32);
        let mut found = Entries { digest, ..Entries::default() };
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(doc) = Doc::parse(line) else { continue };
            let text = |value: Option<Value<'_>>| value.and_then(Value::as_str).map(|text| text.into_owned());
            let root = doc.root();
            found.has_ids |= root.get("id").is_some() && root.get("parentId").is_some();
            found.has_types |= has_known_type(root);
            let role = root.get("message").and_then(|message| message.get("role"));
            found.has_hook_messages |= role.is_some_and(|role| role.is_str("hookMessage"));
            let time = || text(root.get("timestamp")).and_then(|time| Timestamp::parse(&time));
            found.time = found.time.or_else(time);
        }
        found
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
