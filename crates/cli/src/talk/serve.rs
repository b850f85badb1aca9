//! The agent as a service for another program: `--mode rpc`, `--mode jsonrpc` and `offshoot serve`.
//!
//! arguments -> agent with extensions -> **`offshoot_server`** -> exit code

use std::rc::Rc;

use offshoot_agent::event::Events;
use offshoot_agent::handle::{AgentHandle, Reply};
use offshoot_agent::permission::Mode as PermissionMode;
use offshoot_agent::tools::ToolBox;
use offshoot_extensions::host::{FrontEnd, Mode as HostMode};
use offshoot_server::rpc::{self, Ended, Protocol, Server, Transport};
use session_tree::Session;

use super::{Args, Mode};
use crate::app::App;
use crate::cmd::spawn;
use crate::error::{CommandError, Failure};
use crate::extensions::{self, Extended, ExtensionFrontEnd, Sources};
use crate::server::ServerProgram;
use crate::setup::Setup;

/// An agent with its extensions, which are being loaded.
pub(crate) struct ServedAgent {
    pub(crate) agent: AgentHandle,
    pub(crate) extended: Option<Extended>,
    /// Replies when the extensions are loaded.
    pub(crate) loading: Reply<()>,
}

/// Returns the protocol of a mode; none if it prints one answer.
pub(super) fn protocol(mode: Mode) -> Option<Protocol> {
    match mode {
        Mode::Rpc => Some(Protocol::Rpc),
        Mode::Jsonrpc => Some(Protocol::JsonRpc),
        Mode::Text | Mode::Json => None,
    }
}

/// Serves other programs until they leave.
pub(crate) fn run(
    args: &Args,
    protocol: Protocol,
    transport: &Transport,
    app: &mut App,
) -> Result<(), CommandError> {
    if !args.prompt.is_empty() {
        let failure = Failure::new("this mode takes prompts from standard input, not from the command line");
        return Err(CommandError::Usage(failure.hint("send the command `prompt`")));
    }
    let setup = Setup::load(app, args.trust)?;
    let (front_end, host_events) = rpc::front_end();
    let session = args.open.open(app)?;
    let served = start(args, session, &setup, front_end, app)?;
    app.ui.flush()?;
    let server = Server::new(served.agent, Rc::new(ServerProgram::new(app, &setup)?));
    let check = async {
        served.loading.await?;
        Ok(args.check(served.extended.as_ref())?)
    };
    let ended = rpc::serve(&server, host_events, protocol, transport, check);
    match ended.map_err(|error| CommandError::system("serve", "clients".as_ref(), &error))? {
        Ended::Done => Ok(()),
        Ended::Failed(failure) => Err(Failure::new(failure.message).into()),
        Ended::Signal(number) => Err(CommandError::Signal(u8::try_from(number).unwrap_or(u8::MAX))),
    }
}

/// Starts an agent on a session and loads its extensions. Clients are asked about tool calls that no rule decides about.
pub(crate) fn start(
    args: &Args,
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
    let agent = spawn(args.agent_on(session, setup, PermissionMode::AskFor, Events::default(), app)?)?;
    let output = ExtensionFrontEnd { mode: HostMode::Rpc, front_end };
    let extended = Extended::new(&args.extensions, sources, &agent, setup, output, app)?;
    if let Some(extended) = &extended {
        extended.host.tools.want(args.wanted_tools());
    }
    let loading = extensions::start(&agent, extended.as_ref(), Some(args.instructions(setup)?));
    Ok(ServedAgent { agent, extended, loading })
}
