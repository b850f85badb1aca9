//! `offshoot login` and `offshoot logout`: keys of model services. A key is never shown, and never an argument.

use std::io::{self, IsTerminal, Read};

use offshoot_providers::{KeySource, ProviderKey, Secret};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::ask;
use crate::error::{CommandError, Failure};
use crate::setup::{Setup, credentials_file};
use crate::trust;
use crate::ui::{Column, Table, Tone};

/// Store the key of a model service.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The service, such as `anthropic`. The key is asked for, or read from a pipe.
    #[arg(value_name = "PROVIDER")]
    provider: Option<String>,
    /// List which services have a key, and where it is.
    #[arg(long, conflicts_with = "provider")]
    list: bool,
    /// Print the list as JSON.
    #[arg(long, requires = "list")]
    json: bool,
}

/// Remove the key of a model service.
#[derive(Debug, clap::Args)]
pub(crate) struct LogoutArgs {
    /// The service whose key to remove.
    #[arg(value_name = "PROVIDER")]
    provider: String,
}

/// The JSON of a service.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct KeyPlace<'k> {
    provider: &'k str,
    /// The variable or the file that holds the key; null without a key.
    key: Option<String>,
    /// The variables that may hold the key.
    variables: &'k [String],
}

/// The maximum length of a key.
const LONGEST: u64 = 16 << 10;

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let keys = keys(app)?;
    if args.list {
        return list(&keys, args.json, app);
    }
    let chosen = match &args.provider {
        Some(name) => known(&keys, name)?,
        None => choose(&keys, app)?,
    };
    let key = read_key(&chosen.provider, app)?;
    let file = credentials_file(&app.env.config_dir()?);
    file.set(&chosen.provider, &key)?;
    app.ui.tell(&format!("stored the key of {} in {}", chosen.provider, file.path().display()))?;
    match &chosen.source {
        Some(KeySource::Variable(name)) => {
            app.ui.tell(&format!("note: as long as {name} is set, that key is used"))
        }
        Some(KeySource::File) | None => Ok(()),
    }
}

/// Removes a key.
pub(crate) fn logout(args: &LogoutArgs, app: &mut App) -> Result<(), CommandError> {
    let file = credentials_file(&app.env.config_dir()?);
    if !file.remove(&args.provider)? {
        let failure =
            Failure::new(format!("there is no key of {} in {}", args.provider, file.path().display()));
        return Err(failure.hint("`offshoot login --list` tells where keys are").into());
    }
    app.ui.tell(&format!("forgot the key of {}", args.provider))?;
    let left = keys(app)?.into_iter().find(|key| key.provider == args.provider).and_then(|key| key.source);
    match left {
        Some(KeySource::Variable(name)) => app.ui.tell(&format!("note: {name} still holds one")),
        Some(KeySource::File) | None => Ok(()),
    }
}

fn keys(app: &mut App) -> Result<Vec<ProviderKey>, CommandError> {
    Ok(Setup::load(app, trust::Args::none_of_project())?.providers()?.keys())
}

fn list(keys: &[ProviderKey], is_json: bool, app: &mut App) -> Result<(), CommandError> {
    let file = credentials_file(&app.env.config_dir()?).path().display().to_string();
    let place = |key: &ProviderKey| match &key.source {
        Some(KeySource::Variable(name)) => Some(name.clone()),
        Some(KeySource::File) => Some(file.clone()),
        None => None,
    };
    if is_json {
        return app.ui.json_list(keys.iter().map(|key| {
            Ok(KeyPlace { provider: &key.provider, key: place(key), variables: &key.variables })
        }));
    }
    let rows = keys.iter().map(|key| {
        let (tone, has, place) = match place(key) {
            Some(place) => (Tone::Good, "yes", place),
            None if key.variables.is_empty() => (Tone::Plain, "not needed", String::new()),
            None => (Tone::Dim, "no", format!("set {}", key.variables.join(" or "))),
        };
        Ok([(Tone::Plain, key.provider.clone()), (tone, has.to_owned()), (Tone::Dim, place)])
    });
    let columns = [Column::words("provider"), Column::words("key"), Column::wide("where")];
    Table::show(columns, rows, &mut app.ui)
}

fn known<'k>(keys: &'k [ProviderKey], name: &str) -> Result<&'k ProviderKey, CommandError> {
    let found = keys.iter().find(|key| key.provider == name);
    let names: Vec<&str> = keys.iter().map(|key| key.provider.as_str()).collect();
    let unknown = || {
        Failure::new(format!("no model service `{name}`"))
            .hint(format!("the services are: {}", names.join(", ")))
            .hint("your own services are named in the setting `providers`")
    };
    Ok(found.ok_or_else(unknown)?)
}

fn choose<'k>(keys: &'k [ProviderKey], app: &mut App) -> Result<&'k ProviderKey, CommandError> {
    if !ask::is_possible() {
        let failure = Failure::new("which service?").hint("`offshoot login --list` lists them");
        return Err(CommandError::Usage(failure));
    }
    for (at, key) in keys.iter().enumerate() {
        app.ui.tell(&format!("{:3}  {}", at + 1, key.provider))?;
    }
    let number = ask::number(&mut app.ui, "which service?", keys.len())?;
    let chosen = number.and_then(|number| keys.get(number - 1));
    Ok(chosen.ok_or_else(|| Failure::new("no service was chosen"))?)
}

/// Asks for a key at the terminal, or reads it from a pipe.
fn read_key(provider: &str, app: &mut App) -> Result<Secret, CommandError> {
    let text = match io::stdin().is_terminal() {
        true => ask::hidden(&mut app.ui, &format!("key for {provider} (not shown): "))?.unwrap_or_default(),
        false => {
            let mut text = String::new();
            let read = io::stdin().lock().take(LONGEST).read_to_string(&mut text);
            read.map_err(|error| CommandError::system("read", "standard input".as_ref(), &error))?;
            text
        }
    };
    let key = Secret::new(&text);
    if key.is_empty() {
        return Err(Failure::new("no key was given; nothing was changed").into());
    }
    // A header cannot carry other characters; most likely the wrong text was pasted.
    if !key.reveal().chars().all(|c| c.is_ascii_graphic()) {
        return Err(
            Failure::new("this is no key: it has spaces or other characters that keys do not have").into()
        );
    }
    Ok(key)
}
