//! Combines the answers of several handlers, as the table of events defines it.

use std::borrow::Cow;

use serde_json::{Map, Value as Json, json};
use tracing::{Instrument as _, Span, debug_span};

use super::events::{Combine, Event, event};
use super::{Handler, Hooks};
use crate::cancel::Cancel;

/// Returns a field of an answer if it is not null.
pub(crate) fn given<'a>(answer: &'a Json, field: &str) -> Option<&'a Json> {
    answer.get(field).filter(|value| !value.is_null())
}

/// The combined answers of the hook before an action.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gate {
    /// The fields that were answered.
    pub fields: Map<String, Json>,
    /// The handler that cancelled the action.
    pub cancelled_by: Option<String>,
}

impl Gate {
    /// Returns a field if it is not null.
    pub fn get(&self, field: &str) -> Option<&Json> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    /// Returns a field if it is a string.
    pub fn text(&self, field: &str) -> Option<String> {
        self.get(field).and_then(Json::as_str).map(str::to_owned)
    }
}

/// A decision about a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trust {
    /// True if its resources may be loaded.
    pub is_trusted: bool,
    /// True if the decision is stored.
    pub remember: bool,
}

/// The combined answers of all handlers of an event.
struct Answers<'p> {
    /// The payload, with the changes of handlers.
    payload: Cow<'p, Json>,
    /// The merged fields, or the fields of the first answer.
    fields: Map<String, Json>,
    /// All answers of an event that collects them.
    all: Vec<Json>,
    /// The handler whose answer ended the calls.
    ended_by: Option<String>,
}

impl Hooks {
    /// Asks the handlers of an event one after the other and combines their answers.
    async fn answers<'p>(&self, name: &str, payload: Cow<'p, Json>, cancel: &Cancel) -> Answers<'p> {
        let mut answers = Answers { payload, fields: Map::new(), all: Vec::new(), ended_by: None };
        let Some(event) = event(name) else {
            debug_assert!(false, "the event {name} is missing in the table");
            return answers;
        };
        for (handler, listener) in self.listeners(event.name) {
            let answer = self.ask(event, handler, listener, &answers.payload, cancel).await;
            let Some(Json::Object(mut answer)) = answer else { continue };
            answer.retain(|field, _| event.takes(field));
            let is_end = event.is_ended_by(&answer);
            answers.take(event.combine, answer, is_end);
            if is_end {
                answers.ended_by = Some(handler.name().to_owned());
                break;
            }
        }
        answers
    }

    /// Calls one listener. Returns `None` if it failed, gave no answer, or was cancelled.
    async fn ask(
        &self,
        event: &Event,
        handler: &dyn Handler,
        listener: u64,
        payload: &Json,
        cancel: &Cancel,
    ) -> Option<Json> {
        let called = handler
            .call_listener(event.name, listener, payload, cancel)
            .instrument(hook_span(handler, event.name));
        match cancel.unless_cancelled(called).await? {
            Ok(answer) => Some(answer),
            Err(message) => {
                let reason = format!("an extension failed: {}", message.lines().next().unwrap_or_default());
                self.report(handler.name(), event.name, message);
                event.failure_blocks.then(|| json!({"block": true, "reason": reason}))
            }
        }
    }

    /// Runs the hook before an action.
    pub async fn gate(&self, event: &str, payload: &Json, cancel: &Cancel) -> Gate {
        let answers = self.answers(event, Cow::Borrowed(payload), cancel).await;
        Gate { fields: answers.fields, cancelled_by: answers.ended_by }
    }

    /// Lets each handler change the payload in turn. The answer that ends the chain is merged into the payload.
    pub async fn chain(&self, event: &str, payload: Json, cancel: &Cancel) -> Json {
        self.answers(event, Cow::Owned(payload), cancel).await.payload.into_owned()
    }

    /// Returns all answers, and the payload with the changes of handlers.
    pub async fn collect(&self, event: &str, payload: Json, cancel: &Cancel) -> (Vec<Json>, Json) {
        let answers = self.answers(event, Cow::Owned(payload), cancel).await;
        (answers.all, answers.payload.into_owned())
    }

    /// Returns the first answer that decides.
    pub async fn first(&self, event: &str, payload: &Json, cancel: &Cancel) -> Option<Json> {
        let answers = self.answers(event, Cow::Borrowed(payload), cancel).await;
        answers.ended_by.map(|_| Json::Object(answers.fields))
    }

    /// Asks whether the resources of a project may be loaded. Front ends call this before they load anything of the
    /// project, and only for handlers from elsewhere.
    pub async fn project_trust(&self, cwd: &str, cancel: &Cancel) -> Option<Trust> {
        let payload = json!({"type": "project_trust", "cwd": cwd});
        let answer = self.first("project_trust", &payload, cancel).await?;
        let remember = answer["remember"].as_bool().unwrap_or(false);
        Some(Trust { is_trusted: answer["trusted"] == "yes", remember })
    }

    /// Reports an event.
    pub async fn notify(&self, event: &str, payload: &Json, cancel: &Cancel) {
        self.notify_part(event, payload, || payload.clone(), cancel).await;
    }

    /// Reports a part of an answer. `whole` builds the payload with the answer so far, for handlers that do not
    /// [assemble it](Handler::assembles_answers).
    pub(crate) async fn notify_part(
        &self,
        event: &str,
        part: &Json,
        whole: impl Fn() -> Json,
        cancel: &Cancel,
    ) {
        let mut spelled = None;
        for handler in self.handlers.iter().filter(|handler| handler.wants(event)) {
            let payload = match handler.assembles_answers() {
                true => part,
                false => spelled.get_or_insert_with(&whole),
            };
            let called = handler.call(event, payload, cancel).instrument(hook_span(&**handler, event));
            if let Some(Err(message)) = cancel.unless_cancelled(called).await {
                self.report(handler.name(), event, message);
            }
        }
    }
}

fn hook_span(handler: &dyn Handler, event: &str) -> Span {
    debug_span!("hook", event, extension = handler.name())
}

impl Answers<'_> {
    /// Adds one answer.
    fn take(&mut self, combine: Combine, answer: Map<String, Json>, is_end: bool) {
        match combine {
            Combine::Merge => self.fields.extend(answer),
            Combine::Chain => self.change(answer),
            Combine::Collect(passed_on) => {
                let is_passed_on = |field: &str, value: &Json| passed_on == Some(field) && value.is_string();
                let changed = answer.iter().filter(|(field, value)| is_passed_on(field, value));
                self.change(changed.map(|(field, value)| (field.clone(), value.clone())).collect());
                self.all.push(Json::Object(answer));
            }
            Combine::First if is_end => self.fields = answer,
            Combine::First | Combine::Notify => {}
        }
    }

    fn change(&mut self, fields: Map<String, Json>) {
        if let Json::Object(payload) = self.payload.to_mut() {
            payload.extend(fields);
        }
    }
}
