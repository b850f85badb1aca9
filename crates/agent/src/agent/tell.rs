//! Telling what happens: whoever watches first, then extensions.
//!
//! Who stops the work does not keep extensions from hearing of what has happened; they get little time then.

use std::time::Duration;

use serde_json::{Value as Json, json};
use session_tree::{Draft, EntryId, Message, Role};

use super::Agent;
use super::boundary::outcome_of;
use crate::cancel::Cancel;
use crate::command::entry_at_json;
use crate::error::Result;
use crate::event::{AgentEvent, answer_name};
use crate::model::{Answer, AnswerEvent, ModelSpec};
use crate::turn::Outcome;

/// What was said since the work on a prompt began.
#[derive(Debug, Default)]
pub(super) struct Said {
    messages: Vec<Message>,
    turns: u32,
    /// The entry that the answer of the model becomes, once it is asked.
    next_answer: Option<EntryId>,
    /// The answer of the turn that is going on, and the results of its tools.
    answer: Option<(EntryId, Message)>,
    results: Vec<(EntryId, Message)>,
}

/// How long extensions may take to hear of something, all together, once somebody does not want to wait.
const PATIENCE: Duration = Duration::from_secs(5);

impl Agent {
    /// Tells whoever watches, then extensions.
    pub(super) async fn announce(&self, event: AgentEvent, cancel: &Cancel) {
        self.announce_with(event, |_| {}, cancel).await;
    }

    /// Tells whoever watches, then extensions, who hear more of it.
    pub(super) async fn announce_with(
        &self,
        event: AgentEvent,
        add: impl FnOnce(&mut Json),
        cancel: &Cancel,
    ) {
        let name = event.name();
        let payload = self.hooks.wants(name).then(|| event.to_json());
        self.events.emit(event);
        cancel.unless_cancelled(self.events.room()).await;
        if let Some(mut payload) = payload {
            add(&mut payload);
            self.tell(name, &payload, cancel).await;
        }
    }

    /// Lets extensions hear of something that has happened. They get a signal of their own, which is used when there
    /// is no more time; none if they were not done by then.
    pub(super) async fn patiently<T>(
        &self,
        work: impl AsyncFnOnce(&Cancel) -> T,
        cancel: &Cancel,
    ) -> Option<T> {
        let own = Cancel::new();
        let patience = async {
            cancel.cancelled().await;
            tokio::time::sleep(PATIENCE).await;
        };
        tokio::select! {
            biased;
            done = work(&own) => Some(done),
            () = patience => {
                own.cancel();
                None
            }
        }
    }

    /// Tells extensions of something that has happened.
    pub(crate) async fn tell(&self, event: &str, payload: &Json, cancel: &Cancel) {
        self.patiently(async |own| self.hooks.tell(event, payload, own).await, cancel).await;
    }

    /// Tells extensions of something that has happened, if one of them listens.
    pub(crate) async fn tell_of(&self, event: &str, payload: impl FnOnce() -> Json, cancel: &Cancel) {
        if self.hooks.wants(event) {
            let mut payload = payload();
            payload["type"] = event.into();
            self.tell(event, &payload, cancel).await;
        }
    }

    /// Tells extensions which entries are new, and whoever watches which extensions failed.
    pub(crate) async fn tell_news(&self, cancel: &Cancel) {
        let news = self.session.take_news();
        if self.hooks.wants("session_entry") {
            for (node, source) in news {
                let entry = entry_at_json(&self.session(), node);
                let payload = json!({"type": "session_entry", "entry": entry, "source": source.name()});
                self.tell("session_entry", &payload, cancel).await;
            }
        }
        self.report_hook_failures();
    }

    /// Tells extensions that the model will not be asked any more for now, with all that was said.
    pub(super) async fn tell_end_of_run(&mut self, outcome: &Outcome, cancel: &Cancel) {
        let said = std::mem::take(&mut self.said);
        let payload = || {
            let mut payload = AgentEvent::AgentEnd(outcome.clone()).to_json();
            payload["messages"] = messages_json(&said.messages);
            payload
        };
        self.tell_of("agent_end", payload, cancel).await;
    }

    /// Tells that work on a prompt is over.
    pub(super) async fn tell_end_of_work(&mut self, outcome: &Outcome, cancel: &Cancel) {
        self.events.emit(AgentEvent::AgentEnd(outcome.clone()));
        let payload = || json!({"aborted": *outcome == Outcome::Aborted});
        self.tell_of("agent_settled", payload, cancel).await;
    }

