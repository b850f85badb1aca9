//! `/merge`: appends one text about another branch under the leaf.
//!
//! request -> **plan** -> `session_before_merge`, model -> **draft** -> review -> **apply** -> `session_merge`
//!
//! Conversations cannot be merged line by line. A merge is a text, written by a model, by the user or from quotes,
//! which the user can review before it is appended. It changes no file of the project.

mod conflicts;
mod draft;

use serde_json::json;
use session_tree::merge::{
    Conflict, Merge, MergeContent, MergeMode, MergeOutcome, MergePlan, MergeRequest, Merged,
};
use session_tree::{EntryId, Error};

use super::{Applied, CancelledBy, PlannedIn, entry_json};
use crate::agent::{Agent, Move, NavigationResult};
use crate::cancel::Cancel;
use crate::error::{AgentError, Result};
use crate::shared::SharedSession;

/// The tokens that a digest leaves for the text around it.
const AROUND_DIGEST: u64 = 100;

/// A request to merge a branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergeBranchRequest {
    /// A reference to the tip of the branch, or to an entry up to which to merge.
    pub branch: String,
    /// The source of the text.
    pub with: MergeWith,
    /// The reason, for readers of the session. It is not part of the context.
    pub note: Option<String>,
    /// True to write a text even where moving the leaf is enough.
    pub no_fast_forward: bool,
}

/// The source of the text of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeWith {
    /// A model summarises the branch.
    Summary {
        /// The subject that the model should pay attention to.
        focus: Option<String>,
    },
    /// The turns of the branch are quoted, at most half of the free context; the oldest are left out first.
    Digest,
    /// The user wrote it.
    Text(String),
}

impl Default for MergeWith {
    fn default() -> Self {
        MergeWith::Summary { focus: None }
    }
}

impl MergeWith {
    /// Returns the name that files and extensions use.
    pub fn name(&self) -> &'static str {
        match self {
            MergeWith::Summary { .. } => MergeMode::Summary.name(),
            MergeWith::Digest => MergeMode::Digest.name(),
            MergeWith::Text(_) => MergeMode::Text.name(),
        }
    }
}

/// A merge that is not written yet.
#[derive(Debug, Clone)]
pub struct MergeDraft {
    /// The request.
    pub request: MergeBranchRequest,
    /// The planned change, with the text that would enter the context. A summary has its text only after
    /// [`Agent::draft_merge`].
    pub plan: MergePlan,
    /// The other session that the entries come from; none if it is this one.
    pub source: Option<SharedSession>,
    planned_in: PlannedIn,
}

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergedBranch {
    /// The branch has nothing new; nothing changed.
    UpToDate,
    /// The branch continues from the leaf, so the leaf moved.
    FastForwarded(NavigationResult),
    /// A text was appended.
    Appended {
        /// The branch summary.
        entry: EntryId,
        /// The entries that extensions added.
        extra: Vec<EntryId>,
    },
}

impl MergeDraft {
    /// Returns the text to be appended, if one is.
    pub fn merge(&self) -> Option<&Merge> {
        self.plan.merge()
    }

    /// Returns the text that would enter the context; empty if none would.
    pub fn text(&self) -> &str {
        self.merge().map_or("", |merge| &merge.content.text)
    }

    /// Returns the decisions that differ between the two branches.
    pub fn conflicts(&self) -> &[Conflict] {
        self.merge().map_or(&[], |merge| &merge.content.conflicts)
    }

    /// Marks the text as reviewed and replaces it if the user changed it. The conflicts that the new text lists count.
    pub fn review(&mut self, text: Option<String>) {
        let is_quote = self.request.with == MergeWith::Digest;
        let Some(merge) = self.plan.merge_mut() else { return };
        merge.content.reviewed = true;
        if let Some(text) = text {
            merge.content.conflicts = if is_quote { Vec::new() } else { conflicts::read(&text) };
            merge.content.text = text;
        }
    }
}

