//! `offshoot extension`: creates an extension, or lists those that would be loaded.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use offshoot_extensions::Registry;
use offshoot_extensions::discover::{Dialect, FoundExtension};
use schemars::JsonSchema;
use serde::Serialize;

use super::session_command::spawn_empty;
use crate::app::App;
use crate::error::{CommandError, Failure};
use crate::extensions::{self, Extended, ExtensionFrontEnd, Sources};
use crate::setup::Setup;
use crate::talk::waiting;
use crate::trust;
use crate::ui::{Column, Table, Tone};

/// Create an extension, or list those that would be loaded.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Write a small working extension.
    New(New),
    /// List the extensions that a conversation here would load, in order.
    List(List),
}

#[derive(Debug, clap::Args)]
struct New {
    /// The name of the extension, its file and its command.
    #[arg(value_name = "NAME")]
    name: String,
    /// The directory; the default is that of your own extensions.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct List {
    /// Load them, and list the commands, tools, options and keys that they register.
    #[arg(long)]
    registered: bool,
    #[command(flatten)]
    extensions: extensions::Args,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The JSON of an extension.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListedExtension {
    name: String,
    path: String,
    /// The form of the extension API that it uses.
    #[schemars(with = "String")]
    dialect: Dialect,
    /// True if it belongs to the project.
    project: bool,
    /// The registrations, with `--registered`; none if it was not loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    registered: Option<Registered>,
}

/// The names that an extension has registered.
#[derive(Debug, Serialize, JsonSchema)]
struct Registered {
    commands: Vec<String>,
    tools: Vec<String>,
    /// Its options for the command line, without the dashes.
    flags: Vec<String>,
    /// Its keys.
    shortcuts: Vec<String>,
}

impl Registered {
    fn new(registry: Registry) -> Self {
        Registered {
            commands: registry.commands.into_iter().map(|command| command.name).collect(),
            tools: registry.tools.into_iter().map(|tool| tool.spec.name).collect(),
            flags: registry.flags,
            shortcuts: registry.shortcuts.into_iter().map(|shortcut| shortcut.key).collect(),
        }
    }

    /// Spells the registrations in one line.
    fn line(&self) -> String {
        let commands = self.commands.iter().map(|name| format!("/{name}"));
        let flags = self.flags.iter().map(|name| format!("--{name}"));
        let names =
            commands.chain(self.tools.iter().cloned()).chain(flags).chain(self.shortcuts.iter().cloned());
        names.collect::<Vec<_>>().join(" ")
    }
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    match &args.command {
        Command::New(new) => write(new, app),
        Command::List(list) => show(list, app),
    }
}

/// The text of a new extension.
const TEMPLATE: &str = include_str!("extension/template.ts");

fn write(new: &New, app: &mut App) -> Result<(), CommandError> {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if new.name.is_empty() || new.name.starts_with('-') || !new.name.chars().all(is_letter) {
        let failure = Failure::new(format!("`{}` is no name for an extension", new.name));
        return Err(CommandError::Usage(failure.hint("small letters, digits and `-`, such as `keep-main`")));
    }
    let own = app.env.config_dir()?.join("extensions");
    let directory = new.dir.as_ref().unwrap_or(&own);
    let path = directory.join(format!("{}.ts", new.name));
    let failed = |error: std::io::Error| CommandError::system("write", &path, &error);
    fs::create_dir_all(directory).map_err(failed)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
    file.write_all(TEMPLATE.replace("NAME", &new.name).as_bytes()).map_err(failed)?;
    app.ui.plain(&path.display().to_string())?;
    let is_found = new.dir.is_none();
    let load = if is_found { String::new() } else { format!(" -e {}", shown(&path)) };
    app.ui.tell(&format!("start `offshoot{load}` and type /{}; /reload loads changes", new.name))
}

fn shown(path: &Path) -> String {
    crate::change::quoted(&path.to_string_lossy())
}

fn show(list: &List, app: &mut App) -> Result<(), CommandError> {
    let setup = Setup::load(app, trust::Args::default())?;
    let sources = Sources::new(&list.extensions, &setup, true, app)?;
    let (found, odd) = sources.find();
    let loaded = if list.registered { Some(load(list, sources, &setup, app)?) } else { None };
    let registered = |one: &FoundExtension| {
        let extension = loaded.as_ref()?.iter().find(|(name, _)| *name == one.name);
        extension.map(|(_, registry)| Registered::new(registry.clone()))
    };
    if list.json {
        app.ui.json_list(found.iter().map(|one| {
            let (name, path) = (one.name.clone(), one.path.display().to_string());
            let (dialect, project, registered) = (one.dialect, one.is_confined, registered(one));
            Ok(ListedExtension { name, path, dialect, project, registered })
        }))?;
    } else {
        let rows = found.iter().map(|one| {
            let owner = if one.is_confined { "project" } else { "own" };
            let last = match list.registered {
                true => registered(one).map_or("not loaded".to_owned(), |registered| registered.line()),
                false => one.path.display().to_string(),
            };
            Ok([(Tone::Accent, one.name.clone()), (Tone::Dim, owner.to_owned()), (Tone::Plain, last)])
        });
        Table::show([Column::words(""), Column::words(""), Column::wide("")], rows, &mut app.ui)?;
    }
    odd.iter().try_for_each(|text| app.ui.tell(&format!("warning: {text}")))
}

/// Loads the extensions with an empty session, and returns their names and registrations.
fn load(
    list: &List,
    sources: Sources,
    setup: &Setup,
    app: &mut App,
) -> Result<Vec<(String, Registry)>, CommandError> {
    let agent = spawn_empty(setup, app)?;
    waiting(async |_| {
        let output = ExtensionFrontEnd::words();
        let extended = Extended::new(&list.extensions, sources, &agent, setup, output, app)?;
        extensions::start(&agent, extended.as_ref(), None).await?;
        let loaded = extended.as_ref().map(Extended::loaded).unwrap_or_default();
        let registries = loaded.iter().map(|one| (one.name().to_owned(), one.registry())).collect();
        agent.quit().await?;
        Ok(registries)
    })?
}
