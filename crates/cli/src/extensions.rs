//! Loads extensions: finds the files, starts the host, and passes their hooks, commands and tools to the agent.
//!
//! command line, directories, settings, trust -> **sources** -> engines behind a **host** -> hooks, commands, tools
//!
//! Without extensions no engine and no thread exists. Never reads anything of a project that is not currently trusted.

#[cfg(feature = "network")]
mod network;
mod providers;
mod sources;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use clap::error::{ContextKind, ContextValue};
use offshoot_agent::command::Reload;
use offshoot_agent::extension::ExtensionBundle;
use offshoot_agent::handle::{AgentHandle, Reply, SystemPrompt};
use offshoot_agent::model::Model;
use offshoot_agent::system::Instructions;
use offshoot_extensions::host::{FrontEnd, Host, HostEvent, Mode, Notice};
use offshoot_extensions::theme::Themes;
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
    /// Load this extension or package, a file or a directory; may be given several times.
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
    /// The requested model, if only an extension can have it.
    #[arg(skip)]
    wanted_model: Arc<OnceLock<WantedModel>>,
}

impl Args {
    /// Returns the paths of the command line.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

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

    /// Notes a model that no service has. Returns false if there are no extensions that could register it.
    pub(crate) fn want_model(&self, name: &str, failure: Failure, setup: &Setup, app: &App) -> bool {
        let has_extensions = Sources::new(self, setup, true, app).is_ok_and(|sources| !sources.is_empty());
        if has_extensions {
            drop(self.wanted_model.set(WantedModel { name: name.to_owned(), failure }));
        }
        has_extensions
    }

    /// Refuses a model that neither a service nor an extension has.
    pub(crate) fn check_model(&self, extended: Option<&Extended>) -> Result<(), CommandError> {
        let Some(wanted) = self.wanted_model.get() else { return Ok(()) };
        match extended.and_then(|extended| extended.model(&wanted.name)) {
            Some(_) => Ok(()),
            None => Err(wanted.failure.clone().into()),
        }
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
    wanted_model: Arc<OnceLock<WantedModel>>,
}

/// A model that was requested and that no service has: an extension may register it.
#[derive(Debug, Clone)]
pub(crate) struct WantedModel {
    name: String,
    failure: Failure,
}

/// The front end, as extensions see it.
pub(crate) struct ExtensionFrontEnd {
    /// The mode that extensions read.
    pub(crate) mode: Mode,
    /// Receives reports and output of extensions.
    pub(crate) front_end: FrontEnd,
    /// The themes that extensions may choose.
    pub(crate) themes: Arc<Themes>,
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
        ExtensionFrontEnd { mode, front_end, themes: Arc::default() }
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
        let providers = setup.providers()?;
        host.models = models(state.model.clone(), &providers);
        host.connect = providers::connect(providers, app.env.clone());
        host.catalog = app.catalog().ok();
        host.settings = setup.settings.shown();
        host.themes = output.themes;
        #[cfg(feature = "network")]
        {
            let hosts = setup.settings.extension_hosts();
            host.network = Some(Arc::new(network::ExtensionNetwork::new(setup.config_dir(), hosts)));
        }
        host.options = Arc::new(app.options_maker());
        host.secrets = state.secrets;
        host.state().model = state.model.map(|model| model.spec().clone());
        host.state().thinking = state.thinking;
        let sources = Arc::new(Mutex::new(sources));
        let (flags, engine, wanted_model) =
            (args.flags.clone(), setup.settings.extension_engine(), args.wanted_model.clone());
        Ok(Some(Extended { host: Arc::new(host), sources, flags, wanted_model, engine }))
    }

    /// Returns the extensions that are loaded.
    pub(crate) fn loaded(&self) -> Extensions {
        self.host.tools.extensions()
    }

    /// Returns a function that makes the system prompt, with the texts of the tools of extensions.
    pub(crate) fn system_prompt(&self, instructions: Instructions) -> SystemPrompt {
        let host = self.host.clone();
        SystemPrompt::new(move |resources| {
            let mut instructions = instructions.clone();
            instructions.skills = resources.skills().to_vec();
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
        self.host.forget_unloaded();
        if let Some(model) = self.wanted_model.get().and_then(|wanted| self.model(&wanted.name)) {
            self.host.set_model(model);
        }
        self.host.send(HostEvent::Loaded);
        bundle
    }

    /// Returns a model that an extension registered, by `provider/id` or by its id.
    pub(crate) fn model(&self, name: &str) -> Option<Arc<dyn Model>> {
        let is_meant = |model: &Arc<dyn Model>| model.spec().full_name() == name || model.spec().id == name;
        self.own_models().into_iter().find(is_meant)
    }

    /// Returns the models that extensions registered.
    pub(crate) fn own_models(&self) -> Vec<Arc<dyn Model>> {
        self.host.providers.over(&[])
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
