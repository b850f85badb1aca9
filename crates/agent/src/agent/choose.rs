//! Choosing a model and how hard it thinks. The session keeps the choice, and extensions are told of it.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use session_tree::{EntryId, Kind, Node, Position};

use super::Agent;
use crate::error::Result;
use crate::event::AgentEvent;
use crate::model::{Model, ModelSpec, ThinkingLevel};

/// How a model came to be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenBy {
    /// Somebody named it.
    Name,
    /// Somebody went on to the next one.
    Cycling,
}

impl Agent {
    /// Chooses another model and writes so into the session.
    pub fn choose_model(&mut self, model: Arc<dyn Model>) -> Result<EntryId> {
        self.choose_model_by(model, ChosenBy::Name)
    }

    /// Chooses another model, tells how it came to be chosen, and writes so into the session.
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

    /// Uses a model that the session names already. Nothing is written: see [`Agent::choose_model`].
    pub fn restore_model(&mut self, model: Arc<dyn Model>, thinking: ThinkingLevel) {
        self.use_model(model, thinking, "restore");
    }

    /// Returns how hard a model should think as the path says, if it says anything; the model may be able to do less.
    pub fn said_thinking(&self) -> Option<ThinkingLevel> {
        let session = self.session();
        let path = session.branch_path(Position::Leaf);
        let is_said = |node: &Node| session.tree().kind(*node) == Kind::ThinkingLevelChange;
        let context = path.iter().any(is_said).then(|| session.context().ok())??;
        ThinkingLevel::from_name(&context.thinking_level)
    }

    /// Chooses how hard the model thinks and writes so into the session.
    pub fn choose_thinking(&mut self, level: ThinkingLevel) -> Result<EntryId> {
        let level = self.model.as_ref().map_or(level, |model| model.spec().clamp(level));
        let id = self.write_thinking(level)?;
        self.think(level);
        Ok(id)
    }

    /// Writes into the session which model answers and how hard it thinks, if the path says otherwise.
    ///
    /// Front ends call it before they send what somebody said, so that looking at a session writes nothing.
    pub fn keep_choice(&mut self) -> Result<()> {
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
            self.tell_when_idle("model_select", || {
                json!({
                    "type": "model_select", "model": spec.to_json(),
                    "previousModel": previous.as_ref().map(ModelSpec::to_json), "source": source,
                })
            });
        }
        self.think(spec.clamp(thinking));
    }

    /// Thinks this hard from now on.
    pub(crate) fn think(&mut self, level: ThinkingLevel) {
        let previous = std::mem::replace(&mut self.thinking, level);
        self.publish_state();
        if previous != level {
            self.events.emit(AgentEvent::ThinkingChanged { level });
            self.tell_when_idle("thinking_level_select", || {
                json!({
                    "type": "thinking_level_select", "level": level.name(), "previousLevel": previous.name(),
                })
            });
        }
    }

    /// Lets extensions be told of something as soon as there is time.
    fn tell_when_idle(&self, event: &'static str, payload: impl FnOnce() -> Json) {
        if self.hooks.wants(event) {
            let payload = payload();
            self.handle().when_idle(move |agent, cancel| {
                Box::pin(async move { agent.tell(event, &payload, cancel).await })
            });
        }
    }

    /// Names the model for extensions.
    pub(super) fn model_json(&self) -> Option<Json> {
        self.model.as_ref().map(|model| model.spec().to_json())
    }
}
