//! Agents that extensions create beside the one of the user: each has its session, model, tools and thread.
//!
//! Tool calls need the approval that they need in the user's agent.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use offshoot_agent::agent::{Agent, Submission};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::handle::AgentHandle;
use offshoot_agent::hooks::{Handler, HookFuture, Hooks};
use offshoot_agent::model::{Model, ThinkingLevel};
use offshoot_agent::queue::Delivery;
use offshoot_agent::system::{Instructions, system_prompt};
use offshoot_agent::tool::Tool;
use offshoot_agent::tools::ToolBox;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use session_tree::Image;
use tokio::sync::{Mutex as AsyncMutex, mpsc};

use super::Host;
use crate::extension::{Extension, given};
use crate::handle::Handle;
use crate::registry::{ExtensionTool, RegisteredTool};

/// The most agents of extensions at the same time.
const MOST: usize = 32;

/// The agents that extensions created.
#[derive(Default)]
pub(crate) struct Agents(Mutex<State>);

#[derive(Default)]
struct State {
    next: u64,
    open: BTreeMap<u64, Entry>,
}

struct Entry {
    owner: Weak<Handle>,
    agent: AgentHandle,
    events: Arc<AsyncMutex<mpsc::UnboundedReceiver<Json>>>,
    feed: Arc<Feed>,
}

/// The events that script gets of an agent.
#[derive(Debug, Default)]
struct Feed {
    /// True while script listens; others are dropped.
    has_listener: AtomicBool,
    /// The number of events that were sent.
    sent: AtomicU64,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.agent.abort();
        drop(self.agent.quit());
    }
}

/// The agent that script requests.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AgentRequest {
    session: u64,
    provider: Option<String>,
    model: Option<String>,
    thinking: Option<String>,
    /// The names of the built-in tools; all of [`ToolBox::coding`] by default.
    tools: Option<Vec<String>>,
    exclude: Vec<String>,
    /// The tools that script itself runs, each with the key that it knows it by.
    custom: Vec<CustomTool>,
    system: Option<String>,
    append: Vec<String>,
    cwd: Option<String>,
}

#[derive(Debug, Deserialize)]
struct CustomTool {
    key: String,
    tool: RegisteredTool,
}

impl Agents {
    /// Creates an agent that works on a session of the extension. Returns its number.
    pub(crate) fn create(&self, host: &Host, owner: &Arc<Handle>, arguments: &Json) -> Result<u64, String> {
        let request = AgentRequest::deserialize(arguments).map_err(|error| error.to_string())?;
        let mut state = self.0.lock();
        state.open.retain(|_, entry| entry.owner.strong_count() > 0);
        if state.open.len() >= MOST {
            return Err(format!("extensions may have at most {MOST} agents; `dispose()` ends one"));
        }
        let model = request.model(host)?;
        let session =
            host.sessions.take(request.session).ok_or("the session is closed or belongs to another agent")?;
        let cwd = request.cwd.as_ref().map_or_else(|| host.cwd.clone(), |cwd| host.cwd.join(cwd));
        let tools = request.tool_box(owner);
        let instructions = Instructions {
            base: request.system.clone(),
            appended: request.append.clone(),
            ..Instructions::default()
        };
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut hooks = Hooks::new();
        let feed = Arc::<Feed>::default();
        hooks.register(Arc::new(Forward { name: owner.name.clone(), sender, feed: feed.clone() }));
        let state_of_main = host.agent.state();
        let agent = Agent::new(session, &cwd)
            .with_settings(state_of_main.settings)
            .with_system(system_prompt(&cwd, &tools.specs(), &instructions))
            .with_tools(tools)
            .with_approver(host.agent.approver())
            .with_secrets((*state_of_main.secrets).clone())
            .with_hooks(hooks);
        let thinking = request.thinking.as_deref().and_then(ThinkingLevel::from_name);
        let agent = match model {
            Some(model) => agent.with_model(model, thinking.unwrap_or(state_of_main.thinking)),
            None => agent,
        };
        let agent = agent.spawn().map_err(|error| error.to_string())?;
        host.sessions.lend(request.session, &Arc::downgrade(owner), agent.clone());
        state.next += 1;
        let id = state.next;
        let events = Arc::new(AsyncMutex::new(receiver));
        state.open.insert(id, Entry { owner: Arc::downgrade(owner), agent, events, feed });
        Ok(id)
    }

    /// Returns an agent.
    pub(crate) fn get(&self, id: u64) -> Result<AgentHandle, String> {
        self.0.lock().open.get(&id).map(|entry| entry.agent.clone()).ok_or_else(ended)
    }

    /// Ends an agent.
    pub(crate) fn dispose(&self, id: u64) {
        drop(self.0.lock().open.remove(&id));
    }

    fn feed(&self, id: u64) -> Option<Arc<Feed>> {
        self.0.lock().open.get(&id).map(|entry| entry.feed.clone())
    }

    /// Ends the agents of extensions that are no longer loaded.
    pub(crate) fn forget_unloaded(&self) {
        self.0.lock().open.retain(|_, entry| entry.owner.strong_count() > 0);
    }

    fn events(&self, id: u64) -> Result<Arc<AsyncMutex<mpsc::UnboundedReceiver<Json>>>, String> {
        self.0.lock().open.get(&id).map(|entry| entry.events.clone()).ok_or_else(ended)
    }
}

fn ended() -> String {
    "this session was disposed".to_owned()
}

