//! `import`: copies a session file into the sessions of its project.

use std::ffi::OsString;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use session_tree::Error;

use super::session_command::{Outcome, Work, project_directory};
use crate::app::is_same_file;
use crate::change::{Change, Effect};
use crate::database::remove_command;
use crate::error::CommandError;
use crate::ui::count;

/// Copy a session file into the sessions of its project.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Example:
  offshoot import ~/Downloads/session.jsonl")]
pub(crate) struct Args {
    /// A session file, or the id or name of a session of pi.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: OsString,
}

/// The JSON of an import.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Imported {
    /// The new file; null in a dry run.
    path: Option<String>,
    /// The id of the session.
    id: String,
    /// The number of its entries.
    entries: usize,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let file = work.app.find_file(&args.file)?;
    let source = work.app.options().open_read_only(&file)?;
    let (entries, id, version) =
        (source.tree().len(), source.header().id().into_owned(), source.header().version());
    let cwd = source.header().cwd().map(std::borrow::Cow::into_owned);
    let directory = project_directory(&source, work.app)?;
    drop(source);
    let stays = file.parent().is_some_and(|parent| is_same_file(parent, &directory));
    let options = work.app.options();
    let what = format!("{} of {}", count(entries, "entry"), file.display());
    if work.dry_run {
        let change = match stays {
            true => Change::new("left", "leave", format!("{} where it is", file.display())),
            false => Change::new("imported", "import", format!("{what} into {}", directory.display())),
        };
        let path = stays.then(|| file.display().to_string());
        return change.json(Imported { path, id, entries });
    }
    let planned = work.agent.plan_import(file.clone(), directory, options).await?;
    let options = work.app.options();
    let replaced = work.finish(work.agent.import(planned, options)).await?;
    let stored = replaced.session_file.clone().unwrap_or_default();
    let path = stored.display().to_string();
    let mut change = match is_same_file(&stored, &file) {
        true => Change::new("left", "leave", format!("{} where it is", file.display())),
        false => Change::new("imported", "import", format!("{what}{}", new_name(&file, &stored)))
            .undo(remove_command(&path)),
    };
    for note in notes(&id, version, cwd.as_deref(), work)? {
        change = change.note(note);
    }
    change = change.gives(path.clone()).json(Imported { path: Some(path), id, entries })?;
    Ok(change.effect(Effect::Replaced { prompt: None, images: Vec::new(), replaced }))
}

fn new_name(from: &Path, stored: &Path) -> String {
    match stored.file_name().filter(|name| from.file_name() != Some(name)) {
        Some(name) => format!(" as {}", name.display()),
        None => String::new(),
    }
}

/// Returns warnings about the imported session.
fn notes(id: &str, old: u64, cwd: Option<&str>, work: &Work<'_>) -> Result<Vec<String>, CommandError> {
    let mut notes = Vec::new();
    match (old, work.agent.read(|session| session.header().version())) {
        (3.., _) => {}
        (old, 3) => notes.push(format!("migrated version {old}, with ids spelled `uuid`, to version 3")),
        (old, _) => notes.push(format!("it has version {old}; the first change migrates it to version 3")),
    }
    if let Err(Error::AmbiguousSession { .. }) = work.app.catalog()?.find(id, None) {
        notes.push(format!("warning: another session has the id `{id}` too; their paths tell them apart"));
    }
    if let Some(cwd) = cwd.filter(|cwd| !cwd.is_empty() && Some(*cwd) != work.app.env.cwd().ok().as_deref()) {
        notes.push(format!("it belongs to {cwd}; `offshoot sessions --all` lists it"));
    }
    Ok(notes)
}
