//! What a model is asked, and who sees it on its way.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use session_tree::Message;

use super::spec::ThinkingLevel;

/// What a model is asked.
///
/// The same conversation gives the same bytes on the wire, so that services find what they have seen before in their
/// caches: nothing in front of the last message may depend on ids, times or places.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What the model is told before the conversation.
    pub system: String,
    /// The conversation, oldest first: user, assistant and tool result messages, in the shape sessions store. Every
    /// call of a tool has its result.
    pub messages: Vec<Message>,
    /// The tools it may call.
    pub tools: Vec<ToolSpec>,
    /// How hard it should think; within what the model can do.
    pub thinking: ThinkingLevel,
    /// The most tokens of the answer; the model's own limit if not given.
    pub max_output: Option<u64>,
    /// The number of tokens of the request, if a service has counted most of them; estimated from its length if not
    /// given.
    pub input_tokens: Option<u64>,
    /// The id of the session, under which a service finds its cache again.
    pub session: Option<String>,
    /// Whether the service should keep the conversation in its cache.
    pub cache: bool,
    /// Who sees the request on its way to the service; models without a service have no use for it.
    pub tap: Option<Arc<dyn Tap>>,
}

/// A tool as models see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    #[serde(default)]
    pub description: String,
    /// Its parameters, as a JSON schema of an object.
    #[serde(default)]
    pub parameters: Json,
}

/// What a tap becomes while it is asked.
pub type TapFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Headers by their names in lower case. Keys are never among them.
pub type Headers = BTreeMap<String, String>;

/// Somebody who sees a request on its way to a service.
pub trait Tap: fmt::Debug + Send + Sync {
    /// Takes the body that is about to be sent; gives the one to send.
    fn request(&self, body: Json) -> TapFuture<'_, Json>;

    /// Takes the headers that are about to be sent; gives the ones to send. A header that is missing then is not sent.
    fn headers(&self, headers: Headers) -> TapFuture<'_, Headers>;

    /// Hears that the service has begun to answer.
    fn response(&self, status: u16, headers: Headers) -> TapFuture<'_, ()>;
}