impl AgentRequest {
    fn model(&self, host: &Host) -> Result<Option<Arc<dyn Model>>, String> {
        let (Some(provider), Some(id)) = (&self.provider, &self.model) else {
            return Ok(host.agent.state().model);
        };
        let found = host.model(&json!(provider), &json!(id));
        found.map(Some).ok_or_else(|| format!("no model {provider}/{id}"))
    }

    fn tool_box(&self, owner: &Arc<Handle>) -> ToolBox {
        let mut tools = match &self.tools {
            None => ToolBox::coding(),
            Some(wanted) => {
                let mut all = ToolBox::all();
                all.retain(|name| wanted.iter().any(|wanted| wanted == name));
                all
            }
        };
        for CustomTool { key, tool } in &self.custom {
            let (extension, tool) = (Extension { handle: owner.clone() }, tool.clone());
            tools.add(Arc::new(ExtensionTool { extension, tool, key: key.clone() }) as Arc<dyn Tool>);
        }
        tools.retain(|name| !self.exclude.iter().any(|excluded| excluded == name));
        tools
    }
}

/// Sends the events of an agent to script, spelled as those of the user's agent.
#[derive(Debug)]
struct Forward {
    name: String,
    sender: mpsc::UnboundedSender<Json>,
    feed: Arc<Feed>,
}

/// The events that a subscriber of a session gets.
const FORWARDED: [&str; 11] = [
    "agent_start",
    "agent_end",
    "agent_settled",
    "turn_start",
    "turn_end",
    "message_start",
    "message_update",
    "message_end",
    "tool_execution_start",
    "tool_execution_update",
    "tool_execution_end",
];

impl Handler for Forward {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants(&self, event: &str) -> bool {
        FORWARDED.contains(&event)
    }

    fn call<'a>(&'a self, event: &'a str, payload: &'a Json, _: &'a Cancel) -> HookFuture<'a> {
        if self.feed.has_listener.load(Ordering::Acquire) {
            let mut value = payload.clone();
            value["type"] = event.into();
            self.feed.sent.fetch_add(1, Ordering::AcqRel);
            // The receiver is gone when the agent ends.
            drop(self.sender.send(value));
        }
        Box::pin(std::future::ready(Ok(Json::Null)))
    }
}

/// Performs an operation of an agent that takes time.
pub(crate) async fn perform(
    agents: &Agents,
    name: &str,
    arguments: &Json,
    cancel: &Cancel,
) -> Result<Json, String> {
    let id = arguments["agent"].as_u64().unwrap_or_default();
    match name {
        "agent.prompt" => {
            let agent = agents.get(id)?;
            let done = agent.prompt(submission(arguments)).unless(cancel).await;
            done.map_err(|error| error.to_string())?;
            Ok(agents.feed(id).map_or(0, |feed| feed.sent.load(Ordering::Acquire)).into())
        }
        "agent.settled" => {
            let agent = agents.get(id)?;
            agent.wait_until_idle().await.map(|()| Json::Null).map_err(|error| error.to_string())
        }
        "agent.compact" => {
            let focus = given(arguments, "focus").and_then(Json::as_str).map(str::to_owned);
            let done = agents.get(id)?.compact(focus).unless(cancel).await;
            done.map(|_| Json::Null).map_err(|error| error.to_string())
        }
        "agent.events" => {
            let events = agents.events(id)?;
            let mut events = events.lock().await;
            let Some(Some(first)) = cancel.unless_cancelled(events.recv()).await else {
                return Ok(Json::Null);
            };
            let mut batch = vec![first];
            while let Ok(more) = events.try_recv() {
                batch.push(more);
            }
            Ok(batch.into())
        }
        name => Err(format!("no such operation: {name}")),
    }
}

fn submission(arguments: &Json) -> Submission {
    let text = arguments["text"].as_str().unwrap_or_default();
    let images = arguments["images"].as_array().into_iter().flatten();
    let images = images.filter_map(|image| {
        Some(Image {
            data: image["data"].as_str()?.to_owned(),
            mime_type: image["mimeType"].as_str()?.to_owned(),
        })
    });
    Submission { images: images.collect(), source: "extension", ..Submission::typed(text) }
}

/// Answers at once.
pub(crate) fn call(host: &Host, name: &str, arguments: &Json) -> Result<Json, String> {
    let id = arguments["agent"].as_u64().unwrap_or_default();
    if name == "dispose" {
        host.agents.dispose(id);
        return Ok(Json::Null);
    }
    let agent = host.agents.get(id)?;
    match name {
        "state" => {
            let state = agent.state();
            return Ok(json!({
                "model": state.model.as_ref().map(|model| model.spec().to_json()),
                "thinking": state.thinking.name(),
                "isIdle": agent.is_idle(),
                "hasPending": agent.has_waiting(),
            }));
        }
        "listen" => {
            if let Some(feed) = host.agents.feed(id) {
                feed.has_listener.store(arguments["listens"] == true, Ordering::Release);
            }
        }
        "abort" => agent.abort(),
        "queue" => {
            let delivery =
                if arguments["deliverAs"] == "followUp" { Delivery::FollowUp } else { Delivery::Steer };
            agent.queue_prompt(submission(arguments), delivery);
        }
        "setModel" => {
            let model = host.model(&arguments["provider"], &arguments["id"]);
            drop(agent.choose_model(model.ok_or("no such model")?, offshoot_agent::agent::ChosenBy::Name));
        }
        "setThinking" => {
            let level = arguments["level"].as_str().and_then(ThinkingLevel::from_name);
            drop(agent.choose_thinking(level.ok_or("no such thinking level")?));
        }
        _ => return Err(format!("no such native: agent.{name}")),
    }
    Ok(Json::Null)
}
