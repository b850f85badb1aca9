//! `offshoot import`: a session file from elsewhere joins ours.

use std::ffi::OsString;
use std::path::Path;

use session_tree::{Error, Session, import};

use super::new_file::directory;
use crate::app::{App, is_same_file};
use crate::change::{Change, Changing, quoted};
use crate::error::CommandError;
use crate::ui::count;

/// Arguments of `offshoot import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session file, or the id or name of a session of pi.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: OsString,
    #[command(flatten)]
    how: Changing,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let source = app.open(&args.file)?;
    let directory = directory(&source, app)?;
    let stored = match args.how.dry_run {
        true => None,
        false => Some(import(source.file().unwrap_or(Path::new("")), &directory, &app.options())?),
    };
    // What lies there already stays; a dry run can tell as well.
    let stays =
        source.file().filter(|file| file.parent().is_some_and(|parent| is_same_file(parent, &directory)));
    let change = told(&source, &directory, stored.as_deref().or(stays));
    change.field("id", &*source.header().id()).tell(app, args.how)?;
    match stored.filter(|_| !args.how.json) {
        Some(stored) => tell_more(&source, &stored, app),
        None => Ok(()),
    }
}

fn told(source: &Session, directory: &Path, stored: Option<&Path>) -> Change {
    let entries = source.tree().len();
    let from = source.file().unwrap_or(Path::new(""));
    let what = format!("{} of {}", count(entries, "entry"), from.display());
    let change = match stored {
        None => Change::new("imported", "import", format!("{what} into {}", directory.display())),
        Some(stored) if is_same_file(stored, from) => {
            Change::new("left", "leave", format!("{} where it is", from.display()))
        }
        Some(stored) => Change::new("imported", "import", format!("{what}{}", new_name(from, stored)))
            .undo(format!("rm {}", quoted(&stored.display().to_string()))),
    };
    let path = stored.map(|stored| stored.display().to_string());
    let change = change.field("path", path.clone()).field("entries", entries);
    match path {
        Some(path) => change.gives(path),
        None => change,
    }
}

fn new_name(from: &Path, stored: &Path) -> String {
    match stored.file_name().filter(|name| from.file_name() != Some(name)) {
        Some(name) => format!(" as {}", name.display()),
        None => String::new(),
    }
}

/// Tells what may come as a surprise later.
fn tell_more(source: &Session, stored: &Path, app: &mut App) -> Result<(), CommandError> {
    match (source.header().version(), app.options().open_read_only(stored)?.header().version()) {
        (3.., _) => {}
        (old, 3) => app.ui.tell(&format!("brought version {old}, with ids spelled `uuid`, to version 3"))?,
        (old, _) => app.ui.tell(&format!("it has version {old}; the first change brings it to version 3"))?,
    }
    let id = source.header().id();
    if let Err(Error::AmbiguousSession { .. }) = app.catalog()?.find(&id, None) {
        let text = format!("warning: another session has the id `{id}` too; their paths tell them apart");
        app.ui.tell(&text)?;
    }
    match source.header().cwd().filter(|cwd| !cwd.is_empty() && Some(&**cwd) != app.cwd().ok().as_deref()) {
        Some(cwd) => app.ui.tell(&format!("it belongs to {cwd}; `offshoot sessions --all` lists it")),
        None => Ok(()),
    }
}
