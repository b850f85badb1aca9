//! One agent and its clients: requests in, answers and events out.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::event::AgentEvent;
use offshoot_agent::handle::AgentHandle;
use serde_json::{Map, Value as Json, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::client::{Client, Reply, json_rpc_answer};
use super::dialogs::{Dialogs, HostEvents};
use super::event_log::EventLog;
use super::events::{Translator, WireEvent};
use super::prompt::StartingPrompt;
use super::protocol::Command;
use crate::failure::{Failure, FailureKind};
use crate::outbox::outbox;
use crate::program::Program;

/// The events that may wait for slow clients before the agent waits.
const UNREAD_EVENTS: usize = 256;

/// The requests of one client that may run at the same time.
const MAX_REQUESTS: usize = 256;

/// The time between two looks for entries that other programs appended.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How requests, answers and events are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// As pi does.
    Rpc,
    /// As JSON-RPC 2.0.
    JsonRpc,
}

/// One agent and its clients. It lives on one thread.
pub struct Server {
    pub(crate) agent: AgentHandle,
    pub(crate) program: Rc<dyn Program>,
    pub(crate) clients: RefCell<Vec<Rc<Client>>>,
    pub(crate) log: RefCell<EventLog>,
    pub(crate) translator: RefCell<Translator>,
    pub(crate) dialogs: Dialogs,
    /// The prompts that wait for their turn.
    pub(crate) starting: RefCell<VecDeque<StartingPrompt>>,
    /// The shell commands that run: their ids and what stops them.
    pub(crate) commands: RefCell<Vec<(Option<Json>, Cancel)>>,
    /// Stops the move of the leaf that runs.
    pub(crate) navigation: RefCell<Option<Cancel>>,
    /// Ends the server.
    pub(crate) shutdown: Cancel,
    /// False while extensions are loaded; commands that change something wait.
    pub(crate) is_ready: watch::Sender<bool>,
    /// The session and the number of its entries that subscribers know.
    known_entries: RefCell<(String, usize)>,
    barriers: mpsc::UnboundedSender<oneshot::Sender<()>>,
    barrier_queue: RefCell<Option<mpsc::UnboundedReceiver<oneshot::Sender<()>>>>,
    next_number: Cell<u64>,
}

impl Server {
    /// Makes a server for an agent.
    pub fn new(agent: AgentHandle, program: Rc<dyn Program>) -> Rc<Self> {
        let (barriers, barrier_queue) = mpsc::unbounded_channel();
        Rc::new(Server {
            agent,
            program,
            clients: RefCell::default(),
            log: RefCell::default(),
            translator: RefCell::default(),
            dialogs: Dialogs::default(),
            starting: RefCell::default(),
            commands: RefCell::default(),
            navigation: RefCell::default(),
            shutdown: Cancel::new(),
            is_ready: watch::Sender::new(true),
            known_entries: RefCell::default(),
            barriers,
            barrier_queue: RefCell::new(Some(barrier_queue)),
            next_number: Cell::new(0),
        })
    }

    /// Returns a number that was not returned before.
    pub(crate) fn next_number(&self) -> u64 {
        self.next_number.replace(self.next_number.get() + 1)
    }

    /// Sends events of the agent and dialogs of extensions to the clients, until the server ends.
    pub(crate) async fn pump(self: Rc<Self>, mut host_events: HostEvents) {
        let Some(mut barriers) = self.barrier_queue.take() else { return };
        let mut events = self.agent.subscribe_within(UNREAD_EVENTS);
        let mut poll = tokio::time::interval(POLL_INTERVAL);
        loop {
            tokio::select! {
                biased;
                event = events.next() => match event {
                    Some(event) => self.take_event(&event.event).await,
                    None => return,
                },
                Some(event) = host_events.next() => self.take_host_event(event).await,
                Some(barrier) = barriers.recv() => drop(barrier.send(())),
                _ = poll.tick(), if self.log.borrow().is_kept => {
                    if let Err(error) = self.agent.catch_up() {
                        tracing::warn!(%error, "cannot read what other programs appended");
                    }
                    self.publish_new_entries().await;
                }
            }
        }
    }

    /// Waits until all events that were emitted before are sent.
    pub(crate) async fn events_sent(&self) {
        let (send, sent) = oneshot::channel();
        if self.barriers.send(send).is_ok() {
            // The pump may have ended.
            drop(sent.await);
        }
    }

    async fn take_event(&self, event: &AgentEvent) {
        if let AgentEvent::AgentStart = event {
            self.answer_started().await;
        }
        let command = self.commands.borrow().first().map(|(id, _)| id.clone());
        let is_late = matches!(event, AgentEvent::ToolUpdate { call_id, .. }
            if call_id == offshoot_agent::agent::USER_COMMAND && command.is_none());
        if is_late {
            return;
        }
        let translated =
            self.translator.borrow_mut().translate(event, &self.agent, command.flatten().as_ref());
        self.publish(translated).await;
        self.publish_new_entries().await;
        if let AgentEvent::AgentEnd(_) = event {
            self.dialogs.end_if_requested(&self.shutdown);
        }
    }

