//! One connection to a server: started within a time limit, and ended with everything that it started.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use offshoot_agent::secrets::Secrets;
use offshoot_agent::tools::ProcessGroup;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion, Tool};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, NotificationContext, RoleClient,
    RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, Peer, ServiceError};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::config::{ServerConfig, Transport};
use super::http::HttpClient;
use super::limits::{Limited, MAX_MESSAGE, Observed};
use super::{ClientOptions, Problem, lock};

/// How long to wait for a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long a program may take to end after its input is closed, and again after it was asked to end.
const END_STEP: Duration = Duration::from_millis(700);
/// How often a group is looked at while it ends.
const POLL: Duration = Duration::from_millis(10);
/// How much of the error output of a server is kept.
const MAX_ERRORS: usize = 4 << 10;
/// The most tools of a server.
const MAX_TOOLS: usize = 1000;

/// A server that has answered.
pub(super) struct Connection {
    running: RunningService<RoleClient, Client>,
    process: Option<Process>,
    observed: Arc<Mutex<Observed>>,
}

/// Receives a message when the list of tools has changed.
pub(super) type Changes = mpsc::Receiver<()>;

/// Why there is no connection.
pub(super) struct Failure {
    pub(super) problem: Problem,
    /// True if another attempt would fail in the same way.
    pub(super) is_final: bool,
}

impl Connection {
    /// Connects to a server.
    pub(super) async fn open(
        config: &ServerConfig,
        options: &ClientOptions,
    ) -> Result<(Self, Changes), Failure> {
        let (send, changes) = mpsc::channel(1);
        let connection = Self::connect(config, options, Client { changes: send }).await?;
        Ok((connection, changes))
    }

    async fn connect(
        config: &ServerConfig,
        options: &ClientOptions,
        client: Client,
    ) -> Result<Self, Failure> {
        let observed = Arc::default();
        match &config.transport {
            Transport::Stdio { .. } => Self::start(config, options, client, observed).await,
            Transport::Http { url, headers } => {
                let transport = http_transport(url, headers, &observed).map_err(Failure::wrong)?;
                let serving =
                    timeout(options.start_limit, client.serve_with_lifecycle(transport, lifecycle()));
                match serving.await {
                    Ok(Ok(running)) => Ok(Connection { running, process: None, observed }),
                    Ok(Err(error)) => Err(Failure::of_http(&error)),
                    Err(_) => Err(Failure::late(options.start_limit)),
                }
            }
        }
    }

    async fn start(
        config: &ServerConfig,
        options: &ClientOptions,
        client: Client,
        observed: Arc<Mutex<Observed>>,
    ) -> Result<Self, Failure> {
        let (mut process, transport) = Process::start(config, options, &observed)?;
        let serving = timeout(options.start_limit, client.serve_with_lifecycle(transport, lifecycle()));
        let failure = match serving.await {
            Ok(Ok(running)) => return Ok(Connection { running, process: Some(process), observed }),
            Ok(Err(error)) => {
                Failure::again(init_words(&error), "run the command in a terminal to see what it prints")
            }
            Err(_) => Failure::late(options.start_limit),
        };
        process.end().await;
        Err(failure.explained(Some(&process), &observed))
    }

    /// Returns the side that takes requests.
    pub(super) fn peer(&self) -> Peer<RoleClient> {
        self.running.peer().clone()
    }

    /// Lists the tools of the server.
    pub(super) async fn tools(&self, limit: Duration) -> Result<Vec<Tool>, Failure> {
        if self.running.peer().peer_info().is_some_and(|info| info.capabilities.tools.is_none()) {
            return Ok(Vec::new());
        }
        let failure = match timeout(limit, self.running.peer().list_all_tools()).await {
            Ok(Ok(mut tools)) => {
                tools.truncate(MAX_TOOLS);
                return Ok(tools);
            }
            Ok(Err(error)) => Failure::again(service_words(&error), "the server does not list its tools"),
            Err(_) => Failure::late(limit),
        };
        Err(failure.explained(self.process.as_ref(), &self.observed))
    }

