//! `/cherry-pick`: something said on another branch, or in another session, used here.
//!
//! selection -> **plan** -> before hook -> entries under the leaf, prompts that are asked again, or a text to edit
//!
//! Which entries are copied, and how, is the engine's business. Copied tool calls are never run.

mod prompts;

use serde_json::{Value as Json, json};
use session_tree::{
    EntryId, Message, ModelRef, PickMode, PickPlan, PickRequest, PickWarning, PromptImage, Selection, Session,
};

use super::{Applied, PlannedIn, entries_json, entry_json, stopped};
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::error::{AgentError, Result};
use crate::hooks::Gate;
use crate::model::ThinkingLevel;
use crate::shared::SharedSession;
use crate::turn::Outcome;

const EVENT: &str = "session_before_cherry_pick";

/// What is to be picked, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CherryPickRequest {
    /// A reference to an entry of the source, or `REF..REF` for those below the first down to the second.
    pub what: String,
    /// Whether to take the whole turn that the entry belongs to.
    pub turn: bool,
    /// How.
    pub mode: CherryPickMode,
    /// Why, for whoever reads the session later.
    pub note: Option<String>,
    /// Whether to copy state of extensions too.
    pub with_state: bool,
    /// Whether to copy also what is on this branch already, or was picked before.
    pub again: bool,
}

/// How something is picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CherryPickMode {
    /// Prompts are copied as they are, everything else is quoted.
    #[default]
    Usual,
    /// Quoted, under a line that names the origin.
    Quote,
    /// As entries of their own type.
    Native,
    /// The prompts are asked again, one after the other.
    Prompt,
    /// The text goes into the editor; nothing is written.
    Editor,
}

impl CherryPickMode {
    /// Returns the name that extensions use.
    pub fn name(self) -> &'static str {
        match self {
            CherryPickMode::Usual => "usual",
            CherryPickMode::Quote => "quote",
            CherryPickMode::Native => "native",
            CherryPickMode::Prompt => "prompt",
            CherryPickMode::Editor => "editor",
        }
    }

    /// Finds a mode by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        use CherryPickMode::{Editor, Native, Prompt, Quote, Usual};
        [Usual, Quote, Native, Prompt, Editor].into_iter().find(|mode| mode.name() == name)
    }
}

/// What a pick would do.
#[derive(Debug, Clone)]
pub struct CherryPick {
    /// What was asked for.
    pub request: CherryPickRequest,
    /// The selected entries, and what a person should know about them.
    pub plan: PickPlan,
    /// What becomes of them.
    pub content: PickedContent,
    /// Whether it takes more than a quarter of the room that the model has left, so that it must be shown first.
    pub is_large: bool,
    /// Whether it carries images that the model cannot read.
    pub has_unread_images: bool,
    planned_in: PlannedIn,
}

/// What becomes of a selection.
#[derive(Debug, Clone)]
pub enum PickedContent {
    /// The entries of the plan are appended.
    Entries,
    /// These prompts are asked.
    Prompts(Vec<Message>),
    /// This goes into the editor.
    Editor {
        /// The text.
        text: String,
        /// The images of the prompts in it.
        images: Vec<PromptImage>,
    },
}

/// What came of a pick.
#[derive(Debug, Clone)]
pub enum CherryPicked {
    /// These entries were appended.
    Appended {
        /// The entries.
        entries: Vec<EntryId>,
        /// The model that this branch names now; who knows models may want to choose it.
        model: Option<ModelRef>,
    },
    /// The prompts were asked.
    Asked {
        /// How the last one ended.
        outcome: Outcome,
        /// The prompts that were not asked, because one before did not end well.
        left: Vec<Message>,
    },
    /// This belongs into the editor.
    Editor {
        /// The text.
        text: String,
        /// The images of the prompts in it.
        images: Vec<PromptImage>,
    },
}

impl CherryPick {
    /// Returns the text that would enter the context or the editor.
    pub fn text(&self) -> String {
        match &self.content {
            PickedContent::Entries => self.plan.text(),
            PickedContent::Prompts(prompts) => {
                let texts: Vec<_> = prompts.iter().map(|prompt| prompt.text().into_owned()).collect();
                texts.join("\n\n")
            }
            PickedContent::Editor { text, .. } => text.clone(),
        }
    }

