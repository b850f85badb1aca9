//! `/fork` and `/clone`: a new session that goes on from an entry of this one, or a copy of it.

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

/// Where to fork, and where the new session goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForkRequest {
    /// A reference to an entry.
    pub entry: String,
    /// Whether the fork ends before the entry or at it; if nothing is said, before a prompt and at anything else.
    pub position: Option<ForkPosition>,
    /// Where the new session goes; beside the old one if nothing is said.
    pub to: Option<Destination>,
    /// Whether to stay in the old session.
    pub stay: bool,
}

impl ForkRequest {
    /// Asks for a fork at an entry, with everything else as usual.
    pub fn at(entry: impl Into<String>) -> Self {
        ForkRequest { entry: entry.into(), ..ForkRequest::default() }
    }
}

/// What a fork would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The entry it is made at.
    pub entry: EntryId,
    /// Whether it ends before that entry or at it.
    pub position: ForkPosition,
    /// Where it starts, and the prompt that is taken back.
    pub plan: ForkPlan,
    /// Where the new session goes.
    pub to: Destination,
    /// Whether the agent stays in the old session.
    pub stay: bool,
    planned_in: PlannedIn,
}

/// What came of a fork.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forked {
    /// The file of the new session; it may come into being with its first message.
    pub session_file: Option<PathBuf>,
    /// The file of the old one.
    pub previous_session_file: Option<PathBuf>,
    /// The text of the prompt that was taken back, for the editor.
    pub editor_text: Option<String>,
    /// The images of that prompt.
    pub images: Vec<Image>,
}

/// A copy of all branches that is about to be made.
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
    /// [`session_tree::Error::NotAPrompt`] if it is to end before something that is no prompt,
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

    /// Forks as planned, and goes on in the new session unless it is to stay.
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

/// Where a session goes that comes from another: into the same directory, or into memory too.
pub(super) fn beside(session: &Session) -> Destination {
    match session.file().and_then(Path::parent) {
        Some(directory) => Destination::Directory(directory.to_path_buf()),
        None => Destination::Memory,
    }
}
