//! Moves the leaf to another entry, optionally summarising the branch it leaves.
//!
//! plan -> `session_before_tree` -> summary -> **move** -> `session_tree`
//!
//! All commands that move the leaf call this module, so extensions see the same events for each of them.

use serde_json::{Value as Json, json};
use session_tree::{
    BranchSummaryPlan, BranchSummarySettings, EntryId, Image, NavigationPlan, NewBranchSummary, Position,
    Session, branch_summary_text, serialize_conversation,
};

use super::Agent;
use super::compact::readable;
use crate::cancel::Cancel;
use crate::command::{Applied, CancelledBy, PlannedIn, entries_json, entry_json};
use crate::error::{AgentError, Result};
use crate::event::AgentEvent;
use crate::hooks::{Gate, given};
use crate::summary::{ConversationPrompt, SummarySubject, Unfinished};

/// A request to move the leaf.
#[derive(Debug, Clone, Default)]
pub struct NavigateRequest {
    /// The entry that was selected.
    pub target: String,
    /// How to summarise the abandoned branch.
    pub summary: SummaryRequest,
    /// A label for the summary, or for the target without a summary.
    pub label: Option<String>,
}

/// How to summarise an abandoned branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SummaryRequest {
    /// Write no summary.
    #[default]
    Skip,
    /// Ask a model for a summary.
    Standard,
    /// Ask a model for a summary that focuses on this.
    Focus(String),
    /// Ask a model for a summary with only these instructions.
    Replace(String),
    /// Use this text of the user.
    Note(String),
    /// Use this text of an extension.
    Made(String),
}

/// The result of a completed navigation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NavigationResult {
    /// False if the leaf was already at the target.
    pub moved: bool,
    /// The text of the selected prompt, to be edited and sent again.
    pub editor_text: Option<String>,
    /// The images of that prompt.
    pub images: Vec<Image>,
    /// The summary that was appended.
    pub summary_entry: Option<EntryId>,
}

/// A planned move of the leaf.
#[derive(Debug, Clone)]
pub struct Move {
    /// The new position of the leaf.
    pub plan: NavigationPlan,
    /// How to summarise the abandoned branch.
    pub summary: SummaryRequest,
    /// A label for the summary, or for the target without a summary.
    pub label: Option<String>,
    /// The entry up to which the abandoned branch is summarised; `None` is before the first entry.
    pub(crate) summary_target: Option<EntryId>,
    /// The planned summary. If absent, [`Agent::go`] plans it.
    pub(crate) covered: Option<BranchSummaryPlan>,
    /// The change of the history.
    pub(crate) step: Step,
    pub(crate) planned_in: PlannedIn,
}

/// How a move changes the history of positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// It adds a position.
    New,
    /// It goes back this many positions.
    Back(usize),
    /// It goes forward this many positions.
    Forward(usize),
}

impl Move {
    /// Creates a move without a summary.
    pub(crate) fn new(session: &Session, plan: NavigationPlan) -> Self {
        Move {
            summary_target: Some(plan.target.clone()),
            covered: None,
            plan,
            summary: SummaryRequest::Skip,
            label: None,
            step: Step::New,
            planned_in: PlannedIn::of(session),
        }
    }

    /// Plans the summary of the abandoned branch.
    fn plan_summary(
        &self,
        session: &Session,
        settings: &BranchSummarySettings,
    ) -> session_tree::Result<BranchSummaryPlan> {
        let old_leaf = Position::entry_or_start(self.plan.old_leaf.as_ref());
        let target = Position::entry_or_start(self.summary_target.as_ref());
        session.plan_branch_summary(old_leaf, target, settings)
    }

    /// Plans a move to an entry and the summary of the abandoned branch; [`Agent::go`] applies exactly this plan.
    pub(crate) fn with_planned_summary(
        session: &Session,
        target: &str,
        settings: &BranchSummarySettings,
    ) -> session_tree::Result<Self> {
        let planned = Move::new(session, session.plan_navigation(target)?);
        let covered = planned.plan_summary(session, settings)?;
        Ok(Move { covered: Some(covered), ..planned })
    }