    /// Sends events to all clients that want them.
    pub(crate) async fn publish(&self, events: impl IntoIterator<Item = WireEvent>) {
        for event in events {
            let logged = self.log.borrow_mut().add(&event);
            let clients = self.clients.borrow().clone();
            for client in clients {
                client.send_event(&logged).await;
            }
        }
    }

    /// Sends the entries that were appended since the last call to subscribers.
    pub(crate) async fn publish_new_entries(&self) {
        if !self.log.borrow().is_kept {
            return;
        }
        let entries = {
            let mut known = self.known_entries.borrow_mut();
            self.agent.read(|session| {
                let id = session.header().id();
                if known.0 != id {
                    *known = (id.into_owned(), session.tree().len());
                }
                let new = session.tree().nodes().skip(known.1);
                let entries: Vec<Json> =
                    new.filter_map(|node| session.entry_at(node).ok()?.value()?.to_serde()).collect();
                known.1 = session.tree().len();
                entries
            })
        };
        let events =
            entries.into_iter().map(|entry| WireEvent::extra("entry_appended", json!({"entry": entry})));
        self.publish(events.collect::<Vec<_>>()).await;
    }

    /// Begins to store events and to look for entries, for subscribers.
    pub(crate) fn keep_events(&self) {
        let mut log = self.log.borrow_mut();
        if !log.is_kept {
            log.is_kept = true;
            let known = self.agent.read(|session| (session.header().id().into_owned(), session.tree().len()));
            self.known_entries.replace(known);
        }
    }

    /// Takes a frame of a client.
    pub(crate) async fn take_frame(self: &Rc<Self>, client: &Rc<Client>, frame: &[u8]) {
        let text = String::from_utf8_lossy(frame);
        let value = match serde_json::from_str::<Json>(&text) {
            Ok(value) => value,
            Err(error) => {
                let failure = Failure::of(FailureKind::Parse, format!("Failed to parse command: {error}"));
                return self.refuse(client, failure).await;
            }
        };
        match (client.protocol, value) {
            (Protocol::Rpc, value) => self.take_rpc(client, value).await,
            (Protocol::JsonRpc, Json::Array(batch)) if batch.len() > MAX_REQUESTS => {
                let text = format!("a batch has at most {MAX_REQUESTS} requests");
                self.refuse(client, Failure::of(FailureKind::Request, text)).await;
            }
            (Protocol::JsonRpc, Json::Array(batch)) if !batch.is_empty() => {
                let (server, client) = (self.clone(), client.clone());
                tokio::task::spawn_local(async move { server.take_batch(&client, batch).await });
            }
            (Protocol::JsonRpc, value) => match json_rpc_request(value) {
                Ok((id, name, fields)) => self.take_request(client, id, Some(name), fields).await,
                Err(failure) => self.refuse(client, failure).await,
            },
        }
    }

    /// Refuses a frame that is longer than allowed.
    pub(crate) async fn refuse_long_frame(&self, client: &Client) {
        let limit = crate::frame::LONGEST_FRAME >> 20;
        let text = format!("Failed to parse command: the line is longer than {limit} MiB and was skipped");
        self.refuse(client, Failure::of(FailureKind::Parse, text)).await;
    }

    /// Answers a frame that is no request.
    async fn refuse(&self, client: &Client, failure: Failure) {
        match client.protocol {
            Protocol::Rpc => client.answer(None, Some("parse"), Err(failure)).await,
            Protocol::JsonRpc => client.send_text(json_rpc_answer(None, Err(failure))).await,
        }
    }

    async fn take_rpc(self: &Rc<Self>, client: &Rc<Client>, value: Json) {
        let Json::Object(mut fields) = value else {
            return client.answer(None, None, Err(unknown("undefined"))).await;
        };
        let id = fields.shift_remove("id");
        let name = match fields.shift_remove("type") {
            Some(Json::String(name)) => Some(name),
            None => None,
            Some(other) => {
                let failure = unknown(&other.to_string());
                return client.answer(id.as_ref(), None, Err(failure)).await;
            }
        };
        if name.as_deref() == Some("extension_ui_response") {
            // Its id is that of the dialog.
            if let Some(id) = id {
                fields.insert("id".to_owned(), id);
            }
            drop(self.answer_dialog(&fields));
            return;
        }
        self.take_request(client, id, name, fields).await;
    }

    /// Runs the requests of a batch and sends their answers together.
    async fn take_batch(self: &Rc<Self>, client: &Rc<Client>, batch: Vec<Json>) {
        let mut answers = Vec::new();
        for value in batch {
            let (id, reply) = match json_rpc_request(value) {
                Ok((id, name, fields)) => {
                    let reply = match read_command(&name, fields) {
                        Ok(Command::Prompt { .. }) => {
                            Err(Failure::of(FailureKind::Request, "`prompt` cannot be part of a batch"))
                        }
                        Ok(command) => self.run(client, id.as_ref(), command).await,
                        Err(failure) => Err(failure),
                    };
                    match id {
                        Some(id) => (id, reply),
                        None => continue,
                    }
                }
                Err(failure) => (Json::Null, Err(failure)),
            };
            answers.push(json_rpc_answer(Some(&id), reply));
        }
        if !answers.is_empty() {
            client.send_text(format!("[{}]", answers.join(","))).await;
        }
    }