    /// Replaces the text of a quote, first line included, or what goes into the editor. Returns whether there is such
    /// a text.
    ///
    /// If several quotes were planned, the first one takes the text and the others are left out.
    pub fn set_text(&mut self, new: &str) -> bool {
        match &mut self.content {
            PickedContent::Prompts(_) => false,
            PickedContent::Editor { text, .. } => {
                new.clone_into(text);
                true
            }
            PickedContent::Entries => set_quote(&mut self.plan, new),
        }
    }
}

fn set_quote(plan: &mut PickPlan, text: &str) -> bool {
    let mut is_set = false;
    plan.items.retain_mut(|item| match item.mode() {
        PickMode::Quote if is_set => false,
        PickMode::Quote => {
            is_set = item.set_text(text);
            true
        }
        PickMode::Native => true,
    });
    is_set
}

impl Agent {
    /// Plans to use entries of this session, or of another one, here. Changes nothing.
    ///
    /// # Errors
    ///
    /// What [`Session::plan_pick`] refuses; [`AgentError::NoPromptSelected`] if prompts are to be asked again and there
    /// are none.
    pub fn plan_cherry_pick(
        &self,
        source: Option<&SharedSession>,
        request: &CherryPickRequest,
    ) -> Result<CherryPick> {
        let selection = self.selection(source, request)?;
        let free = self.free_tokens()?;
        let here = self.session();
        let other = source.map(SharedSession::lock);
        let source = other.as_deref().unwrap_or(&here);
        let plan = here.plan_pick(source, &request.to_engine(selection))?;
        let content = match request.mode {
            CherryPickMode::Usual | CherryPickMode::Quote | CherryPickMode::Native => PickedContent::Entries,
            CherryPickMode::Prompt => {
                let prompts = prompts::of(source, &plan.selected, here.now())?;
                if prompts.is_empty() {
                    return Err(AgentError::NoPromptSelected);
                }
                PickedContent::Prompts(prompts)
            }
            CherryPickMode::Editor => {
                let (text, images) = prompts::editor(source, &plan.selected)?;
                let text = if text.is_empty() { plan.text() } else { text };
                PickedContent::Editor { text, images }
            }
        };
        let reads_images = self.model.as_ref().is_none_or(|model| model.spec().reads_images);
        let has_images = plan.warnings.iter().any(|warning| matches!(warning, PickWarning::Images { .. }));
        Ok(CherryPick {
            request: request.clone(),
            content,
            is_large: free.is_some_and(|free| plan.tokens() > free / 4),
            has_unread_images: has_images && !reads_images,
            plan,
            planned_in: PlannedIn::of(&here),
        })
    }

    /// Does what was planned; `source` is the session that it was planned with.
    pub async fn cherry_pick(
        &mut self,
        mut pick: CherryPick,
        source: Option<&SharedSession>,
        cancel: &Cancel,
    ) -> Result<Applied<CherryPicked>> {
        pick.planned_in.check(&self.session())?;
        let gate = self.before_cherry_pick(&pick, source, cancel).await?;
        if let Some(by) = stopped(&gate, cancel) {
            return Ok(Applied::Cancelled(by));
        }
        pick = self.changed_pick(pick, source, &gate)?;
        let done = match pick.content {
            PickedContent::Entries => self.append_pick(&pick, cancel).await?,
            PickedContent::Prompts(prompts) => self.ask_again(prompts, cancel).await?,
            PickedContent::Editor { text, images } => CherryPicked::Editor { text, images },
        };
        self.tell_news(cancel).await;
        Ok(Applied::Done(done))
    }

    fn selection(&self, source: Option<&SharedSession>, request: &CherryPickRequest) -> Result<Selection> {
        let resolve = |reference: &str| match source {
            Some(source) => Ok::<_, AgentError>(source.lock().resolve(reference)?),
            None => self.resolve(reference),
        };
        Ok(match request.what.split_once("..") {
            Some((after, to)) => Selection::Range { after: resolve(after)?, to: resolve(to)? },
            None if request.turn => Selection::Turn(resolve(&request.what)?),
            None => Selection::Entry(resolve(&request.what)?),
        })
    }

