//! Loads extensions: finds the files, starts the host, and passes their hooks, commands and tools to the agent.
//!
//! command line, directories, settings, trust -> **sources** -> engines behind a **host** -> hooks, commands, tools
//!
//! Without extensions no engine and no thread exists. Never reads anything of a project that is not currently trusted.

mod sources;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clap::error::{ContextKind, ContextValue};
use offshoot_agent::command::Reload;
use offshoot_agent::extension::ExtensionBundle;
use offshoot_agent::handle::{AgentHandle, Reply, SystemPrompt};
use offshoot_agent::model::Model;
use offshoot_agent::system::Instructions;
use offshoot_extensions::host::{FrontEnd, Host, HostEvent, Mode, Notice};
use offshoot_extensions::{EngineChoice, Extensions, LoadOptions, Runtimes};
use offshoot_providers::Providers;
use serde_json::{Map, Value as Json, json};

use crate::app::App;
use crate::error::{CommandError, Failure};
use crate::setup::Setup;
use crate::ui;

pub(crate) use sources::Sources;

// The options that choose extensions. (A documentation comment would replace the help of a command.)
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Load this extension, a file or a directory; may be given several times.
    #[arg(long = "extension", short = 'e', value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
    /// Load no extensions but those of `-e`.
    #[arg(long)]
    no_extensions: bool,
    /// Unknown options, which extensions may define.
    #[arg(skip)]
    flags: Map<String, Json>,
    /// The errors of these options if no extension defines them.
    #[arg(skip)]
    refusals: Vec<(String, Failure)>,
}

impl Args {
    /// Adds an unknown option: `--name`, or `--name=value`.
    pub(crate) fn add_flag(&mut self, option: &str, error: &clap::Error) {
        let named = option.trim_start_matches('-');
        let (name, value) = match named.split_once('=') {
            Some((name, value)) => (name, Json::from(value)),
            None => (named, Json::Bool(true)),
        };
        let failure = Failure::new(format!("there is no option `--{name}`"));
        let failure = match error.get(ContextKind::SuggestedArg) {
            Some(ContextValue::String(near)) => failure.hint(format!("there is `{near}`")),
            _ => failure.hint("`offshoot --help` lists the options; extensions may add others"),
        };
        self.flags.insert(name.to_owned(), value);
        self.refusals.push((name.to_owned(), failure));
    }

    /// Refuses options that neither the program nor an extension defines.
    pub(crate) fn check_flags(&self, extended: Option<&Extended>) -> Result<(), CommandError> {
        let known = extended.map(Extended::flags).unwrap_or_default();
        let unknown = self.refusals.iter().find(|(name, _)| !known.contains(name));
        unknown.map_or(Ok(()), |(_, failure)| Err(CommandError::Usage(failure.clone())))
    }
}

/// The extensions of one agent.
#[derive(Clone)]
pub(crate) struct Extended {
    /// The program as extensions see it.
    pub(crate) host: Arc<Host>,
    sources: Arc<Mutex<Sources>>,
    flags: Map<String, Json>,
    engine: EngineChoice,
}

/// The front end, as extensions see it.
pub(crate) struct ExtensionFrontEnd {
    /// The mode that extensions read.
    pub(crate) mode: Mode,
    /// Receives reports and output of extensions.
    pub(crate) front_end: FrontEnd,
}

impl ExtensionFrontEnd {
    /// Prints problems and notifications of extensions on standard error.
    pub(crate) fn words() -> Self {
        Self::printing(Mode::Print, Arc::default())
    }

    /// Prints problems and notifications of extensions: text on standard error, or lines of JSON. While `runs_command`
    /// is true, a notification is the output of a command and goes to standard output.
    pub(crate) fn printing(mode: Mode, runs_command: Arc<AtomicBool>) -> Self {
        let is_json = mode == Mode::Json;
        let warn = move |text: String| {
            ui::words(&format!("warning: {text}"));
            if is_json {
                ui::json_line(&json!({"type": "extension_error", "error": text}));
            }
        };
        let front_end: FrontEnd = Arc::new(move |event| match event {
            HostEvent::NotLoaded(text) => warn(text),
            HostEvent::Failed(trouble) => warn(trouble.to_string()),
            HostEvent::Show(extension, Notice::Notify { message, level }) => match level.as_str() {
                _ if is_json => ui::json_line(&json!({
                    "type": "notify", "extension": extension.name(), "level": level, "message": message,
                })),
                "warning" | "error" => ui::words(&format!("{level}: {message}")),
                _ if runs_command.load(Ordering::Relaxed) => ui::text(&message),
                _ => ui::words(&message),
            },
            // Everything else needs a screen.
            _ => {}
        });
        ExtensionFrontEnd { mode, front_end }
    }
}

