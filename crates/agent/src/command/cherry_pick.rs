//! `/cherry-pick`: copies entries of another branch, or of another session, under the leaf.
//!
//! selection -> **plan** -> `session_before_cherry_pick` -> entries -> `session_cherry_pick`
//!
//! The engine decides which entries are copied, and how. Copied tool calls are never run.

use serde_json::{Value as Json, json};
use session_tree::cherry_pick::{PickMode, PickPlan, PickRequest, PickWarning, Selection};
use session_tree::{EntryId, ModelRef, Node, Session};

use super::{Applied, PlannedIn, entries_json, entry_json};
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::error::Result;
use crate::model::ThinkingLevel;
use crate::shared::SharedSession;

const EVENT: &str = "session_before_cherry_pick";

/// A request to copy entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CherryPickRequest {
    /// A reference to an entry of the source, or `REF..REF` for the entries below the first down to the second.
    pub what: String,
    /// True to copy the whole turn that the entry belongs to.
    pub turn: bool,
    /// True to copy all entries with their own type. Otherwise prompts are copied as they are and everything else is
    /// quoted under a line that names the origin.
    pub native: bool,
    /// The reason, for readers of the session. It is not part of the context.
    pub note: Option<String>,
    /// True to copy state of extensions too.
    pub with_state: bool,
    /// True to copy entries that are on this branch already, or were picked before.
    pub again: bool,
}

impl CherryPickRequest {
    /// Returns the name of the mode that extensions use.
    pub fn mode(&self) -> &'static str {
        if self.native { PickMode::Native.name() } else { PickMode::Quote.name() }
    }
}

/// A planned cherry-pick.
#[derive(Debug, Clone)]
pub struct CherryPick {
    /// The request.
    pub request: CherryPickRequest,
    /// The entries that would be appended.
    pub plan: PickPlan,
    /// Warnings to show before the pick is applied.
    pub warnings: Vec<String>,
    /// The other session that the entries come from; none if it is this one.
    pub source: Option<SharedSession>,
    planned_in: PlannedIn,
}

/// The result of a cherry-pick.
#[derive(Debug, Clone)]
pub struct CherryPicked {
    /// The new entries.
    pub entries: Vec<EntryId>,
    /// The model that this branch names now; a front end that has it may choose it.
    pub model: Option<ModelRef>,
}

impl CherryPick {
    /// Replaces the text of a quote, first line included.
    ///
    /// If several quotes are planned, the first one gets the text and the others are left out.
    pub fn set_text(&mut self, text: &str) {
        let mut is_set = false;
        self.plan.items.retain_mut(|item| match item.mode() {
            PickMode::Quote if is_set => false,
            PickMode::Quote => {
                is_set = item.set_text(text);
                true
            }
            PickMode::Native => true,
        });
    }
}

impl Agent {
    /// Plans to copy entries of this session, or of another one. Changes nothing.
    pub fn plan_cherry_pick(
        &self,
        source: Option<&SharedSession>,
        request: &CherryPickRequest,
    ) -> Result<CherryPick> {
        let selection = match request.what.split_once("..") {
            Some((after, to)) => {
                Selection::Range { after: self.resolve_in(source, after)?, to: self.resolve_in(source, to)? }
            }
            None if request.turn => Selection::Turn(self.resolve_in(source, &request.what)?),
            None => Selection::Entry(self.resolve_in(source, &request.what)?),
        };
        let to_engine = PickRequest {
            mode: request.native.then_some(PickMode::Native),
            note: request.note.clone(),
            with_state: request.with_state,
            allow_present: request.again,
            allow_again: request.again,
            ..PickRequest::new(selection)
        };
        let plan = self.with_source(source, |here, there| Ok(here.plan_pick(there, &to_engine)?))?;
        Ok(CherryPick {
            warnings: self.pick_warnings(&plan)?,
            plan,
            request: request.clone(),
            source: source.cloned(),
            planned_in: PlannedIn::of(&self.session()),
        })
    }

