//! `offshoot switch`: the position moves to another branch.

use std::ffi::OsString;

use super::moving::{Gives, Target, go};
use crate::app::App;
use crate::change::Changing;
use crate::error::CommandError;

/// Arguments of `offshoot switch`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or the beginning of one, a name, or `-` for the latest of this project.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// An entry of the branch: an id or the beginning of one, `@label`, `leaf`, `root`, `^`, `~2`, `#1`. The newest
    /// end of what follows it becomes the position.
    #[arg(value_name = "REF", required_unless_present = "start", conflicts_with = "start")]
    to: Option<String>,
    /// Go to the entry itself, not to the end of its branch.
    #[arg(long, conflicts_with = "start")]
    exact: bool,
    /// Go to before the first entry: what comes next begins anew.
    #[arg(long)]
    start: bool,
    #[command(flatten)]
    how: Changing,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let mut session = app.open_to_change(&args.session, args.how.dry_run)?;
    let target = match &args.to {
        None => Target::Start,
        Some(to) => {
            let id = session.tree().id(session.resolve(to)?);
            if args.exact { Target::Entry(id) } else { Target::Tip(id) }
        }
    };
    go(&mut session, &target, Gives::Position, args.how, app)
}
