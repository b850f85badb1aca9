//! Opening for writing, and making new sessions.

use std::path::{Path, PathBuf};

use super::super::{Options, Session};
use crate::entry::Header;
use crate::error::{Error, ReadOnlyReason, Result};
use crate::fs::Access;
use crate::id::is_valid_session_id;
use crate::index::Index;
use crate::journal::{FileJournal, Journal, MemoryJournal};
use crate::json::{Doc, write_string};
use crate::naming::session_file_name;
use crate::time::Timestamp;

/// What a new session starts with.
#[derive(Debug, Clone, Default)]
pub struct NewSession {
    /// The working directory of the conversation.
    pub cwd: String,
    /// Its id; drawn if there is none.
    pub id: Option<String>,
    /// Where it was forked from.
    pub parent_session: Option<String>,
}

impl From<&str> for NewSession {
    fn from(cwd: &str) -> Self {
        NewSession { cwd: cwd.to_owned(), ..NewSession::default() }
    }
}

impl From<String> for NewSession {
    fn from(cwd: String) -> Self {
        NewSession { cwd, ..NewSession::default() }
    }
}

impl Session {
    /// Opens a session file for reading and writing: see [`Options::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Session> {
        Options::new().open(path)
    }
}

impl Options {
    /// Opens a session file for reading and writing.
    ///
    /// Nothing is written by opening: an old version is migrated, and a torn tail closed off, by the first append.
    /// A file that may not be written, or that a newer program wrote, is opened read only; [`Session::read_only`]
    /// tells why.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Session> {
        let journal = FileJournal::open(self.fs.clone(), path.as_ref(), Access::Append)?;
        let journal = journal.with_lock_wait(self.lock_wait.clone());
        let read_only = journal.is_protected().then_some(ReadOnlyReason::Protected);
        self.load(journal, read_only)
    }

    /// Opens a session file, or prepares a new one under this path. An empty file gets its header at once, unless
    /// the path is a link to it: nothing says then that the file is meant to become a session.
    pub fn open_or_create(self, path: impl AsRef<Path>, new: impl Into<NewSession>) -> Result<Session> {
        let path = path.as_ref();
        match self.fs.metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => self.create(path, new),
            Ok(meta) if meta.is_file && meta.len == 0 => self.fill_empty(path, new.into()),
            _ => self.open(path),
        }
    }

    /// Prepares a new session under this path. The file is created with the first message.
    pub fn create(self, path: impl AsRef<Path>, new: impl Into<NewSession>) -> Result<Session> {
        let now = self.writer.clock.now();
        self.create_dated(path.as_ref().to_path_buf(), new.into(), now)
    }

    /// Prepares a new session in a directory, named by its time and id as pi does.
    pub fn create_in(mut self, directory: impl AsRef<Path>, new: impl Into<NewSession>) -> Result<Session> {
        let mut new = new.into();
        let id = new.id.take().unwrap_or_else(|| self.writer.ids.session_id());
        let now = self.writer.clock.now();
        check_id(&id)?;
        let path = directory.as_ref().join(session_file_name(now, &id));
        new.id = Some(id);
        self.create_dated(path, new, now)
    }

    /// Makes a session that lives in memory only.
    pub fn in_memory(self, new: impl Into<NewSession>) -> Result<Session> {
        self.start(Box::new(MemoryJournal::default()), new.into())
    }

    fn create_dated(self, path: PathBuf, new: NewSession, now: Timestamp) -> Result<Session> {
        let fs = self.fs.clone();
        if fs.metadata(&path).is_ok() {
            return Err(Error::Exists { path });
        }
        let journal = FileJournal::held(fs, path).with_lock_wait(self.lock_wait.clone());
        self.start_dated(Box::new(journal), new, now)
    }

    fn fill_empty(self, path: &Path, new: NewSession) -> Result<Session> {
        if self.is_link(path)? {
            return Err(Error::Exists { path: path.into() });
        }
        let journal = FileJournal::open(self.fs.clone(), path, Access::Append)?;
        let journal = journal.with_lock_wait(self.lock_wait.clone());
        if journal.is_protected() {
            return Err(Error::ReadOnly { reason: ReadOnlyReason::Protected });
        }
        self.start(Box::new(journal), new)
    }

    /// Tells whether the last name of a path is a link; what leads there may be one.
    fn is_link(&self, path: &Path) -> Result<bool> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let real = |path: &Path| self.fs.canonical(path).map_err(Error::io("open", path));
        Ok(real(path)? != real(parent)?.join(name))
    }

    fn start(self, journal: Box<dyn Journal>, new: NewSession) -> Result<Session> {
        let now = self.writer.clock.now();
        self.start_dated(journal, new, now)
    }

    fn start_dated(
        mut self,
        mut journal: Box<dyn Journal>,
        new: NewSession,
        now: Timestamp,
    ) -> Result<Session> {
        let id = match new.id {
            Some(id) => id,
            None => self.writer.ids.session_id(),
        };
        check_id(&id)?;
        let line = header_line(&id, now, &new.cwd, new.parent_session.as_deref());
        let locked = journal.lock()?;
        let existing = journal.exists() && journal.path().is_some();
        let written = if locked.len == 0 {
            journal.append(0, format!("{line}\n").as_bytes(), existing)
        } else {
            // Somebody filled the empty file first.
            Err(Error::Exists { path: journal.path().map(Path::to_path_buf).unwrap_or_default() })
        };
        journal.unlock();
        written?;
        let header = Doc::parse(line.as_bytes()).ok().and_then(Header::read);
        let header = header.ok_or(Error::BadSessionId { id })?;
        // The journal was empty under the lock. Its length now may count what others have appended since.
        let end = line.len() as u64 + 1;
        let session = Session::new(journal, Index::new(header, end), None);
        Ok(self.equip(session))
    }
}

impl Session {
    /// Creates the file of a session that is held back, whatever it contains.
    pub fn save(&mut self) -> Result<()> {
        self.check_writable()?;
        if self.journal.exists() {
            return Ok(());
        }
        let at = self.index.end;
        self.journal.append(at, b"", true)?;
        self.writer.has_conversation = true;
        self.writer.unsynced_since = Some(self.writer.clock.now());
        self.sync()
    }
}

fn check_id(id: &str) -> Result<()> {
    if is_valid_session_id(id) { Ok(()) } else { Err(Error::BadSessionId { id: id.to_owned() }) }
}

/// Writes a header line, without line feed.
pub(crate) fn header_line(id: &str, time: Timestamp, cwd: &str, parent_session: Option<&str>) -> String {
    let mut line = String::from("{\"type\":\"session\",\"version\":3,\"id\":");
    write_string(&mut line, id);
    line.push_str(",\"timestamp\":\"");
    line.push_str(&time.to_string());
    line.push_str("\",\"cwd\":");
    write_string(&mut line, cwd);
    if let Some(parent) = parent_session {
        line.push_str(",\"parentSession\":");
        write_string(&mut line, parent);
    }
    line.push('}');
    line
}

#[cfg(test)]
mod tests;
