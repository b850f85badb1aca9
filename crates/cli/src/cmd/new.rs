//! `offshoot new`: an empty session in a file of its own.

use std::path::{Path, PathBuf};

use session_tree::{Destination, NewSession};

use super::new_file;
use crate::app::App;
use crate::change::Changing;
use crate::error::{CommandError, Failure};

/// Arguments of `offshoot new`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name the session.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// The working directory of the session; the current one if not given.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    cwd: Option<PathBuf>,
    /// The id of the session; drawn if not given.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    #[command(flatten)]
    how: Changing,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let cwd = args.cwd.as_deref().map_or_else(|| app.cwd(), real_directory)?;
    if let Some(id) = &args.id {
        check_unused(id, app)?;
    }
    let directory = app.catalog()?.project_dir(&cwd);
    let new = NewSession { cwd: cwd.clone(), id: args.id.clone(), parent_session: None };
    // Making one writes nothing yet, and tells whether the id will do.
    let mut session = app.options().create_in(&directory, new)?;
    if let Some(name) = &args.name {
        session.append_session_info(name)?;
    }
    let name = session.name().map(str::to_owned);
    let what = match &name {
        Some(name) => format!("the session `{name}` of {cwd}"),
        None => format!("a session of {cwd}"),
    };
    let made = Some(session).filter(|_| !args.how.dry_run);
    let change = new_file::change(("made", "make"), &what, &Destination::Directory(directory), made)?;
    change.field("name", name).field("cwd", cwd).tell(app, args.how)
}

/// Returns the full path of a directory, as its sessions name it.
fn real_directory(path: &Path) -> Result<String, CommandError> {
    let real = path.canonicalize().map_err(|error| CommandError::system("find", path, &error))?;
    if !real.is_dir() {
        return Err(Failure::new(format!("{} is no directory", path.display())).into());
    }
    Ok(real.to_string_lossy().into_owned())
}

/// Two sessions with one id could not be told apart.
fn check_unused(id: &str, app: &App) -> Result<(), CommandError> {
    let taken = app.catalog()?.list_all().quick().find(|row| row.id == id);
    match taken {
        None => Ok(()),
        Some(row) => Err(Failure::new(format!("{} has the id `{id}` already", row.path.display())).into()),
    }
}
