//! `/merge`: what another branch achieved, told in one entry under the leaf.
//!
//! request -> **plan** -> before hook, model -> **draft** -> review -> **apply**
//!
//! Conversations have no lines that could be merged: a merge is a text, made by a model, from quotes, or by a person,
//! that somebody can read and change before it counts. No file of the project is ever changed by one.

mod before;
mod conflicts;
mod disk;
mod draft;
mod prompt;

use session_tree::{
    EntryId, Merge, MergeContent, MergeOutcome, MergePlan, MergeRequest, ModelRef, PickPlan, PickRequest,
    Role, Selection,
};

use super::PlannedIn;
use crate::agent::{Agent, Arrival};
use crate::error::{AgentError, Result};
use crate::shared::SharedSession;

pub use disk::{ContestedFile, OnDisk};
pub use draft::MergeDraft;

/// What a digest leaves for the words that go around it.
const AROUND_DIGEST: u64 = 100;

/// Which branch to merge, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergeBranchRequest {
    /// A reference to the tip of the branch, or to an entry up to which to merge.
    pub branch: String,
    /// Where the text comes from.
    pub with: MergeWith,
    /// Why, for whoever reads the session later.
    pub note: Option<String>,
    /// Whether to write a text also where moving the leaf would do.
    pub no_fast_forward: bool,
}

/// Where the text of a merge comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeWith {
    /// A model tells what the branch did, with an eye on the focus.
    Summary {
        /// What to pay attention to.
        focus: Option<String>,
    },
    /// The turns of the branch are quoted.
    Digest {
        /// The most tokens it may take; half of what the model has room for, if nothing is said.
        budget_tokens: Option<u64>,
    },
    /// Somebody writes it.
    Text(String),
    /// These turns are copied, each named by one of its entries.
    Pick {
        /// References to entries of the source, in the order in which their turns are copied.
        turns: Vec<String>,
    },
}

impl Default for MergeWith {
    fn default() -> Self {
        MergeWith::Summary { focus: None }
    }
}

impl MergeWith {
    /// Returns the name that extensions use.
    pub fn name(&self) -> &'static str {
        match self {
            MergeWith::Summary { .. } => "summary",
            MergeWith::Digest { .. } => "digest",
            MergeWith::Text(_) => "text",
            MergeWith::Pick { .. } => "pick",
        }
    }
}

/// What a merge would do, before its text is made.
#[derive(Debug, Clone)]
pub struct PlannedMerge {
    /// What was asked for.
    pub request: MergeBranchRequest,
    /// What would happen; the text of a summary is still to be made.
    pub plan: MergePlan,
    /// The files that both branches changed, and whose version is on the disk.
    pub contested: Vec<ContestedFile>,
    /// What is copied instead of a text.
    picks: Option<PickPlan>,
    planned_in: PlannedIn,
}

/// A turn of the branch that is merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeTurn {
    /// Its first entry.
    pub first: EntryId,
    /// The text of its prompt; empty if the branch begins in the middle of a turn.
    pub prompt: String,
    /// How many entries it has.
    pub entries: usize,
}

/// What came of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergedBranch {
    /// Nothing was to be done: everything the branch says is here already.
    UpToDate,
    /// The leaf moved: nothing was said here since the branch went on from here.
    FastForwarded(Arrival),
    /// A text was appended.
    Appended {
        /// The branch summary.
        entry: EntryId,
        /// The entries that an extension wanted behind it.
        extra: Vec<EntryId>,
    },
    /// Turns were copied.
    Picked {
        /// The entries.
        entries: Vec<EntryId>,
        /// The model that this branch names now; who knows models may want to choose it.
        model: Option<ModelRef>,
    },
}

