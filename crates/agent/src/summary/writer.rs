//! Asks a model for a summary. Retries transient failures, and splits a conversation that is too long.

use futures_util::StreamExt;
use serde_json::{Value as Json, json};
use session_tree::{Message, Timestamp};

use super::SYSTEM;
use crate::cancel::Cancel;
use crate::error::SummaryFailure;
use crate::event::{AgentEvent, Events};
use crate::model::{Answer, Model, ModelError, Request, StopReason, ThinkingLevel};
use crate::turn::RetryPolicy;

/// The text of a summary request.
pub(crate) trait SummaryPrompt {
    /// Returns the request for a part of the conversation. `previous` is the summary of the parts before it.
    fn text(&self, conversation: &str, previous: Option<&str>) -> String;
}

/// Writes summaries with a model.
pub(crate) struct SummaryWriter<'w> {
    pub(crate) model: &'w dyn Model,
    pub(crate) thinking: ThinkingLevel,
    pub(crate) retry: &'w RetryPolicy,
    pub(crate) events: &'w Events,
    pub(crate) now: Timestamp,
    pub(crate) cancel: &'w Cancel,
}

/// A summary that a model wrote.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Summary {
    pub(crate) text: String,
    /// The cost of all requests, as sessions store it.
    pub(crate) usage: Json,
    /// True if the model reached the output limit.
    pub(crate) is_cut: bool,
}

/// An unfinished summary.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unfinished {
    pub(crate) reason: SummaryFailure,
    /// The summary of the parts before the failed one.
    pub(crate) so_far: Option<String>,
    /// The remaining part of the conversation.
    pub(crate) rest: String,
    /// The cost of all requests, as sessions store it.
    pub(crate) usage: Option<Json>,
}

/// A conversation of at most this many bytes is not split further.
const SHORTEST_PART: usize = 4_000;

/// The note below a summary that is incomplete.
const CUT_NOTE: &str = "\n\n[The summary ends here because it reached the output limit.]";

