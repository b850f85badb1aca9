//! Talking to a model: one prompt in, its answer out. The terminal comes later; this is for scripts and pipes.

mod open;

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::agent::{Agent, Policy};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::event::Watcher;
use offshoot_agent::model::{Model, ThinkingLevel};
use offshoot_agent::permission::Mode as PermissionMode;
use offshoot_agent::system::system_prompt;
use offshoot_agent::tools::ToolBox;
use offshoot_agent::turn::Outcome;
use offshoot_providers::{Catalogue, Credentials, CredentialsFile, Providers};
use session_tree::{Message, Role, Session};

use crate::app::App;
use crate::error::{CommandError, Failure};
use crate::settings::Settings;
use crate::ui::Tone;

/// What is told to a model, in which session, and how the answer is given.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Talking to a model")]
pub(crate) struct Args {
    /// What to say; what comes from a pipe is put before it.
    #[arg(value_name = "PROMPT")]
    prompt: Vec<String>,
    /// Answer on standard output and end.
    #[arg(long, short)]
    print: bool,
    /// How to give the answer: its text, or everything that happens as lines of JSON.
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    mode: Mode,
    #[command(flatten)]
    open: open::Args,
    /// The model: `provider/id`, or a part of it that only one has.
    #[arg(long, value_name = "NAME", conflicts_with = "no_model")]
    model: Option<String>,
    /// Use no model at all.
    #[arg(long)]
    no_model: bool,
    /// How hard the model thinks: off, minimal, low, medium, high, xhigh, max.
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    thinking: Option<ThinkingLevel>,
    /// The tools that the model may call, with commas between; none if empty.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Option<Vec<String>>,
    /// Let these tool calls run without asking: `write`, `bash(cargo *)`; may be given several times.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Let all tool calls run without asking.
    #[arg(long)]
    yes: bool,
}

/// A model, and how hard it thinks.
type Choice = (Arc<dyn Model>, ThinkingLevel);

/// How an answer is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Mode {
    #[default]
    Text,
    Json,
}

fn level(text: &str) -> Result<ThinkingLevel, String> {
    ThinkingLevel::from_name(text).ok_or_else(|| "no such level".to_owned())
}

/// Runs one prompt.
pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let text = args.text()?;
    if text.trim().is_empty() {
        return Err(CommandError::Usage(
            Failure::new("there is nothing to say").hint("`offshoot -p \"…\"`, or a command"),
        ));
    }
    let config = app.config_dir()?;
    let settings = Settings::read(&config)?;
    let cwd = PathBuf::from(app.cwd()?);
    let session = args.open.open(app)?;
    let model = args.choose(&session, &settings, &config)?;
    let tools = args.tool_box()?;
    let mode = if args.yes { PermissionMode::AllowAll } else { PermissionMode::DenyAsking };
    let policy = Policy { permissions: settings.permissions(mode, &args.allow)?, cwd: cwd.clone() };
    let mut agent = Agent::new(session, &cwd)
        .with_settings(settings.agent())
        .with_system(system_prompt(&cwd, &tools.specs(), &[]))
        .with_tools(tools)
        .with_gatekeeper(Arc::new(policy))
        .with_watcher(watcher(args.mode));
    if let Some((model, level)) = model {
        agent = with_model(agent, model, level)?;
    }
    if let Some(name) = &args.open.name {
        agent.session_mut().append_session_info(name)?;
    }
    let message = Message::user(&text, agent.session().now());
    let outcome = wait(&mut agent, message)?;
    args.give(&agent, outcome, app)
}

/// Runs the turn; Ctrl-C stops it, and what was said so far stays in the session.
fn wait(agent: &mut Agent, message: Message) -> Result<Outcome, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::system("start", "the runtime".as_ref(), &error))?;
    runtime.block_on(async {
        let cancel = Cancel::new();
        let stop = cancel.clone();
        let signal = tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                stop.cancel();
            }
        });
        let outcome = agent.prompt(vec![message], &cancel).await;
        signal.abort();
        Ok(outcome?)
    })
}

/// Chooses the model, and writes the choice into the session if it says otherwise.
fn with_model(agent: Agent, model: Arc<dyn Model>, level: ThinkingLevel) -> Result<Agent, CommandError> {
    let context = agent.session().build_context()?;
    let spec = model.spec();
    let is_said =
        context.model.as_ref().is_some_and(|said| said.provider == spec.provider && said.model_id == spec.id);
    let level = spec.clamp(level);
    let mut agent = agent.with_model(model.clone(), level);
    if !is_said {
        agent.choose_model(model)?;
    }
    if context.thinking_level != level.name() {
        agent.choose_thinking(level)?;
    }
    Ok(agent)
}

