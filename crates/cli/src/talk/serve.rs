//! The agent as a service for another program: `--mode rpc`, `--mode jsonrpc`, `offshoot serve` and `offshoot acp`.
//!
//! arguments -> agent with extensions -> **`offshoot_server`** -> exit code

use std::path::Path;
use std::rc::Rc;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::event::Events;
use offshoot_agent::handle::{AgentHandle, Reply};
use offshoot_agent::permission::Mode as PermissionMode;
use offshoot_agent::tools::ToolBox;
use offshoot_extensions::host::{FrontEnd, Mode as HostMode};
use offshoot_server::acp::{SessionChoice, StartedAgent, Workspace};
use offshoot_server::rpc::{self, Protocol, Server, ServerExit, Transport};
use offshoot_server::{Failure as ServerFailure, FailureKind};
use serde_json::Value as Json;
use session_tree::Session;

use super::{AgentArgs, Args, Mode};
use crate::app::App;
use crate::cmd::{sessions, spawn};
use crate::error::{CommandError, Failure};
use crate::extensions::{self, Extended, ExtensionFrontEnd, Sources};
use crate::interactive::trash::Trash;
use crate::mcp::ToolServers;
use crate::resources;
use crate::server::ServerProgram;
use crate::setup::Setup;
use crate::trust;

/// An agent with its extensions, which are being loaded.
pub(crate) struct ServedAgent {
    pub(crate) agent: AgentHandle,
    pub(crate) extended: Option<Extended>,
    /// Replies when the extensions are loaded.
    pub(crate) loading: Reply<()>,
}

/// The options of agents whose sessions an editor chooses.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub(crate) struct EditorArgs {
    #[command(flatten)]
    model: super::model::Args,
    /// Allow these tool calls without asking: `write`, `bash(cargo *)`; can be repeated.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Allow all tool calls without asking.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    extensions: extensions::Args,
    #[command(flatten)]
    resources: resources::Args,
    #[command(flatten)]
    trust: trust::Args,
}

impl EditorArgs {
    fn to_agent_args(&self) -> AgentArgs {
        let EditorArgs { model, allow, yes, extensions, resources, trust } = self.clone();
        AgentArgs { model, allow, yes, extensions, resources, trust, ..AgentArgs::default() }
    }
}

/// Serves an editor until it leaves.
pub(crate) fn acp(args: &EditorArgs, app: &mut App) -> Result<(), CommandError> {
    app.ui.flush()?;
    let workspace = EditorWorkspace { args: args.to_agent_args(), app: app.capturing(None) };
    let ended = offshoot_server::acp::serve(Rc::new(workspace));
    finish(ended.map_err(|error| CommandError::system("serve", "the editor".as_ref(), &error))?)
}

/// The program as an editor uses it.
struct EditorWorkspace {
    args: AgentArgs,
    app: App,
}

impl Workspace for EditorWorkspace {
    fn start(
        &self,
        cwd: &Path,
        choice: SessionChoice<'_>,
        servers: &[Json],
    ) -> Result<StartedAgent, ServerFailure> {
        if !cwd.is_dir() {
            let text = format!("{} is not a directory", cwd.display());
            return Err(ServerFailure::of(FailureKind::BadInput, text));
        }
        let mut app = self.app.in_directory(cwd);
        let setup = Setup::load(&mut app, self.args.trust)?;
        let session = match choice {
            SessionChoice::New => self.args.open.open(&mut app)?,
            SessionChoice::Existing(id) => {
                let file = app.find(id);
                let file =
                    file.map_err(|error| ServerFailure::of(FailureKind::NoSession, String::from(error)))?;
                app.open_to_change(file, false)?
            }
        };
        let (front_end, host_events) = rpc::front_end();
        let served = start(&self.args, session, &setup, front_end, &mut app)?;
        let ServedAgent { agent, loading, extended } = served;
        let servers = ToolServers::start_for_editor(&self.args, &setup, &agent, servers)?;
        if let Some(extended) = &extended {
            servers.use_host(&extended.host);
        }
        for problem in servers.problems() {
            tracing::warn!(problem, "an MCP server is not used");
        }
        let server = Server::new(agent, Rc::new(ServerProgram::new(&app, &setup, extended.clone())?));
        let servers = Rc::new(servers);
        let starting = servers.clone();
        let settled = Box::pin(async move { starting.settled(&Cancel::new()).await });
        Ok(StartedAgent { server, host_events, loading, servers: Box::new((servers, extended)), settled })
    }