impl Extended {
    /// Creates the host of extensions without loading any. Returns `None` if there are no extensions.
    pub(crate) fn new(
        args: &Args,
        sources: Sources,
        agent: &AgentHandle,
        setup: &Setup,
        output: ExtensionFrontEnd,
        app: &App,
    ) -> Result<Option<Self>, CommandError> {
        if sources.is_empty() {
            return Ok(None);
        }
        let state = agent.state();
        let mut host = Host::new(agent, &setup.cwd, setup.config_dir());
        host.mode = output.mode;
        host.front_end = output.front_end;
        host.is_project_trusted = setup.project.is_some();
        host.models = models(state.model.clone(), &setup.providers()?);
        host.options = Arc::new(app.options_maker());
        host.secrets = state.secrets;
        host.state().model = state.model.map(|model| model.spec().clone());
        host.state().thinking = state.thinking;
        let sources = Arc::new(Mutex::new(sources));
        let (flags, engine) = (args.flags.clone(), setup.settings.extension_engine());
        Ok(Some(Extended { host: Arc::new(host), sources, flags, engine }))
    }

    /// Returns the extensions that are loaded.
    pub(crate) fn loaded(&self) -> Extensions {
        self.host.tools.extensions()
    }

    /// Returns a function that makes the system prompt, with the texts of the tools of extensions.
    pub(crate) fn system_prompt(&self, instructions: Instructions) -> SystemPrompt {
        let host = self.host.clone();
        Box::new(move || {
            let prompt = host.tools.system_prompt(&host.cwd, instructions);
            host.state().system.clone_from(&prompt);
            prompt
        })
    }

    /// Replaces the sources of extensions.
    pub(crate) fn set_sources(&self, sources: Sources) {
        *self.sources.lock().unwrap_or_else(PoisonError::into_inner) = sources;
    }

    /// Finds and loads extensions. Those that cannot be loaded are reported and skipped.
    async fn load(&self) -> ExtensionBundle {
        let (found, odd) = self.sources.lock().unwrap_or_else(PoisonError::into_inner).find();
        for text in odd {
            self.host.send(HostEvent::NotLoaded(text));
        }
        let options = LoadOptions {
            trusted: true,
            flags: self.flags.clone(),
            engine: self.engine,
            runtimes: Runtimes::on_path(&std::env::var_os("PATH").unwrap_or_default()),
            ..LoadOptions::default()
        };
        let (extensions, errors) = Extensions::load(&found, &self.host, &options).await;
        for error in errors {
            self.host.send(HostEvent::NotLoaded(error.to_string()));
        }
        let bundle = ExtensionBundle { hooks: extensions.hooks(), commands: extensions.commands() };
        self.host.tools.replace(extensions);
        self.host.send(HostEvent::Loaded);
        bundle
    }

    /// Returns the options that extensions define.
    fn flags(&self) -> Vec<String> {
        let loaded = self.loaded();
        loaded.iter().flat_map(|extension| extension.registry().flags).collect()
    }
}

/// Starts an agent with its extensions, if it has any.
pub(crate) fn start(
    agent: &AgentHandle,
    extended: Option<&Extended>,
    instructions: Option<Instructions>,
) -> Reply<()> {
    let Some(extended) = extended else { return agent.start(None, None) };
    let own = extended.clone();
    let load = Reload::new(move |_| {
        let own = own.clone();
        Box::pin(async move { own.load().await })
    });
    agent.start(Some(load), instructions.map(|instructions| extended.system_prompt(instructions)))
}

/// Returns the models that extensions may use: the agent's, then all with a key.
fn models(own: Option<Arc<dyn Model>>, providers: &Providers) -> Vec<Arc<dyn Model>> {
    let mut models: Vec<Arc<dyn Model>> = own.into_iter().collect();
    for available in providers.models().into_iter().filter(|model| model.has_key) {
        let name = available.spec.full_name();
        if !models.iter().any(|model| model.spec().full_name() == name) {
            models.extend(providers.model(&name));
        }
    }
    models
}