impl Agent {
    /// Plans to merge a branch of this session, or of another one. Changes nothing and asks nobody.
    ///
    /// # Errors
    ///
    /// [`AgentError::NoModelForSummary`] if a model is to tell and there is none.
    pub fn plan_merge(
        &self,
        source: Option<&SharedSession>,
        request: &MergeBranchRequest,
    ) -> Result<PlannedMerge> {
        let tip = match source {
            Some(source) => source.lock().resolve(&request.branch)?,
            None => self.resolve(&request.branch)?,
        };
        let request_to_engine = self.to_engine(request)?;
        let here = self.session();
        let other = source.map(SharedSession::lock);
        let plan = here.plan_merge(other.as_deref().unwrap_or(&here), tip, &request_to_engine)?;
        let mut planned = PlannedMerge {
            request: request.clone(),
            contested: Vec::new(),
            picks: None,
            planned_in: PlannedIn::of(&here),
            plan,
        };
        if let Some(merge) = planned.plan.merge() {
            planned.contested = disk::look(&here, other.as_deref().unwrap_or(&here), merge, &self.cwd)?;
            match &request.with {
                MergeWith::Summary { .. } if self.model.is_none() => {
                    return Err(AgentError::NoModelForSummary);
                }
                MergeWith::Pick { turns } => {
                    drop((here, other));
                    planned.picks = Some(self.plan_turns(source, turns, request)?);
                }
                MergeWith::Summary { .. } | MergeWith::Digest { .. } | MergeWith::Text(_) => {}
            }
        }
        Ok(planned)
    }

    /// Lists the turns of the branch that a merge is about, oldest first: what [`MergeWith::Pick`] chooses from.
    pub fn merge_turns(
        &self,
        source: Option<&SharedSession>,
        planned: &PlannedMerge,
    ) -> Result<Vec<MergeTurn>> {
        let here = self.session();
        let other = source.map(SharedSession::lock);
        let source = other.as_deref().unwrap_or(&here);
        let mut turns: Vec<MergeTurn> = Vec::new();
        for node in planned.plan.merge().map_or(&[][..], |merge| &merge.entries) {
            let is_prompt = source.tree().role(*node) == Some(Role::User);
            match turns.last_mut().filter(|_| !is_prompt) {
                Some(turn) => turn.entries += 1,
                None => {
                    let first = source.tree().id(*node);
                    let prompt = source.plan_navigation(first.as_str())?.editor_text;
                    let prompt = prompt.filter(|_| is_prompt).unwrap_or_default();
                    turns.push(MergeTurn { first, prompt, entries: 1 });
                }
            }
        }
        Ok(turns)
    }

    fn to_engine(&self, request: &MergeBranchRequest) -> Result<MergeRequest> {
        let content = match &request.with {
            MergeWith::Text(text) => MergeContent::Text(text.clone()),
            MergeWith::Digest { budget_tokens } => {
                let half = self.free_tokens()?.map(|free| (free / 2).saturating_sub(AROUND_DIGEST));
                let budget_tokens = match (*budget_tokens, half) {
                    (Some(budget), Some(half)) => Some(budget.min(half)),
                    (budget, half) => budget.or(half),
                };
                MergeContent::Digest { budget_tokens }
            }
            // Stands there until the model has told; turns that are picked need no text.
            MergeWith::Summary { .. } | MergeWith::Pick { .. } => {
                MergeContent::Digest { budget_tokens: None }
            }
        };
        let is_pick = matches!(request.with, MergeWith::Pick { .. });
        let no_fast_forward = request.no_fast_forward || is_pick;
        Ok(MergeRequest { content, note: request.note.clone(), no_fast_forward })
    }

    /// Plans to copy turns, all with one write.
    fn plan_turns(
        &self,
        source: Option<&SharedSession>,
        turns: &[String],
        request: &MergeBranchRequest,
    ) -> Result<PickPlan> {
        let mut all: Option<PickPlan> = None;
        for turn in turns {
            let node = match source {
                None => self.resolve(turn)?,
                Some(source) => source.lock().resolve(turn)?,
            };
            let request =
                PickRequest { note: request.note.clone(), ..PickRequest::new(Selection::Turn(node)) };
            let here = self.session();
            let other = source.map(SharedSession::lock);
            let plan = here.plan_pick(other.as_deref().unwrap_or(&here), &request)?;
            match &mut all {
                None => all = Some(plan),
                Some(all) => {
                    all.selected.extend(plan.selected);
                    all.items.extend(plan.items);
                    all.warnings.extend(plan.warnings);
                }
            }
        }
        all.ok_or_else(|| session_tree::Error::EmptySelection.into())
    }
}

impl PlannedMerge {
    /// Returns the text to be appended, if one is.
    pub fn merge(&self) -> Option<&Merge> {
        self.plan.merge()
    }

    /// Tells whether nothing would happen.
    pub fn is_up_to_date(&self) -> bool {
        matches!(self.plan.outcome, MergeOutcome::UpToDate)
    }
}
