//! Providers that extensions register: services that the program asks, and models that script answers for.
//!
//! script -> **provider** -> models of the host -> agent

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use futures_util::stream;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::model::{
    AnswerEvent, AnswerStream, BlockEnd, BlockStart, Model, ModelError, ModelSpec, Price, Request,
    StopReason, ThinkingLevel, Usage,
};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use tokio::sync::mpsc;

use crate::extension::Extension;
use crate::handle::{Handle, Kind};

/// Connects a provider with its service. Returns its models, or the reason for having none.
pub type Connect = Arc<dyn Fn(&ProviderConfig) -> Result<Vec<Arc<dyn Model>>, String> + Send + Sync>;

/// A provider as an extension describes it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderConfig {
    /// The name that models are chosen by.
    #[serde(skip)]
    pub provider: String,
    /// The address of the service.
    pub base_url: Option<String>,
    /// The wire format.
    pub api: Option<String>,
    /// The key: a literal, or the name of an environment variable.
    pub api_key: Option<String>,
    /// True if the key is also sent as a bearer token.
    pub auth_header: bool,
    /// Headers of each request.
    pub headers: BTreeMap<String, String>,
    /// The models. A known provider without models keeps its own.
    pub models: Vec<ModelConfig>,
    /// True if script answers for the models.
    #[serde(skip)]
    pub answers_itself: bool,
}

/// A model as an extension describes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields have the names that extensions use")]
pub struct ModelConfig {
    pub id: String,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub api: Option<String>,
    #[serde(default)]
    pub reasoning: bool,
    /// The name of each thinking level at the service; null for a level that the model lacks.
    #[serde(default)]
    pub thinking_level_map: BTreeMap<String, Option<String>>,
    #[serde(default)]
    pub input: Vec<String>,
    #[serde(default)]
    pub cost: Price,
    #[serde(default)]
    pub context_window: Option<u64>,
    #[serde(default)]
    pub max_tokens: Option<u64>,
}

impl ModelConfig {
    /// Returns the thinking levels of the model, lowest first.
    pub fn thinking_levels(&self) -> Vec<ThinkingLevel> {
        if !self.reasoning {
            return Vec::new();
        }
        let is_offered = |level: &ThinkingLevel| match self.thinking_level_map.get(level.name()) {
            Some(name) => name.is_some(),
            None => !matches!(level, ThinkingLevel::Xhigh | ThinkingLevel::Max),
        };
        ThinkingLevel::ALL.into_iter().filter(is_offered).collect()
    }

    /// Returns true if the model accepts images.
    pub fn reads_images(&self) -> bool {
        self.input.iter().any(|kind| kind == "image")
    }

    fn spec(&self, provider: &ProviderConfig) -> ModelSpec {
        ModelSpec {
            provider: provider.provider.clone(),
            id: self.id.clone(),
            name: self.name.clone().unwrap_or_else(|| self.id.clone()),
            api: self.api.clone().or_else(|| provider.api.clone()).unwrap_or_else(|| "custom".to_owned()),
            context_window: self.context_window.unwrap_or(128_000),
            max_output: self.max_tokens.unwrap_or(16_384),
            thinking_levels: self.thinking_levels(),
            reads_images: self.reads_images(),
            price: self.cost,
        }
    }
}

/// The providers that extensions registered.
#[derive(Default)]
pub struct RegisteredProviders(Mutex<Vec<Registered>>);

struct Registered {
    owner: Weak<Handle>,
    provider: String,
    models: Vec<Arc<dyn Model>>,
}

impl RegisteredProviders {
    /// Adds a provider in place of one of the same name.
    pub(crate) fn add(
        &self,
        owner: &Arc<Handle>,
        config: ProviderConfig,
        connect: &Connect,
    ) -> Result<(), String> {
        let models = if config.answers_itself {
            let of = |model: &ModelConfig| Arc::new(ScriptModel::new(owner, model.spec(&config)));
            config.models.iter().map(|model| of(model) as Arc<dyn Model>).collect()
        } else {
            connect(&config)?
        };
        let provider = config.provider;
        self.remove(&provider);
        self.0.lock().push(Registered { owner: Arc::downgrade(owner), provider, models });
        Ok(())
    }

    /// Removes a provider.
    pub(crate) fn remove(&self, provider: &str) {
        self.0.lock().retain(|one| one.provider != provider && one.owner.strong_count() > 0);
    }

