//! `offshoot settings`: the effective settings with their sources, or the schema of the file.

use serde_json::Value as Json;

use crate::app::App;
use crate::error::CommandError;
use crate::settings::{self, Listed};
use crate::setup::Setup;
use crate::trust;
use crate::ui::{Column, Table, Tone};

/// Show the effective settings, or the schema of the settings file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// `schema` prints the JSON schema of a settings file.
    #[arg(value_enum, value_name = "WHAT")]
    what: Option<SettingsOutput>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    trust: trust::Args,
}

/// The kind of output.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SettingsOutput {
    Schema,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    if let Some(SettingsOutput::Schema) = args.what {
        return app.ui.raw(format!("{:#}\n", settings::schema()).as_bytes());
    }
    let listed = Setup::load(app, args.trust)?.settings.list();
    match args.json {
        true => app.ui.json_list(listed.iter().map(Ok)),
        false => print(listed, app),
    }
}

fn print(listed: Vec<Listed>, app: &mut App) -> Result<(), CommandError> {
    let columns = [Column::words("setting"), Column::wide("value"), Column::words("from")];
    let row = |setting: Listed| {
        let (tone, from) = match setting.files.is_empty() {
            true => (Tone::Dim, "default".to_owned()),
            false => (Tone::Plain, setting.files.join(", ")),
        };
        Ok([(Tone::Plain, setting.key), (tone, shown(&setting.value)), (Tone::Dim, from)])
    };
    Table::show(columns, listed.into_iter().map(row), &mut app.ui)
}

fn shown(value: &Json) -> String {
    match value {
        Json::Null => "-".to_owned(),
        Json::String(text) => text.clone(),
        Json::Array(items) if items.is_empty() => "-".to_owned(),
        Json::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
