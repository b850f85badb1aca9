//! Answers one prompt without a terminal, for scripts and pipes.
//!
//! The chat uses its arguments, agent and set-up as well.

mod command;
mod mistyped;
mod model;
mod open;
mod say;
#[cfg(feature = "server")]
pub(crate) mod serve;

use std::io::{self, IsTerminal, Read};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use clap::parser::ValueSource;
use offshoot_agent::agent::Agent;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::event::Events;
use offshoot_agent::permission::Mode as PermissionMode;
use offshoot_agent::resources::Resources;
use offshoot_agent::settings::{LockWait, Settings};
use offshoot_agent::system::{Instructions, system_prompt};
use offshoot_agent::tools::{ToolBox, UserCommand};
use offshoot_tui::app::Signals;
use session_tree::json::write_string;
use session_tree::{Error, LONGEST_LINE, Session};
use tokio::runtime::Runtime;

pub(crate) use mistyped::{closest_command, names_command_after_print};
use model::Choice;
pub(crate) use open::damage;
pub(crate) use say::warn;

use crate::app::App;
use crate::error::{CommandError, Failure};
use crate::extensions::{self, Extended};
use crate::mcp;
use crate::resources;
use crate::setup::{Setup, UnusedProject};
use crate::trust;
use crate::ui::Tone;

/// The options for talking to a model.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Talking to a model")]
pub(crate) struct Args {
    /// The prompt; piped input is put before it. `!command` runs a shell command and adds its output to the session,
    /// `!!command` keeps the output from the model.
    #[arg(value_name = "PROMPT")]
    prompt: Vec<String>,
    /// Print the answer and exit.
    #[arg(long, short)]
    print: bool,
    /// Print the text of the answer, or all events as lines of JSON; `rpc` and `jsonrpc` take commands of another
    /// program from standard input.
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    mode: Mode,
    #[command(flatten)]
    agent: AgentArgs,
    /// True if one of these options was given.
    #[arg(skip)]
    has_options: bool,
    /// The error of a prompt that is more likely a mistyped command.
    #[arg(skip)]
    mistyped: Option<Failure>,
}

// The options of an agent: its session, its model, its tools and its extensions. (A documentation comment would replace
// the help of a command.)
#[derive(Debug, Default, clap::Args)]
#[group(skip)]
pub(crate) struct AgentArgs {
    #[command(flatten)]
    open: open::Args,
    #[command(flatten)]
    model: model::Args,
    /// The tools that the model may call, separated by commas; empty for none.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Option<Vec<String>>,
    /// Allow these tool calls without asking: `write`, `bash(cargo *)`; can be repeated.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Allow all tool calls without asking.
    #[arg(long)]
    yes: bool,
    /// Replace the system prompt and SYSTEM.md.
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,
    /// Add a text to the system prompt; can be repeated.
    #[arg(long, value_name = "TEXT")]
    append_system_prompt: Vec<String>,
    /// Do not load AGENTS.md and CLAUDE.md.
    #[arg(long)]
    no_context_files: bool,
    #[command(flatten)]
    pub(crate) extensions: extensions::Args,
    #[command(flatten)]
    pub(crate) resources: resources::Args,
    #[command(flatten)]
    trust: trust::Args,
}

impl Deref for Args {
    type Target = AgentArgs;

    fn deref(&self) -> &AgentArgs {
        &self.agent
    }
}

impl DerefMut for Args {
    fn deref_mut(&mut self) -> &mut AgentArgs {
        &mut self.agent
    }
}

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Mode {
    #[default]
    Text,
    Json,
    #[cfg(feature = "server")]
    Rpc,
    #[cfg(feature = "server")]
    Jsonrpc,
}

/// The input of the user.
enum PromptInput {
    Prompt {
        text: String,
        /// True if the user typed all of it, so that it may name a command of an extension.
        is_typed: bool,
    },
    Command(UserCommand),
}

