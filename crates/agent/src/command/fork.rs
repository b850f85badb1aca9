//! `/fork` and `/clone`: create a new session from a path of this one, or copy all of it.

use std::path::{Path, PathBuf};

use serde_json::json;
use session_tree::{
    Destination, EntryId, Error, ForkPlan, ForkPosition, Image, Options, Role, Session, fork_from,
};

use super::replace::Reason;
use super::{Applied, PlannedIn, Replaced};
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::error::{AgentError, Result};

/// A request to fork the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForkRequest {
    /// A reference to an entry.
    pub entry: String,
    /// Whether the fork ends before the entry or at it. The default is before a prompt and at any other entry.
    pub position: Option<ForkPosition>,
    /// The place of the new session. The default is beside the current one.
    pub to: Option<Destination>,
    /// True to stay in the current session.
    pub stay: bool,
}

impl ForkRequest {
    /// Creates a request to fork at an entry, with the default options.
    pub fn at(entry: impl Into<String>) -> Self {
        ForkRequest { entry: entry.into(), ..ForkRequest::default() }
    }
}

/// A planned fork.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The entry to fork at.
    pub entry: EntryId,
    /// Whether the fork ends before the entry or at it.
    pub position: ForkPosition,
    /// The last entry of the fork, and the prompt that is taken back.
    pub plan: ForkPlan,
    /// The place of the new session.
    pub to: Destination,
    /// True if the agent stays in the current session.
    pub stay: bool,
    planned_in: PlannedIn,
}

/// The result of a fork.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forked {
    /// The file of the new session, which may be created only with its first message.
    pub session_file: Option<PathBuf>,
    /// The file of the previous session.
    pub previous_session_file: Option<PathBuf>,
    /// The text of the prompt that was taken back, for the editor.
    pub editor_text: Option<String>,
    /// The images of that prompt.
    pub images: Vec<Image>,
}

/// A planned copy of all branches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloneAll {
    /// The place of the copy.
    pub to: Destination,
    file: PathBuf,
    leaf: Option<EntryId>,
    planned_in: PlannedIn,
}

impl Agent {
    /// Plans a fork. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`session_tree::Error::NotAPrompt`] if the fork is to end before an entry that is not a prompt,
    /// [`session_tree::Error::NotSaved`] if the session has no file yet.
    pub fn plan_fork(&self, request: &ForkRequest) -> Result<Fork> {
        let node = self.resolve(&request.entry)?;
        let session = self.session();
        let tree = session.tree();
        let is_prompt = tree.role(node) == Some(Role::User) && !tree.is_placeholder(node);
        let usual = if is_prompt { ForkPosition::Before } else { ForkPosition::At };
        let (entry, position) = (tree.id(node), request.position.unwrap_or(usual));
        Ok(Fork {
            plan: session.plan_fork(entry.as_str(), position)?,
            entry,
            position,
            to: request.to.clone().unwrap_or_else(|| beside(&session)),
            stay: request.stay,
            planned_in: PlannedIn::of(&session),
        })
    }

    /// Forks as planned, and continues in the new session unless the plan is to stay.
    pub async fn fork(&mut self, fork: Fork, options: Options, cancel: &Cancel) -> Result<Applied<Forked>> {
        fork.planned_in.check(&self.session())?;
        let position = match fork.position {
            ForkPosition::Before => "before",
            ForkPosition::At => "at",
        };
        let payload = || Ok(json!({"entryId": fork.entry.as_str(), "position": position}));
        if let Applied::Cancelled(by) = self.gate("session_before_fork", payload, cancel).await? {
            return Ok(Applied::Cancelled(by));
        }
        let mut new = self.session().fork(&fork.plan, fork.to, options)?;
        let previous_session_file = self.session().file().map(Path::to_path_buf);
        let session_file = new.file().map(Path::to_path_buf);
        if fork.stay {
            new.save()?;
            new.sync()?;
        } else {
            self.replace(new, Reason::Fork, cancel).await?;
        }
        Ok(Applied::Done(Forked {
            session_file,
            previous_session_file,
            editor_text: fork.plan.editor_text,
            images: fork.plan.images,
        }))
    }

    /// Plans a copy of the path to the leaf. Changes nothing; see [`Agent::fork`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingToClone`] before the first entry.
    pub fn plan_clone(&self, to: Option<Destination>) -> Result<Fork> {
        let leaf = self.session().leaf_id().ok_or(AgentError::NothingToClone)?;
        let entry = leaf.to_string();
        self.plan_fork(&ForkRequest { entry, position: Some(ForkPosition::At), to, stay: false })
    }

    /// Plans a copy of all branches. Changes nothing; see [`Agent::clone_all`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingToClone`] if there are no entries, [`Error::NotSaved`] if the session has no file.
    pub fn plan_clone_all(&self, to: Destination) -> Result<CloneAll> {
        let session = self.session();
        if session.tree().is_empty() {
            return Err(AgentError::NothingToClone);
        }
        let file = session.file().ok_or(Error::NotSaved)?.to_path_buf();
        Ok(CloneAll { to, file, leaf: session.leaf_id(), planned_in: PlannedIn::of(&session) })
    }

    /// Copies all branches as planned, and continues in the copy.
    pub async fn clone_all(
        &mut self,
        plan: CloneAll,
        options: Options,
        cancel: &Cancel,
    ) -> Result<Applied<Replaced>> {
        plan.planned_in.check(&self.session())?;
        let payload = || Ok(json!({"entryId": plan.leaf.as_ref().map(EntryId::as_str), "position": "at"}));
        if let Applied::Cancelled(by) = self.gate("session_before_fork", payload, cancel).await? {
            return Ok(Applied::Cancelled(by));
        }
        let cwd = self.session().header().cwd().unwrap_or_default().into_owned();
        let copy = fork_from(&plan.file, &cwd, plan.to, options, None)?;
        Ok(Applied::Done(self.replace(copy, Reason::Fork, cancel).await?))
    }
}

/// Returns the default place of a derived session: the same directory, or memory.
pub(super) fn beside(session: &Session) -> Destination {
    match session.file().and_then(Path::parent) {
        Some(directory) => Destination::Directory(directory.to_path_buf()),
        None => Destination::Memory,
    }
}