    /// Returns the summary that was planned with the move, if any.
    pub fn covered(&self) -> Option<&BranchSummaryPlan> {
        self.covered.as_ref()
    }
}

impl SummaryRequest {
    fn needs_model(&self) -> bool {
        matches!(self, SummaryRequest::Standard | SummaryRequest::Focus(_) | SummaryRequest::Replace(_))
    }

    /// Returns the instructions, and true if they replace the default ones.
    fn instructions(&self) -> (Option<&str>, bool) {
        match self {
            SummaryRequest::Focus(focus) => (Some(focus), false),
            SummaryRequest::Replace(text) => (Some(text), true),
            _ => (None, false),
        }
    }
}

/// Returns the outcome of a navigation, as extensions see it.
fn outcome(applied: &Applied<NavigationResult>) -> &'static str {
    match applied {
        Applied::Cancelled(CancelledBy::User) => "aborted",
        Applied::Cancelled(CancelledBy::Hook(_)) => "cancelled",
        Applied::Done(arrival) if arrival.moved => "navigated",
        Applied::Done(_) => "noop",
    }
}

impl Agent {
    /// Moves the leaf to an entry. A prompt moves it to the parent and returns the text.
    ///
    /// Does nothing if the leaf is already there. After an error or a cancellation nothing has changed.
    pub async fn navigate_tree(
        &mut self,
        request: &NavigateRequest,
        cancel: &Cancel,
    ) -> Result<Applied<NavigationResult>> {
        let planned = self.session().plan_navigation(&request.target);
        match planned {
            Ok(plan) => {
                let (summary, label) = (request.summary.clone(), request.label.clone());
                let planned = Move { summary, label, ..Move::new(&self.session(), plan) };
                self.go(planned, cancel).await
            }
            Err(error) => {
                let result = Err(error.into());
                self.notify_end(&request.target, &result, cancel).await;
                result
            }
        }
    }

    /// Applies a planned move.
    ///
    /// Runs the hooks before and after it. After an error or a cancellation nothing has changed.
    ///
    /// # Errors
    ///
    /// [`session_tree::Error::StalePlan`] if the plan was made for another session, or if it includes a summary and the
    /// leaf has moved since.
    pub async fn go(&mut self, planned: Move, cancel: &Cancel) -> Result<Applied<NavigationResult>> {
        let target = planned.plan.target.clone();
        let result = self.go_unless_cancelled(planned, cancel).await;
        self.notify_end(target.as_str(), &result, cancel).await;
        result
    }

    async fn go_unless_cancelled(
        &mut self,
        mut planned: Move,
        cancel: &Cancel,
    ) -> Result<Applied<NavigationResult>> {
        planned.planned_in.check(&self.session())?;
        if planned.plan.is_noop {
            return Ok(Applied::Done(NavigationResult::default()));
        }
        if planned.summary.needs_model() && self.model.is_none() {
            return Err(AgentError::NoModelForSummary);
        }
        let covered = match planned.covered.take() {
            Some(covered) => {
                self.session().check_navigation(&planned.plan)?;
                covered
            }
            None => planned.plan_summary(&self.session(), &self.branch_summary_settings())?,
        };
        let gate =
            match self.gate("session_before_tree", || self.preparation(&planned, &covered), cancel).await? {
                Applied::Done(gate) => gate,
                Applied::Cancelled(by) => return Ok(Applied::Cancelled(by)),
            };
        let (request, label) = changed_by_hooks(&planned, &gate);
        let summary = match summary_of_hook(&request, &gate) {
            Some(summary) => Some(summary),
            None => self.summarize_branch(&covered, &request, cancel).await?,
        };
        if cancel.is_cancelled() {
            return Ok(Applied::Cancelled(CancelledBy::User));
        }
        self.apply(planned, summary.as_ref(), label.as_deref(), cancel).await
    }

