//! `acp`: the agent for editors that speak the Agent Client Protocol.

use crate::app::App;
use crate::error::CommandError;
use crate::talk::serve;

/// Serve an editor that speaks the Agent Client Protocol (ACP).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The editor starts this command and talks to it over standard input and output. Each conversation
is a session like all others: `offshoot sessions` lists it, `offshoot tree` shows it. Editors get
the tree through the methods `_offshoot/tree`, `_offshoot/navigate`, `_offshoot/label` and
`_offshoot/branches`. How to set up an editor: docs/editors.md")]
pub(crate) struct Args {
    #[command(flatten)]
    agent: serve::EditorArgs,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    serve::acp(&args.agent, app)
}
