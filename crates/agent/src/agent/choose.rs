//! Sets the model and its thinking level. The choice is stored in the session and reported to extensions.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use session_tree::{EntryId, Kind, Node, Position};

use super::Agent;
use crate::error::Result;
use crate::event::AgentEvent;
use crate::model::{Model, ModelSpec, ThinkingLevel};

/// How a model was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenBy {
    /// By its name.
    Name,
    /// By cycling to the next one.
    Cycling,
}

impl Agent {
    /// Sets the model and stores the choice in the session.
    pub fn choose_model(&mut self, model: Arc<dyn Model>) -> Result<EntryId> {
        self.choose_model_by(model, ChosenBy::Name)
    }

    /// Sets the model, stores the choice in the session and reports how it was made.
    pub fn choose_model_by(&mut self, model: Arc<dyn Model>, by: ChosenBy) -> Result<EntryId> {
        let id = self.write_model(model.spec())?;
        let source = match by {
            ChosenBy::Name => "set",
            ChosenBy::Cycling => "cycle",
        };
        let thinking = model.spec().clamp(self.thinking);
        self.use_model(model, thinking, source);
        Ok(id)
    }

    /// Uses the model that the session already names. Writes nothing; see [`Agent::choose_model`].
    pub fn restore_model(&mut self, model: Arc<dyn Model>, thinking: ThinkingLevel) {
        self.use_model(model, thinking, "restore");
    }

    /// Returns the thinking level stored on the path, if any. The model may support less.
    pub fn stored_thinking(&self) -> Option<ThinkingLevel> {
        let session = self.session();
        let path = session.branch_path(Position::Leaf);
        let is_said = |node: &Node| session.tree().kind(*node) == Kind::ThinkingLevelChange;
        let context = path.iter().any(is_said).then(|| session.context().ok())??;
        ThinkingLevel::from_name(&context.thinking_level)
    }

    /// Sets the thinking level and stores it in the session.
    pub fn choose_thinking(&mut self, level: ThinkingLevel) -> Result<EntryId> {
        let level = self.model.as_ref().map_or(level, |model| model.spec().clamp(level));
        let id = self.write_thinking(level)?;
        self.think(level);
        Ok(id)
    }

    /// Stores the model and the thinking level in the session if the path names others.
    ///
    /// Front ends call this before they send a prompt, so that looking at a session writes nothing.
    pub fn store_choice(&mut self) -> Result<()> {
        let Some(model) = self.model.clone() else { return Ok(()) };
        let context = self.session().context()?;
        let said = context.model.map(|said| (said.provider, said.model_id));
        if said != Some((model.spec().provider.clone(), model.spec().id.clone())) {
            self.write_model(model.spec())?;
        }
        if context.thinking_level != self.thinking.name() {
            self.write_thinking(self.thinking)?;
        }
        Ok(())
    }

    fn write_model(&self, spec: &ModelSpec) -> Result<EntryId> {
        Ok(self.session().append_model_change(&spec.provider, &spec.id)?)
    }

    fn write_thinking(&self, level: ThinkingLevel) -> Result<EntryId> {
        Ok(self.session().append_thinking_level_change(level.name())?)
    }

    fn use_model(&mut self, model: Arc<dyn Model>, thinking: ThinkingLevel, source: &'static str) {
        let spec = model.spec().clone();
        let previous = self.model.replace(model).map(|previous| previous.spec().clone());
        self.publish_state();
        if previous.as_ref() != Some(&spec) {
            self.notify_when_idle("model_select", || {
                json!({
                    "type": "model_select", "model": spec.to_json(),
                    "previousModel": previous.as_ref().map(ModelSpec::to_json), "source": source,
                })
            });
        }
        self.think(spec.clamp(thinking));
    }

    /// Sets the thinking level.
    pub(crate) fn think(&mut self, level: ThinkingLevel) {
        let previous = std::mem::replace(&mut self.thinking, level);
        self.publish_state();
        if previous != level {
            self.events.emit(AgentEvent::ThinkingChanged { level });
            self.notify_when_idle("thinking_level_select", || {
                json!({
                    "type": "thinking_level_select", "level": level.name(), "previousLevel": previous.name(),
                })
            });
        }
    }

    /// Reports an event to extensions as soon as the agent is idle.
    fn notify_when_idle(&self, event: &'static str, payload: impl FnOnce() -> Json) {
        if self.hooks.wants(event) {
            let payload = payload();
            self.handle().when_idle(move |agent, cancel| {
                Box::pin(async move { agent.notify(event, &payload, cancel).await })
            });
        }
    }

    /// Returns the model in the shape that extensions see.
    pub(super) fn model_json(&self) -> Option<Json> {
        self.model.as_ref().map(|model| model.spec().to_json())
    }
}