    /// Returns how much of a branch fits into a summary request.
    pub(crate) fn branch_summary_settings(&self) -> BranchSummarySettings {
        let mut settings = self.settings.branch_summary.clone();
        if let Some(model) = &self.model {
            settings.context_window = Some(model.spec().context_window);
        }
        settings
    }

    /// Describes a move for extensions.
    fn preparation(&self, planned: &Move, covered: &BranchSummaryPlan) -> Result<Json> {
        let plan = &planned.plan;
        let (instructions, replace) = planned.summary.instructions();
        Ok(json!({
            "targetId": plan.target.as_str(),
            "model": self.model_json(),
            "preparation": {
                "targetId": plan.target.as_str(),
                "oldLeafId": plan.old_leaf.as_ref().map(EntryId::as_str),
                "commonAncestorId": plan.common_ancestor.as_ref().map(EntryId::as_str),
                "entriesToSummarize": entries_json(&self.session(), &covered.covered)?,
                "userWantsSummary": planned.summary != SummaryRequest::Skip,
                "customInstructions": instructions,
                "replaceInstructions": replace,
                "label": planned.label,
            },
        }))
    }

    /// Writes the requested summary. Returns `None` if it is not needed or was cancelled.
    async fn summarize_branch(
        &self,
        covered: &BranchSummaryPlan,
        request: &SummaryRequest,
        cancel: &Cancel,
    ) -> Result<Option<NewBranchSummary>> {
        if let SummaryRequest::Note(text) | SummaryRequest::Made(text) = request {
            let (summary, from_hook) = (text.clone(), matches!(request, SummaryRequest::Made(_)));
            return Ok(Some(NewBranchSummary { summary, from_hook, ..NewBranchSummary::default() }));
        }
        if !request.needs_model() || covered.is_empty() {
            return Ok(None);
        }
        let model = self.model.clone().ok_or(AgentError::NoModelForSummary)?;
        let failed =
            |error: Unfinished| AgentError::Summary { what: "Branch summarization", reason: error.reason };
        let conversation = serialize_conversation(&readable(&covered.messages));
        let (focus, replace) = request.instructions();
        let prompt = ConversationPrompt { task: SummarySubject::Branch, focus, replace };
        let writer = self.summary_writer(&*model, cancel);
        self.events.emit(AgentEvent::BranchSummaryStart);
        let made = writer.write(&prompt, &conversation, None).await.map_err(failed);
        let (aborted, error) = (matches!(made, Ok(None)), made.as_ref().err().map(ToString::to_string));
        self.events.emit(AgentEvent::BranchSummaryEnd { aborted, error });
        Ok(made?.map(|made| NewBranchSummary {
            summary: branch_summary_text(&made.text, &covered.file_ops),
            details: Some(covered.file_ops.details()),
            usage: Some(made.usage),
            from_hook: false,
        }))
    }