    /// Returns other models with those of the registered providers, which replace all models of their names.
    pub fn over(&self, others: &[Arc<dyn Model>]) -> Vec<Arc<dyn Model>> {
        let registered = self.0.lock();
        let live: Vec<&Registered> = registered.iter().filter(|one| one.owner.strong_count() > 0).collect();
        let is_replaced =
            |model: &&Arc<dyn Model>| live.iter().any(|one| one.provider == model.spec().provider);
        let kept = others.iter().filter(|model| !is_replaced(model)).cloned();
        kept.chain(live.iter().flat_map(|one| one.models.iter().cloned())).collect()
    }
}

/// A model that script answers for.
struct ScriptModel {
    spec: ModelSpec,
    owner: Weak<Handle>,
}

impl ScriptModel {
    fn new(owner: &Arc<Handle>, spec: ModelSpec) -> Self {
        ScriptModel { spec, owner: Arc::downgrade(owner) }
    }

    fn broken(reason: impl Into<String>) -> AnswerStream {
        let error = ModelError::BrokenStream { reason: reason.into() };
        Box::pin(stream::iter([Err(error)]))
    }
}

impl fmt::Debug for ScriptModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptModel").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// The numbers of answers.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Model for ScriptModel {
    fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    fn answer(&self, request: Request) -> AnswerStream {
        let Some(handle) = self.owner.upgrade() else {
            return Self::broken("the extension that answers for the model is no longer loaded");
        };
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let payload = payload(id, &self.spec, &request);
        let (events, receiver) = mpsc::unbounded_channel();
        handle.answers.lock().insert(id, events);
        let answer = ScriptAnswer { id, handle, cancel: Cancel::new() };
        let service = self.spec.provider.clone();
        let extension = Extension { handle: answer.handle.clone() };
        let cancel = answer.cancel.clone();
        // The call ends when script has ended the stream; its failure is the last event.
        tokio::spawn(async move {
            let doing = "provider.stream";
            let ended = extension.call(Kind::Event, doing, &payload, Some(&cancel)).await;
            if let Some(events) = extension.handle.answers.lock().remove(&id) {
                let message = match ended {
                    Ok(_) => "the stream ended without an event `done`".to_owned(),
                    Err(message) => first_line(&message).to_owned(),
                };
                drop(events.send(json!({"type": "error", "error": {"errorMessage": message}})));
            }
        });
        let reading =
            Reading { answer, receiver, service, queue: Vec::new(), blocks: BTreeMap::new(), is_over: false };
        Box::pin(stream::unfold(reading, |mut reading| async move {
            let event = reading.next().await?;
            Some((event, reading))
        }))
    }
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or(message)
}

fn payload(id: u64, spec: &ModelSpec, request: &Request) -> Json {
    let messages: Vec<Json> =
        request.messages.iter().filter_map(|message| serde_json::from_str(&message.json()).ok()).collect();
    json!({
        "stream": id, "provider": spec.provider, "id": spec.id,
        "context": {"systemPrompt": request.system, "messages": messages, "tools": request.tools},
        "options": {
            "reasoning": (request.thinking != ThinkingLevel::Off).then(|| request.thinking.name()),
            "maxTokens": request.max_output, "sessionId": request.session,
        },
    })
}

/// An answer of script. Dropping it aborts the call.
struct ScriptAnswer {
    id: u64,
    handle: Arc<Handle>,
    cancel: Cancel,
}

impl Drop for ScriptAnswer {
    fn drop(&mut self) {
        self.handle.answers.lock().remove(&self.id);
        self.cancel.cancel();
    }
}

/// The reader of the events that script sends.
struct Reading {
    answer: ScriptAnswer,
    receiver: mpsc::UnboundedReceiver<Json>,
    service: String,
    /// Events that are ready, the next one last.
    queue: Vec<Result<AnswerEvent, ModelError>>,
    /// The number of each block of script, and the length of the text it has so far.
    blocks: BTreeMap<u64, (usize, usize)>,
    is_over: bool,
}

impl Reading {
    async fn next(&mut self) -> Option<Result<AnswerEvent, ModelError>> {
        loop {
            if let Some(event) = self.queue.pop() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            let Some(event) = self.receiver.recv().await else {
                self.is_over = true;
                return Some(Err(ModelError::BrokenStream { reason: "the extension has ended".to_owned() }));
            };
            let mut events = self.read(&event);
            events.reverse();
            self.queue = events;
        }
    }

