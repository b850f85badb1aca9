//! Reports what happens: first to subscribers, then to extensions.
//!
//! Cancelled work is reported too, but extensions then have little time to handle it.

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

/// The messages appended since the work on a prompt began.
#[derive(Debug, Default)]
pub(super) struct RunMessages {
    messages: Vec<Message>,
    turns: u32,
    /// The entry of the next answer.
    next_answer: Option<EntryId>,
    /// The answer of the current turn, followed by the results of its tools.
    answer: Option<(EntryId, Message)>,
    results: Vec<(EntryId, Message)>,
}

/// The time that extensions have, all together, to handle events after a cancellation.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

impl Agent {
    /// Emits an event to subscribers, then to extensions.
    pub(super) async fn announce(&self, event: AgentEvent, cancel: &Cancel) {
        self.announce_with(event, |_| {}, cancel).await;
    }

    /// Emits an event to subscribers, then to extensions with more fields.
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
            self.notify(name, &payload, cancel).await;
        }
    }

    /// Runs handlers with a separate cancel token, which is cancelled [`GRACE_PERIOD`] after the work is. Returns
    /// `None` if they did not finish in time.
    pub(super) async fn within_grace_period<T>(
        &self,
        work: impl AsyncFnOnce(&Cancel) -> T,
        cancel: &Cancel,
    ) -> Option<T> {
        let own = Cancel::new();
        let patience = async {
            cancel.cancelled().await;
            tokio::time::sleep(GRACE_PERIOD).await;
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

    /// Reports an event to extensions.
    pub(crate) async fn notify(&self, event: &str, payload: &Json, cancel: &Cancel) {
        self.within_grace_period(async |own| self.hooks.notify(event, payload, own).await, cancel).await;
    }

    /// Reports an event to extensions if one of them listens.
    pub(crate) async fn notify_with(&self, event: &str, payload: impl FnOnce() -> Json, cancel: &Cancel) {
        if self.hooks.wants(event) {
            let mut payload = payload();
            payload["type"] = event.into();
            self.notify(event, &payload, cancel).await;
        }
    }

    /// Reports new entries to extensions, and failed extensions to subscribers.
    pub(crate) async fn notify_new_entries(&self, cancel: &Cancel) {
        let news = self.session.take_unreported();
        if self.hooks.wants("session_entry") {
            for (node, source) in news {
                let entry = entry_at_json(&self.session(), node);
                let payload = json!({"type": "session_entry", "entry": entry, "source": source.name()});
                self.notify("session_entry", &payload, cancel).await;
            }
        }
        self.report_hook_failures();
    }

    /// Reports to extensions that the model has finished, with all messages of the run.
    pub(super) async fn notify_run_end(&mut self, outcome: &Outcome, cancel: &Cancel) {
        let run = std::mem::take(&mut self.run_messages);
        let payload = || {
            let mut payload = AgentEvent::AgentEnd(outcome.clone()).to_json();
            payload["messages"] = messages_json(&run.messages);
            payload
        };
        self.notify_with("agent_end", payload, cancel).await;
    }

    /// Reports that the work on a prompt is over.
    pub(super) async fn notify_work_end(&mut self, outcome: &Outcome, cancel: &Cancel) {
        self.events.emit(AgentEvent::AgentEnd(outcome.clone()));
        let payload = || json!({"aborted": *outcome == Outcome::Aborted});
        self.notify_with("agent_settled", payload, cancel).await;
    }

    /// Reports that a request to the model starts.
    pub(super) async fn notify_turn_start(&mut self, cancel: &Cancel) {
        let (index, time) = (self.run_messages.turns, self.session().now());
        let entry = self.session().new_id();
        self.run_messages.turns += 1;
        self.run_messages.next_answer = Some(entry.clone());
        self.announce(AgentEvent::TurnStart { index, time, entry }, cancel).await;
    }

    /// Returns the entry of the answer until the end of its turn is reported.
    pub(super) fn answer_id(&self) -> Option<EntryId> {
        self.run_messages.answer.as_ref().map(|(id, _)| id.clone())
    }

    /// Reports that the model has answered and its tools have finished. Returns true if extensions request another
    /// turn.
    pub(super) async fn end_turn(&mut self, cancel: &Cancel) -> Result<bool> {
        let Some((answer_id, message)) = self.run_messages.answer.take() else { return Ok(false) };
        let (result_ids, results): (Vec<EntryId>, _) =
            std::mem::take(&mut self.run_messages.results).into_iter().unzip();
        let index = self.run_messages.turns.saturating_sub(1);
        let outcome = outcome_of(&message);
        let event = AgentEvent::TurnEnd { index, message, results };
        let payload = self.hooks.wants("turn_end").then(|| event.to_json());
        self.events.emit(event);
        let Some(mut payload) = payload else { return Ok(false) };
        payload["messageEntryId"] = answer_id.as_str().into();
        payload["toolResultEntryIds"] = result_ids.iter().map(EntryId::as_str).collect();
        self.boundary(payload, outcome, cancel).await
    }

    /// Appends a message. Extensions may change its content, not its role.
    pub(super) async fn append(&mut self, message: Message, cancel: &Cancel) -> Result<EntryId> {
        let is_answer = message.role() == Role::Assistant;
        if !is_answer {
            let payload = || json!({"message": message.value().to_serde()});
            self.notify_with("message_start", payload, cancel).await;
        }
        let message = self.changed_at_end(message, cancel).await;
        let mut draft = Draft::try_from(&message)?;
        if let Some(id) = self.run_messages.next_answer.take_if(|_| is_answer) {
            draft = draft.with_id(id);
        }
        let id = self.when_unlocked(cancel, |session| Ok(session.append(&draft)?)).await?;
        self.run_messages.take(&id, &message);
        self.events.emit(AgentEvent::Message { id: id.clone(), message });
        self.notify_new_entries(cancel).await;
        Ok(id)
    }

    async fn changed_at_end(&self, message: Message, cancel: &Cancel) -> Message {
        if !self.hooks.wants("message_end") {
            return message;
        }
        let payload = json!({"type": "message_end", "message": message.value().to_serde()});
        let chained =
            self.within_grace_period(async |own| self.hooks.chain("message_end", payload, own).await, cancel);
        let Some(answer) = chained.await else { return message };
        let changed = Message::from_serialize(&answer["message"]).ok();
        changed.filter(|changed| changed.role() == message.role()).unwrap_or(message)
    }

    /// Reports a part of an answer to extensions: the first with the message, the others with the new text.
    pub(super) async fn notify_answer_part(
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
        let told = async |own: &Cancel| self.hooks.notify_part(name, &part, whole, own).await;
        self.within_grace_period(told, cancel).await;
    }
}

impl RunMessages {
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