/// Runs one prompt.
pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    if args.open.resume {
        let failure = Failure::new("`--resume` opens a list of sessions, which needs the chat at a terminal");
        let hint = "`--session SESSION` names one, `offshoot sessions` lists them";
        return Err(CommandError::Usage(failure.hint(hint)));
    }
    #[cfg(feature = "server")]
    if let Some(protocol) = serve::protocol(args.mode) {
        return serve::run(args, protocol, app);
    }
    match args.said()? {
        PromptInput::Command(command) => {
            let setup = args.setup_again(app)?.0;
            app.use_store(&setup.settings)?;
            let mut session = args.open.open(app)?;
            args.open.name(&mut session)?;
            let secrets = setup.secrets()?;
            command::run(&command, session, secrets, args.mode, app)
        }
        PromptInput::Prompt { text, is_typed } => say::run(args, &text, is_typed, app),
    }
}

/// Returns the model of a session or of the settings, or the offline model, and its thinking level.
pub(crate) fn choose_model(
    session: &Session,
    setup: &Setup,
    app: &mut App,
) -> Result<Option<Choice>, CommandError> {
    model::Args::default().choose(session, setup, &extensions::Args::default(), app)
}

/// Runs some work. Ctrl+C, SIGTERM and SIGHUP cancel it: its commands end, and the session keeps all entries so far.
pub(crate) fn waiting<T>(work: impl AsyncFnOnce(&Cancel) -> T) -> Result<T, CommandError> {
    waiting_in(work).map(|(done, _)| done)
}

/// Waits for some work as [`waiting`] does, but not for reads of standard input that still block.
#[cfg(feature = "mcp")]
pub(crate) fn waiting_detached<T>(work: impl AsyncFnOnce(&Cancel) -> T) -> Result<T, CommandError> {
    let (done, runtime) = waiting_in(work)?;
    runtime.shutdown_background();
    Ok(done)
}

fn waiting_in<T>(work: impl AsyncFnOnce(&Cancel) -> T) -> Result<(T, Runtime), CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::system("start", "the runtime".as_ref(), &error))?;
    let done = runtime.block_on(async {
        let cancel = Cancel::new();
        let stop = cancel.clone();
        let mut signals = Signals::listen()
            .map_err(|error| CommandError::system("listen to", "signals".as_ref(), &error))?;
        let listening = tokio::spawn(async move {
            signals.arrived().await;
            stop.cancel();
        });
        let done = work(&cancel).await;
        listening.abort();
        Ok::<T, CommandError>(done)
    })?;
    Ok((done, runtime))
}