    /// Reads an event as pi spells it.
    fn read(&mut self, event: &Json) -> Vec<Result<AnswerEvent, ModelError>> {
        let kind = event["type"].as_str().unwrap_or_default();
        let number = event["contentIndex"].as_u64().unwrap_or_default();
        match kind {
            "start" => vec![Ok(AnswerEvent::Begin { response_id: None })],
            "done" => {
                let message = &event["message"];
                let mut events = self.rest(message);
                events.push(Ok(AnswerEvent::Usage(usage(&message["usage"]))));
                let stop = match event["reason"].as_str().or_else(|| message["stopReason"].as_str()) {
                    Some("toolUse") => StopReason::ToolUse,
                    Some("length") => StopReason::Length,
                    _ => StopReason::Stop,
                };
                events.push(Ok(AnswerEvent::End { stop }));
                self.end();
                events
            }
            "error" => {
                self.end();
                let message =
                    event["error"]["errorMessage"].as_str().unwrap_or("the extension gave no reason");
                let (service, message) = (self.service.clone(), message.to_owned());
                vec![Err(ModelError::Refused { service, status: 0, message })]
            }
            _ => match kind.split_once('_') {
                Some((block, "start")) => self.open(number, block, &event["block"]),
                Some((_, "delta")) => self.add(number, event["delta"].as_str().unwrap_or_default()),
                Some((_, "end")) => self.close(number, &event["block"]),
                _ => Vec::new(),
            },
        }
    }

    fn end(&mut self) {
        self.is_over = true;
        self.answer.handle.answers.lock().remove(&self.answer.id);
    }

    fn open(&mut self, number: u64, block: &str, value: &Json) -> Vec<Result<AnswerEvent, ModelError>> {
        if self.blocks.contains_key(&number) {
            return Vec::new();
        }
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let block = match block {
            "text" => BlockStart::Text,
            "thinking" => BlockStart::Thinking,
            "toolcall" => BlockStart::ToolCall { id: text("id"), name: text("name") },
            _ => return Vec::new(),
        };
        let index = self.blocks.len();
        self.blocks.insert(number, (index, 0));
        vec![Ok(AnswerEvent::BlockStart { index, block })]
    }

    fn add(&mut self, number: u64, text: &str) -> Vec<Result<AnswerEvent, ModelError>> {
        let Some((index, length)) = self.blocks.get_mut(&number) else { return Vec::new() };
        *length += text.len();
        if text.is_empty() {
            return Vec::new();
        }
        vec![Ok(AnswerEvent::BlockDelta { index: *index, text: text.to_owned() })]
    }

    /// Ends a block. What was not sent piece by piece comes at once.
    fn close(&mut self, number: u64, block: &Json) -> Vec<Result<AnswerEvent, ModelError>> {
        let Some((index, length)) = self.blocks.get(&number).copied() else { return Vec::new() };
        // Closed only once.
        let Some(entry) = self.blocks.get_mut(&number).filter(|(_, length)| *length != usize::MAX) else {
            return Vec::new();
        };
        entry.1 = usize::MAX;
        let mut events = Vec::new();
        if length == 0 {
            let text = whole(block);
            if !text.is_empty() {
                events.push(Ok(AnswerEvent::BlockDelta { index, text }));
            }
        }
        let mut fields = Map::new();
        for key in ["thinkingSignature", "textSignature", "thoughtSignature", "redacted"] {
            if let Some(value) = block.get(key).filter(|value| !value.is_null()) {
                fields.insert(key.to_owned(), value.clone());
            }
        }
        events.push(Ok(AnswerEvent::BlockEnd { index, end: BlockEnd { fields } }));
        events
    }

    /// Takes the blocks of the complete message that were not streamed.
    fn rest(&mut self, message: &Json) -> Vec<Result<AnswerEvent, ModelError>> {
        let mut events = Vec::new();
        for (number, block) in (0_u64..).zip(message["content"].as_array().into_iter().flatten()) {
            let kind = block["type"].as_str().unwrap_or_default().to_ascii_lowercase();
            events.extend(self.open(number, &kind, block));
            events.extend(self.close(number, block));
        }
        events
    }
}

/// Returns the text of a block: its words, its thoughts, or its arguments as JSON.
fn whole(block: &Json) -> String {
    match block["type"].as_str() {
        Some("text") => block["text"].as_str().unwrap_or_default().to_owned(),
        Some("thinking") => block["thinking"].as_str().unwrap_or_default().to_owned(),
        Some("toolCall") => block["arguments"].to_string(),
        _ => String::new(),
    }
}

fn usage(usage: &Json) -> Usage {
    let count = |key: &str| usage[key].as_u64().unwrap_or_default();
    Usage {
        input: count("input"),
        output: count("output"),
        cache_read: count("cacheRead"),
        cache_write: count("cacheWrite"),
    }
}
