//! `offshoot branch-here`: the position moves to where another attempt can begin.

use std::ffi::OsString;

use super::moving::{Gives, Target, go};
use crate::app::App;
use crate::change::Changing;
use crate::error::CommandError;

/// Arguments of `offshoot branch-here`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or the beginning of one, a name, or `-` for the latest of this project.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// An entry: an id or the beginning of one, `@label`, `leaf`, `root`, `^`, `~2`, `#1`. A prompt is taken back:
    /// the position is before it, and its text is printed, to be changed and sent again.
    #[arg(value_name = "REF")]
    at: String,
    /// Go to the entry itself, also if it is a prompt.
    #[arg(long)]
    exact: bool,
    #[command(flatten)]
    how: Changing,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let mut session = app.open_to_change(&args.session, args.how.dry_run)?;
    let id = session.tree().id(session.resolve(&args.at)?);
    let target = if args.exact { Target::Entry(id) } else { Target::Selection(id) };
    go(&mut session, &target, Gives::Prompt, args.how, app)
}
