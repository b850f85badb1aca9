//! `offshoot schema`: the JSON Schema of what commands print with `--json`, and of the protocol of `--mode rpc`.

use schemars::generate::SchemaSettings;
use schemars::{Schema, json_schema};

use super::{Row, table};
use crate::app::App;
use crate::error::{CommandError, Failure};

/// Print the JSON Schema of what a command prints with `--json`, or of the protocol of `--mode rpc`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With several sessions, or with `--batch`, a command prints a line for each of them:
`{\"session\": ..., \"result\": ...}`. The schema is that of the result.")]
pub(crate) struct Args {
    /// The command, or `rpc`; without it the commands that have a schema are listed.
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let mut rows = table().filter(|row| !row.json.is_empty());
    let Some(name) = &args.command else {
        let mut names: Vec<String> = rows.map(Row::name).collect();
        names.sort_unstable();
        return names.iter().try_for_each(|name| app.ui.plain(name));
    };
    #[cfg(feature = "server")]
    if name == RPC {
        return app.ui.raw(format!("{:#}\n", offshoot_server::rpc::schema().as_value()).as_bytes());
    }
    let unknown = || {
        Failure::new(format!("no command `{name}` prints JSON")).hint("`offshoot schema` lists those that do")
    };
    let row = rows.find(|row| row.name() == *name).ok_or_else(unknown)?;
    app.ui.raw(format!("{:#}\n", schema(row).as_value()).as_bytes())
}

/// The name of the schema of the protocol.
#[cfg(feature = "server")]
const RPC: &str = "rpc";

fn schema(row: &Row) -> Schema {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut forms: Vec<Schema> = row.json.iter().map(|form| form(&mut generator)).collect();
    let mut schema = match forms.len() {
        1 => forms.remove(0),
        _ => json_schema!({ "anyOf": forms }),
    };
    schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".to_owned(), format!("offshoot {} --json", row.name()).into());
    let definitions = generator.take_definitions(true);
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), definitions.into());
    }
    schema
}