    /// Waits until the server is gone.
    pub(super) async fn gone(&self) {
        while !self.running.is_closed() && !self.running.peer().is_transport_closed() {
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Ends the connection. Returns why the server went away, if it did so by itself.
    pub(super) async fn close(mut self) -> Failure {
        self.running.close_with_timeout(END_STEP).await.ok();
        let failure = Failure::again("the connection ended", "`/reload` starts it again");
        if let Some(process) = &mut self.process {
            process.end().await;
        }
        failure.explained(self.process.as_ref(), &self.observed)
    }

    /// Returns a remark about output that is not JSON, for a call that got no answer.
    pub(super) fn remark(observed: &Mutex<Observed>) -> String {
        match &lock(observed).not_json {
            Some(line) => format!("; it printed a line that is not JSON: `{line}`"),
            None => String::new(),
        }
    }

    /// Returns what is known about the output of the server.
    pub(super) fn observed(&self) -> Arc<Mutex<Observed>> {
        self.observed.clone()
    }
}

/// The newest revision first; servers of older ones answer `initialize`.
fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

/// The client as a server sees it; it offers no features.
struct Client {
    changes: mpsc::Sender<()>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("offshoot", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        // One message is enough, however often the list changes.
        self.changes.try_send(()).ok();
    }
}

type StdioTransport =
    AsyncRwTransport<RoleClient, Limited<tokio::process::ChildStdout>, tokio::process::ChildStdin>;

/// The program of a server.
struct Process {
    child: Child,
    group: ProcessGroup,
    errors: Arc<Mutex<Vec<u8>>>,
    /// Reads the error output.
    collector: JoinHandle<()>,
}

impl Process {
    fn start(
        config: &ServerConfig,
        options: &ClientOptions,
        observed: &Arc<Mutex<Observed>>,
    ) -> Result<(Self, StdioTransport), Failure> {
        let Transport::Stdio { command, args, env, cwd } = &config.transport else {
            return Err(Failure::wrong("it is not a program".to_owned()));
        };
        let directory = cwd.as_ref().map_or_else(|| options.cwd.clone(), |cwd| options.cwd.join(cwd));
        let mut child = Command::new(command);
        child.args(args).current_dir(&directory);
        for name in withheld(&options.secrets) {
            child.env_remove(name);
        }
        child.envs(env).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let spawned = child.process_group(0).kill_on_drop(true).spawn();
        let mut child = spawned.map_err(|error| Failure::of_spawn(command, &directory, &error))?;
        let group = ProcessGroup::of(&child);
        let errors = Arc::default();
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(Failure::wrong("it has no pipes".to_owned()));
        };
        let collector = tokio::spawn(collect(stderr, Arc::clone(&errors)));
        let transport = AsyncRwTransport::new_client(Limited::new(stdout, observed.clone()), stdin);
        Ok((Process { child, group, errors, collector }, transport.with_max_line_length(MAX_MESSAGE)))
    }

    /// Ends the program and all that it started: its input is closed already, then TERM, then KILL.
    async fn end(&mut self) {
        self.wait().await;
        if self.group.is_alive() {
            self.group.ask_to_end();
            self.wait().await;
        }
        self.group.kill();
        self.child.wait().await.ok();
        self.group.forget();
        // Somebody outside the group may keep the pipe open.
        timeout(END_STEP, &mut self.collector).await.ok();
        self.collector.abort();
    }

    async fn wait(&mut self) {
        let ended = async {
            while self.group.is_alive() {
                // An ended leader counts as alive until its status is read.
                self.child.try_wait().ok();
                sleep(POLL).await;
            }
        };
        timeout(END_STEP, ended).await.ok();
    }

    /// Returns the last line of the error output, and how the program ended.
    fn last_words(&self) -> Option<String> {
        let errors = lock(&self.errors);
        let text = String::from_utf8_lossy(&errors);
        let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
        Some(line.trim().chars().take(300).collect())
    }
}

/// Returns the environment variables that servers do not inherit.
fn withheld(secrets: &Secrets) -> Vec<OsString> {
    let is_withheld = |(name, value): &(OsString, OsString)| {
        secrets.withholds_variable(&name.to_string_lossy(), &value.to_string_lossy())
    };
    std::env::vars_os().filter(is_withheld).map(|(name, _)| name).collect()
}

/// Keeps the end of the error output; everything is read, so that the server can continue.
async fn collect(mut stderr: ChildStderr, errors: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = vec![0; 4 << 10];
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        let mut errors = lock(&errors);
        errors.extend_from_slice(&buffer[..length]);
        let excess = errors.len().saturating_sub(MAX_ERRORS);
        errors.drain(..excess);
    }
}

