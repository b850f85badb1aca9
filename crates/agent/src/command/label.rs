//! `/label`, `/push` and `/name`: names of entries and of the session.

use serde_json::json;
use session_tree::{EntryId, Node, Role, push_label, spelled_name};

use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::error::{AgentError, Result};
use crate::event::AgentEvent;

/// Which entry to label, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelRequest {
    /// A reference to the entry; without one, the answer to the last prompt.
    pub target: Option<String>,
    /// The label; none, or a blank one, takes it off.
    pub label: Option<String>,
}

/// What a label command would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelPlan {
    /// The entry.
    pub target: EntryId,
    /// The label it would have.
    pub label: Option<String>,
    /// The label it has.
    pub previous: Option<String>,
}

impl LabelPlan {
    /// Tells whether the entry has this label already.
    pub fn is_noop(&self) -> bool {
        self.label == self.previous
    }
}

/// What a name command would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePlan {
    /// The name the session would have.
    pub name: Option<String>,
    /// The name it has.
    pub previous: Option<String>,
}

impl NamePlan {
    /// Tells whether the session has this name already.
    pub fn is_noop(&self) -> bool {
        self.name == self.previous
    }
}

impl Agent {
    /// Plans to label an entry. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingToLabel`] if no entry is named and there is none on the path.
    pub fn plan_label(&self, request: &LabelRequest) -> Result<LabelPlan> {
        let node = match request.target.as_deref().map(str::trim) {
            // The leaf may be a label or a setting; who says `leaf` means what was said last.
            Some("leaf" | ".") => self.said_last().ok_or(AgentError::NothingToLabel)?,
            Some(reference) => self.resolve(reference)?,
            None => self.last_answer().or_else(|| self.said_last()).ok_or(AgentError::NothingToLabel)?,
        };
        Ok(self.label_plan(node, request.label.as_deref()))
    }

    /// Plans to remember the leaf as a place for `/pop`: a label for [`Agent::label`]. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingToLabel`] if nothing was said yet.
    pub fn plan_push(&self, name: &str) -> Result<LabelPlan> {
        let node = self.said_last().ok_or(AgentError::NothingToLabel)?;
        Ok(self.label_plan(node, Some(&push_label(name))))
    }

    /// Labels an entry as planned. Returns the new entry, or none if there is nothing to change.
    pub async fn label(&mut self, plan: &LabelPlan, cancel: &Cancel) -> Result<Option<EntryId>> {
        if plan.is_noop() {
            return Ok(None);
        }
        let id = self.session().append_label_change(plan.target.as_str(), plan.label.as_deref())?;
        self.session().sync()?;
        let (entry, label) = (plan.target.clone(), plan.label.clone());
        self.events.emit(AgentEvent::LabelChanged { entry, label });
        self.tell_label(&plan.target, plan.label.as_deref(), plan.previous.as_deref(), cancel).await;
        self.tell_news(cancel).await;
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

    /// Tells extensions that a label changed.
    pub(crate) async fn tell_label(
        &self,
        target: &EntryId,
        label: Option<&str>,
        previous: Option<&str>,
        cancel: &Cancel,
    ) {
        let payload = || json!({"targetId": target.as_str(), "label": label, "previous": previous});
        self.tell_of("session_label", payload, cancel).await;
    }

    /// Returns the leaf, or what was said before it if it only keeps books.
    pub(super) fn said_last(&self) -> Option<Node> {
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

    /// Plans to name the session, spelled as files spell names; no name, or a blank one, takes it away. Changes nothing.
    pub fn plan_name(&self, name: Option<&str>) -> NamePlan {
        NamePlan { name: name.and_then(spelled_name), previous: self.session().name().map(str::to_owned) }
    }

    /// Names the session as planned. Returns the new entry, or none if there is nothing to change.
    pub async fn name_session(&mut self, plan: &NamePlan, cancel: &Cancel) -> Result<Option<EntryId>> {
        if plan.is_noop() {
            return Ok(None);
        }
        let id = self.session().append_session_info(plan.name.as_deref().unwrap_or_default())?;
        self.session().sync()?;
        self.events.emit(AgentEvent::NameChanged { name: plan.name.clone() });
        self.tell_name(plan.name.as_deref(), cancel).await;
        self.tell_news(cancel).await;
        Ok(Some(id))
    }

    /// Tells extensions that the session has another name.
    pub(crate) async fn tell_name(&self, name: Option<&str>, cancel: &Cancel) {
        self.tell_of("session_info_changed", || json!({"name": name}), cancel).await;
    }
}
