//! An open session: its agent, the prompt that runs, its mode and its options.

use std::any::Any;
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::time::Duration;

use offshoot_agent::agent::Submitted;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::event::{AgentEvent, Subscription};
use offshoot_agent::extension::numbered;
use offshoot_agent::handle::AgentState;
use offshoot_agent::model::{ModelSpec, StopReason};
use offshoot_agent::permission::Mode;
use offshoot_agent::turn::Outcome;
use serde_json::{Map, Value as Json, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::StartedAgent;
use super::connection::Connection;
use super::update::Updates;
use super::{content, files};
use crate::failure::{Failure, FailureKind};
use crate::rpc::{HostEvents, Server};

/// The events that may wait for the editor before the agent waits.
const UNREAD_EVENTS: usize = 256;

/// How long an agent may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// The modes: what happens to tool calls that no rule decides about.
const MODES: [(&str, &str, &str, Mode); 3] = [
    ("ask", "Ask", "Ask before files are changed and commands run", Mode::AskFor),
    ("read-only", "Read only", "Refuse changes and commands that no rule allows", Mode::DenyAsking),
    ("allow-all", "Allow all", "Run every tool call that no rule denies, without asking", Mode::AllowAll),
];

/// An open session.
pub(super) struct AcpSession {
    pub(super) server: Rc<Server>,
    pub(super) connection: Weak<Connection>,
    pub(super) updates: RefCell<Updates>,
    /// Cancels the prompt that runs.
    prompt_cancel: RefCell<Cancel>,
    flushes: mpsc::UnboundedSender<oneshot::Sender<()>>,
    tasks: RefCell<Vec<JoinHandle<()>>>,
    /// The MCP servers.
    servers: RefCell<Option<Box<dyn Any>>>,
    /// Ends when they have started; the first prompt waits for it.
    settled: RefCell<Option<Pin<Box<dyn Future<Output = ()>>>>>,
}

impl AcpSession {
    /// Waits until the extensions of an agent are loaded, and sends what happens to the editor.
    pub(super) async fn start(
        connection: &Rc<Connection>,
        started: StartedAgent,
    ) -> Result<Rc<Self>, Failure> {
        let StartedAgent { server, host_events, loading, servers, settled } = started;
        let (flushes, flush_queue) = mpsc::unbounded_channel();
        let events = server.agent.subscribe_within(UNREAD_EVENTS);
        let approvals = server.agent.approvals();
        let files = server.agent.editor(files::access(&connection.capabilities.borrow()));
        let shows_compactions = connection.capabilities.borrow()["session"]["compaction"].is_object();
        let session = Rc::new(AcpSession {
            server,
            connection: Rc::downgrade(connection),
            updates: RefCell::new(Updates::new(shows_compactions)),
            prompt_cancel: RefCell::new(Cancel::new()),
            flushes,
            tasks: RefCell::default(),
            servers: RefCell::new(Some(servers)),
            settled: RefCell::new(Some(settled)),
        });
        session.tasks.replace(vec![
            tokio::task::spawn_local(session.clone().send_updates(events, flush_queue)),
            tokio::task::spawn_local(session.clone().ask_for_approvals(approvals)),
            tokio::task::spawn_local(session.clone().serve_files(files)),
            tokio::task::spawn_local(session.clone().take_host_events(host_events)),
        ]);
        loading.await?;
        let later = session.clone();
        // A client knows the session only when its request is answered.
        tokio::task::spawn_local(async move {
            tokio::task::yield_now().await;
            later.send_commands().await;
        });
        Ok(session)
    }

    pub(super) fn id(&self) -> String {
        self.server.agent.read(|session| session.header().id().into_owned())
    }

    async fn send_updates(
        self: Rc<Self>,
        mut events: Subscription,
        mut flushes: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
    ) {
        loop {
            tokio::select! {
                biased;
                event = events.next() => match event {
                    Some(event) => {
                        let mut updates = self.updates.borrow_mut().of(&event.event);
                        if let AgentEvent::ThinkingChanged { .. } = event.event {
                            let options = self.options();
                            updates.push(json!({"sessionUpdate": "config_option_update", "configOptions": options}));
                        }
                        self.send_all(updates).await;
                    }
                    None => return,
                },
                Some(flush) = flushes.recv() => drop(flush.send(())),
            }
        }
    }

    pub(super) async fn send_all(&self, updates: Vec<Json>) {
        let Some(connection) = self.connection.upgrade() else { return };
        let id = self.id();
        for update in updates {
            connection.update(&id, update).await;
        }
    }

    /// Waits until the updates of all events so far are sent.
    pub(super) async fn events_sent(&self) {
        let (send, sent) = oneshot::channel();
        if self.flushes.send(send).is_ok() {
            // The session may have been closed.
            drop(sent.await);
        }
    }

    /// Sends the names of the commands of the program, of extensions, templates and skills.
    async fn send_commands(&self) {
        let state = self.server.agent.state();
        let of_extensions = numbered(&state.commands)
            .into_iter()
            .map(|(name, command)| json!({"name": name, "description": command.description()}));
        let of_files = state.resources.commands().map(|command| {
            let hint = command.argument_hint.unwrap_or("arguments");
            json!({"name": command.name, "description": command.description, "input": {"hint": hint}})
        });
        let own = self.server.program.typed_commands().into_iter().map(|command| {
            let mut spelled = json!({"name": command.name, "description": command.description});
            if !command.arguments.is_empty() {
                spelled["input"] = json!({"hint": command.arguments});
            }
            spelled
        });
        let commands: Vec<Json> = own.chain(of_extensions).chain(of_files).collect();
        let update = json!({"sessionUpdate": "available_commands_update", "availableCommands": commands});
        self.send_all(vec![update]).await;
    }

    /// Sends a prompt to the model and returns why the work on it ended.
    pub(super) async fn prompt(&self, connection: &Connection, prompt: &Json) -> Result<Json, Failure> {
        let submission = content::submission(prompt)?;
        if self.server.agent.has_turn() {
            return Err(Failure::of(FailureKind::Busy, "a prompt of this session is running"));
        }
        let cancel = Cancel::new();
        self.prompt_cancel.replace(cancel.clone());
        self.updates.borrow_mut().begin_prompt();
        if let Some(text) = self.run_typed(&submission.text, &cancel).await {
            self.events_sent().await;
            let content = json!({"type": "text", "text": text});
            self.send_all(vec![json!({"sessionUpdate": "agent_message_chunk", "content": content})]).await;
            let stop = if cancel.is_cancelled() { "cancelled" } else { "end_turn" };
            return Ok(json!({ "stopReason": stop }));
        }
        if let Some(settled) = self.settled.take() {
            tokio::select! {
                () = settled => {}
                () = cancel.cancelled() => {}
            }
        }
        if cancel.is_cancelled() {
            return Ok(json!({"stopReason": "cancelled"}));
        }
        let submitted = self.server.send_prompt(submission).await;
        self.events_sent().await;
        let stop = match submitted {
            Ok(Submitted::Handled | Submitted::Answered(Outcome::Done)) => match self.updates.borrow().stop {
                Some(StopReason::Length) => "max_tokens",
                _ => "end_turn",
            },
            _ if cancel.is_cancelled() => "cancelled",
            Ok(Submitted::Answered(Outcome::Aborted)) => "cancelled",
            Ok(Submitted::Answered(Outcome::Failed(error))) => return Err(Failure::new(error.to_string())),
            Err(failure) => return Err(failure),
        };
        let prompt = self.updates.borrow().prompt.clone();
        let (leaf, usage) = self.server.agent.read(|session| (session.leaf_id(), self.usage(session)));
        if let Some(usage) = usage {
            connection.update(&self.id(), usage).await;
        }
        Ok(json!({"stopReason": stop, "_meta": {"offshoot": {"promptId": prompt, "leafId": leaf}}}))
    }

    /// Runs a command of the program that was typed, and returns the text to show; none if the text is a prompt. A failure is
    /// shown like a result, because the person typed the command.
    async fn run_typed(&self, text: &str, cancel: &Cancel) -> Option<String> {
        let result = self.server.program.run_typed(text, &self.server.agent, cancel)?.await;
        Some(result.unwrap_or_else(|failure| failure.message))
    }

    /// Spells how much of the context window is used.
    fn usage(&self, session: &session_tree::Session) -> Option<Json> {
        let window = self.server.agent.state().model?.spec().context_window;
        let used = session.context_estimate(session_tree::Position::Leaf).ok()?.tokens;
        let cost = session_view::Stats::of(session).ok()?.usage.cost;
        Some(json!({
            "sessionUpdate": "usage_update", "used": used, "size": window,
            "cost": {"amount": cost, "currency": "USD"},
        }))
    }

    /// Stops the work on the prompt.
    pub(super) fn cancel(&self) {
        self.prompt_cancel.borrow().cancel();
        self.server.agent.abort();
    }

    /// Returns the modes and the options, as they are now.
    pub(super) fn state(&self) -> Json {
        let mode = self.server.agent.permission_mode();
        let current = MODES.iter().find(|(.., own)| *own == mode).map_or(MODES[0].0, |(id, ..)| id);
        let modes: Vec<Json> = MODES
            .iter()
            .map(|(id, name, description, _)| json!({"id": id, "name": name, "description": description}))
            .collect();
        json!({
            "modes": {"currentModeId": current, "availableModes": modes},
            "configOptions": self.options(),
        })
    }

    pub(super) fn set_mode(&self, id: &str) -> Result<Json, Failure> {
        let Some((.., mode)) = MODES.iter().find(|(own, ..)| *own == id) else {
            return Err(Failure::of(FailureKind::BadInput, format!("there is no mode `{id}`")));
        };
        self.server.agent.set_permission_mode(*mode);
        Ok(json!({}))
    }

    /// Spells the model and the thinking level as options.
    pub(super) fn options(&self) -> Vec<Json> {
        let AgentState { model, thinking, .. } = self.server.agent.state();
        let mut models: Vec<ModelSpec> = self.server.program.models();
        let current = model.map(|model| model.spec().clone());
        if let Some(spec) = current.as_ref().filter(|own| !models.iter().any(|spec| spec == *own)) {
            models.insert(0, spec.clone());
        }
        let mut options = Vec::new();
        if let Some(current) = &current {
            let values: Vec<Json> = models
                .iter()
                .map(|spec| json!({"value": spec.full_name(), "name": spec.name, "description": spec.provider}))
                .collect();
            options.push(json!({
                "id": "model", "name": "Model", "category": "model", "type": "select",
                "currentValue": current.full_name(), "options": values,
            }));
        }
        let levels = current.map(|spec| spec.thinking_levels).unwrap_or_default();
        if !levels.is_empty() {
            let others = levels.iter().filter(|level| level.name() != "off").map(|level| level.name());
            let values: Vec<Json> = std::iter::once("off")
                .chain(others)
                .map(|name| json!({"value": name, "name": name}))
                .collect();
            options.push(json!({
                "id": "thinking", "name": "Thinking", "category": "thought_level", "type": "select",
                "currentValue": thinking.name(), "options": values,
            }));
        }
        options
    }

    pub(super) async fn set_option(&self, id: &str, value: &str) -> Result<Json, Failure> {
        let (command, fields) = match id {
            "model" => {
                let (provider, model) = value.split_once('/').unwrap_or(("", value));
                ("set_model", json!({"provider": provider, "modelId": model}))
            }
            "thinking" => ("set_thinking_level", json!({ "level": value })),
            _ => return Err(Failure::of(FailureKind::BadInput, format!("there is no option `{id}`"))),
        };
        let Json::Object(fields) = fields else { return Ok(Json::Null) };
        self.server.call(command, fields).await?;
        Ok(json!({"configOptions": self.options()}))
    }

    async fn take_host_events(self: Rc<Self>, mut events: HostEvents) {
        while let Some(event) = events.next().await {
            self.take_host_event(event).await;
        }
    }

    /// Stops the work and ends the agent.
    pub(super) async fn close(&self) {
        self.cancel();
        let ended = tokio::time::timeout(PATIENCE, self.server.agent.quit()).await;
        if !matches!(ended, Ok(Ok(()))) {
            tracing::warn!("an agent did not end in time");
        }
        self.tasks.take().iter().for_each(JoinHandle::abort);
        self.settled.take();
        self.servers.take();
    }
}

impl Server {
    /// Runs a command of [`rpc`](crate::rpc) by its name.
    pub(super) async fn call(
        self: &Rc<Self>,
        command: &str,
        fields: Map<String, Json>,
    ) -> Result<Json, Failure> {
        let reply = self.run_named(command, fields).await?;
        if reply.is_empty() {
            return Ok(json!({}));
        }
        serde_json::from_str(&reply).map_err(|error| Failure::new(error.to_string()))
    }
}