impl SummaryWriter<'_> {
    /// Asks for a summary of a conversation. `None`: cancelled.
    ///
    /// A conversation that does not fit into one request is sent in parts: each request updates the summary of the
    /// parts before it. A part that the service still finds too long is split in two.
    pub(crate) async fn write(
        &self,
        prompt: &(dyn SummaryPrompt + Sync),
        conversation: &str,
        previous: Option<&str>,
    ) -> Result<Option<Summary>, Unfinished> {
        let mut limit = self.first_limit();
        // The next part is the last one of the list.
        let mut parts = vec![conversation];
        let (mut so_far, mut is_cut, mut usage) = (None::<String>, false, None);
        while let Some(part) = parts.pop() {
            if let Some((first, second)) = split(part).filter(|_| part.len() > limit) {
                parts.extend([second, first]);
                continue;
            }
            let text = prompt.text(part, so_far.as_deref().or(previous));
            match self.ask_with_retries(&text, &mut usage).await {
                Ok(None) => return Ok(None),
                Ok(Some((text, is_text_cut))) => (so_far, is_cut) = (Some(text), is_text_cut),
                Err(SummaryFailure::Model(ModelError::Overflow { .. })) if part.len() > SHORTEST_PART => {
                    // The upper bound of both halves that `split` returns.
                    limit = (part.len() / 3 * 2).max(SHORTEST_PART);
                    parts.push(part);
                }
                Err(reason) => {
                    parts.push(part);
                    parts.reverse();
                    return Err(Unfinished { reason, so_far, rest: parts.concat(), usage });
                }
            }
        }
        let mut text = so_far.unwrap_or_default();
        if is_cut {
            text.push_str(CUT_NOTE);
        }
        Ok(Some(Summary { text, usage: usage.unwrap_or_else(|| json!({})), is_cut }))
    }

    /// Returns the maximum length of the first request in bytes: three quarters of the window, at four bytes per token.
    fn first_limit(&self) -> usize {
        match self.model.spec().context_window {
            0 => usize::MAX,
            window => usize::try_from(window.saturating_mul(3)).unwrap_or(usize::MAX),
        }
    }

    /// Returns the text of the answer, and true if it reached the output limit. `None`: cancelled.
    async fn ask_with_retries(
        &self,
        prompt: &str,
        usage: &mut Option<Json>,
    ) -> Result<Option<(String, bool)>, SummaryFailure> {
        let mut failures = 0;
        loop {
            let error = match self.ask(prompt, usage).await {
                Err(SummaryFailure::Model(error)) => error,
                done => return done,
            };
            let Some(delay) = self.retry.delay(failures, &error) else { return Err(error.into()) };
            failures += 1;
            self.events.emit(AgentEvent::RetryStart { attempt: failures, delay, error });
            if self.cancel.unless_cancelled(tokio::time::sleep(delay)).await.is_none() {
                return Ok(None);
            }
        }
    }

    async fn ask(
        &self,
        prompt: &str,
        usage: &mut Option<Json>,
    ) -> Result<Option<(String, bool)>, SummaryFailure> {
        let mut stream = self.model.answer(Request {
            system: SYSTEM.to_owned(),
            messages: vec![Message::user(prompt).with_time(self.now)],
            thinking: self.model.spec().clamp(self.thinking),
            ..Request::default()
        });
        let mut answer = Answer::default();
        let error = loop {
            let Some(next) = self.cancel.unless_cancelled(stream.next()).await else { return Ok(None) };
            match next {
                Some(Ok(event)) => answer.take(&event),
                Some(Err(error)) => break Some(error),
                None => break None,
            }
        };
        let (stop, text) = (answer.stop(), answer.text());
        let spent = answer.into_message(self.model.spec(), self.now);
        let spent = spent.value().get("usage").and_then(session_tree::json::ValueRef::to_serde);
        *usage = spent.map(|spent| add_usage(usage.take(), spent));
        if let Some(error) = error {
            return Err(error.into());
        }
        let is_empty = text.trim().is_empty();
        match stop {
            Some(StopReason::Length) if is_empty => Err(SummaryFailure::Incomplete),
            Some(StopReason::Stop) if is_empty => Err(SummaryFailure::Empty),
            Some(StopReason::Stop) => Ok(Some((text, false))),
            Some(StopReason::Length) => Ok(Some((text, true))),
            Some(StopReason::ToolUse) => Err(SummaryFailure::CalledTool),
            None => {
                let reason = "the stream ended before the answer did".to_owned();
                Err(ModelError::BrokenStream { reason }.into())
            }
        }
    }
}

/// Splits a conversation in two, between two messages if a boundary is near the middle. Returns `None` if it is short.
///
/// Each half has at most two thirds of the bytes.
fn split(conversation: &str) -> Option<(&str, &str)> {
    if conversation.len() <= SHORTEST_PART {
        return None;
    }
    let middle = conversation.floor_char_boundary(conversation.len() / 2);
    let boundary = conversation[..middle].rfind("\n\n[").map(|at| at + 2);
    let at = boundary.filter(|at| *at > conversation.len() / 3 + 1).unwrap_or(middle);
    Some(conversation.split_at(at))
}

/// Adds the usage of two answers, field by field.
pub(crate) fn add_usage(sum: Option<Json>, usage: Json) -> Json {
    let Some(sum) = sum else { return usage };
    match (sum, usage) {
        (Json::Object(mut sum), Json::Object(usage)) => {
            for (key, value) in usage {
                let before = sum.remove(&key);
                sum.insert(key, add_usage(before, value));
            }
            Json::Object(sum)
        }
        (Json::Number(one), Json::Number(other)) => match (one.as_u64(), other.as_u64()) {
            (Some(one), Some(other)) => json!(one + other),
            _ => json!(one.as_f64().unwrap_or(0.0) + other.as_f64().unwrap_or(0.0)),
        },
        (sum, _) => sum,
    }
}