fn http_transport(
    url: &str,
    headers: &std::collections::BTreeMap<String, String>,
    observed: &Arc<Mutex<Observed>>,
) -> Result<StreamableHttpClientTransport<HttpClient>, String> {
    // A second call finds the provider that the first has installed.
    rustls::crypto::ring::default_provider().install_default().ok();
    let address = reqwest::Url::parse(url).map_err(|error| format!("`{url}` is not an address: {error}"))?;
    if !matches!(address.scheme(), "http" | "https") {
        return Err(format!("`{url}` is neither http nor https"));
    }
    let header = |(name, value): (&String, &String)| {
        let parsed = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_str(value).ok());
        let (name, mut value) = parsed.ok_or_else(|| format!("`{name}` is not a header"))?;
        value.set_sensitive(true);
        Ok((name, value))
    };
    let headers: HashMap<HeaderName, HeaderValue> =
        headers.iter().map(header).collect::<Result<_, String>>()?;
    // A redirect would carry the headers to another host.
    let client = reqwest::Client::builder()
        .connect_timeout(CONNECT_LIMIT)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| error.to_string())?;
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
    Ok(StreamableHttpClientTransport::with_client(HttpClient { client, observed: observed.clone() }, config))
}

impl Failure {
    fn again(reason: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure { problem: Problem { reason: reason.into(), hint: hint.into() }, is_final: false }
    }

    fn wrong(reason: String) -> Self {
        Failure { is_final: true, ..Self::again(reason, "correct the entry, then `/reload`") }
    }

    fn late(limit: Duration) -> Self {
        Self::again(
            format!("it did not answer within {} seconds", limit.as_secs()),
            "run the command in a terminal to see what it prints",
        )
    }

    fn of_spawn(command: &str, directory: &Path, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound if !directory.is_dir() => {
                Self::wrong(format!("the directory {} does not exist", directory.display()))
            }
            io::ErrorKind::NotFound => Failure {
                is_final: true,
                ..Self::again(
                    format!("the program `{command}` was not found"),
                    "install it, or give its path, then `/reload`",
                )
            },
            _ => Self::wrong(format!("cannot start `{command}`: {error}")),
        }
    }

    fn of_http(error: &ClientInitializeError) -> Self {
        if error.is_authorization_required() || error.auth_challenge().is_some() {
            let hint = "set the header `Authorization` in mcp.json; signing in with OAuth is not supported";
            return Failure { is_final: true, ..Self::again("the server wants you to sign in", hint) };
        }
        Self::again(init_words(error), "check the address, and that the server runs")
    }

    /// Adds what the messages and the process of the server show about the cause.
    fn explained(mut self, process: Option<&Process>, observed: &Mutex<Observed>) -> Self {
        let observed = lock(observed).clone();
        let reason = &mut self.problem.reason;
        if let Some(excess) = observed.excess {
            self.problem.reason = format!("stopped: {excess}");
            return self;
        }
        if let Some(line) = observed.not_json {
            reason.push_str(&format!("; it prints text that is not JSON on its standard output: `{line}`"));
        }
        if let Some(line) = process.and_then(Process::last_words) {
            reason.push_str(&format!("; its last words: `{line}`"));
        }
        self
    }
}

/// Writes an error with its causes.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text.chars().take(500).collect()
}

/// Writes why a server could not be initialised.
fn init_words(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended before it answered".to_owned(),
        ClientInitializeError::TransportError { error, .. } => {
            match error.error.downcast_ref::<io::Error>() {
                // The pipe of a program that has ended.
                Some(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    "it ended before it answered".to_owned()
                }
                _ => chain(error.error.as_ref()),
            }
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => init_words(fallback),
        other => chain(other),
    }
}

/// Writes an error of a request.
pub(super) fn service_words(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => error.message.chars().take(2000).collect(),
        ServiceError::TransportSend(error) => chain(error.error.as_ref()),
        ServiceError::TransportClosed => "the server ended".to_owned(),
        ServiceError::Timeout { timeout } => format!("no answer within {} seconds", timeout.as_secs()),
        other => chain(other),
    }
}