    async fn take_request(
        self: &Rc<Self>,
        client: &Rc<Client>,
        id: Option<Json>,
        name: Option<String>,
        fields: Map<String, Json>,
    ) {
        let command = match &name {
            Some(name) => read_command(name, fields),
            None => Err(unknown("undefined")),
        };
        let command = match command {
            Ok(command) if client.requests.get() < MAX_REQUESTS => command,
            Ok(_) => {
                let text = format!("{MAX_REQUESTS} requests are not answered yet; wait for their answers");
                return client
                    .answer(id.as_ref(), name.as_deref(), Err(Failure::of(FailureKind::Busy, text)))
                    .await;
            }
            Err(failure) => return client.answer(id.as_ref(), name.as_deref(), Err(failure)).await,
        };
        if command.is_read() {
            let reply = self.run(client, id.as_ref(), command).await;
            return client.answer(id.as_ref(), name.as_deref(), reply).await;
        }
        client.requests.set(client.requests.get() + 1);
        let (server, client) = (self.clone(), client.clone());
        tokio::task::spawn_local(async move {
            // The sender lives as long as the server.
            drop(server.is_ready.subscribe().wait_for(|is_ready| *is_ready).await);
            if let Command::Prompt { .. } = command {
                server.prompt(&client, id, command).await;
            } else {
                let reply = server.run(&client, id.as_ref(), command).await;
                server.events_sent().await;
                client.answer(id.as_ref(), name.as_deref(), reply).await;
            }
            client.requests.set(client.requests.get() - 1);
            server.dialogs.end_if_requested_while_idle(&server.agent, &server.shutdown);
        });
    }

    /// Removes a client. What it was asked is answered with no.
    pub(crate) fn remove(&self, client: &Rc<Client>) {
        self.clients.borrow_mut().retain(|other| !Rc::ptr_eq(other, client));
        client.outbox.close();
        let clients = self.clients.borrow();
        if clients.is_empty() {
            self.dialogs.cancel_all();
        }
        if !clients.iter().any(|client| client.approves.get()) {
            self.dialogs.stop_approvals();
        }
    }
}

/// Returns the error of a command that does not exist.
fn unknown(name: &str) -> Failure {
    Failure::of(FailureKind::UnknownCommand, format!("Unknown command: {name}"))
}

/// Reads a command.
fn read_command(name: &str, mut fields: Map<String, Json>) -> Result<Command, Failure> {
    fields.insert("type".to_owned(), name.into());
    let no_variant = format!("unknown variant `{name}`");
    serde_json::from_value(Json::Object(fields)).map_err(|error| match error.to_string() {
        text if text.starts_with(&no_variant) => unknown(name),
        text => Failure::of(FailureKind::BadInput, format!("Invalid {name} command: {text}")),
    })
}

/// The id, the method and the parameters of a request.
type JsonRpcRequest = (Option<Json>, String, Map<String, Json>);

/// Reads a request of JSON-RPC.
fn json_rpc_request(value: Json) -> Result<JsonRpcRequest, Failure> {
    let wrong = |text: &str| Failure::of(FailureKind::Request, text);
    let Json::Object(mut request) = value else { return Err(wrong("a request is an object")) };
    if request.get("jsonrpc") != Some(&Json::from("2.0")) {
        return Err(wrong("`jsonrpc` must be \"2.0\""));
    }
    let Some(Json::String(method)) = request.shift_remove("method") else {
        return Err(wrong("`method` must be a text"));
    };
    let params = match request.shift_remove("params") {
        None | Some(Json::Null) => Map::new(),
        Some(Json::Object(params)) => params,
        Some(_) => return Err(Failure::of(FailureKind::BadInput, "`params` must be an object")),
    };
    Ok((request.shift_remove("id"), method, params))
}

impl Server {
    /// Runs a command for another protocol, by its name. Events are not sent.
    pub(crate) async fn run_named(self: &Rc<Self>, name: &str, fields: Map<String, Json>) -> Reply {
        let (sender, _) = outbox();
        let nobody = Rc::new(Client::new(Protocol::Rpc, sender, false));
        self.run(&nobody, None, read_command(name, fields)?).await
    }

    /// Runs a command.
    pub(crate) async fn run(
        self: &Rc<Self>,
        client: &Rc<Client>,
        id: Option<&Json>,
        command: Command,
    ) -> Reply {
        match self.run_of_pi(id, command).await {
            Ok(reply) => reply,
            Err(command) => self.run_of_tree(client, command).await,
        }
    }
}
