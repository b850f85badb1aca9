//! `offshoot migrate`: an old session in the current version.

use std::ffi::OsString;

use serde_json::Value;

use crate::app::{App, file_of};
use crate::change::{Change, Changing, quoted};
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
    let mut change = Change::new("migrated", "migrate", what(&file, version, kept.as_deref()))
        .field("file", file.as_str())
        .field("from", version)
        .field("to", CURRENT)
        .field("kept", kept.clone().map_or(Value::Null, Value::from));
    if let Some(kept) = &kept {
        change = change.gives(kept).undo(format!("mv {} {}", quoted(kept), quoted(&file)));
    }
    change.tell(app, args.how)
}

fn what(file: &str, version: u64, kept: Option<&str>) -> String {
    let from = format!("{file} from version {version} to {CURRENT}");
    match kept {
        Some(kept) => format!("{from}; the original is kept as {kept}"),
        None => format!("{from}, and keep the original beside it"),
    }
}
