//! `offshoot name`: shows, sets and clears the name of a session.

use std::ffi::OsString;

use serde_json::json;
use session_tree::Session;

use crate::app::{App, file_of};
use crate::change::{Change, Changing, arguments};
use crate::error::{CommandError, Failure};

/// Arguments of `offshoot name`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or the beginning of one, a name, or `-` for the latest of this project.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// The name; without it the present one is shown. Line breaks become blanks.
    #[arg(value_name = "TEXT", conflicts_with = "clear")]
    text: Option<String>,
    /// Take the name away; lists then show the first prompt.
    #[arg(long)]
    clear: bool,
    #[command(flatten)]
    how: Changing,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    match (&args.text, args.clear) {
        (None, false) => show(args, app),
        (None, true) => set(args, None, app),
        (Some(text), _) => match spelled(text, app)? {
            None => {
                let failure = Failure::new("a name cannot be empty").hint("`--clear` takes the name away");
                Err(CommandError::Usage(failure))
            }
            name => set(args, name.as_deref(), app),
        },
    }
}

/// Spells a name as the engine writes it.
fn spelled(text: &str, app: &App) -> Result<Option<String>, CommandError> {
    let mut scratch = app.options().in_memory("")?;
    scratch.append_session_info(text)?;
    Ok(scratch.name().map(str::to_owned))
}

fn show(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let session = app.open(&args.session)?;
    if args.how.json {
        return app.ui.json(&json!({"name": session.name()}));
    }
    match session.name() {
        Some(name) => app.ui.plain(name),
        None => app.ui.tell("no name"),
    }
}

fn set(args: &Args, name: Option<&str>, app: &mut App) -> Result<(), CommandError> {
    let mut session = app.open_to_change(&args.session, args.how.dry_run)?;
    let before = session.name().map(str::to_owned);
    let mut change = match name {
        _ if before.as_deref() == name => Change::new("left", "leave", "the name as it is"),
        Some(name) => Change::new("named", "name", format!("the session `{name}`")),
        None => Change::new("cleared", "clear", "the name of the session"),
    };
    if before.as_deref() != name {
        change = change.undo(undo(&session, before.as_deref()));
        if !args.how.dry_run {
            app.migrate(&mut session)?;
            session.append_session_info(name.unwrap_or_default())?;
            session.barrier()?;
        }
    }
    if let Some(name) = name {
        change = change.gives(name);
    }
    change.field("name", name).field("previousName", before).session(&session).tell(app, args.how)
}

fn undo(session: &Session, before: Option<&str>) -> String {
    let file = file_of(session);
    match before {
        None => format!("offshoot name --clear {}", arguments(&[&file])),
        Some(before) => format!("offshoot name {}", arguments(&[&file, before])),
    }
}