    async fn apply(
        &mut self,
        planned: Move,
        summary: Option<&NewBranchSummary>,
        label: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Applied<NavigationResult>> {
        let plan = planned.plan;
        let old_leaf = self.session().leaf_id();
        let old_label = {
            let session = self.session();
            let target = session.tree().node(plan.target.as_str());
            target.and_then(|target| session.label(target)).map(|label| label.text.clone())
        };
        let done = self.session().apply_navigation(&plan, summary, label)?;
        self.session().sync()?;
        self.note_move(planned.step, old_leaf.clone());
        if done.label_entry.is_some() {
            let (target, old_label) = match &done.summary_entry {
                Some(summary) => (summary, None),
                None => (&plan.target, old_label.as_deref()),
            };
            let label = label.map(str::trim);
            let (entry, new_label) = (target.clone(), label.map(str::to_owned));
            self.events.emit(AgentEvent::LabelChanged { entry, label: new_label });
            self.notify_label(target, label, old_label, cancel).await;
        }
        let payload = || self.after_tree(&plan, old_leaf.as_ref(), done.summary_entry.as_ref(), summary);
        self.notify_with("session_tree", payload, cancel).await;
        Ok(Applied::Done(NavigationResult {
            moved: true,
            editor_text: plan.editor_text,
            images: plan.images,
            summary_entry: done.summary_entry,
        }))
    }

    /// Adds the previous position to the history.
    fn note_move(&mut self, step: Step, old_leaf: Option<EntryId>) {
        match step {
            Step::New if old_leaf == self.session().leaf_id() => {}
            Step::New => self.history.leave(old_leaf),
            Step::Back(steps) => self.history.go_back(old_leaf, steps),
            Step::Forward(steps) => self.history.go_forward(old_leaf, steps),
        }
        self.publish_state();
    }

    /// Reports the end of a navigation to extensions, whatever its result.
    async fn notify_end(&self, target: &str, result: &Result<Applied<NavigationResult>>, cancel: &Cancel) {
        let payload = || match result {
            Ok(applied) => json!({"targetId": target, "outcome": outcome(applied)}),
            Err(error) => json!({"targetId": target, "outcome": "failed", "error": error.to_string()}),
        };
        self.notify_with("session_tree_end", payload, cancel).await;
        self.notify_new_entries(cancel).await;
    }

    fn after_tree(
        &self,
        plan: &NavigationPlan,
        old_leaf: Option<&EntryId>,
        summary_entry: Option<&EntryId>,
        summary: Option<&NewBranchSummary>,
    ) -> Json {
        let mut payload = json!({
            "newLeafId": self.session().leaf_id().map(|id| id.to_string()),
            "oldLeafId": old_leaf.map(EntryId::as_str),
            "targetId": plan.target.as_str(),
            "editorText": plan.editor_text,
            "cancelled": false,
            "aborted": false,
        });
        if let (Some(id), Some(summary)) = (summary_entry, summary) {
            payload["summaryEntry"] = entry_json(&self.session(), id);
            payload["fromExtension"] = Json::Bool(summary.from_hook);
            payload["fromHook"] = Json::Bool(summary.from_hook);
        }
        payload
    }
}

/// Returns the summary and the label with the changes of extensions.
fn changed_by_hooks(planned: &Move, gate: &Gate) -> (SummaryRequest, Option<String>) {
    let label = gate.text("label").or_else(|| planned.label.clone());
    let wanted = match (&planned.summary, gate.get("summarize").and_then(Json::as_bool)) {
        // A text that already exists is kept.
        (text @ (SummaryRequest::Note(_) | SummaryRequest::Made(_)), _) => return (text.clone(), label),
        (SummaryRequest::Skip, Some(true)) => &SummaryRequest::Standard,
        (SummaryRequest::Skip, _) | (_, Some(false)) => return (SummaryRequest::Skip, label),
        (wanted, _) => wanted,
    };
    let (instructions, replace) = wanted.instructions();
    let instructions = gate.text("customInstructions").or_else(|| instructions.map(str::to_owned));
    let replace = gate.get("replaceInstructions").and_then(Json::as_bool).unwrap_or(replace);
    let summary = match instructions {
        Some(text) if replace => SummaryRequest::Replace(text),
        Some(text) => SummaryRequest::Focus(text),
        None => SummaryRequest::Standard,
    };
    (summary, label)
}

/// Returns the summary written by an extension, unless no model would be asked for one.
fn summary_of_hook(request: &SummaryRequest, gate: &Gate) -> Option<NewBranchSummary> {
    let made = gate.get("summary").filter(|_| request.needs_model())?;
    Some(NewBranchSummary {
        summary: made["summary"].as_str().unwrap_or_default().to_owned(),
        details: given(made, "details").cloned(),
        usage: given(made, "usage").cloned(),
        from_hook: true,
    })
}
