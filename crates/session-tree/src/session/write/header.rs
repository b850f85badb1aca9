//! The header of a session that is written elsewhere than into a journal.

use super::super::Options;
use super::create::{NewSession, header_line};
use crate::time::Timestamp;

/// What stands in the header of a new session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHeader {
    /// The id; two files with one id confuse every search.
    pub id: String,
    /// The working directory of the conversation.
    pub cwd: String,
    /// Where the session was forked from.
    pub parent_session: Option<String>,
    /// When the session was made.
    pub time: Timestamp,
}

impl NewHeader {
    /// Returns the line, without line feed.
    pub(crate) fn line(&self) -> String {
        header_line(&self.id, self.time, &self.cwd, self.parent_session.as_deref())
    }
}

impl Options {
    /// Makes the header of a new session, for those who write it themselves: see
    /// [`Session::write_extract`](crate::Session::write_extract).
    pub fn new_header(mut self, new: impl Into<NewSession>) -> NewHeader {
        let NewSession { cwd, id, parent_session } = new.into();
        let id = id.unwrap_or_else(|| self.writer.ids.session_id());
        NewHeader { id, cwd, parent_session, time: self.writer.clock.now() }
    }
}
