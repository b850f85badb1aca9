//! `/new`: an empty session replaces this one, or the next prompt becomes a new root in the same file.

use session_tree::{Destination, NewSession, Options};

use super::Replacement;
use super::fork::beside;
use super::replace::Reason;
use crate::agent::{Agent, Move};
use crate::error::{AgentError, Result};

/// An empty session to start.
#[derive(Debug, Clone, Default)]
pub struct NewRequest {
    /// The header of the session; an empty working directory means the agent's.
    pub new: NewSession,
    /// The place of the session; the default is beside the old one.
    pub to: Option<Destination>,
    /// The name of the session.
    pub name: Option<String>,
}

impl Agent {
    /// Plans to continue in an empty session, whose file is created with its first message. Changes nothing; see
    /// [`Agent::replace_session`].
    pub fn plan_new(&self, request: NewRequest, options: Options) -> Result<Replacement> {
        let NewRequest { mut new, to, name } = request;
        if new.cwd.is_empty() {
            new.cwd = self.cwd.to_string_lossy().into_owned();
        }
        let mut session = match to.unwrap_or_else(|| beside(&self.session())) {
            Destination::File(path) => options.create(path, new)?,
            Destination::Directory(directory) => options.create_in(directory, new)?,
            Destination::Memory => options.in_memory(new)?,
        };
        if let Some(name) = &name {
            session.append_session_info(name)?;
        }
        Ok(Replacement { session, reason: Reason::New })
    }

    /// Plans to start over in the same file: the next prompt becomes a root. Changes nothing; see [`Agent::go`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingBehind`] if the leaf is before the first entry already.
    pub fn plan_new_here(&self) -> Result<Move> {
        let plan = self.session().plan_reset().ok_or(AgentError::NothingBehind)?;
        Ok(Move { summary_target: None, ..Move::new(&self.session(), plan) })
    }
}
