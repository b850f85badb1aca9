//! A server that plays a model service: it sends scripted replies and stores the requests.
//!
//! script of [`Reply`]s -> **server** on 127.0.0.1 -> the four wire formats, chosen by the path of the request
//!
//! Plain HTTP/1.1 on threads of the standard library, so it serves programs with any runtime or none. It can do wrong
//! on purpose: stall, cut the connection, send nonsense. Never touches another address, a clock or a file.

mod connection;
mod frames;
mod reply;

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value as Json;

pub use reply::{Format, Reply, ScriptedStop, ScriptedUsage};

/// A server that plays a model service.
///
/// ```no_run
/// use testkit::model_server::{ModelServer, Reply};
///
/// let server = ModelServer::start([Reply::answer().text("hello"), Reply::error(429, "slow down")])?;
/// println!("POST {}/v1/messages", server.url());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// A request as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRequest {
    /// The method.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null if it is no JSON.
    pub body: Json,
}

impl RecordedRequest {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    script: VecDeque<Reply>,
    requests: Vec<RecordedRequest>,
    /// The number of connections.
    connections: usize,
    /// How many clients left before they had everything.
    hang_ups: usize,
    /// Connections that are open, to be closed with the server.
    open: Vec<TcpStream>,
    is_over: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }
}

impl ModelServer {
    /// Starts a server on a free port. Each request takes the next reply; when none is left, the server answers with a
    /// status of 500.
    pub fn start(script: impl IntoIterator<Item = Reply>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        shared.change(|state| state.script.extend(script));
        let acceptor = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    /// Returns the address, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a reply to the script.
    pub fn push(&self, reply: Reply) {
        self.shared.change(|state| state.script.push_back(reply));
    }

    /// Returns what was asked so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.state().requests.clone()
    }

    /// Returns how many connections clients have opened.
    pub fn connections(&self) -> usize {
        self.shared.state().connections
    }

    /// Waits until a client disconnects before the end of a reply; returns false on timeout.
    pub fn wait_for_hang_up(&self, limit: Duration) -> bool {
        let waiting =
            self.shared.changed.wait_timeout_while(self.shared.state(), limit, |state| state.hang_ups == 0);
        waiting.unwrap_or_else(PoisonError::into_inner).0.hang_ups > 0
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.change(|state| {
            state.is_over = true;
            for stream in state.open.drain(..) {
                let _ = stream.shutdown(Shutdown::Both);
            }
        });
        // Wakes the acceptor, which looks whether it is over.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut connections = Vec::new();
    for stream in listener.incoming().flatten() {
        if shared.state().is_over {
            break;
        }
        let shared = Arc::clone(shared);
        connections.push(thread::spawn(move || connection::serve(stream, &shared)));
    }
    for connection in connections {
        let _ = connection.join();
    }
}

#[cfg(test)]
mod tests;
