//! `offshoot label`: shows, sets and clears the label of an entry.

use std::ffi::OsString;

use serde_json::json;
use session_tree::{EntryId, Node, Session};

use super::texts::place;
use crate::app::{App, file_of};
use crate::change::{Change, Changing, arguments};
use crate::error::{CommandError, Failure};
use crate::ui::count;

/// Arguments of `offshoot label`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or the beginning of one, a name, or `-` for the latest of this project.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// An entry: an id or the beginning of one, `@label`, `leaf`, `root`, `^`, `~2`, `#1`.
    #[arg(value_name = "REF")]
    entry: String,
    /// The label; without it the present one is shown.
    #[arg(value_name = "NAME", conflicts_with = "delete")]
    name: Option<String>,
    /// Take the label off.
    #[arg(long, short)]
    delete: bool,
    #[command(flatten)]
    how: Changing,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    match (&args.name, args.delete) {
        (None, false) => show(args, app),
        (None, true) => set(args, None, app),
        (Some(name), _) if name.trim().is_empty() => {
            let failure = Failure::new("a label cannot be empty").hint("`--delete` takes a label off");
            Err(CommandError::Usage(failure))
        }
        (Some(name), _) => set(args, Some(name.trim()), app),
    }
}

/// Finds the entry. The leaf may be a label or a setting; who says `leaf` means what was said last.
fn target(session: &Session, reference: &str) -> Result<Node, CommandError> {
    let node = session.resolve(reference)?;
    match reference.trim() {
        "leaf" | "." => Ok(session.tree().effective(node).unwrap_or(node)),
        _ => Ok(node),
    }
}

fn show(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let session = app.open(&args.session)?;
    let node = target(&session, &args.entry)?;
    let id = session.tree().id(node).to_string();
    let label = session.label(node);
    if args.how.json {
        let set_at = label.map(|label| label.set_at.to_string());
        let text = label.map(|label| label.text.as_str());
        return app.ui.json(&json!({"entryId": id, "label": text, "setAt": set_at}));
    }
    match label {
        Some(label) => app.ui.plain(&label.text),
        None => app.ui.tell(&format!("{} has no label", place(&session, Some(node))?)),
    }
}

fn set(args: &Args, label: Option<&str>, app: &mut App) -> Result<(), CommandError> {
    let mut session = app.open_to_change(&args.session, args.how.dry_run)?;
    let node = target(&session, &args.entry)?;
    let id = session.tree().id(node);
    let before = session.label(node).map(|label| label.text.clone());
    let what = place(&session, Some(node))?;
    let mut change = match label {
        _ if before.as_deref() == label => Change::new("left", "leave", format!("{what} as it is")),
        Some(label) => Change::new("labelled", "label", format!("{what} `{label}`")),
        None => Change::new("unlabelled", "unlabel", what),
    };
    if before.as_deref() != label {
        change = change.undo(undo(&session, &id, before.as_deref()));
        if !args.how.dry_run {
            app.migrate(&mut session)?;
            session.append_label_change(id.as_str(), label)?;
            session.barrier()?;
        }
    }
    change = change.gives(id.as_str()).field("entryId", id.as_str());
    let change = change.field("label", label).field("previousLabel", before).session(&session);
    change.tell(app, args.how)?;
    tell_others(&session, &id, label, app)
}

fn undo(session: &Session, id: &EntryId, before: Option<&str>) -> String {
    let file = file_of(session);
    match before {
        None => format!("offshoot label --delete {}", arguments(&[&file, id.as_str()])),
        Some(before) => format!("offshoot label {}", arguments(&[&file, id.as_str(), before])),
    }
}

/// A label that several entries have names none of them.
fn tell_others(
    session: &Session,
    id: &EntryId,
    label: Option<&str>,
    app: &mut App,
) -> Result<(), CommandError> {
    let Some(label) = label else { return Ok(()) };
    let same = session
        .labels()
        .into_iter()
        .filter(|(node, other)| other.text == label && session.tree().id(*node) != *id);
    match same.count() {
        0 => Ok(()),
        others => {
            let have = if others == 1 { "has" } else { "have" };
            let others = count(others, "other entry");
            app.ui.tell(&format!("warning: {others} {have} this label too, so `@{label}` names none of them"))
        }
    }
}
