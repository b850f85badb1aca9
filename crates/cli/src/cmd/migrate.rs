//! `offshoot migrate`: migrates an old session to the current version.

use std::ffi::OsString;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::{App, file_of};
use crate::change::{Change, Changing, quoted};
use crate::database::is_address;
use crate::error::CommandError;
use session_tree::{Error, ReadOnlyReason};

/// The version that is written.
const CURRENT: u64 = 3;

/// Migrate an old session to the current version, and keep the original.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or a prefix of it, a name, or `-` for the latest session of this project.
    #[arg(value_name = "SESSION")]
    session: OsString,
    #[command(flatten)]
    how: Changing,
}

/// The JSON of a migration.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Migrated {
    file: String,
    /// The old version.
    from: u64,
    /// The new version.
    to: u64,
    /// The file that keeps the original; null if nothing was migrated.
    kept: Option<String>,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let mut session = app.open_to_change(&args.session, args.how.dry_run)?;
    let version = session.header().version();
    let file = file_of(&session);
    if version > CURRENT {
        return Err(Error::ReadOnly { reason: ReadOnlyReason::NewerVersion { version } }.into());
    }
    let is_current = version == CURRENT;
    let kept = if args.how.dry_run { None } else { session.migrate()? };
    session.sync()?;
    let kept = kept.map(|kept| kept.display().to_string());
    if is_current && !args.how.json {
        return app.ui.tell(&format!("{file} has version {CURRENT} already"));
    }
    let mut change = Change::new("migrated", "migrate", what(&file, version, kept.as_deref()));
    if let Some(kept) = &kept {
        change = change.gives(kept);
        if !is_address(Path::new(&file)) {
            change = change.undo(format!("mv {} {}", quoted(kept), quoted(&file)));
        }
    }
    change.json(Migrated { file, from: version, to: CURRENT, kept })?.tell(app, args.how)
}

fn what(file: &str, version: u64, kept: Option<&str>) -> String {
    let from = format!("{file} from version {version} to {CURRENT}");
    match kept {
        Some(kept) => format!("{from}; the original is kept as {kept}"),
        None => format!("{from}, and keep the original beside it"),
    }
}