    async fn before_cherry_pick(
        &self,
        pick: &CherryPick,
        source: Option<&SharedSession>,
        cancel: &Cancel,
    ) -> Result<Gate> {
        if !self.hooks.wants(EVENT) {
            return Ok(Gate::default());
        }
        let payload = self.preparation(pick, source)?;
        let gate = self.hooks.gate(EVENT, &payload, cancel).await;
        self.report_hook_failures();
        Ok(gate)
    }

    fn preparation(&self, pick: &CherryPick, source: Option<&SharedSession>) -> Result<Json> {
        let here = self.session();
        let other = source.map(SharedSession::lock);
        Ok(json!({
            "type": EVENT,
            "preparation": {
                "targetLeafId": here.leaf_id().as_ref().map(EntryId::as_str),
                "sourceEntries": entries_json(other.as_deref().unwrap_or(&here), &pick.plan.selected)?,
                "mode": pick.request.mode.name(),
                "sourceSession": other.as_deref().map(session_json),
            },
        }))
    }

    /// Lets extensions change what was planned.
    fn changed_pick(
        &self,
        pick: CherryPick,
        source: Option<&SharedSession>,
        gate: &Gate,
    ) -> Result<CherryPick> {
        let mode = gate.text("mode").and_then(|name| CherryPickMode::from_name(&name));
        let mut pick = match mode.filter(|mode| *mode != pick.request.mode) {
            None => pick,
            Some(mode) => self.plan_cherry_pick(source, &CherryPickRequest { mode, ..pick.request })?,
        };
        if let Some(text) = gate.text("text") {
            pick.set_text(&text);
        }
        pick.plan.extra.extend(self.extra_entries(gate, EVENT));
        Ok(pick)
    }

    async fn append_pick(&mut self, pick: &CherryPick, cancel: &Cancel) -> Result<CherryPicked> {
        let entries = self.session().apply_pick(&pick.plan)?;
        self.session().barrier()?;
        let model = self.take_settings(&pick.plan);
        if self.hooks.wants("session_cherry_pick") {
            let payload = json!({
                "type": "session_cherry_pick",
                "mode": pick.request.mode.name(),
                "entries": self.appended_json(&entries)?,
            });
            self.tell("session_cherry_pick", &payload, cancel).await;
        }
        Ok(CherryPicked::Appended { entries, model })
    }

    /// Does as the copied settings say, as far as the agent can; gives the model that was named.
    #[must_use]
    pub(super) fn take_settings(&mut self, plan: &PickPlan) -> Option<ModelRef> {
        let mut named = None;
        for warning in &plan.warnings {
            match warning {
                PickWarning::SetsModel { model } => named = Some(model.clone()),
                PickWarning::SetsThinkingLevel { level } => {
                    let level = ThinkingLevel::from_name(level).unwrap_or_default();
                    self.think(self.model.as_ref().map_or(level, |model| model.spec().clamp(level)));
                }
                _ => {}
            }
        }
        named
    }

    async fn ask_again(&mut self, prompts: Vec<Message>, cancel: &Cancel) -> Result<CherryPicked> {
        let mut left = prompts.into_iter();
        let mut outcome = Outcome::Done;
        while outcome == Outcome::Done
            && let Some(prompt) = left.next()
        {
            outcome = self.prompt(vec![prompt], cancel).await?;
        }
        Ok(CherryPicked::Asked { outcome, left: left.collect() })
    }

    pub(super) fn appended_json(&self, entries: &[EntryId]) -> Result<Vec<Json>> {
        entries.iter().map(|id| entry_json(&self.session(), id)).collect()
    }
}

impl CherryPickRequest {
    fn to_engine(&self, selection: Selection) -> PickRequest {
        let (mode, is_copy) = match self.mode {
            CherryPickMode::Usual => (None, true),
            CherryPickMode::Quote => (Some(PickMode::Quote), true),
            CherryPickMode::Native => (Some(PickMode::Native), true),
            CherryPickMode::Prompt | CherryPickMode::Editor => (None, false),
        };
        PickRequest {
            mode,
            note: self.note.clone(),
            with_state: self.with_state,
            // Asking again, or changing a text, repeats nothing.
            allow_present: self.again || !is_copy,
            allow_again: self.again || !is_copy,
            ..PickRequest::new(selection)
        }
    }
}

/// Names a session for extensions.
pub(super) fn session_json(session: &Session) -> Json {
    json!({ "id": session.header().id(), "file": session.file().map(|file| file.to_string_lossy()) })
}