    /// Tells that the model is asked.
    pub(super) async fn tell_turn_start(&mut self, cancel: &Cancel) {
        let (index, time) = (self.said.turns, self.session().now());
        let entry = self.session().new_id();
        self.said.turns += 1;
        self.said.next_answer = Some(entry.clone());
        self.announce(AgentEvent::TurnStart { index, time, entry }, cancel).await;
    }

    /// Returns the entry of the answer, as long as nobody was told that its turn is over.
    pub(super) fn answer_id(&self) -> Option<EntryId> {
        self.said.answer.as_ref().map(|(id, _)| id.clone())
    }

    /// Tells that the model has answered and its tools are done. Tells back whether extensions want it to be asked
    /// once more.
    pub(super) async fn end_turn(&mut self, cancel: &Cancel) -> Result<bool> {
        let Some((answer_id, message)) = self.said.answer.take() else { return Ok(false) };
        let (result_ids, results): (Vec<EntryId>, _) =
            std::mem::take(&mut self.said.results).into_iter().unzip();
        let index = self.said.turns.saturating_sub(1);
        let outcome = outcome_of(&message);
        let event = AgentEvent::TurnEnd { index, message, results };
        let payload = self.hooks.wants("turn_end").then(|| event.to_json());
        self.events.emit(event);
        let Some(mut payload) = payload else { return Ok(false) };
        payload["messageEntryId"] = answer_id.as_str().into();
        payload["toolResultEntryIds"] = result_ids.iter().map(EntryId::as_str).collect();
        self.boundary(payload, outcome, cancel).await
    }

    /// Appends a message. Extensions may change what it says, not who says it.
    pub(super) async fn append(&mut self, message: Message, cancel: &Cancel) -> Result<EntryId> {
        let is_answer = message.role() == Role::Assistant;
        if !is_answer {
            let payload = || json!({"message": message.value().to_serde()});
            self.tell_of("message_start", payload, cancel).await;
        }
        let message = self.changed_at_end(message, cancel).await;
        let mut draft = Draft::try_from(&message)?;
        if let Some(id) = self.said.next_answer.take_if(|_| is_answer) {
            draft = draft.with_id(id);
        }
        let id = self.when_unlocked(cancel, |session| Ok(session.append(&draft)?)).await?;
        self.said.take(&id, &message);
        self.events.emit(AgentEvent::Message { id: id.clone(), message });
        self.tell_news(cancel).await;
        Ok(id)
    }

    async fn changed_at_end(&self, message: Message, cancel: &Cancel) -> Message {
        if !self.hooks.wants("message_end") {
            return message;
        }
        let payload = json!({"type": "message_end", "message": message.value().to_serde()});
        let chained = self.patiently(async |own| self.hooks.chain("message_end", payload, own).await, cancel);
        let Some(answer) = chained.await else { return message };
        let changed = Message::from_serialize(&answer["message"]).ok();
        changed.filter(|changed| changed.role() == message.role()).unwrap_or(message)
    }

    /// Tells extensions how an answer grows: the beginning with the message, every part with what is new.
    pub(super) async fn tell_growth(
        &self,
        answer: &Answer,
        event: &AnswerEvent,
        spec: &ModelSpec,
        cancel: &Cancel,
    ) {
        let so_far = || {
            let message = answer.clone().into_message(spec, self.session().now());
            message.value().to_serde().unwrap_or_default()
        };
        let mut part = AgentEvent::Answer(event.clone()).to_json();
        if let Some(update) = answer.update_json(event) {
            part["assistantMessageEvent"] = update;
            part["block"] = answer.block_json(event).unwrap_or_default();
        } else {
            part["message"] = so_far();
        }
        let whole = || {
            let mut payload = part.clone();
            payload["message"] = so_far();
            if let Json::Object(fields) = &mut payload {
                fields.remove("block");
            }
            payload
        };
        let name = answer_name(event);
        let told = async |own: &Cancel| self.hooks.tell_part(name, &part, whole, own).await;
        self.patiently(told, cancel).await;
    }
}

impl Said {
    fn take(&mut self, id: &EntryId, message: &Message) {
        self.messages.push(message.clone());
        match message.role() {
            Role::Assistant => self.answer = Some((id.clone(), message.clone())),
            Role::ToolResult => self.results.push((id.clone(), message.clone())),
            _ => {}
        }
    }
}

pub(super) fn messages_json(messages: &[Message]) -> Json {
    messages.iter().filter_map(|message| message.value().to_serde()).collect()
}
