//! `list`: the packages that the settings name.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::error::CommandError;
use crate::packages::{self, PackageOwner};
use crate::setup::Setup;
use crate::trust;
use crate::ui::{Column, Table, Tone};

/// List the packages of the settings: yours, those of a trusted project, and pi's.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The JSON of a package.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedPackage {
    /// The source, as in the settings.
    source: String,
    /// `user`, `project` or `pi`.
    owner: PackageOwner,
    /// The version in its `package.json`.
    version: Option<String>,
    /// True if it is there and can be used.
    is_installed: bool,
    /// Its directory or file.
    path: String,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let setup = Setup::load(app, trust::Args::default())?;
    let mut warnings = Vec::new();
    let declared = packages::declared(&setup, app, &mut warnings);
    let rows = declared.into_iter().map(|package| {
        let read = package.read();
        ListedPackage {
            is_installed: package.is_installed() && (read.is_ok() || package.root.is_file()),
            version: read.ok().and_then(|package| package.version),
            source: package.text,
            owner: package.owner,
            path: package.root.display().to_string(),
        }
    });
    if args.json {
        app.ui.json_list(rows.map(Ok))?;
    } else {
        let row = |package: ListedPackage| {
            let owner = match package.owner {
                PackageOwner::User => "own",
                PackageOwner::Project => "project",
                PackageOwner::Pi => "pi",
            };
            let state = match (package.is_installed, package.version) {
                (true, version) => (Tone::Good, version.unwrap_or_else(|| "-".to_owned())),
                (false, _) => (Tone::Bad, "missing".to_owned()),
            };
            Ok([
                (Tone::Accent, package.source),
                state,
                (Tone::Dim, owner.to_owned()),
                (Tone::Plain, package.path),
            ])
        };
        let columns = [Column::words(""), Column::words(""), Column::words(""), Column::wide("")];
        Table::show(columns, rows.map(row), &mut app.ui)?;
    }
    warnings.iter().try_for_each(|text| app.ui.tell(&format!("warning: {text}")))
}