    fn pick_warnings(&self, plan: &PickPlan) -> Result<Vec<String>> {
        let mut warnings: Vec<String> = plan.warnings.iter().map(ToString::to_string).collect();
        if self.free_tokens()?.is_some_and(|free| plan.tokens() > free / 4) {
            warnings.push("the copy takes more than a quarter of the free context".to_owned());
        }
        let reads_images = self.model.as_ref().is_none_or(|model| model.spec().reads_images);
        let has_images = plan.warnings.iter().any(|warning| matches!(warning, PickWarning::Images { .. }));
        if has_images && !reads_images {
            warnings.push("this model does not read images".to_owned());
        }
        Ok(warnings)
    }

    /// Copies the planned entries.
    pub async fn cherry_pick(
        &mut self,
        mut pick: CherryPick,
        cancel: &Cancel,
    ) -> Result<Applied<CherryPicked>> {
        pick.planned_in.check(&self.session())?;
        let gate = match self.gate(EVENT, || self.pick_preparation(&pick), cancel).await? {
            Applied::Done(gate) => gate,
            Applied::Cancelled(by) => return Ok(Applied::Cancelled(by)),
        };
        let native = gate.text("mode").map_or(pick.request.native, |mode| mode == PickMode::Native.name());
        if native != pick.request.native {
            let request = CherryPickRequest { native, ..pick.request };
            pick = self.plan_cherry_pick(pick.source.as_ref(), &request)?;
        }
        if let Some(text) = gate.text("text") {
            pick.set_text(&text);
        }
        pick.plan.extra.extend(self.extra_entries(&gate, EVENT));
        let entries = self.session().apply_pick(&pick.plan)?;
        self.session().sync()?;
        let model = self.apply_copied_settings(&pick.plan);
        let payload = || json!({"mode": pick.request.mode(), "entries": self.appended_json(&entries)});
        self.notify_with("session_cherry_pick", payload, cancel).await;
        self.notify_new_entries(cancel).await;
        Ok(Applied::Done(CherryPicked { entries, model }))
    }

    fn pick_preparation(&self, pick: &CherryPick) -> Result<Json> {
        self.with_source(pick.source.as_ref(), |here, there| {
            Ok(json!({
                "preparation": {
                    "targetLeafId": here.leaf_id().as_ref().map(EntryId::as_str),
                    "sourceEntries": entries_json(there, &pick.plan.selected)?,
                    "mode": pick.request.mode(),
                    "sourceSession": pick.source.is_some().then(|| session_json(there)),
                },
            }))
        })
    }

    /// Applies a copied thinking level; returns the model that was copied.
    fn apply_copied_settings(&mut self, plan: &PickPlan) -> Option<ModelRef> {
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

    pub(super) fn appended_json(&self, entries: &[EntryId]) -> Vec<Json> {
        entries.iter().map(|id| entry_json(&self.session(), id)).collect()
    }

    /// Finds the entry that a reference names in another session, or in this one.
    pub(super) fn resolve_in(&self, source: Option<&SharedSession>, reference: &str) -> Result<Node> {
        match source {
            Some(source) => Ok(session_view::resolve(&source.lock(), reference)?),
            None => self.resolve(reference),
        }
    }

    /// Runs a step on this session and the one that entries come from, which may be the same.
    pub(super) fn with_source<T>(
        &self,
        source: Option<&SharedSession>,
        step: impl FnOnce(&Session, &Session) -> Result<T>,
    ) -> Result<T> {
        let here = self.session();
        let other = source.map(SharedSession::lock);
        step(&here, other.as_deref().unwrap_or(&here))
    }
}

/// Names a session for extensions.
pub(super) fn session_json(session: &Session) -> Json {
    json!({ "id": session.header().id(), "file": session.file().map(|file| file.to_string_lossy()) })
}
