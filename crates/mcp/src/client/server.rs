//! One server: connected, kept connected, and started again after a failure, with growing pauses.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use offshoot_agent::cancel::Cancel;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, JsonObject, ServerResult, Tool,
};
use rmcp::service::{PeerRequestOptions, RoleClient};
use rmcp::{Peer, ServiceError};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::config::ServerConfig;
use super::connection::{Connection, Failure, service_words};
use super::limits::Observed;
use super::names::{matches, tool_names};
use super::{ClientOptions, Problem, State, Status, lock};

/// The pauses before a server is started again, in seconds. A server that fails after the last one stays stopped.
const PAUSES: [u64; 5] = [1, 2, 5, 15, 60];
/// A server that ran for so long failed for a new reason.
const HEALTHY: Duration = Duration::from_secs(120);

/// A server.
pub(super) struct Server {
    pub(super) config: ServerConfig,
    inner: Mutex<Inner>,
}

struct Inner {
    state: State,
    /// The tools with the names that models see; they stay while the server is started again.
    tools: Vec<(String, Tool)>,
    connected: Option<Connected>,
}

/// The parts of a connection that a call needs.
#[derive(Clone)]
struct Connected {
    peer: Peer<RoleClient>,
    observed: Arc<Mutex<Observed>>,
    runtime: tokio::runtime::Handle,
}

impl Server {
    pub(super) fn new(config: ServerConfig) -> Self {
        let state = if config.enabled { State::Starting } else { State::Disabled };
        Server { config, inner: Mutex::new(Inner { state, tools: Vec::new(), connected: None }) }
    }

    pub(super) fn state(&self) -> State {
        lock(&self.inner).state.clone()
    }

    pub(super) fn tools(&self) -> Vec<(String, Tool)> {
        lock(&self.inner).tools.clone()
    }

