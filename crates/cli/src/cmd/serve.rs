//! `offshoot serve`: one agent for many programs, on a socket.

use std::path::PathBuf;

use offshoot_server::rpc::{Protocol, Transport};

use crate::app::App;
use crate::error::CommandError;
use crate::talk;

/// Serve other programs on a Unix socket.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Clients send JSON-RPC 2.0 requests, one in a line; docs/rpc.md describes the protocol. Only the owner
of the socket can connect. All clients share one agent and one session.

Examples:
  offshoot serve --socket /tmp/agent.sock
  offshoot serve --socket /tmp/agent.sock --session work --allow 'bash(cargo *)'")]
pub(crate) struct Args {
    /// The path of the socket. A socket that no server listens to is replaced.
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
    socket: PathBuf,
    #[command(flatten)]
    agent: talk::AgentArgs,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let transport = Transport::Socket(args.socket.clone());
    talk::serve::serve(&args.agent, Protocol::JsonRpc, &transport, app)
}