impl Agent {
    /// Plans to merge a branch of this session, or of another one. Changes nothing and asks no model.
    pub fn plan_merge(
        &self,
        source: Option<&SharedSession>,
        request: &MergeBranchRequest,
    ) -> Result<MergeDraft> {
        let tip = self.resolve_in(source, &request.branch)?;
        let content = match &request.with {
            MergeWith::Text(text) => MergeContent::Text(text.clone()),
            MergeWith::Digest => {
                let half = self.free_tokens()?.map(|free| (free / 2).saturating_sub(AROUND_DIGEST));
                MergeContent::Digest { budget_tokens: half }
            }
            // The model writes the text.
            MergeWith::Summary { .. } => MergeContent::Digest { budget_tokens: None },
        };
        let (note, no_fast_forward) = (request.note.clone(), request.no_fast_forward);
        let to_engine = MergeRequest { content, note, no_fast_forward };
        let mut plan =
            self.with_source(source, |here, there| Ok(here.plan_merge(there, tip, &to_engine)?))?;
        if let Some(merge) = plan.merge_mut() {
            match request.with {
                MergeWith::Summary { .. } => merge.content.text.clear(),
                MergeWith::Digest => merge.content.text.push_str(&draft::contested_block(&merge.contested)),
                MergeWith::Text(_) => {}
            }
        }
        let planned_in = PlannedIn::of(&self.session());
        Ok(MergeDraft { request: request.clone(), plan, source: source.cloned(), planned_in })
    }

    /// Writes a draft: one entry under the leaf, or a move of the leaf.
    ///
    /// # Errors
    ///
    /// [`AgentError::MergeTooLong`] if the text takes more than half of the free context, [`Error::StalePlan`] if the
    /// leaf has moved, [`Error::Invalid`] if the text is blank.
    pub async fn merge(&mut self, draft: &MergeDraft, cancel: &Cancel) -> Result<Applied<MergedBranch>> {
        draft.planned_in.check(&self.session())?;
        match &draft.plan.outcome {
            MergeOutcome::UpToDate => Ok(Applied::Done(MergedBranch::UpToDate)),
            MergeOutcome::FastForward { to } => {
                let planned = self.plan_forward_move(draft, to)?;
                Ok(self.go(planned, cancel).await?.map(MergedBranch::FastForwarded))
            }
            MergeOutcome::Merge(_) if cancel.is_cancelled() => Ok(Applied::Cancelled(CancelledBy::User)),
            MergeOutcome::Merge(merge) => self.write_merge(draft, merge, cancel).await.map(Applied::Done),
        }
    }

    /// Plans the move if the leaf is still where the draft was planned.
    fn plan_forward_move(&self, draft: &MergeDraft, to: &EntryId) -> Result<Move> {
        let session = self.session();
        if !session.is_still_at(draft.plan.old_leaf.as_ref()) {
            return Err(Error::StalePlan.into());
        }
        let plan = session.plan_exact_navigation(to.as_str())?;
        Ok(Move::new(&session, plan))
    }

    async fn write_merge(
        &mut self,
        draft: &MergeDraft,
        merge: &Merge,
        cancel: &Cancel,
    ) -> Result<MergedBranch> {
        let (tokens, free) = (merge.tokens(), self.free_tokens()?);
        if let Some(allowed) = free.map(|free| free / 2).filter(|allowed| tokens > *allowed) {
            return Err(AgentError::MergeTooLong { tokens, allowed });
        }
        let merged = self.session().apply_merge(&draft.plan)?;
        let Merged::Appended { entry, extra } = merged else { return Err(Error::StalePlan.into()) };
        self.session().sync()?;
        let payload = || {
            json!({
                "mode": draft.request.with.name(), "entry": entry_json(&self.session(), &entry),
                "extraEntries": self.appended_json(&extra), "fromExtension": merge.content.from_hook,
            })
        };
        self.notify_with("session_merge", payload, cancel).await;
        self.notify_new_entries(cancel).await;
        Ok(MergedBranch::Appended { entry, extra })
    }
}
