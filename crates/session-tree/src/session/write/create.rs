//! Creating sessions.

use super::super::{Options, Session};
use crate::entry::Header;
use crate::error::{Error, Result};
use crate::id::is_valid_session_id;
use crate::index::Index;
use crate::journal::{Journal, NewLine, NewLines, name_of, with_name};
use crate::json::{Doc, ObjectWriter};
use crate::time::Timestamp;

/// The properties of a new session.
#[derive(Debug, Clone, Default)]
pub struct NewSession {
    /// The working directory of the conversation.
    pub cwd: String,
    /// The id; a new one is drawn by default.
    pub id: Option<String>,
    /// The session from which it was forked.
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

/// The header of a new session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHeader {
    /// The id, which should be unique among all sessions.
    pub id: String,
    /// The working directory of the conversation.
    pub cwd: String,
    /// The session from which it was forked.
    pub parent_session: Option<String>,
    /// The time of creation.
    pub time: Timestamp,
}

impl NewHeader {
    /// Returns the line, without line feed.
    pub(crate) fn line(&self) -> String {
        let header = ObjectWriter::new().string("type", "session").raw("version", "3").string("id", &self.id);
        let header = header.string("timestamp", &self.time.to_string()).string("cwd", &self.cwd);
        String::from_utf8_lossy(&header.optional("parentSession", self.parent_session.as_deref()).finish())
            .into_owned()
    }
}

impl Options {
    /// Creates the header of a new session, for [`Session::write_extract`](crate::Session::write_extract).
    pub fn new_header(mut self, new: impl Into<NewSession>) -> NewHeader {
        let NewSession { cwd, id, parent_session } = new.into();
        let id = id.unwrap_or_else(|| self.writer.ids.session_id());
        NewHeader { id, cwd, parent_session, time: self.writer.clock.now() }
    }

    pub(crate) fn start(self, journal: Box<dyn Journal>, new: NewSession) -> Result<Session> {
        let now = self.writer.clock.now();
        self.start_dated(journal, new, now)
    }

    pub(crate) fn start_dated(
        mut self,
        mut journal: Box<dyn Journal>,
        mut new: NewSession,
        now: Timestamp,
    ) -> Result<Session> {
        let id = new.id.take().unwrap_or_else(|| self.writer.ids.session_id());
        check_id(&id)?;
        let NewSession { cwd, parent_session, .. } = new;
        let line = NewHeader { id: id.clone(), cwd, parent_session, time: now }.line();
        let locked = journal.lock().map_err(|error| with_name(&*journal, error, Error::io_at("lock")))?;
        let written = if locked.len == 0 {
            let bytes = format!("{line}\n").into_bytes();
            let header = NewLine { bytes: &bytes, id: None, parent: None };
            let publish = journal.exists();
            journal.append(&NewLines { at: 0, bytes: &bytes, lines: &[header], publish })
        } else {
            // Another process filled the empty journal first.
            Err(Error::Exists { path: name_of(&*journal) })
        };
        journal.unlock();
        written
            .map_err(|error| with_name(&*journal, error, |path, source| Error::Append { path, source }))?;
        let header = Doc::parse(line.as_bytes()).ok().and_then(Header::read);
        let header = header.ok_or(Error::BadSessionId { id })?;
        // The journal was empty under the lock; others may have appended since.
        let end = line.len() as u64 + 1;
        let session = Session::new(journal, Index::new(header, end));
        Ok(self.apply_to(session))
    }
}

impl Session {
    /// Creates the file of a session that has no conversation yet.
    pub fn save(&mut self) -> Result<()> {
        self.check_writable()?;
        if self.journal.exists() {
            return Ok(());
        }
        let at = self.index.end;
        self.append_to_journal(&NewLines { at, bytes: b"", lines: &[], publish: true })?;
        self.writer.has_conversation = true;
        self.writer.unsynced_since = Some(self.writer.clock.now());
        self.sync()
    }
}

pub(crate) fn check_id(id: &str) -> Result<()> {
    if is_valid_session_id(id) { Ok(()) } else { Err(Error::BadSessionId { id: id.to_owned() }) }
}

#[cfg(test)]
mod tests;
