//! The draft of a merge: a text that is read, changed and thrown away before anything is written.

use serde_json::json;
use session_tree::{Conflict, EntryId, Error, Merge, MergeOutcome, MergePlan, Merged, PickPlan};

use super::{ContestedFile, MergeBranchRequest, MergeWith, MergedBranch, conflicts};
use crate::agent::{Agent, Move};
use crate::cancel::Cancel;
use crate::command::{Applied, CancelledBy, PlannedIn, entry_json};
use crate::error::{AgentError, Result};

/// A merge whose text is made and not yet written.
#[derive(Debug, Clone)]
pub struct MergeDraft {
    /// What was asked for.
    pub request: MergeBranchRequest,
    /// The text that would enter the context; empty if none would. See [`MergeDraft::review`] for changing it.
    pub text: String,
    /// Where the two branches decided differently.
    pub conflicts: Vec<Conflict>,
    /// The files that both branches changed, and whose version is on the disk.
    pub contested: Vec<ContestedFile>,
    /// Whether a person has read the text.
    pub reviewed: bool,
    pub(super) plan: MergePlan,
    pub(super) picks: Option<PickPlan>,
    pub(super) planned_in: PlannedIn,
}

impl MergeDraft {
    /// Returns what would happen.
    pub fn outcome(&self) -> &MergeOutcome {
        &self.plan.outcome
    }

    /// Returns what the merge is about, if there is one.
    pub fn merge(&self) -> Option<&Merge> {
        self.plan.merge()
    }

    /// Returns the turns that would be copied instead of a text.
    pub fn picks(&self) -> Option<&PickPlan> {
        self.picks.as_ref()
    }

    /// Changes the text as a person wants it. What it lists as conflicts counts from now on.
    ///
    /// Turns that are copied stay as they are.
    pub fn review(&mut self, text: impl Into<String>) {
        let text = text.into();
        if text != self.text && self.picks.is_none() {
            self.text = text;
            self.conflicts = self.listed_conflicts();
        }
        self.reviewed = true;
    }

    /// Reads the conflicts that the text lists; what a quote lists was about other branches.
    pub(super) fn listed_conflicts(&self) -> Vec<Conflict> {
        match self.request.with {
            MergeWith::Summary { .. } | MergeWith::Text(_) => conflicts::read(&self.text),
            MergeWith::Digest { .. } | MergeWith::Pick { .. } => Vec::new(),
        }
    }

    /// Guesses how many tokens would enter the context.
    pub fn tokens(&self) -> u64 {
        match (&self.picks, self.written().merge()) {
            (Some(picks), _) => picks.tokens(),
            (None, Some(merge)) => merge.tokens(),
            (None, None) => 0,
        }
    }

    /// Returns the plan with the text as it stands now.
    fn written(&self) -> MergePlan {
        let mut plan = self.plan.clone();
        if let Some(merge) = plan.merge_mut() {
            merge.content.text.clone_from(&self.text);
            merge.content.conflicts.clone_from(&self.conflicts);
            merge.content.reviewed = self.reviewed;
        }
        plan
    }
}

impl Agent {
    /// Writes what was drafted: one entry under the leaf, the turns that were chosen, or a move of the leaf.
    ///
    /// # Errors
    ///
    /// [`AgentError::MergeTooLong`] if it takes more than half of the room that the model has left,
    /// [`Error::StalePlan`] if the leaf moved since, [`Error::BadDraft`] if the text is blank.
    pub async fn merge(&mut self, draft: &MergeDraft, cancel: &Cancel) -> Result<Applied<MergedBranch>> {
        draft.planned_in.check(&self.session())?;
        match draft.outcome() {
            MergeOutcome::UpToDate => Ok(Applied::Done(MergedBranch::UpToDate)),
            MergeOutcome::FastForward { to_id, .. } => {
                let planned = self.plan_forward_move(draft, to_id)?;
                self.move_forward(planned, cancel).await
            }
            MergeOutcome::Merge(_) => self.write_merge(draft, cancel).await,
        }
    }

    /// Plans the move, if the leaf still is where it would go forward from.
    fn plan_forward_move(&self, draft: &MergeDraft, to: &EntryId) -> Result<Move> {
        let session = self.session();
        if !session.is_still_at(draft.plan.old_leaf.as_ref()) {
            return Err(Error::StalePlan.into());
        }
        let plan = session.plan_exact_navigation(to.as_str())?;
        Ok(Move::new(&session, plan))
    }

    /// Moving forward is a navigation like any other.
    async fn move_forward(&mut self, planned: Move, cancel: &Cancel) -> Result<Applied<MergedBranch>> {
        Ok(self.go(planned, cancel).await?.map(MergedBranch::FastForwarded))
    }

    async fn write_merge(&mut self, draft: &MergeDraft, cancel: &Cancel) -> Result<Applied<MergedBranch>> {
        if cancel.is_cancelled() {
            return Ok(Applied::Cancelled(CancelledBy::User));
        }
        let (tokens, free) = (draft.tokens(), self.free_tokens()?);
        if let Some(allowed) = free.map(|free| free / 2).filter(|allowed| tokens > *allowed) {
            return Err(AgentError::MergeTooLong { tokens, allowed });
        }
        let done = match &draft.picks {
            Some(picks) => {
                let entries = self.session().apply_pick(picks)?;
                MergedBranch::Picked { entries, model: self.take_settings(picks) }
            }
            None => match self.apply_merge(draft)? {
                Merged::Appended { entry, extra } => MergedBranch::Appended { entry, extra },
                // The plan says otherwise.
                Merged::UpToDate | Merged::FastForwarded { .. } => return Err(Error::StalePlan.into()),
            },
        };
        self.session().barrier()?;
        self.tell_merge(draft, &done, cancel).await?;
        Ok(Applied::Done(done))
    }

    fn apply_merge(&self, draft: &MergeDraft) -> Result<Merged> {
        Ok(self.session().apply_merge(&draft.written())?)
    }

    async fn tell_merge(&self, draft: &MergeDraft, done: &MergedBranch, cancel: &Cancel) -> Result<()> {
        if self.hooks.wants("session_merge") {
            let mut payload = json!({ "type": "session_merge", "mode": draft.request.with.name() });
            match done {
                MergedBranch::Appended { entry, extra } => {
                    payload["entry"] = entry_json(&self.session(), entry)?;
                    payload["extraEntries"] = self.appended_json(extra)?.into();
                    let from_hook = draft.merge().is_some_and(|merge| merge.content.from_hook);
                    payload["fromExtension"] = from_hook.into();
                }
                MergedBranch::Picked { entries, .. } => {
                    payload["entries"] = self.appended_json(entries)?.into();
                }
                MergedBranch::UpToDate | MergedBranch::FastForwarded(_) => {}
            }
            self.tell("session_merge", &payload, cancel).await;
        }
        self.tell_news(cancel).await;
        Ok(())
    }
}
