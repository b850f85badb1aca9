//! Sessions of which only the path to the leaf is read.

use std::io;

use super::{Options, Session};
use crate::error::{Error, ReadOnlyReason, Result};
use crate::id::EntryId;
use crate::journal::{Journal, name_of, read_range};
use crate::json::{Cursor, validate};
use crate::kind::Kind;
use crate::line::{Scan, Scanner};

/// The number of bytes at the end of a journal in which the leaf is searched first.
const TAIL: u64 = 16 << 10;
/// The version whose lines have ids. Sessions of older versions are read as a whole.
const VERSION: u64 = 3;

impl Options {
    /// Opens a session for reading, with the path to its leaf only: other branches are missing.
    ///
    /// The context is that of the whole session. A journal with [`Capabilities::paths`](crate::journal::Capabilities::paths)
    /// reads nothing but this path, so the cost does not depend on the size of the session. Others are opened as a whole.
    pub fn open_journal_path(self, journal: impl Journal + 'static) -> Result<Session> {
        self.load_path(Box::new(journal))
    }

    pub(super) fn load_path(self, journal: Box<dyn Journal>) -> Result<Session> {
        match path_to_leaf(&*journal)? {
            Some(session) => Ok(self.apply_to(session)),
            None => self.load_journal(journal, Some(ReadOnlyReason::Asked)),
        }
    }
}

/// Reads the path to the leaf. None if the journal cannot do so, or its version is too old.
pub(crate) fn path_to_leaf(journal: &dyn Journal) -> Result<Option<Session>> {
    if !journal.capabilities().paths {
        return Ok(None);
    }
    let path = last_ids(journal).and_then(|ids| journal.paths(&ids));
    let session = Session::from_bytes(path.map_err(Error::io("read", name_of(journal)))?)?;
    Ok((session.header().version() >= VERSION).then_some(session))
}

/// Returns the ids of the last lines that decide where the leaf is: see `Index::leaf`.
fn last_ids(journal: &dyn Journal) -> io::Result<Vec<EntryId>> {
    let (len, mut window) = (journal.len()?, TAIL);
    loop {
        let from = len.saturating_sub(window);
        let bytes = read_range(journal, from, (len - from) as usize)?;
        // The first line begins before the window.
        let cut = if from == 0 { Some(0) } else { memchr::memchr(b'\n', &bytes).map(|feed| feed + 1) };
        let (ids, is_decided) = ids_from_end(&bytes[cut.unwrap_or(bytes.len())..]);
        if is_decided || from == 0 {
            return Ok(ids);
        }
        window *= 8;
    }
}

/// Returns the ids of the last lines, and true if an entry is among them that can be the leaf or a marker of it.
fn ids_from_end(lines: &[u8]) -> (Vec<EntryId>, bool) {
    let (scanner, mut ids) = (Scanner::default(), Vec::new());
    for line in lines.split(|byte| *byte == b'\n').rev() {
        let Scan::Object(head) = scanner.scan(line) else { continue };
        let Some(id) = head.id.as_ref().filter(|_| !head.is_header() && validate(line).is_ok()) else {
            continue;
        };
        ids.push(id.to_id());
        if matches!(head.kind(), Kind::SessionInfo | Kind::Usage) {
            continue;
        }
        let line = Cursor::new(line);
        let target = line.at(&["data", "targetId"]).or_else(|| line.get("targetId"));
        ids.extend(target.and_then(Cursor::as_str).map(|id| EntryId::from(&*id)));
        return (ids, true);
    }
    (ids, false)
}
