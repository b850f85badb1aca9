//! Servers of other programs, whose tools the agent may call.
//!
//! ```text
//!   mcp.json -> [`ServerConfig`] -> a task per server: connect -> list tools -> serve calls -> restart
//!                                      │ its own thread                │
//!   chat <- [`Servers::status`] <──────┘        agent -> [`Tool`] ─────┘
//! ```
//!
//! All servers run on one thread of their own, in the background. Nothing waits for a server without a time limit, and no
//! server can send more than a limit. Whether a tool may be called is decided by the agent, like for all other tools.

mod config;
mod connection;
mod http;
mod limits;
mod names;
mod server;
mod tool;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use offshoot_agent::secrets::Secrets;
use offshoot_agent::tool::Tool;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::warn;

pub use self::config::{ConfigFile, ConfigProblem, ServerConfig, Transport, read_configs};
use self::server::Server;
use self::tool::McpTool;

/// The default time limit for the start of a server.
pub const START_LIMIT: Duration = Duration::from_secs(30);
/// How long the servers have to end when the program does.
const GRACE: Duration = Duration::from_secs(2);

/// The place in which servers run.
#[derive(Clone)]
pub struct ClientOptions {
    /// The working directory of servers that are programs.
    pub cwd: PathBuf,
    /// The environment variables that servers do not inherit.
    pub secrets: Arc<Secrets>,
    /// How long a server may take until it has answered and listed its tools.
    pub start_limit: Duration,
    /// Receives the tools of all servers when tools come or go.
    pub on_change: OnChange,
    /// Receives the name of a server that fails for the first time, and why.
    pub on_failure: OnFailure,
}

/// Receives the tools of all servers.
pub type OnChange = Arc<dyn Fn(Vec<Arc<dyn Tool>>) + Send + Sync>;

/// Receives the name of a server and why it failed.
pub type OnFailure = Arc<dyn Fn(&str, &Problem) + Send + Sync>;

/// The state of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The configuration turns it off.
    Disabled,
    /// It is being started, or has not answered yet.
    Starting,
    /// It answers.
    Ready,
    /// It failed and is started again after a while.
    Waiting(Problem),
    /// It failed and is not started again.
    Failed(Problem),
}

/// The reason why a server does not answer, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// A description of the failure.
    pub reason: String,
    /// The remedy.
    pub hint: String,
}

/// A server, for people.
#[derive(Debug, Clone)]
pub struct Status {
    /// The name in the configuration.
    pub name: String,
    /// The command or the address.
    pub target: String,
    /// The file that configures it.
    pub source: PathBuf,
    /// The state.
    pub state: State,
    /// The names of its tools, as models see them.
    pub tools: Vec<String>,
}

/// The servers of a configuration. Dropping it ends them.
pub struct Servers {
    servers: Vec<Arc<Server>>,
    progress: watch::Receiver<u64>,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Servers {
    /// Starts the servers in the background. Without a server that is enabled there is no thread.
    pub fn start(configs: Vec<ServerConfig>, options: &ClientOptions) -> Self {
        let (changed, progress) = watch::channel(0);
        let servers: Vec<Arc<Server>> =
            configs.into_iter().map(|config| Arc::new(Server::new(config))).collect();
        let stop = CancellationToken::new();
        let enabled: Vec<Arc<Server>> =
            servers.iter().filter(|server| server.config.enabled).cloned().collect();
        let thread = (!enabled.is_empty()).then(|| {
            let (options, stop, failed) = (options.clone(), stop.clone(), enabled.clone());
            let work = move || run(&enabled, &options, &changed, &stop);
            let thread = std::thread::Builder::new().name("mcp".to_owned()).spawn(work);
            thread.map_err(|error| {
                warn!(%error, "no thread for MCP servers");
                failed.iter().for_each(|server| server.fail(&format!("cannot start a thread: {error}")));
            })
        });
        Servers { servers, progress, stop, thread: thread.and_then(Result::ok) }
    }

    /// Returns true if no server is configured.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Returns the tools of all servers that have answered once.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        all_tools(&self.servers)
    }

    /// Returns the state of all servers.
    pub fn status(&self) -> Vec<Status> {
        self.servers.iter().map(|server| server.status()).collect()
    }

    /// Waits until no server is starting, at most for `limit`.
    pub async fn settled(&self, limit: Duration) {
        let mut progress = self.progress.clone();
        let settled = async {
            while self.servers.iter().any(|server| server.state() == State::Starting) {
                if progress.changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::time::timeout(limit, settled).await.ok();
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // The thread ends within its grace.
            thread.join().ok();
        }
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.servers.iter().map(|server| &server.config.name)).finish()
    }
}

fn all_tools(servers: &[Arc<Server>]) -> Vec<Arc<dyn Tool>> {
    servers.iter().flat_map(McpTool::of).map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect()
}

/// Runs all servers until they are stopped.
fn run(
    servers: &[Arc<Server>],
    options: &ClientOptions,
    changed: &watch::Sender<u64>,
    stop: &CancellationToken,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            servers.iter().for_each(|server| server.fail(&format!("cannot start a runtime: {error}")));
            return;
        }
    };
    runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        let servers: Arc<[Arc<Server>]> = servers.into();
        for server in servers.iter() {
            let (server, servers, options, changed, stop) =
                (server.clone(), servers.clone(), options.clone(), changed.clone(), stop.clone());
            tasks.spawn(async move {
                let notify = || {
                    (options.on_change)(all_tools(&servers));
                    changed.send_modify(|count| *count += 1);
                };
                server.run(&options, &notify, &stop).await;
            });
        }
        stop.cancelled().await;
        tokio::time::timeout(GRACE, async { while tasks.join_next().await.is_some() {} }).await.ok();
        // What is left is killed when its task is dropped.
    });
}

/// Locks a mutex; a thread that panicked leaves a value that is still usable.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
