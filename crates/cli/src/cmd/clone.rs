//! `offshoot clone`: a new session that stands where an old one stands.

use std::ffi::OsString;
use std::path::Path;

use session_tree::{Destination, ForkPosition, Session, fork_from};

use super::fork;
use super::new_file::{self, Output};
use crate::app::{App, file_of};
use crate::change::Changing;
use crate::error::{CommandError, Failure};
use crate::ui::count;

/// Arguments of `offshoot clone`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or the beginning of one, a name, or `-` for the latest of this project.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// Copy all branches, not only the one that leads to the current position.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    how: Changing,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let source = app.open(&args.session)?;
    let to = args.output.destination(&source, app)?;
    let leaf = source.leaf().filter(|_| !args.all);
    match leaf {
        Some(leaf) => {
            let plan = fork::plan(&source, leaf, ForkPosition::At)?;
            fork::make(&source, &plan, &to, ("cloned", "clone"), args.how, app)
        }
        None if args.all && !source.tree().is_empty() => copy(&source, &to, args.how, app),
        None => Err(Failure::new("Nothing to clone yet").into()),
    }
}

/// Copies the whole tree.
fn copy(source: &Session, to: &Destination, how: Changing, app: &mut App) -> Result<(), CommandError> {
    let cwd = source.header().cwd().unwrap_or_default().into_owned();
    let path = file_of(source);
    let made = match how.dry_run {
        true => None,
        false => {
            Some(fork_from(source.file().unwrap_or(Path::new("")), &cwd, to.clone(), app.options(), None)?)
        }
    };
    let entries = source.tree().len();
    let what = format!("all {} of {path}", count(entries, "entry"));
    let change = new_file::change(("cloned", "clone"), &what, to, made)?;
    change.field("parentSession", path).field("entries", entries).tell(app, how)
}