impl Args {
    /// Commands do not talk to models; who asks for both meant something else.
    pub(crate) fn refuse_beside_command(&self) -> Result<(), CommandError> {
        let is_used = self.print || self.model.is_some() || self.no_model || self.open.is_used();
        if !is_used {
            return Ok(());
        }
        let failure = Failure::new("this is a command, which takes no options for talking to a model");
        Err(CommandError::Usage(
            failure.hint("put `--` before a prompt that begins with the name of a command"),
        ))
    }

    /// What is said: what comes from a pipe, then the words of the command line.
    fn text(&self) -> Result<String, CommandError> {
        let mut parts = Vec::new();
        if !io::stdin().is_terminal() {
            let mut piped = Vec::new();
            let read = io::stdin().lock().read_to_end(&mut piped);
            read.map_err(|error| CommandError::system("read", "standard input".as_ref(), &error))?;
            parts.push(String::from_utf8_lossy(&piped).trim_end().to_owned());
        }
        parts.push(self.prompt.join(" "));
        parts.retain(|part| !part.is_empty());
        Ok(parts.join("\n\n"))
    }

    /// Finds the model: the one that is asked for, the one the session had, the one of the settings, or any.
    fn choose(
        &self,
        session: &Session,
        settings: &Settings,
        config: &std::path::Path,
    ) -> Result<Option<Choice>, CommandError> {
        if self.no_model {
            return Ok(None);
        }
        let file = CredentialsFile::new(config.join("credentials.json"));
        let credentials = Credentials::from_environment().with_file(&file)?;
        let providers = Providers::new(Catalogue::built_in().merged(settings.models.clone()), credentials);
        let context = session.build_context()?;
        let said = context.model.map(|model| format!("{}/{}", model.provider, model.model_id));
        let model = match (&self.model, &settings.model) {
            (Some(name), _) => providers.model(name)?,
            // A session may come from elsewhere: it chooses only among models that are set up here.
            (None, chosen) => {
                let restored = said.and_then(|name| providers.model(&name).ok());
                let restored = restored.filter(|model| model.spec().provider != "offshoot");
                match (restored, chosen) {
                    (Some(model), _) => model,
                    (None, Some(name)) => providers.model(name)?,
                    (None, None) => providers.default_model(),
                }
            }
        };
        let said = ThinkingLevel::from_name(&context.thinking_level).filter(|_| !session.tree().is_empty());
        let level = self.thinking.or(said).or(settings.thinking_level).unwrap_or_default();
        Ok(Some((model, level)))
    }

    fn tool_box(&self) -> Result<ToolBox, CommandError> {
        let Some(wanted) = &self.tools else { return Ok(ToolBox::standard()) };
        let mut tools = ToolBox::all();
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        if let Some(unknown) = wanted.iter().find(|name| tools.tool(name).is_none()) {
            let names: Vec<&str> = tools.names().collect();
            let failure = Failure::new(format!("there is no tool `{unknown}`"));
            return Err(failure.hint(format!("the tools are: {}", names.join(", "))).into());
        }
        tools.retain(|name| wanted.contains(&name));
        Ok(tools)
    }

    /// Gives the answer.
    fn give(&self, agent: &Agent, outcome: Outcome, app: &mut App) -> Result<(), CommandError> {
        let said = match self.mode {
            Mode::Json => None,
            Mode::Text => last_answer(agent.session())?,
        };
        if let Some(text) = said.filter(|text| !text.is_empty()) {
            match io::stdout().is_terminal() {
                true => app.ui.block(Tone::Plain, 0, &text)?,
                false => app.ui.raw(format!("{text}\n").as_bytes())?,
            }
        }
        match outcome {
            Outcome::Done => Ok(()),
            Outcome::Aborted => Err(CommandError::Interrupted),
            Outcome::Failed(error) => Err(Failure::new(error.to_string()).into()),
        }
    }
}

/// The text of the last answer on the path.
fn last_answer(session: &Session) -> Result<Option<String>, CommandError> {
    let path = session.branch_path(None);
    let Some(node) = path.into_iter().rev().find(|node| session.tree().role(*node) == Some(Role::Assistant))
    else {
        return Ok(None);
    };
    let entry = session.entry_at(node)?;
    let message = entry.message().and_then(|message| Message::parse(message.raw()).ok());
    Ok(message.map(|message| message.text().into_owned()))
}

/// Prints everything that happens as lines of JSON; the text of an answer is printed when it is complete.
fn watcher(mode: Mode) -> Watcher {
    match mode {
        Mode::Json => Watcher::new(|event| crate::ui::json_line(&event.to_json())),
        Mode::Text => Watcher::default(),
    }
}
