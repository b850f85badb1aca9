//! `offshoot report`: the facts that a bug report needs, without secrets.
//!
//! facts -> known secrets are replaced -> patterns of secrets, home directory -> text
//!
//! Loads no extension, calls no service, writes nothing. Facts that cannot be determined are reported as errors.

use std::io::{self, IsTerminal};

use offshoot_providers::KeySource;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::app::App;
use crate::error::CommandError;
use crate::extensions::{self, Sources};
use crate::log;
use crate::setup::Setup;
use crate::trust;
use crate::ui::{Tone, bytes, count};

/// Print what a bug report needs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Versions, paths, sizes of sessions, the terminal, settings that differ from the defaults, extensions, and the latest
warnings and errors of the log. Keys, passwords and the name of your home directory are taken out; read it all the same
before you send it. OFFSHOOT_LOG=debug in the environment makes the chat write a log.")]
pub(crate) struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A part of the report.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Section {
    /// The title.
    title: &'static str,
    /// The facts.
    facts: Vec<Fact>,
}

/// A name with a value, without secrets.
#[derive(Debug, Serialize, JsonSchema)]
struct Fact {
    /// The name.
    name: String,
    /// The value.
    value: String,
}

/// The maximum number of log problems to report.
const MAX_PROBLEMS: usize = 20;
/// The minimum length of a value to replace everywhere; a shorter one may be part of a word.
const MIN_SECRET: usize = 6;

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let setup = Setup::read(app, trust::Args::default()).map(|(setup, _)| setup);
    let secrets = secrets(setup.as_ref().ok());
    let redactor = offshoot_web::Redactor::new(app.env.home().as_deref(), &[])?;
    let hide = |text: &str| {
        let text = secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "•••"));
        redactor.text(&text).into_owned()
    };
    let mut sections = vec![program(), paths(app), sessions(app), terminal(app)];
    match &setup {
        Ok(setup) => sections.extend([settings(setup), keys(setup), extensions(setup, app)]),
        Err(error) => sections.push(Section::new("settings").with("error", message(error))),
    }
    sections.push(problems(app));
    for fact in sections.iter_mut().flat_map(|section| &mut section.facts) {
        fact.value = hide(&fact.value);
    }
    if args.json {
        return app.ui.json(&sections);
    }
    for Section { title, facts } in &sections {
        app.ui.line(&[(Tone::Accent, title)])?;
        for Fact { name, value } in facts {
            app.ui.line(&[
                (Tone::Plain, "  "),
                (Tone::Dim, name),
                (Tone::Plain, ": "),
                (Tone::Plain, value),
            ])?;
        }
    }
    Ok(())
}

impl Section {
    fn new(title: &'static str) -> Self {
        Section { title, facts: Vec::new() }
    }

    fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.facts.push(Fact { name: name.into(), value: value.into() });
        self
    }
}

/// Returns every value that must not be in the report: keys of services, headers of settings, and variables that look
/// like credentials.
fn secrets(setup: Option<&Setup>) -> Vec<String> {
    let rules = offshoot_agent::secrets::Secrets::new();
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        rules.withholds_variable(&name, &value).then(|| value.into_owned())
    });
    let providers = setup.and_then(|setup| setup.providers().ok());
    let headers = setup.map(|setup| setup.settings.models().providers).unwrap_or_default().into_values();
    let headers = headers.flat_map(|provider| provider.headers.into_values());
    let keys = providers.iter().flat_map(|providers| providers.secrets()).chain(headers);
    let mut secrets: Vec<String> = variables.chain(keys.map(|key| key.reveal().to_owned())).collect();
    secrets.retain(|secret| secret.len() >= MIN_SECRET);
    // A secret that contains another one is replaced first.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets
}

fn program() -> Section {
    let system = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let system = system
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .unwrap_or_default()
        .trim_matches('"');
    let parts = [
        (cfg!(feature = "extensions"), "extensions"),
        (cfg!(feature = "network"), "network"),
        (cfg!(feature = "postgres"), "postgres"),
    ];
    let parts: Vec<&str> =
        parts.into_iter().filter_map(|(is_there, name)| is_there.then_some(name)).collect();
    Section::new("program")
        .with("version", env!("CARGO_PKG_VERSION"))
        .with("build", if cfg!(debug_assertions) { "debug" } else { "release" })
        .with("features", parts.join(", "))
        .with("system", format!("{} {} {system}", std::env::consts::OS, std::env::consts::ARCH))
}

