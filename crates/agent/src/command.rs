//! The commands of the agent: everything besides prompts that users, scripts and extensions request.
//!
//! request -> **plan** -> (hooks, model, review) -> **apply**
//!
//! A plan is a value: it can be shown, tested and dropped, and making one changes nothing. Applying it runs the hooks
//! first. A command that is cancelled or fails has changed nothing. The engine decides which entries are moved to or
//! copied; this module never draws, reads keys or changes files of the project.

mod cherry_pick;
mod export_branch;
mod fork;
mod label;
mod merge;
mod moves;
mod replace;

use serde_json::Value as Json;
use session_tree::{Draft, EntryId, Error, Kind, Node, Session};

use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::error::Result;
use crate::event::AgentEvent;
use crate::hooks::{Gate, HookFailure};

pub use cherry_pick::{CherryPick, CherryPickRequest, CherryPicked};
pub use export_branch::{Export, ExportRequest, ExportScope};
pub use fork::{CloneAll, Fork, ForkRequest, Forked};
pub use label::{LabelPlan, LabelRequest, NamePlan};
pub use merge::{MergeBranchRequest, MergeDraft, MergeWith, MergedBranch};
pub(crate) use moves::is_picked_or_merged;
pub use moves::{History, MoveRequest, Pop, PopRequest};
pub use replace::{Import, NewRequest, Reload, ReloadFuture, Replaced, Replacement};

/// The result of a command that can be cancelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied<T> {
    /// The command is done.
    Done(T),
    /// The command was cancelled; nothing changed.
    Cancelled(CancelledBy),
}

/// The origin of a cancellation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CancelledBy {
    /// The user.
    User,
    /// The extension of this name.
    Hook(String),
}

impl<T> Applied<T> {
    /// Maps the result of a completed command.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Applied<U> {
        match self {
            Applied::Done(done) => Applied::Done(change(done)),
            Applied::Cancelled(by) => Applied::Cancelled(by),
        }
    }

    /// Returns the result of a completed command.
    pub fn done(self) -> Option<T> {
        match self {
            Applied::Done(done) => Some(done),
            Applied::Cancelled(_) => None,
        }
    }

    /// Returns the origin of the cancellation, if the command was cancelled.
    pub fn cancelled_by(&self) -> Option<&CancelledBy> {
        match self {
            Applied::Done(_) => None,
            Applied::Cancelled(by) => Some(by),
        }
    }
}

/// The session that a plan was made for. Forks keep the ids of entries, so an id alone does not identify it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedIn(String);

impl PlannedIn {
    pub(crate) fn of(session: &Session) -> Self {
        PlannedIn(session.header().id().into_owned())
    }

    /// Refuses a plan that was made for another session.
    pub(crate) fn check(&self, session: &Session) -> Result<()> {
        match self.0 == session.header().id() {
            true => Ok(()),
            false => Err(Error::StalePlan.into()),
        }
    }
}

/// Finds the entry that a reference names; `-` is the previous position.
pub(crate) fn resolve(session: &Session, reference: &str, previous: Option<&EntryId>) -> Result<Node> {
    let previous = previous.and_then(|id| session.tree().node(id.as_str()));
    Ok(session_view::resolve_from(session, reference, previous)?)
}

impl Agent {
    /// Finds the entry that a reference names; `-` is the previous position of the leaf.
    pub fn resolve(&self, reference: &str) -> Result<Node> {
        let previous = self.history.behind().last().and_then(Option::as_ref);
        resolve(&self.session(), reference, previous)
    }

    /// Returns the earlier positions of the leaf.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Writes the position of the leaf to the file, if a reader would find another one.
    ///
    /// A move alone writes nothing: front ends call this some seconds after the last move, and before they quit.
    pub fn keep_position(&mut self) -> Result<Option<EntryId>> {
        Ok(self.session().mark_leaf()?)
    }

    /// Resolves a reference to the id of its entry.
    pub(crate) fn resolve_id(&self, reference: &str) -> Result<EntryId> {
        let node = self.resolve(reference)?;
        Ok(self.session().tree().id(node))
    }

    /// Returns the tokens that the model has room for; none if no model is chosen.
    pub(crate) fn free_tokens(&self) -> Result<Option<u64>> {
        let Some(model) = &self.model else { return Ok(None) };
        let used = self.projected_tokens()?;
        Ok(Some(model.spec().context_window.saturating_sub(used)))
    }

    /// Reports failed extensions to subscribers.
    pub(crate) fn report_hook_failures(&self) {
        for failure in self.hooks.take_failures() {
            self.events.emit(AgentEvent::HookFailed(failure));
        }
    }

    /// Runs the hook before a command.
    pub(crate) async fn gate(
        &self,
        event: &'static str,
        payload: impl FnOnce() -> Result<Json>,
        cancel: &Cancel,
    ) -> Result<Applied<Gate>> {
        let mut gate = Gate::default();
        if self.hooks.wants(event) {
            let mut payload = payload()?;
            payload["type"] = event.into();
            gate = self.hooks.gate(event, &payload, cancel).await;
            self.report_hook_failures();
        }
        Ok(match gate.cancelled_by {
            Some(name) => Applied::Cancelled(CancelledBy::Hook(name)),
            None if cancel.is_cancelled() => Applied::Cancelled(CancelledBy::User),
            None => Applied::Done(gate),
        })
    }

    /// Returns the entries that extensions want to append as well. Invalid ones are reported and skipped.
    pub(crate) fn extra_entries(&self, gate: &Gate, event: &str) -> Vec<Draft> {
        let wanted = gate.get("extraEntries").and_then(Json::as_array).into_iter().flatten();
        let mut drafts = Vec::new();
        for value in wanted {
            match extra_entry(value) {
                Ok(draft) => drafts.push(draft),
                Err(message) => {
                    let (handler, event) = ("extraEntries".to_owned(), event.to_owned());
                    self.events.emit(AgentEvent::HookFailed(HookFailure { handler, event, message }));
                }
            }
        }
        drafts
    }
}

/// Returns an entry in the shape that extensions see; null if it cannot be read.
pub(crate) fn entry_json(session: &Session, id: &EntryId) -> Json {
    session.tree().node(id.as_str()).map(|node| entry_at_json(session, node)).unwrap_or_default()
}

/// Returns an entry of the tree in the shape that extensions see; null if it cannot be read.
pub(crate) fn entry_at_json(session: &Session, node: Node) -> Json {
    let entry = session.entry_at(node).ok();
    entry.and_then(|entry| entry.value().and_then(|value| value.to_serde())).unwrap_or_default()
}

/// Returns entries in the shape that extensions see.
pub(crate) fn entries_json(session: &Session, nodes: &[Node]) -> Result<Vec<Json>> {
    let mut entries = Vec::with_capacity(nodes.len());
    for node in nodes {
        entries.extend(session.entry_at(*node)?.value().and_then(|value| value.to_serde()));
    }
    Ok(entries)
}

/// Parses an entry of an extension: custom state or a custom message.
fn extra_entry(value: &Json) -> std::result::Result<Draft, String> {
    let draft = Draft::parse(value.to_string()).map_err(|error| error.to_string())?;
    match draft.kind() {
        Kind::Custom | Kind::CustomMessage => Ok(draft),
        kind => Err(format!("`{}` is not an entry of an extension", kind.name().unwrap_or("?"))),
    }
}
