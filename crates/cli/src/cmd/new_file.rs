//! What commands that make a session file have in common: where it goes, and what is told about it.

use std::path::{Path, PathBuf};

use session_tree::{Destination, Error, Session};

use crate::app::{App, file_of};
use crate::change::{Change, quoted};
use crate::error::CommandError;

/// Where a new session goes.
#[derive(Debug, clap::Args)]
pub(super) struct Output {
    /// Write into this file, which must not exist. Without it the new session joins the others of its project.
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
}

impl Output {
    /// Returns where a session goes that comes from `source`.
    pub(super) fn destination(&self, source: &Session, app: &App) -> Result<Destination, CommandError> {
        match &self.output {
            Some(path) => Ok(Destination::File(free(path)?)),
            None => Ok(Destination::Directory(directory(source, app)?)),
        }
    }
}

/// Returns the directory for sessions of the project that a session belongs to.
pub(super) fn directory(session: &Session, app: &App) -> Result<PathBuf, CommandError> {
    let cwd = session.header().cwd().filter(|cwd| !cwd.is_empty());
    let cwd = cwd.map_or_else(|| app.cwd(), |cwd| Ok(cwd.into_owned()))?;
    Ok(app.catalog()?.project_dir(&cwd))
}

/// Refuses a name that is taken; gives the others back.
pub(crate) fn free(path: &Path) -> Result<PathBuf, CommandError> {
    if path.symlink_metadata().is_err() {
        return Ok(path.to_path_buf());
    }
    Err(Error::Exists { path: path.to_path_buf() }.into())
}

/// Makes sure that a new session is on the disk, and begins to tell about it; without one, tells where it would go.
pub(super) fn change(
    verbs: (&'static str, &'static str),
    what: &str,
    to: &Destination,
    made: Option<Session>,
) -> Result<Change, CommandError> {
    let Some(mut session) = made else {
        return Ok(planned(verbs, what, to).field("id", None::<String>));
    };
    session.save()?;
    session.sync()?;
    let path = file_of(&session);
    let change = Change::new(verbs.0, verbs.1, what).field("path", path.as_str());
    let change = change.field("id", &*session.header().id()).gives(path.as_str());
    Ok(change.undo(format!("rm {}", quoted(&path))))
}

fn planned(verbs: (&'static str, &'static str), what: &str, to: &Destination) -> Change {
    let (place, path) = match to {
        Destination::File(path) => (format!(", as {}", path.display()), Some(path.display().to_string())),
        Destination::Directory(directory) => (format!(", as a new file in {}", directory.display()), None),
        Destination::Memory => (String::new(), None),
    };
    Change::new(verbs.0, verbs.1, format!("{what}{place}")).field("path", path)
}