fn paths(app: &App) -> Section {
    let executable = std::env::current_exe().map_err(|error| CommandError::no_cwd(&error));
    let paths = [
        ("executable", executable),
        ("working directory", app.env.cwd().map(Into::into)),
        ("configuration", app.env.config_dir()),
        ("state", app.env.state_dir()),
        ("sessions", app.session_dir().map(|dir| dir.path)),
        ("sessions of pi", app.env.pi_sessions().map(|dir| dir.path)),
        ("log", log::file(&app.env)),
    ];
    paths.into_iter().fold(Section::new("paths"), |section, (name, path)| {
        let path = path.map(|path| path.display().to_string());
        section.with(name, path.unwrap_or_else(|error| message(&error)))
    })
}

fn sessions(app: &App) -> Section {
    let catalog = match app.catalog() {
        Ok(catalog) => catalog,
        Err(error) => return Section::new("sessions").with("error", message(&error)),
    };
    let sizes: Vec<u64> = catalog.list_all().quick().map(|row| row.size).collect();
    let largest = sizes.iter().max().copied().unwrap_or(0);
    let mut section = Section::new("sessions")
        .with("all", format!("{}, {}", count(sizes.len(), "file"), bytes(sizes.iter().sum())))
        .with("largest", bytes(largest));
    if let Some(latest) = app.env.cwd().ok().and_then(|cwd| catalog.most_recent(&cwd)) {
        let entries = count(usize::try_from(latest.entry_count).unwrap_or(usize::MAX), "entry");
        let damage = latest.damage.map(|damage| format!(", {damage}")).unwrap_or_default();
        section = section.with("latest here", format!("{}, {entries}{damage}", bytes(latest.size)));
    }
    section
}

fn terminal(app: &App) -> Section {
    let streams = [
        ("input", io::stdin().is_terminal()),
        ("output", io::stdout().is_terminal()),
        ("errors", io::stderr().is_terminal()),
    ];
    let streams: Vec<&str> =
        streams.into_iter().filter_map(|(name, is_one)| is_one.then_some(name)).collect();
    let size = terminal_size::terminal_size().map(|(width, height)| format!("{} x {}", width.0, height.0));
    let section = Section::new("terminal")
        .with("streams", if streams.is_empty() { "none".to_owned() } else { streams.join(", ") })
        .with("size", size.unwrap_or_else(|| "unknown".to_owned()));
    app.env.terminal().into_iter().fold(section, |section, (name, value)| section.with(name, value))
}

fn settings(setup: &Setup) -> Section {
    let listed = setup.settings.list().into_iter().filter(|setting| !setting.files.is_empty());
    let section = listed.fold(Section::new("settings"), |section, setting| {
        let value = match setting.value {
            Json::String(text) => text,
            other => other.to_string(),
        };
        section.with(setting.key, format!("{value} ({})", setting.files.join(", ")))
    });
    setup.warnings().into_iter().fold(section, |section, warning| section.with("warning", warning))
}

fn keys(setup: &Setup) -> Section {
    match setup.providers() {
        Err(error) => Section::new("keys").with("error", message(&error)),
        Ok(providers) => {
            providers.keys().into_iter().fold(Section::new("keys"), |section, key| match key.source {
                None => section,
                Some(KeySource::File) => section.with(key.provider, "credentials.json"),
                Some(KeySource::Variable(name)) => section.with(key.provider, name),
            })
        }
    }
}

fn extensions(setup: &Setup, app: &App) -> Section {
    let section = Section::new("extensions");
    let sources = match Sources::new(&extensions::Args::default(), setup, true, app) {
        Ok(sources) => sources,
        Err(error) => return section.with("error", message(&error)),
    };
    let (found, odd) = sources.find();
    let section = found.iter().fold(section, |section, one| {
        let owner = if one.is_confined { "project" } else { "own" };
        section.with(&one.name, format!("{} ({owner})", one.path.display()))
    });
    odd.into_iter().fold(section, |section, text| section.with("warning", text))
}

fn problems(app: &App) -> Section {
    let lines = log::file(&app.env).map(|file| log::latest_problems(&file, MAX_PROBLEMS)).unwrap_or_default();
    let section = Section::new("latest warnings and errors of the log");
    lines.into_iter().fold(section, |section, line| {
        let (time, text) = line.split_once(' ').unwrap_or(("", &line));
        section.with(time, text.trim_start())
    })
}

fn message(error: &CommandError) -> String {
    error.failure().map(|failure| failure.message.clone()).unwrap_or_default()
}