    pub(super) fn status(&self) -> Status {
        let inner = lock(&self.inner);
        Status {
            name: self.config.name.clone(),
            target: self.config.transport.target(),
            source: self.config.source.clone(),
            state: inner.state.clone(),
            tools: inner.tools.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// Records a failure outside the server.
    pub(super) fn fail(&self, reason: &str) {
        let problem =
            Problem { reason: reason.to_owned(), hint: "close other programs and try again".to_owned() };
        lock(&self.inner).state = State::Failed(problem);
    }

    /// Keeps the server running until it is stopped or given up.
    pub(super) async fn run(
        &self,
        options: &ClientOptions,
        notify: &(dyn Fn() + Sync),
        stop: &CancellationToken,
    ) {
        let mut pauses = PAUSES.iter();
        loop {
            let started = Instant::now();
            let failure = self.run_once(options, notify, stop).await;
            if stop.is_cancelled() {
                return;
            }
            if started.elapsed() > HEALTHY {
                pauses = PAUSES.iter();
            }
            warn!(server = self.config.name, reason = failure.problem.reason, "MCP server failed");
            // The first failure is reported; a server that fails again and again is not news.
            if pauses.len() == PAUSES.len() {
                (options.on_failure)(&self.config.name, &failure.problem);
            }
            let pause = pauses.next().filter(|_| !failure.is_final);
            self.set_failed(failure.problem, pause.is_some());
            notify();
            let Some(pause) = pause else { return };
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(Duration::from_secs(*pause)) => {}
            }
            lock(&self.inner).state = State::Starting;
        }
    }

    /// Connects and serves until the server is gone or has to stop.
    async fn run_once(
        &self,
        options: &ClientOptions,
        notify: &(dyn Fn() + Sync),
        stop: &CancellationToken,
    ) -> Failure {
        let opened = tokio::select! {
            opened = Connection::open(&self.config, options) => opened,
            () = stop.cancelled() => return stopped(),
        };
        let (connection, mut changes) = match opened {
            Ok(opened) => opened,
            Err(failure) => return failure,
        };
        loop {
            let listed = tokio::select! {
                listed = connection.tools(options.start_limit) => listed,
                () = stop.cancelled() => Err(stopped()),
            };
            match listed {
                Ok(tools) => self.set_ready(tools, &connection),
                Err(failure) => {
                    connection.close().await;
                    return failure;
                }
            }
            notify();
            tokio::select! {
                Some(()) = changes.recv() => debug!(server = self.config.name, "tools changed"),
                () = connection.gone() => break,
                () = stop.cancelled() => break,
            }
        }
        lock(&self.inner).connected = None;
        connection.close().await
    }

    fn set_ready(&self, tools: Vec<Tool>, connection: &Connection) {
        let is_shown = |tool: &Tool| {
            let rule = self.config.exposure.iter().find(|(pattern, _)| matches(pattern, &tool.name));
            rule.is_none_or(|(_, is_shown)| *is_shown)
        };
        let tools: Vec<Tool> = tools.into_iter().filter(is_shown).collect();
        let names = tool_names(&self.config.name, &tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>());
        let mut inner = lock(&self.inner);
        inner.tools = names.into_iter().zip(tools).collect();
        inner.connected = Some(Connected {
            peer: connection.peer(),
            observed: connection.observed(),
            runtime: tokio::runtime::Handle::current(),
        });
        inner.state = State::Ready;
    }

    fn set_failed(&self, problem: Problem, is_retried: bool) {
        let mut inner = lock(&self.inner);
        inner.connected = None;
        if is_retried {
            inner.state = State::Waiting(problem);
        } else {
            inner.state = State::Failed(problem);
            inner.tools.clear();
        }
    }

    /// Calls a tool. The error is for the model.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        cancel: &Cancel,
    ) -> Result<CallToolResult, String> {
        let connected = lock(&self.inner).connected.clone();
        let Some(Connected { peer, observed, runtime }) = connected else { return Err(self.unavailable()) };
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let options = PeerRequestOptions::with_timeout(self.config.timeout).reset_timeout_on_progress();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let cancel = cancel.clone();
        // On the thread of the servers, where the timers of the connection are.
        let answered = runtime.spawn(async move {
            let handle = peer.send_request_with_option(request, options).await?;
            let (id, peer) = (handle.id.clone(), handle.peer.clone());
            tokio::select! {
                answer = handle.await_response() => answer,
                () = cancel.cancelled() => {
                    cancel_request(&peer, id).await;
                    Err(ServiceError::Cancelled { reason: None })
                }
            }
        });
        match answered.await {
            Ok(Ok(ServerResult::CallToolResult(result))) => Ok(result),
            Ok(Ok(ServerResult::InputRequiredResult(_))) => {
                Err("the server asks for input, which is not supported".to_owned())
            }
            Ok(Ok(_)) => Err("the answer of the server is not the result of a tool".to_owned()),
            Ok(Err(ServiceError::Cancelled { .. })) => Err("cancelled".to_owned()),
            Ok(Err(error @ ServiceError::Timeout { .. })) => {
                Err(format!("{}{}", service_words(&error), Connection::remark(&observed)))
            }
            Ok(Err(error)) => match observed_excess(&observed) {
                Some(excess) => Err(format!("the server was stopped: {excess}")),
                None => Err(service_words(&error)),
            },
            Err(_) => Err("the server ended".to_owned()),
        }
    }

    /// Explains why the server cannot be called now.
    fn unavailable(&self) -> String {
        let name = &self.config.name;
        match self.state() {
            State::Failed(problem) => format!("the MCP server `{name}` does not run: {}", problem.reason),
            State::Waiting(problem) => {
                format!(
                    "the MCP server `{name}` does not run at the moment and is started again: {}",
                    problem.reason
                )
            }
            State::Starting => format!("the MCP server `{name}` is still starting"),
            State::Ready | State::Disabled => format!("the MCP server `{name}` does not run"),
        }
    }
}

fn observed_excess(observed: &Mutex<Observed>) -> Option<String> {
    lock(observed).excess.clone()
}

async fn cancel_request(peer: &Peer<RoleClient>, id: rmcp::model::RequestId) {
    use rmcp::model::{CancelledNotification, CancelledNotificationParam};
    let params = CancelledNotificationParam::new(Some(id), Some("cancelled by the user".to_owned()));
    let notification = CancelledNotification::new(params);
    tokio::time::timeout(Duration::from_secs(1), peer.send_notification(notification.into())).await.ok();
}

fn stopped() -> Failure {
    Failure { problem: Problem { reason: "stopped".to_owned(), hint: String::new() }, is_final: true }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Server").field(&self.config.name).finish()
    }
}