impl Args {
    /// Records whether one of these options was given.
    pub(crate) fn note_options(&mut self, read: &clap::ArgMatches) {
        let own = <Args as clap::Args>::augment_args(clap::Command::new("talk"));
        let is_given = |option: &clap::Arg| {
            !option.is_positional()
                && read.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine)
        };
        self.has_options = own.get_arguments().any(is_given);
    }

    /// Refuses these options beside a command, which uses no model.
    pub(crate) fn refuse_beside_command(&self) -> Result<(), CommandError> {
        if !self.has_options {
            return Ok(());
        }
        let failure = Failure::new("this is a command, which takes no options for talking to a model");
        Err(CommandError::Usage(
            failure.hint("put `--` before a prompt that begins with the name of a command"),
        ))
    }

    /// Returns the input: the text of a pipe, then the words of the command line.
    ///
    /// Only the command line can name commands to run, because piped text may have any author.
    fn said(&self) -> Result<PromptInput, CommandError> {
        let (piped, words) = (piped()?, self.prompt.join(" "));
        if let Some(command) = UserCommand::parse(&words) {
            if piped.is_empty() {
                return Ok(PromptInput::Command(command));
            }
            let failure = Failure::new("a command takes nothing from a pipe");
            return Err(CommandError::Usage(failure.hint("`offshoot -p '!command' < /dev/null`")));
        }
        let is_typed = piped.is_empty();
        let parts: Vec<String> = [piped, words].into_iter().filter(|part| !part.is_empty()).collect();
        let text = parts.join("\n\n");
        let mut literal = String::new();
        write_string(&mut literal, &text);
        let length = literal.len() as u64;
        if length > LONGEST_LINE {
            return Err(Error::EntryTooLong { length, limit: LONGEST_LINE }.into());
        }
        if text.trim().is_empty() {
            let failure =
                Failure::new("there is nothing to say: no prompt is given, and nothing comes from a pipe");
            let hint = "`offshoot -p \"…\"` asks once, `offshoot` in a terminal begins a conversation, \
                        `offshoot --help` shows all commands";
            return Err(CommandError::Usage(failure.hint(hint)));
        }
        Ok(PromptInput::Prompt { text, is_typed })
    }

    /// Reads the settings and the trusted project. Asks for trust if the user has not decided.
    pub(crate) fn setup_asking(&self, app: &mut App) -> Result<Setup, CommandError> {
        let (setup, left_out) = Setup::read(app, self.trust)?;
        let setup = match left_out {
            Some(UnusedProject::Undecided { project, is_changed }) => {
                match crate::cmd::trust::ask_before(&project, is_changed, app)? {
                    true => Setup::read(app, self.trust)?.0,
                    false => setup,
                }
            }
            Some(unreadable @ UnusedProject::Unreadable(_)) => {
                unreadable.words().iter().try_for_each(|text| app.ui.tell(text))?;
                setup
            }
            None => setup,
        };
        let setup = match &setup.undecided_pi {
            Some(pi) => {
                pi.ask(app)?;
                Setup::read(app, self.trust)?.0
            }
            None => setup,
        };
        setup.warnings().iter().try_for_each(|text| app.ui.tell(text))?;
        Ok(setup)
    }

    /// Reads the settings and the project again, without messages. Returns an unused project.
    pub(crate) fn setup_again(&self, app: &App) -> Result<(Setup, Option<UnusedProject>), CommandError> {
        Setup::read(app, self.trust)
    }

    /// Opens the session and creates its agent, like [`AgentArgs::agent_on`].
    pub(crate) fn agent_for(
        &self,
        setup: &Setup,
        mode: PermissionMode,
        events: Events,
        app: &mut App,
    ) -> Result<Agent, CommandError> {
        app.use_store(&setup.settings)?;
        let session = self.open.open(app)?;
        self.agent_on(session, setup, mode, self.agent_settings(setup), events, app)
    }

    /// Returns true if a chat is requested, given a terminal.
    pub(crate) fn is_conversation(&self) -> bool {
        !self.print && self.mode == Mode::Text
    }

    /// Returns true if the chat starts with the list of sessions.
    pub(crate) fn opens_picker(&self) -> bool {
        self.open.resume
    }

    /// Returns the first prompt.
    pub(crate) fn first_prompt(&self) -> Option<String> {
        let words = self.prompt.join(" ");
        (!words.trim().is_empty()).then_some(words)
    }

    /// Returns the settings of the agent.
    pub(crate) fn agent_settings(&self, setup: &Setup) -> Settings {
        let mut settings = setup.settings.agent();
        if self.is_conversation() {
            settings.lock_wait = LockWait::UntilCancelled;
        }
        settings
    }
}

impl AgentArgs {
    /// Makes an agent with everything that a turn needs. `mode` decides about tool calls that the user must be asked about.
    pub(crate) fn agent_on(
        &self,
        session: Session,
        setup: &Setup,
        mode: PermissionMode,
        settings: Settings,
        events: Events,
        app: &mut App,
    ) -> Result<Agent, CommandError> {
        let tools = self.tool_box();
        let mode = if self.yes { PermissionMode::AllowAll } else { mode };
        let secrets = setup.secrets()?;
        let allowed =
            [setup.user_rules().list()?, setup.project_rules().list()?, self.allow.clone()].concat();
        let mut permissions = setup.settings.permissions(mode, &allowed)?;
        permissions.secrets = Arc::new(secrets.clone());
        let resources = self.resources.load(self.extensions.paths(), setup, app);
        for text in resources.warnings() {
            app.ui.tell(&format!("warning: {text}"))?;
        }
        let system = self.system_prompt(setup, &resources)?;
        let model = self.model.choose(&session, setup, &self.extensions, app)?;
        let agent = Agent::new(session, &setup.cwd)
            .with_settings(settings)
            .with_system(system)
            .with_resources(resources)
            .with_tools(tools)
            .with_permissions(permissions)
            .with_secrets(secrets)
            .with_events(events);
        let agent = match model {
            Some((model, level)) => agent.with_model(model, level),
            None => agent,
        };
        self.open.name(&mut agent.session())?;
        Ok(agent)
    }

