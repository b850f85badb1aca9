//! `offshoot path`: the entries from the root to a position.

use crate::app::{App, resolve};
use crate::error::CommandError;
use crate::reading::SessionAt;

/// Arguments of `offshoot path`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionAt,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    args.session.each(app, &mut |app, session| {
        let at = resolve(session, args.session.at())?;
        let nodes = at.map(|at| session.tree().path(at)).unwrap_or_default();
        super::entries::list(session, &nodes, args.session.output.json, app)
    })
}
