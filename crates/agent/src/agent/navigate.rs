//! Navigation: moving in the tree, with a summary of what is left behind if somebody wants one.

use serde_json::{Value as Json, json};
use session_tree::{
    BranchSummaryPlan, EntryId, NavigationPlan, NewBranchSummary, PromptImage, branch_summary_text,
};

use super::Agent;
use super::compact::readable;
use crate::cancel::Cancel;
use crate::error::{AgentError, Result, SummaryFailure, SummaryKind};
use crate::hooks::Gate;
use crate::summary::{self, Material, Task};

/// Where to go, and what to leave there.
#[derive(Debug, Clone, Default)]
pub struct NavigateRequest {
    /// The entry that was selected.
    pub target: String,
    /// What to tell of the branch that is left.
    pub summary: SummaryRequest,
    /// A label for the summary, or for the target if there is none.
    pub label: Option<String>,
}

/// What to tell of a branch that is left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SummaryRequest {
    /// Nothing.
    #[default]
    Skip,
    /// What a model makes of it.
    Standard,
    /// What a model makes of it, with an eye on this.
    Focus(String),
    /// What a model makes of it with these instructions alone.
    Replace(String),
    /// These words; no model is asked.
    Note(String),
}

/// What came of a navigation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NavigateResult {
    /// The text of the prompt that was selected, to be edited and sent again.
    pub editor_text: Option<String>,
    /// The images of that prompt.
    pub images: Vec<PromptImage>,
    /// Whether somebody did not want it; nothing changed.
    pub cancelled: bool,
    /// Whether it was the person, while the summary was made.
    pub aborted: bool,
    /// The extension that did not want it.
    pub cancelled_by: Option<String>,
    /// The summary that was appended.
    pub summary_entry: Option<EntryId>,
}

/// What is about to be told of the branch that is left.
struct Wishes {
    summary: SummaryRequest,
    label: Option<String>,
}

impl SummaryRequest {
    fn needs_model(&self) -> bool {
        match self {
            SummaryRequest::Skip | SummaryRequest::Note(_) => false,
            SummaryRequest::Standard | SummaryRequest::Focus(_) | SummaryRequest::Replace(_) => true,
        }
    }

    /// Returns the instructions and whether they stand alone.
    fn instructions(&self) -> (Option<&str>, bool) {
        match self {
            SummaryRequest::Skip | SummaryRequest::Standard | SummaryRequest::Note(_) => (None, false),
            SummaryRequest::Focus(focus) => (Some(focus), false),
            SummaryRequest::Replace(text) => (Some(text), true),
        }
    }
}

impl Agent {
    /// Moves the leaf to an entry. A prompt goes to its parent and gives its text back.
    ///
    /// Going where the leaf is does nothing. If anything fails, or somebody stops it, nothing has changed.
    pub async fn navigate_tree(
        &mut self,
        request: &NavigateRequest,
        cancel: &Cancel,
    ) -> Result<NavigateResult> {
        let plan = self.session.plan_navigation(&request.target)?;
        if plan.is_noop {
            return Ok(NavigateResult::default());
        }
        if request.summary.needs_model() && self.model.is_none() {
            return Err(AgentError::NoModelForSummary);
        }
        let covered = self.branch_to_leave(&plan)?;
        let gate = self.before_tree(&plan, &covered, request, cancel).await?;
        if gate.cancelled_by.is_some() {
            return Ok(NavigateResult {
                cancelled: true,
                cancelled_by: gate.cancelled_by,
                ..Default::default()
            });
        }
        let wishes = Wishes::of(request, &gate);
        let summary = match self.told_by_hook(request, &gate) {
            Some(summary) => Some(summary),
            None => match self.tell_of(&covered, &wishes.summary, cancel).await? {
                Told::Nothing => None,
                Told::Summary(summary) => Some(*summary),
                Told::Aborted => {
                    return Ok(NavigateResult { cancelled: true, aborted: true, ..Default::default() });
                }
            },
        };
        self.apply(plan, summary.as_ref(), wishes.label.as_deref(), cancel).await
    }

    fn branch_to_leave(&self, plan: &NavigationPlan) -> Result<BranchSummaryPlan> {
        let mut settings = self.settings.branch_summary.clone();
        if let Some(model) = &self.model {
            settings.context_window = Some(model.spec().context_window);
        }
        Ok(self.session.plan_branch_summary(plan.old_leaf, plan.target, &settings)?)
    }

    async fn before_tree(
        &self,
        plan: &NavigationPlan,
        covered: &BranchSummaryPlan,
        request: &NavigateRequest,
        cancel: &Cancel,
    ) -> Result<Gate> {
        if !self.hooks.wants("session_before_tree") {
            return Ok(Gate::default());
        }
        let id = |node| self.session.tree().id(node).to_string();
        let (instructions, replace) = request.summary.instructions();
        let payload = json!({
            "type": "session_before_tree",
            "targetId": plan.target_id.as_str(),
            "preparation": {
                "targetId": plan.target_id.as_str(),
                "oldLeafId": plan.old_leaf.map(id),
                "commonAncestorId": plan.common_ancestor.map(id),
                "entriesToSummarize": self.entries_json(&covered.covered)?,
                "userWantsSummary": request.summary != SummaryRequest::Skip,
                "customInstructions": instructions,
                "replaceInstructions": replace,
                "label": request.label,
            },
        });
        Ok(self.hooks.gate("session_before_tree", &payload, cancel).await)
    }

