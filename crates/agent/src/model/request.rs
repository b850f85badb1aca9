//! Requests to models, and observers of the HTTP traffic.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use session_tree::Message;

use super::spec::ThinkingLevel;

/// A request to a model.
///
/// The same conversation gives the same bytes on the wire, so that services can use their caches: nothing before the
/// last message may depend on ids, times or paths.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The system prompt.
    pub system: String,
    /// The conversation, oldest first: user, assistant and tool result messages as sessions store them. Every tool call
    /// has its result.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// The thinking level, clamped to those of the model.
    pub thinking: ThinkingLevel,
    /// The maximum number of tokens of the answer. The default is the limit of the model.
    pub max_output: Option<u64>,
    /// The number of tokens of the request, if a service has counted most of them. Otherwise it is estimated from the
    /// length.
    pub input_tokens: Option<u64>,
    /// The id of the session, which services use as a cache key.
    pub session: Option<String>,
    /// True if the service should cache the conversation.
    pub cache: bool,
    /// The observer of the HTTP request. Models without a service ignore it.
    pub observer: Option<Arc<dyn WireObserver>>,
}

/// The description of a tool for models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name.
    pub name: String,
    /// The purpose of the tool and when to use it.
    #[serde(default)]
    pub description: String,
    /// The parameters, as a JSON schema of an object.
    #[serde(default)]
    pub parameters: Json,
}

/// The future of a [`WireObserver`] call.
pub type ObserverFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// HTTP headers by lower-case name, without keys.
pub type Headers = BTreeMap<String, String>;

/// Observes and changes the HTTP request to a service.
pub trait WireObserver: fmt::Debug + Send + Sync {
    /// Receives the body before it is sent and returns the body to send.
    fn request(&self, body: Json) -> ObserverFuture<'_, Json>;

    /// Receives the headers before they are sent and returns the headers to send.
    fn headers(&self, headers: Headers) -> ObserverFuture<'_, Headers>;

    /// Receives the status and the headers of the response.
    fn response(&self, status: u16, headers: Headers) -> ObserverFuture<'_, ()>;
}