    fn uses_servers(&self) -> bool {
        cfg!(feature = "mcp")
    }

    fn list(&self, cwd: Option<&Path>) -> Result<Vec<Json>, ServerFailure> {
        let mut app = match cwd {
            Some(cwd) => self.app.in_directory(cwd),
            None => self.app.capturing(None),
        };
        let (_, rows) = sessions::find("", cwd.is_none(), Some(sessions::Sort::Recent), &mut app)?;
        let spelled = rows.iter().map(serde_json::to_value).collect::<Result<_, _>>();
        spelled.map_err(|error| ServerFailure::new(error.to_string()))
    }

    fn trash(&self, id: &str) -> Result<(), ServerFailure> {
        let file = self.app.find(id);
        let file = file.map_err(|error| ServerFailure::of(FailureKind::NoSession, String::from(error)))?;
        let state = self.app.env.state_dir()?;
        Ok(Trash::default().add(&state, &file)?)
    }
}

/// Returns the protocol of a mode; none if it prints one answer.
pub(super) fn protocol(mode: Mode) -> Option<Protocol> {
    match mode {
        Mode::Rpc => Some(Protocol::Rpc),
        Mode::Jsonrpc => Some(Protocol::JsonRpc),
        Mode::Text | Mode::Json => None,
    }
}

/// Serves the program on the other side of standard input and output.
pub(super) fn run(args: &Args, protocol: Protocol, app: &mut App) -> Result<(), CommandError> {
    if !args.prompt.is_empty() {
        let failure = Failure::new("this mode takes prompts from standard input, not from the command line");
        return Err(CommandError::Usage(failure.hint("send the command `prompt`")));
    }
    serve(args, protocol, &Transport::Stdio, app)
}

/// Serves other programs until they leave.
pub(crate) fn serve(
    args: &AgentArgs,
    protocol: Protocol,
    transport: &Transport,
    app: &mut App,
) -> Result<(), CommandError> {
    let setup = Setup::load(app, args.trust)?;
    let (front_end, host_events) = rpc::front_end();
    let session = args.open.open(app)?;
    let served = start(args, session, &setup, front_end, app)?;
    let servers = ToolServers::start(args, &setup, &served.agent)?;
    servers.problems().iter().try_for_each(|problem| app.ui.tell(&format!("warning: {problem}")))?;
    if let Some(extended) = &served.extended {
        servers.use_host(&extended.host);
    }
    app.ui.flush()?;
    let server =
        Server::new(served.agent, Rc::new(ServerProgram::new(app, &setup, served.extended.clone())?));
    let check = async {
        served.loading.await?;
        Ok(args.check(served.extended.as_ref())?)
    };
    let ended = rpc::serve(&server, host_events, protocol, transport, check);
    let place = match transport {
        Transport::Stdio => "standard input".as_ref(),
        Transport::Socket(path) => path.as_path(),
    };
    finish(ended.map_err(|error| CommandError::system("serve", place, &error))?)
}

/// Returns the result of a command that served until it ended.
fn finish(ended: ServerExit) -> Result<(), CommandError> {
    match ended {
        ServerExit::Done => Ok(()),
        ServerExit::Failed(failure) => Err(Failure::new(failure.message).into()),
        ServerExit::Signal(number) => Err(CommandError::Signal(u8::try_from(number).unwrap_or(u8::MAX))),
    }
}

/// Starts an agent on a session and loads its extensions. Clients are asked about tool calls that no rule decides about.
pub(crate) fn start(
    args: &AgentArgs,
    session: Session,
    setup: &Setup,
    front_end: FrontEnd,
    app: &mut App,
) -> Result<ServedAgent, CommandError> {
    let sources = Sources::for_one_run(&args.extensions, setup, args.trust.approves(), app)?;
    if sources.is_empty() {
        args.extensions.check_flags(None)?;
        args.check_tools(&ToolBox::all())?;
    }
    let (mode, settings) = (PermissionMode::AskFor, setup.settings.agent());
    let agent = spawn(args.agent_on(session, setup, mode, settings, Events::default(), app)?)?;
    let output = ExtensionFrontEnd { mode: HostMode::Rpc, front_end, themes: std::sync::Arc::default() };
    let extended = Extended::new(&args.extensions, sources, &agent, setup, output, app)?;
    if let Some(extended) = &extended {
        extended.host.tools.want(args.wanted_tools());
    }
    let loading = extensions::start(&agent, extended.as_ref(), Some(args.instructions(setup)?));
    Ok(ServedAgent { agent, extended, loading })
}
