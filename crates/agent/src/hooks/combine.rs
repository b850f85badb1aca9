//! How the answers of several handlers become one.

use serde_json::{Map, Value as Json, json};

use super::Hooks;
use crate::cancel::Cancel;

/// Returns a field of an answer that is set to something.
pub(crate) fn given<'a>(answer: &'a Json, field: &str) -> Option<&'a Json> {
    answer.get(field).filter(|value| !value.is_null())
}

/// What came of asking everybody before something is done.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gate {
    /// The fields that were answered; of two answers to one field the later one counts.
    pub fields: Map<String, Json>,
    /// Who does not want it to be done.
    pub cancelled_by: Option<String>,
}

impl Gate {
    /// Returns a field that is set to something.
    pub fn get(&self, field: &str) -> Option<&Json> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    /// Returns a field that is a text.
    pub fn text(&self, field: &str) -> Option<String> {
        self.get(field).and_then(Json::as_str).map(str::to_owned)
    }
}

/// What somebody has decided about a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trust {
    /// Whether its resources may be loaded.
    pub is_trusted: bool,
    /// Whether this holds for the next time too.
    pub remember: bool,
}

impl Hooks {
    /// Asks before something is done: answers are merged field by field, `cancel: true` ends the asking.
    pub async fn gate(&self, event: &str, payload: &Json, cancel: &Cancel) -> Gate {
        let mut gate = Gate::default();
        for interest in self.interested(event) {
            let Some(Json::Object(fields)) = self.ask(&interest, payload, cancel).await else {
                continue;
            };
            let is_cancelled = fields.get("cancel").and_then(Json::as_bool) == Some(true);
            gate.fields.extend(fields);
            if is_cancelled {
                gate.cancelled_by = Some(interest.handler.name().to_owned());
                break;
            }
        }
        gate
    }

    /// Lets everybody change a payload in turn: fields of an answer replace those of the payload, and the next one
    /// sees what the one before made of it.
    pub async fn chain(&self, event: &str, payload: Json, cancel: &Cancel) -> Json {
        self.chain_until(event, payload, |_| false, cancel).await
    }

    /// Like [`Hooks::chain`], until somebody gives an answer behind which nobody else has a say.
    pub async fn chain_until(
        &self,
        event: &str,
        mut payload: Json,
        is_last_word: impl Fn(&Map<String, Json>) -> bool,
        cancel: &Cancel,
    ) -> Json {
        for interest in self.interested(event) {
            let answer = self.ask(&interest, &payload, cancel).await;
            if let (Some(Json::Object(fields)), Json::Object(all)) = (answer, &mut payload) {
                let is_last = is_last_word(&fields);
                all.extend(fields);
                if is_last {
                    break;
                }
            }
        }
        payload
    }

    /// Gathers what everybody answers. An answer to one of the `chained` fields changes the payload, so that the next
    /// one sees it.
    pub async fn collect(
        &self,
        event: &str,
        payload: &mut Json,
        chained: &[&str],
        cancel: &Cancel,
    ) -> Vec<Json> {
        let mut answers = Vec::new();
        for interest in self.interested(event) {
            let Some(answer) = self.ask(&interest, payload, cancel).await else { continue };
            for field in chained {
                if let Some(value) = given(&answer, field) {
                    payload[*field] = value.clone();
                }
            }
            answers.push(answer);
        }
        answers
    }

    /// Asks one after the other until somebody answers.
    pub async fn first(&self, event: &str, payload: &Json, cancel: &Cancel) -> Option<Json> {
        for interest in self.interested(event) {
            if let Some(answer) = self.ask(&interest, payload, cancel).await {
                return Some(answer);
            }
        }
        None
    }

    /// Asks whether the resources of a project may be loaded, until somebody has decided. Front ends ask before they
    /// load anything of the project, and only those who do not come from it.
    pub async fn project_trust(&self, cwd: &str, cancel: &Cancel) -> Option<Trust> {
        const EVENT: &str = "project_trust";
        let payload = json!({"type": EVENT, "cwd": cwd});
        for interest in self.interested(EVENT) {
            let answer = self.ask(&interest, &payload, cancel).await.unwrap_or_default();
            let is_trusted = match answer["trusted"].as_str() {
                Some("yes") => true,
                Some("no") => false,
                _ => continue,
            };
            return Some(Trust { is_trusted, remember: answer["remember"].as_bool().unwrap_or(false) });
        }
        None
    }

    /// Tells everybody about a part of an answer. `whole` makes the payload with the answer so far, for handlers that do
    /// not [put it together](super::Handler::assembles_answers).
    pub(crate) async fn tell_part(
        &self,
        event: &str,
        part: &Json,
        whole: impl Fn() -> Json,
        cancel: &Cancel,
    ) {
        let mut spelled = None;
        for interest in self.interested(event) {
            let payload = match interest.handler.assembles_answers() {
                true => part,
                false => spelled.get_or_insert_with(&whole),
            };
            drop(self.ask(&interest, payload, cancel).await);
        }
    }

    /// Tells everybody; what they answer does not matter.
    pub async fn tell(&self, event: &str, payload: &Json, cancel: &Cancel) {
        for interest in self.interested(event) {
            drop(self.ask(&interest, payload, cancel).await);
        }
    }
}
