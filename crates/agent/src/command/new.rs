//! `/new`: an empty session takes the place of this one, or a new root in the same file.

use session_tree::{Destination, NewSession, Options};

use super::Replacement;
use super::fork::beside;
use super::replace::Reason;
use crate::agent::{Agent, Move};
use crate::error::{AgentError, Result};

impl Agent {
    /// Plans to go on in an empty session of the agent's directory; its file comes into being with its first message.
    /// Changes nothing; see [`Agent::replace_session`].
    ///
    /// The session goes beside the old one, unless `to` says where.
    pub fn plan_new(&self, to: Option<Destination>, options: Options) -> Result<Replacement> {
        self.plan_new_child(None, to, options)
    }

    /// Does the same as [`Agent::plan_new`], for a session whose header names another one as its parent.
    pub fn plan_new_child(
        &self,
        parent_session: Option<String>,
        to: Option<Destination>,
        options: Options,
    ) -> Result<Replacement> {
        let cwd = self.cwd.to_string_lossy().into_owned();
        let new = NewSession { cwd, parent_session, ..NewSession::default() };
        let session = match to.unwrap_or_else(|| beside(&self.session())) {
            Destination::File(path) => options.create(path, new)?,
            Destination::Directory(directory) => options.create_in(directory, new)?,
            Destination::Memory => options.in_memory(new)?,
        };
        Ok(Replacement::new(session, Reason::New))
    }

    /// Plans to begin anew in the same file: the next prompt becomes a root. Changes nothing; see [`Agent::go`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingBehind`] if the leaf is before the first entry already.
    pub fn plan_new_here(&self) -> Result<Move> {
        let plan = self.session().plan_reset().ok_or(AgentError::NothingBehind)?;
        Ok(Move::new(&self.session(), plan).telling_from(None))
    }
}
