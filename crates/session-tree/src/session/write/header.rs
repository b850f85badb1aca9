//! The header of a session that is not written to a journal.

use super::super::Options;
use super::create::{NewSession, header_line};
use crate::time::Timestamp;

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
        header_line(&self.id, self.time, &self.cwd, self.parent_session.as_deref())
    }
}

impl Options {
    /// Creates the header of a new session, for [`Session::write_extract`](crate::Session::write_extract).
    pub fn new_header(mut self, new: impl Into<NewSession>) -> NewHeader {
        let NewSession { cwd, id, parent_session } = new.into();
        let id = id.unwrap_or_else(|| self.writer.ids.session_id());
        NewHeader { id, cwd, parent_session, time: self.writer.clock.now() }
    }
}
