//! `/clone`: a copy of this session replaces it.

use std::path::PathBuf;

use serde_json::json;
use session_tree::{Destination, EntryId, Error, ForkPosition, Options, fork_from};

use super::replace::Reason;
use super::{Applied, Fork, ForkRequest, PlannedIn, Replaced};
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::error::{AgentError, Result};

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
        let payload = json!({
            "type": "session_before_fork", "entryId": plan.leaf.as_ref().map(EntryId::as_str), "position": "at",
        });
        if let Applied::Cancelled(by) = self.may_leave("session_before_fork", &payload, cancel).await {
            return Ok(Applied::Cancelled(by));
        }
        let cwd = self.session().header().cwd().unwrap_or_default().into_owned();
        let copy = fork_from(&plan.file, &cwd, plan.to, options, None)?;
        Ok(Applied::Done(self.replace(copy, Reason::Fork, cancel).await?))
    }
}