    /// Returns the system prompt, with the context files of the project and the skills.
    pub(crate) fn system_prompt(&self, setup: &Setup, resources: &Resources) -> Result<String, CommandError> {
        let instructions = Instructions { skills: resources.skills().to_vec(), ..self.instructions(setup)? };
        Ok(system_prompt(&setup.cwd, &self.tool_box().specs(), &instructions))
    }

    /// Returns the instructions for the model.
    pub(crate) fn instructions(&self, setup: &Setup) -> Result<Instructions, CommandError> {
        let mut instructions = setup.instructions(!self.no_context_files)?;
        if let Some(text) = &self.system_prompt {
            instructions.base = Some(text.clone());
        }
        instructions.appended.extend(self.append_system_prompt.iter().cloned());
        Ok(instructions)
    }

    /// Returns the names of the requested tools, if any.
    pub(crate) fn wanted_tools(&self) -> Option<Vec<String>> {
        let wanted = self.tools.as_ref()?;
        Some(wanted.iter().filter(|name| !name.is_empty()).cloned().collect())
    }

    /// Returns the requested built-in tools; extensions may add others.
    pub(crate) fn tool_box(&self) -> ToolBox {
        let Some(wanted) = self.wanted_tools() else { return ToolBox::coding() };
        let mut tools = ToolBox::all();
        tools.retain(|name| wanted.iter().any(|wanted| wanted == name));
        tools
    }

    /// Refuses unknown tools and options.
    fn check(&self, extended: Option<&Extended>) -> Result<(), CommandError> {
        self.extensions.check_flags(extended)?;
        self.extensions.check_model(extended)?;
        self.check_tools(&extended.map_or_else(ToolBox::all, |extended| extended.host.tools.all()))
    }

    /// Refuses unknown tool names.
    pub(crate) fn check_tools(&self, tools: &ToolBox) -> Result<(), CommandError> {
        let wanted = self.wanted_tools().unwrap_or_default();
        // The tools of MCP servers are known when the servers have answered.
        let is_unknown = |name: &&String| tools.tool(name).is_none() && !name.starts_with(mcp::PREFIX);
        let Some(unknown) = wanted.iter().find(is_unknown) else { return Ok(()) };
        let names: Vec<&str> = tools.names().collect();
        let failure = Failure::new(format!("there is no tool `{unknown}`"));
        Err(failure.hint(format!("the tools are: {}", names.join(", "))).into())
    }
}

/// Reads the text of a pipe; empty at a terminal. Reads no more than fits into an entry.
fn piped() -> Result<String, CommandError> {
    let mut piped = Vec::new();
    if !io::stdin().is_terminal() {
        let read = io::stdin().lock().take(LONGEST_LINE + 1).read_to_end(&mut piped);
        read.map_err(|error| CommandError::system("read", "standard input".as_ref(), &error))?;
    }
    if piped.len() as u64 > LONGEST_LINE {
        return Err(Error::EntryTooLong { length: piped.len() as u64, limit: LONGEST_LINE }.into());
    }
    Ok(String::from_utf8_lossy(&piped).trim_end().to_owned())
}

/// Prints a text of a model or a command; cleaned for a terminal.
fn give_text(text: &str, app: &mut App) -> Result<(), CommandError> {
    match text {
        "" => Ok(()),
        text if io::stdout().is_terminal() => app.ui.block(Tone::Plain, 0, text),
        text => app.ui.raw(format!("{text}\n").as_bytes()),
    }
}
