//! Telling what happens: whoever watches first, then extensions.

use serde_json::{Value as Json, json};
use session_tree::{EntryId, Message, Role};

use super::Agent;
use crate::cancel::Cancel;
use crate::error::Result;
use crate::event::{AgentEvent, answer_name};
use crate::handle;
use crate::model::{Answer, AnswerEvent, ModelSpec};
use crate::turn::Outcome;

/// What was said since the work on a prompt began.
#[derive(Debug, Default)]
pub(super) struct Said {
    messages: Vec<Message>,
    turns: u32,
    /// The answer of the turn that is going on, and the results of its tools.
    answer: Option<Message>,
    results: Vec<Message>,
}

impl Agent {
    /// Tells whoever watches, then extensions.
    pub(super) async fn announce(&self, event: AgentEvent, cancel: &Cancel) {
        let name = event.name();
        let payload = self.hooks.wants(name).then(|| event.to_json());
        self.watcher.tell(event);
        if let Some(payload) = payload {
            self.tell(name, &payload, cancel).await;
        }
    }

    /// Tells that work on a prompt is over, with all that was said.
    pub(super) async fn tell_end_of_work(&mut self, outcome: &Outcome, cancel: &Cancel) {
        let said = std::mem::take(&mut self.said);
        if self.hooks.wants("agent_end") {
            let mut payload = AgentEvent::AgentEnd(outcome.clone()).to_json();
            payload["messages"] = messages_json(&said.messages);
            self.tell("agent_end", &payload, cancel).await;
        }
        self.watcher.tell(AgentEvent::AgentEnd(outcome.clone()));
        if self.hooks.wants("agent_settled") {
            let aborted = *outcome == Outcome::Aborted;
            let payload = json!({"type": "agent_settled", "aborted": aborted});
            self.tell("agent_settled", &payload, cancel).await;
        }
    }

    /// Tells that the model is asked.
    pub(super) async fn tell_turn_start(&mut self, cancel: &Cancel) {
        let (index, time) = (self.said.turns, self.session().now());
        self.said.turns += 1;
        self.announce(AgentEvent::TurnStart { index, time }, cancel).await;
    }

    /// Tells that the model has answered and its tools are done.
    pub(super) async fn tell_turn_end(&mut self, cancel: &Cancel) {
        let Some(message) = self.said.answer.take() else { return };
        let results = std::mem::take(&mut self.said.results);
        let index = self.said.turns.saturating_sub(1);
        self.announce(AgentEvent::TurnEnd { index, message, results }, cancel).await;
    }

    /// Appends a message. Extensions may change what it says, not who says it.
    pub(super) async fn append(&mut self, message: Message, cancel: &Cancel) -> Result<EntryId> {
        let is_answer = message.role() == Role::Assistant;
        if !is_answer && self.hooks.wants("message_start") {
            let payload = json!({"type": "message_start", "message": message.value().to_serde()});
            self.tell("message_start", &payload, cancel).await;
        }
        let message = self.changed_at_end(message, cancel).await;
        let id = handle::append(&mut self.session(), &message)?;
        self.said.take(&message);
        self.watcher.tell(AgentEvent::Message { id: id.clone(), message });
        Ok(id)
    }

    async fn changed_at_end(&self, message: Message, cancel: &Cancel) -> Message {
        if !self.hooks.wants("message_end") {
            return message;
        }
        let payload = json!({"type": "message_end", "message": message.value().to_serde()});
        // A message that was stopped is told too: its sender has a right to know.
        let told = Cancel::new();
        let cancel = if cancel.is_cancelled() { &told } else { cancel };
        let answer = self.hooks.chain("message_end", payload, cancel).await;
        let changed = Message::from_value(&answer["message"]).ok();
        changed.filter(|changed| changed.role() == message.role()).unwrap_or(message)
    }

    /// Tells extensions how an answer grows.
    pub(super) async fn tell_growth(
        &self,
        answer: &Answer,
        event: &AnswerEvent,
        spec: &ModelSpec,
        cancel: &Cancel,
    ) {
        let name = answer_name(event);
        if self.hooks.wants(name) {
            let mut payload = AgentEvent::Answer(event.clone()).to_json();
            let so_far = answer.clone().into_message(spec, self.session().now());
            payload["message"] = so_far.value().to_serde().unwrap_or_default();
            self.tell(name, &payload, cancel).await;
        }
    }
}

impl Said {
    fn take(&mut self, message: &Message) {
        self.messages.push(message.clone());
        match message.role() {
            Role::Assistant => self.answer = Some(message.clone()),
            Role::ToolResult => self.results.push(message.clone()),
            _ => {}
        }
    }
}

fn messages_json(messages: &[Message]) -> Json {
    messages.iter().filter_map(|message| message.value().to_serde()).collect()
}
