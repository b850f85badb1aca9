//! The Agent Client Protocol, version 1: an editor drives agents over standard input and output.
//!
//! frame -> **connection** -> method -> session -> commands of [`rpc`](crate::rpc) on its agent; agent -> events -> updates
//! -> frame
//!
//! Ids of messages are ids of entries, so an editor can name an entry that it shows. Messages are plain JSON: the protocol
//! grows by fields, and a client that knows other fields than we do still works.

mod connection;
mod content;
mod files;
mod history;
mod methods;
mod permission;
mod session;
mod update;

use std::any::Any;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;

use offshoot_agent::handle::Reply;
use serde_json::Value as Json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::LocalSet;

use crate::failure::Failure;
use crate::frame::{Frame, FrameReader};
use crate::outbox::outbox;
use crate::rpc::{HostEvents, Server, ServerExit, Signals};

use connection::Connection;

/// The program as an editor uses it: sessions in any directory.
pub trait Workspace {
    /// Starts an agent that works in a directory and uses MCP servers, as the editor lists them.
    ///
    /// # Errors
    ///
    /// If the directory or the session cannot be used.
    fn start(
        &self,
        cwd: &Path,
        session: SessionChoice<'_>,
        servers: &[Json],
    ) -> Result<StartedAgent, Failure>;

    /// Returns true if agents can use MCP servers.
    fn uses_servers(&self) -> bool;

    /// Lists the sessions of a directory, or of all directories, latest activity first.
    ///
    /// # Errors
    ///
    /// If the sessions cannot be listed.
    fn list(&self, cwd: Option<&Path>) -> Result<Vec<Json>, Failure>;

    /// Moves a session to the trash.
    ///
    /// # Errors
    ///
    /// If there is no such session, or it cannot be moved.
    fn trash(&self, id: &str) -> Result<(), Failure>;
}

/// The session of a new agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionChoice<'a> {
    /// A new session.
    New,
    /// The session with this id.
    Existing(&'a str),
}

/// An agent that was started.
pub struct StartedAgent {
    /// Runs commands on the agent.
    pub server: Rc<Server>,
    /// The requests of its extensions.
    pub host_events: HostEvents,
    /// Replies when its extensions are loaded.
    pub loading: Reply<()>,
    /// Its MCP servers, which end with the session.
    pub servers: Box<dyn Any>,
    /// Ends when its MCP servers have started or failed.
    pub settled: Pin<Box<dyn Future<Output = ()>>>,
}

/// Serves an editor until the input ends or a signal arrives. Then all agents are stopped and end.
///
/// # Errors
///
/// If standard input cannot be read.
pub fn serve(workspace: Rc<dyn Workspace>) -> io::Result<ServerExit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = LocalSet::new();
    let ended = local.block_on(&runtime, run(workspace, tokio::io::stdin(), tokio::io::stdout()));
    drop(local);
    // A thread may still wait for standard input.
    runtime.shutdown_background();
    ended
}

async fn run(
    workspace: Rc<dyn Workspace>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + 'static,
) -> io::Result<ServerExit> {
    let mut signals = Signals::listen()?;
    let (sender, writer) = outbox();
    let connection = Connection::new(workspace, sender);
    let mut writing = tokio::task::spawn_local(writer.write_to(output));
    let reading = async {
        let mut frames = FrameReader::new(input, false);
        loop {
            match frames.next().await? {
                Frame::Text(text) if text.is_empty() => {}
                Frame::Text(text) => connection.take_frame(&text).await,
                Frame::TooLong => connection.refuse_long_frame().await,
                Frame::End => return io::Result::Ok(ServerExit::Done),
            }
        }
    };
    let ended = tokio::select! {
        ended = reading => ended?,
        // The editor is gone.
        _ = &mut writing => ServerExit::Done,
        number = signals.arrived() => ServerExit::Signal(number),
    };
    connection.shut_down().await;
    if !writing.is_finished() && tokio::time::timeout(connection::LAST_READ, writing).await.is_err() {
        tracing::warn!("the editor did not read the last answers");
    }
    Ok(ended)
}
