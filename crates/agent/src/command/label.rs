//! `/label`, `/push`, `/name` and `/note`: set labels of entries, the name of the session, and notes.

use serde_json::json;
use session_tree::{EntryId, Node, Role, push_label, spelled_name};

use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::error::{AgentError, Result};
use crate::event::AgentEvent;
use crate::handle::CustomMessage;

/// The `customType` of a note.
const NOTE: &str = "offshoot.note";

/// A request to label an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelRequest {
    /// A reference to the entry. The default is the answer to the last prompt.
    pub target: Option<String>,
    /// The label. None or a blank label removes it.
    pub label: Option<String>,
}

/// A planned label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelPlan {
    /// The entry.
    pub target: EntryId,
    /// The new label.
    pub label: Option<String>,
    /// The current label.
    pub previous: Option<String>,
}

impl LabelPlan {
    /// Returns true if the entry already has this label.
    pub fn is_noop(&self) -> bool {
        self.label == self.previous
    }
}

/// A planned session name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePlan {
    /// The new name.
    pub name: Option<String>,
    /// The current name.
    pub previous: Option<String>,
}

impl NamePlan {
    /// Returns true if the session already has this name.
    pub fn is_noop(&self) -> bool {
        self.name == self.previous
    }
}

impl Agent {
    /// Plans to label an entry. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingToLabel`] if no entry is named and the path has no answer.
    pub fn plan_label(&self, request: &LabelRequest) -> Result<LabelPlan> {
        let node = match request.target.as_deref().map(str::trim) {
            // The leaf may be a label or a setting; `leaf` means the last conversational entry.
            Some("leaf" | ".") => self.last_conversational().ok_or(AgentError::NothingToLabel)?,
            Some(reference) => self.resolve(reference)?,
            None => {
                self.last_answer().or_else(|| self.last_conversational()).ok_or(AgentError::NothingToLabel)?
            }
        };
        Ok(self.label_plan(node, request.label.as_deref()))
    }

    /// Plans a label that marks the leaf as the target of `/pop`. Changes nothing; see [`Agent::label`].
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingToLabel`] if the path has no conversational entry.
    pub fn plan_push(&self, name: &str) -> Result<LabelPlan> {
        let node = self.last_conversational().ok_or(AgentError::NothingToLabel)?;
        Ok(self.label_plan(node, Some(&push_label(name))))
    }

    /// Sets a label as planned. Returns the new entry, or `None` if nothing changes.
    pub async fn label(&mut self, plan: &LabelPlan, cancel: &Cancel) -> Result<Option<EntryId>> {
        if plan.is_noop() {
            return Ok(None);
        }
        let id = self.session().append_label_change(plan.target.as_str(), plan.label.as_deref())?;
        self.session().sync()?;
        let (entry, label) = (plan.target.clone(), plan.label.clone());
        self.events.emit(AgentEvent::LabelChanged { entry, label });
        self.notify_label(&plan.target, plan.label.as_deref(), plan.previous.as_deref(), cancel).await;
        self.notify_new_entries(cancel).await;
        Ok(Some(id))
    }

    fn label_plan(&self, node: Node, label: Option<&str>) -> LabelPlan {
        let session = self.session();
        LabelPlan {
            target: session.tree().id(node),
            label: label.map(str::trim).filter(|label| !label.is_empty()).map(str::to_owned),
            previous: session.label(node).map(|label| label.text.clone()),
        }
    }

    /// Reports a changed label to extensions.
    pub(crate) async fn notify_label(
        &self,
        target: &EntryId,
        label: Option<&str>,
        previous: Option<&str>,
        cancel: &Cancel,
    ) {
        let payload = || json!({"targetId": target.as_str(), "label": label, "previous": previous});
        self.notify_with("session_label", payload, cancel).await;
    }

    /// Returns the leaf, or the conversational entry before it if the leaf is a bookkeeping entry.
    pub(super) fn last_conversational(&self) -> Option<Node> {
        let session = self.session();
        session.leaf().and_then(|leaf| session.tree().nearest_conversational(leaf))
    }

    /// Returns the answer to the last prompt of the path.
    fn last_answer(&self) -> Option<Node> {
        let session = self.session();
        let tree = session.tree();
        let turn = tree.ancestors(session.leaf()?);
        let mut turn = turn.take_while(|node| tree.role(*node) != Some(Role::User));
        turn.find(|node| tree.role(*node) == Some(Role::Assistant))
    }

    /// Plans a session name. None or a blank name removes it. Changes nothing.
    pub fn plan_name(&self, name: Option<&str>) -> NamePlan {
        NamePlan { name: name.and_then(spelled_name), previous: self.session().name().map(str::to_owned) }
    }

    /// Names the session as planned. Returns the new entry, or `None` if nothing changes.
    pub async fn name_session(&mut self, plan: &NamePlan, cancel: &Cancel) -> Result<Option<EntryId>> {
        if plan.is_noop() {
            return Ok(None);
        }
        let id = self.session().append_session_info(plan.name.as_deref().unwrap_or_default())?;
        self.session().sync()?;
        self.events.emit(AgentEvent::NameChanged { name: plan.name.clone() });
        self.notify_name(plan.name.as_deref(), cancel).await;
        self.notify_new_entries(cancel).await;
        Ok(Some(id))
    }

    /// Appends a note at the leaf; models read it, and people see it. Returns the new entry.
    ///
    /// # Errors
    ///
    /// [`AgentError::EmptyNote`] if the text is blank.
    pub async fn note(&mut self, text: &str, cancel: &Cancel) -> Result<EntryId> {
        if text.trim().is_empty() {
            return Err(AgentError::EmptyNote);
        }
        let message = CustomMessage::text(NOTE, text).to_message(self.session().now())?;
        let id = self.session().append(&message)?;
        self.session().sync()?;
        self.events.emit(AgentEvent::Message { id: id.clone(), message });
        self.notify_new_entries(cancel).await;
        Ok(id)
    }

    /// Reports a new session name to extensions.
    pub(crate) async fn notify_name(&self, name: Option<&str>, cancel: &Cancel) {
        self.notify_with("session_info_changed", || json!({"name": name}), cancel).await;
    }
}
