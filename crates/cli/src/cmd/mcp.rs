//! `offshoot mcp`: sessions for other agents over the Model Context Protocol, and the list of servers that the agent uses.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use clap::Parser as _;
use offshoot_agent::cancel::Cancel;
use offshoot_mcp::client::{ClientOptions, START_LIMIT, Servers, State, Status};
use offshoot_mcp::server::{HttpOptions, HttpServer, Library, SessionServer, Write};
use schemars::JsonSchema;
use serde::Serialize;

use super::SessionCommandLine;
use crate::app::App;
use crate::error::{CommandError, Failure};
use crate::mcp::{read, report};
use crate::setup::Setup;
use crate::talk::{waiting, waiting_detached};
use crate::trust;
use crate::ui::{self, Tone, count};

/// How long `list` waits for servers.
const PATIENCE: Duration = Duration::from_secs(35);

/// Offer sessions to other agents over MCP.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Without options it serves one client on standard input and output and only reads. Add it to the
mcp.json of another agent:

  {\"mcpServers\": {\"offshoot\": {\"command\": \"offshoot\", \"args\": [\"mcp\"]}}}

Over HTTP, only programs of this machine can connect, unless --allow-host names it. If
OFFSHOOT_MCP_TOKEN is set, requests need it as a bearer token.

Examples:
  offshoot mcp --http 127.0.0.1:8931   serve http://127.0.0.1:8931/mcp
  offshoot mcp list                    show the servers that the agent itself uses"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Add the tools `fork`, `label` and `note`, which change sessions.
    #[arg(long)]
    write: bool,
    /// Serve over HTTP on this address, or on this port of the loopback address.
    #[arg(long, value_name = "ADDR", value_parser = address)]
    http: Option<SocketAddr>,
    /// Accept requests for this host name, too; needed to listen on an address that is not loopback.
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host: Vec<String>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Connect to the MCP servers that the agent uses, and list their states and tools.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        trust: trust::Args,
    },
}

/// A server of `offshoot mcp list --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Listed {
    name: String,
    /// The command or the address.
    target: String,
    /// The file that configures it.
    file: String,
    /// `ready`, `off` or `failed`.
    state: &'static str,
    /// The reason for a failure.
    reason: Option<String>,
    /// The remedy for a failure.
    hint: Option<String>,
    /// The names of its tools, as models see them.
    tools: Vec<String>,
}

impl From<Status> for Listed {
    fn from(status: Status) -> Self {
        let (state, problem) = match status.state {
            State::Disabled => ("off", None),
            State::Ready => ("ready", None),
            State::Starting => ("failed", None),
            State::Waiting(problem) | State::Failed(problem) => ("failed", Some(problem)),
        };
        Listed {
            name: status.name,
            target: status.target,
            file: status.source.display().to_string(),
            state,
            reason: problem.as_ref().map(|problem| problem.reason.clone()),
            hint: problem.map(|problem| problem.hint),
            tools: status.tools,
        }
    }
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    if let Some(Command::List { json, trust }) = &args.command {
        return list(*json, *trust, app);
    }
    let server = SessionServer::new(library(args.write, app)?);
    let served = match args.http {
        None => waiting_detached(async |cancel| server.serve_stdio(cancel).await)?,
        Some(address) => {
            let options = http_options(address, args)?;
            waiting(async |cancel| serve_http(address, options, server, cancel).await)?
        }
    };
    served.map_err(|error| Failure::new(error).into())
}

async fn serve_http(
    address: SocketAddr,
    options: HttpOptions,
    server: SessionServer,
    cancel: &Cancel,
) -> Result<(), String> {
    let listening = HttpServer::bind(address, options).await;
    let listening = listening.map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let url = listening.url().map_err(|error| error.to_string())?;
    ui::words(&format!("serving {url}; Ctrl+C ends it"));
    listening.run(server, cancel).await;
    Ok(())
}

fn http_options(address: SocketAddr, args: &Args) -> Result<HttpOptions, CommandError> {
    let token = std::env::var("OFFSHOOT_MCP_TOKEN").ok().filter(|token| !token.is_empty());
    if !address.ip().is_loopback() && (args.allow_host.is_empty() || token.is_none()) {
        let failure = Failure::new(format!("{address} can be reached from other machines"));
        let hint = "set OFFSHOOT_MCP_TOKEN and name the host with --allow-host, or use 127.0.0.1";
        return Err(CommandError::Usage(failure.hint(hint)));
    }
    Ok(HttpOptions { hosts: args.allow_host.clone(), token })
}

/// Reads an address, or a port of the loopback address.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text).parse();
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let with_name = text.replacen("localhost:", "127.0.0.1:", 1);
    match port {
        Ok(port) => Ok(SocketAddr::new(loopback, port)),
        Err(_) => with_name.parse().map_err(|_| "an address is 127.0.0.1:PORT, or a port".to_owned()),
    }
}

fn library(can_write: bool, app: &App) -> Result<Library, CommandError> {
    let (reading, writing) = (app.capturing(None), app.capturing(None));
    Ok(Library {
        catalogs: Box::new(move || Ok(reading.catalogs()?.collect())),
        options: Box::new(app.options_maker()),
        cwd: app.env.cwd()?,
        writer: can_write.then(|| Box::new(move |change| write(&change, &writing)) as _),
    })
}

/// A command that changes a session, as a command line.
#[derive(Debug, clap::Parser)]
struct CommandLine {
    #[command(subcommand)]
    command: SessionCommandLine,
}

/// Runs a command as the command line does: with the same hooks, and the same JSON as its result.
fn write(change: &Write, app: &App) -> Result<String, String> {
    let mut line = vec!["offshoot", change.command, "--json"];
    line.extend(&change.options);
    // No text of a client is an option.
    line.extend(["--", &change.session]);
    line.extend(change.arguments.iter().map(String::as_str));
    let line = CommandLine::try_parse_from(line).map_err(|error| error.to_string())?;
    let mut app = app.capturing(None);
    line.command.run(&mut app)?;
    Ok(app.ui.captured().trim_end().to_owned())
}

fn list(json: bool, trust: trust::Args, app: &mut App) -> Result<(), CommandError> {
    let setup = Setup::load(app, trust)?;
    let (configs, problems) = read(&setup)?;
    problems.iter().try_for_each(|problem| app.ui.tell(&format!("warning: {problem}")))?;
    let options = ClientOptions {
        cwd: setup.cwd.clone(),
        secrets: Arc::new(setup.secrets()?),
        start_limit: START_LIMIT,
        on_change: Arc::new(drop),
        on_failure: Arc::new(|_, _| {}),
    };
    let servers = Servers::start(configs, &options);
    waiting(async |cancel| {
        tokio::select! {
            () = servers.settled(PATIENCE) => {}
            () = cancel.cancelled() => {}
        }
    })?;
    let status = servers.status();
    drop(servers);
    let failed =
        status.iter().filter(|status| !matches!(status.state, State::Ready | State::Disabled)).count();
    match json {
        true => app.ui.json_list(status.into_iter().map(|status| Ok(Listed::from(status))))?,
        false => app.ui.block(Tone::Plain, 0, &report(&status))?,
    }
    match failed + problems.len() {
        0 => Ok(()),
        failed => Err(Failure::new(format!("{} cannot be used", count(failed, "server"))).into()),
    }
}