    /// Takes the summary that an extension made; it counts only if one was asked for.
    fn told_by_hook(&self, request: &NavigateRequest, gate: &Gate) -> Option<NewBranchSummary> {
        let made = gate.get("summary").filter(|_| request.summary != SummaryRequest::Skip)?;
        let optional = |key: &str| made.get(key).filter(|value| !value.is_null()).cloned();
        Some(NewBranchSummary {
            summary: made["summary"].as_str().unwrap_or_default().to_owned(),
            details: optional("details"),
            usage: optional("usage"),
            from_hook: true,
        })
    }

    async fn tell_of(
        &self,
        covered: &BranchSummaryPlan,
        request: &SummaryRequest,
        cancel: &Cancel,
    ) -> Result<Told> {
        if let SummaryRequest::Note(note) = request {
            let summary = NewBranchSummary { summary: note.clone(), ..NewBranchSummary::default() };
            return Ok(Told::Summary(Box::new(summary)));
        }
        if !request.needs_model() || covered.is_empty() {
            return Ok(Told::Nothing);
        }
        let model = self.model.clone().ok_or(AgentError::NoModelForSummary)?;
        let failed = |reason: SummaryFailure| AgentError::Summary { what: SummaryKind::Branch, reason };
        let messages = readable(&covered.messages);
        let (focus, replace) = request.instructions();
        let material = Material {
            task: Task::Branch,
            messages: messages.iter().collect(),
            previous: None,
            focus,
            replace,
        };
        let now = self.session.now();
        let made = summary::make(&*model, &material, self.thinking, now, cancel).await.map_err(failed)?;
        let Some(made) = made else { return Ok(Told::Aborted) };
        Ok(Told::Summary(Box::new(NewBranchSummary {
            summary: branch_summary_text(&made.text, &covered.file_ops),
            details: serde_json::from_str(&covered.details_json()).ok(),
            usage: Some(made.usage),
            from_hook: false,
        })))
    }

    async fn apply(
        &mut self,
        plan: NavigationPlan,
        summary: Option<&NewBranchSummary>,
        label: Option<&str>,
        cancel: &Cancel,
    ) -> Result<NavigateResult> {
        let old_leaf = plan.old_leaf.map(|node| self.session.tree().id(node));
        let done = self.session.apply_navigation(&plan, summary, label)?;
        self.session.barrier()?;
        if self.hooks.wants("session_tree") {
            let payload = self.after_tree(&plan, old_leaf.as_ref(), done.summary_entry.as_ref(), summary)?;
            self.hooks.tell("session_tree", &payload, cancel).await;
        }
        Ok(NavigateResult {
            editor_text: plan.editor_text,
            images: plan.images,
            summary_entry: done.summary_entry,
            ..NavigateResult::default()
        })
    }

    fn after_tree(
        &self,
        plan: &NavigationPlan,
        old_leaf: Option<&EntryId>,
        summary_entry: Option<&EntryId>,
        summary: Option<&NewBranchSummary>,
    ) -> Result<Json> {
        let mut payload = json!({
            "type": "session_tree",
            "newLeafId": self.session.leaf_id().map(|id| id.to_string()),
            "oldLeafId": old_leaf.map(EntryId::as_str),
            "targetId": plan.target_id.as_str(),
            "editorText": plan.editor_text,
        });
        if let (Some(id), Some(summary)) = (summary_entry, summary) {
            let entry = self.session.entry(id.as_str())?;
            payload["summaryEntry"] = entry.value().and_then(|value| value.to_serde()).unwrap_or_default();
            payload["fromExtension"] = Json::Bool(summary.from_hook);
            payload["fromHook"] = Json::Bool(summary.from_hook);
        }
        Ok(payload)
    }
}

/// What is to be told of the branch that is left.
enum Told {
    Nothing,
    Summary(Box<NewBranchSummary>),
    Aborted,
}

impl Wishes {
    /// Lets extensions change what was asked for.
    fn of(request: &NavigateRequest, gate: &Gate) -> Self {
        let label = gate.text("label").or_else(|| request.label.clone());
        let (instructions, replace) = request.summary.instructions();
        let instructions = gate.text("customInstructions").or_else(|| instructions.map(str::to_owned));
        let replace = gate.get("replaceInstructions").and_then(Json::as_bool).unwrap_or(replace);
        let summary = match (&request.summary, instructions) {
            (SummaryRequest::Skip | SummaryRequest::Note(_), _) => request.summary.clone(),
            (_, Some(text)) if replace => SummaryRequest::Replace(text),
            (_, Some(text)) => SummaryRequest::Focus(text),
            (_, None) => SummaryRequest::Standard,
        };
        Wishes { summary, label }
    }
}
