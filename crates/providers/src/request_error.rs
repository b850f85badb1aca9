//! The error of a request, before it becomes an error of the agent.
//!
//! status and body, or a frame of the stream -> **request error** -> [`ModelError`]
//!
//! Every message of a service passes through here: it is cut, and control characters and keys are removed.

mod overflow;

use std::time::Duration;

use offshoot_agent::model::ModelError;
use serde_json::Value as Json;

use crate::secret::Secret;

/// The error of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// The service returned an error.
    Api(ApiError),
    /// The service cannot be reached.
    Network(String),
    /// The stream ended before the answer did.
    BrokenOff(String),
    /// No byte came for too long.
    Idle(Duration),
    /// The response cannot be read.
    Malformed(String),
    /// The conversation fills the context window, so that nothing is left for an answer.
    NoRoom(String),
    /// A part of the response is larger than `limit` bytes.
    TooLarge { what: &'static str, limit: usize },
}

/// An error that a service returned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ApiError {
    /// The status of the response; zero inside a stream.
    pub status: u16,
    /// The service's own words for the kind of error, in lower case.
    pub kind: String,
    /// Its message.
    pub message: String,
    /// The time to wait before the request is repeated.
    pub retry_after: Option<Duration>,
}

/// The most characters of a message that are kept.
const LONGEST_MESSAGE: usize = 1_000;

impl RequestError {
    /// Makes the error of a service that gave only a reason.
    pub(crate) fn api(reason: &str) -> Self {
        RequestError::Api(ApiError { message: reason.into(), ..ApiError::default() })
    }

    /// Makes the error of an answer that the model or the service refused.
    pub(crate) fn refusal(reason: &str) -> Self {
        RequestError::Api(ApiError { kind: REFUSAL.into(), message: reason.into(), ..ApiError::default() })
    }

    /// Makes an error that names the service and contains no secret. `has_begun`: a part of the answer has arrived.
    pub(crate) fn into_error(self, service: &str, secrets: &[Secret], has_begun: bool) -> ModelError {
        let clean =
            |text: &str| tidy(&secrets.iter().fold(text.to_owned(), |text, secret| secret.scrub(&text)));
        match self {
            RequestError::Api(error) => error.classify(service, clean),
            RequestError::Network(reason) => {
                ModelError::Network { service: service.into(), reason: clean(&reason) }
            }
            RequestError::BrokenOff(reason) => ModelError::BrokenStream { reason: clean(&reason) },
            RequestError::Idle(waited) => ModelError::Idle { waited },
            RequestError::Malformed(reason) => ModelError::Malformed { reason: clean(&reason), has_begun },
            RequestError::NoRoom(message) => ModelError::Overflow { message },
            RequestError::TooLarge { what, limit } => ModelError::TooLarge { what, limit },
        }
    }
}

const REFUSAL: &str = "refusal";
const TOO_OFTEN: &[&str] = &["rate_limit", "resource_exhausted", "too_many_requests"];
const NO_MONEY: &[&str] = &["insufficient_quota", "billing"];
const BAD_KEY: &[&str] = &["authentication", "invalid_api_key", "api_key_invalid", "unauthenticated"];
const BAD_REQUEST: &[&str] = &[REFUSAL, "invalid_request", "invalid_argument", "not_found", "invalid_prompt"];

impl ApiError {
    /// Reads the error of a service in JSON; `None` if there is no error.
    ///
    /// Services do not agree: `{"error":{"message"}}`, `[{"error":…}]`, `{"error":"…"}`, `{"message"}`, `{"detail"}`.
    pub(crate) fn read(status: u16, json: &Json) -> Option<Self> {
        let json = json.as_array().and_then(|list| list.first()).unwrap_or(json);
        let error = ["error", "message", "detail"]
            .iter()
            .find_map(|key| json.get(*key).filter(|it| !it.is_null()))?;
        let code = error.get("code");
        let words = ["type", "code", "status"].iter().filter_map(|key| error.get(*key)?.as_str());
        let reasons = details(error).filter_map(|detail| detail.get("reason")?.as_str());
        Some(Self {
            status: if status == 0 { code.and_then(status_of).unwrap_or(0) } else { status },
            kind: words.chain(reasons).collect::<Vec<_>>().join(" ").to_lowercase(),
            message: message_of(error),
            retry_after: details(error).find_map(|detail| seconds(detail.get("retryDelay")?.as_str()?)),
        })
    }

    fn is(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.kind.contains(word))
    }

    fn classify(self, service: &str, clean: impl Fn(&str) -> String) -> ModelError {
        let (service, message) = (service.to_owned(), clean(&self.message));
        let (status, retry_after) = (self.status, self.retry_after);
        let is_too_often = (status == 429 || self.is(TOO_OFTEN)) && !self.is(NO_MONEY);
        if !is_too_often && overflow::is_overflow(status, &self.kind, &self.message) {
            return ModelError::Overflow { message };
        }
        match status {
            _ if is_too_often => ModelError::RateLimit { service, message, retry_after },
            401 | 403 => ModelError::Key { service, message },
            _ if self.is(BAD_KEY) => ModelError::Key { service, message },
            408 | 409 | 425 | 500.. => ModelError::Service { service, status, message, retry_after },
            0 if !self.is(BAD_REQUEST) => ModelError::Service { service, status, message, retry_after },
            _ => ModelError::Refused { service, status, message },
        }
    }
}

fn details(error: &Json) -> impl Iterator<Item = &Json> {
    error.get("details").and_then(Json::as_array).into_iter().flatten()
}

/// The status that some gateways put into the stream as a number.
fn status_of(code: &Json) -> Option<u16> {
    code.as_u64().and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code))
}

fn message_of(error: &Json) -> String {
    let said = error.as_str().or_else(|| error.get("message")?.as_str());
    // OpenRouter stores the message of the service behind it separately.
    let behind = error.get("metadata").and_then(|metadata| metadata.get("raw")?.as_str());
    match (said, behind) {
        (Some(said), Some(behind)) => format!("{said}: {behind}"),
        (Some(said), None) => said.to_owned(),
        (None, _) => error.to_string(),
    }
}

/// Reads `12s`, `1.5s` or `12`.
pub(crate) fn seconds(text: &str) -> Option<Duration> {
    let number: f64 = text.trim().trim_end_matches('s').parse().ok()?;
    Duration::try_from_secs_f64(number).ok()
}

/// One line without control characters, not too long.
fn tidy(text: &str) -> String {
    let words: Vec<&str> = text.split(|char: char| char.is_whitespace() || char.is_control()).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests;
