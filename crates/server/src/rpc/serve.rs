//! Serving clients: one on standard input and output, or many on a socket.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::{JoinHandle, LocalSet};

use super::client::Client;
use super::dialogs::HostEvents;
use super::server::{Protocol, Server};
use crate::failure::Failure;
use crate::frame::{Frame, FrameReader};
use crate::outbox::{Writer, outbox};

/// How long requests may take to end when the server ends.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a client that closed its input may take to read the last answers.
const LAST_READ: Duration = Duration::from_secs(30);

/// The transport between server and clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// One client on standard input and output.
    Stdio,
    /// Many clients on a Unix socket at this path.
    Socket(PathBuf),
}

/// The reason why a server ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerExit {
    /// The input ended, or an extension wanted it.
    Done,
    /// The agent could not start.
    Failed(Failure),
    /// A signal with this number arrived.
    Signal(i32),
}

/// Serves clients until the input ends, an extension ends the program, a signal arrives, or `start` fails. Then the agent
/// is stopped and ends.
///
/// # Errors
///
/// If the socket cannot be made, or standard input cannot be read.
pub fn serve(
    server: &Rc<Server>,
    host_events: HostEvents,
    protocol: Protocol,
    transport: &Transport,
    start: impl Future<Output = Result<(), Failure>>,
) -> io::Result<ServerExit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = LocalSet::new();
    let ended = local.block_on(&runtime, run(server, host_events, protocol, transport, start));
    drop(local);
    // A thread may still wait for standard input.
    runtime.shutdown_background();
    ended
}

async fn run(
    server: &Rc<Server>,
    host_events: HostEvents,
    protocol: Protocol,
    transport: &Transport,
    start: impl Future<Output = Result<(), Failure>>,
) -> io::Result<ServerExit> {
    let mut signals = Signals::listen()?;
    let pump = tokio::task::spawn_local(server.clone().pump(host_events));
    let serving = async {
        match transport {
            Transport::Stdio => {
                let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
                let (client, writing) = connect(server, protocol, output, true);
                read_frames(server, &client, input).await?;
                io::Result::Ok(Some((client, writing)))
            }
            Transport::Socket(path) => {
                let listener = Listener::bind(path)?;
                listener.accept(server, protocol).await?;
                Ok(None)
            }
        }
    };
    server.is_ready.send_replace(false);
    let failing = async {
        match start.await {
            Ok(()) => {
                server.is_ready.send_replace(true);
                std::future::pending().await
            }
            Err(failure) => failure,
        }
    };
    let (ended, last) = tokio::select! {
        failure = failing => (ServerExit::Failed(failure), None),
        served = serving => (ServerExit::Done, served?),
        () = server.shutdown.cancelled() => (ServerExit::Done, None),
        number = signals.arrived() => (ServerExit::Signal(number), None),
    };
    shut_down(server).await;
    pump.abort();
    if let Some((client, writing)) = last {
        flush(server, &client, writing).await;
    }
    Ok(ended)
}

/// Stops the work and ends the agent. What clients were asked is answered with no.
async fn shut_down(server: &Server) {
    server.dialogs.cancel_all();
    server.dialogs.stop_approvals();
    server.commands.borrow().iter().for_each(|(_, cancel)| cancel.cancel());
    server.agent.abort();
    let idle = async {
        while server.clients.borrow().iter().any(|client| client.requests.get() > 0) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let ending = async {
        // A client that does not read keeps the answers of others from nothing but themselves.
        drop(tokio::time::timeout(PATIENCE, idle).await);
        server.agent.quit().await
    };
    match tokio::time::timeout(2 * PATIENCE, ending).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the agent did not end"),
        Err(_) => tracing::warn!("the agent did not end in time"),
    }
}

/// Waits until the client has read the last answers.
async fn flush(server: &Server, client: &Rc<Client>, writing: JoinHandle<io::Result<()>>) {
    server.remove(client);
    if tokio::time::timeout(LAST_READ, writing).await.is_err() {
        tracing::warn!("the client did not read the last answers");
    }
}

/// Adds a client and the task that writes to it.
fn connect(
    server: &Server,
    protocol: Protocol,
    output: impl AsyncWrite + Unpin + 'static,
    is_waited_for: bool,
) -> (Rc<Client>, JoinHandle<io::Result<()>>) {
    let (sender, writer): (_, Writer) = outbox();
    let client = Rc::new(Client::new(protocol, sender, is_waited_for));
    server.clients.borrow_mut().push(client.clone());
    (client, tokio::task::spawn_local(writer.write_to(output)))
}

/// Takes frames until the input ends.
async fn read_frames(
    server: &Rc<Server>,
    client: &Rc<Client>,
    input: impl AsyncRead + Unpin,
) -> io::Result<()> {
    let mut frames = FrameReader::new(input, client.protocol == Protocol::JsonRpc);
    loop {
        let frame = frames.next().await?;
        client.has_headers.set(frames.has_headers);
        match frame {
            Frame::Text(text) if text.is_empty() && client.protocol == Protocol::JsonRpc => {}
            Frame::Text(text) => server.take_frame(client, &text).await,
            Frame::TooLong => server.refuse_long_frame(client).await,
            Frame::End => return Ok(()),
        }
    }
}

/// A socket that is removed when it is dropped.
struct Listener {
    listener: UnixListener,
    path: PathBuf,
}

impl Listener {
    /// Creates a socket that only its owner can use. A socket without a listener is replaced.
    fn bind(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
        match fs::symlink_metadata(path) {
            Ok(meta) if !meta.file_type().is_socket() => {
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, "a file is there already"));
            }
            Ok(_) if std::os::unix::net::UnixStream::connect(path).is_ok() => {
                return Err(io::Error::new(io::ErrorKind::AddrInUse, "another server listens to it"));
            }
            Ok(_) | Err(_) => {}
        }
        // In a private directory the socket gets its mode before other users can reach it.
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let private = tempfile::Builder::new().prefix(".").tempdir_in(parent.unwrap_or(Path::new(".")))?;
        let unnamed = private.path().join("s");
        let listener = UnixListener::bind(&unnamed)?;
        fs::set_permissions(&unnamed, fs::Permissions::from_mode(0o600))?;
        fs::rename(&unnamed, path)?;
        Ok(Listener { listener, path: path.to_owned() })
    }

    async fn accept(&self, server: &Rc<Server>, protocol: Protocol) -> io::Result<()> {
        server.keep_events();
        loop {
            let (stream, _) = self.listener.accept().await?;
            let server = server.clone();
            tokio::task::spawn_local(async move {
                let (input, output) = stream.into_split();
                let (client, writing) = connect(&server, protocol, output, false);
                let read = tokio::select! {
                    read = read_frames(&server, &client, input) => read,
                    () = client.dropped.notified() => {
                        tracing::warn!("a client that does not read is disconnected");
                        writing.abort();
                        Ok(())
                    }
                };
                if let Err(error) = read {
                    tracing::debug!(%error, "a client is gone");
                }
                server.remove(&client);
            });
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // It may be gone already.
        drop(fs::remove_file(&self.path));
    }
}

/// The signals that end a server.
pub(crate) struct Signals {
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for a signal and returns its number.
    pub(crate) async fn arrived(&mut self) -> i32 {
        tokio::select! {
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
            _ = self.hang_up.recv() => SignalKind::hangup().as_raw_value(),
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
        }
    }
}
