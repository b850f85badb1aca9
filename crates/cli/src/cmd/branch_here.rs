//! `branch-here`: moves the leaf to an entry from which another attempt can start.

use offshoot_agent::command::MoveRequest;

use super::moving::{MoveOutput, SummaryArgs, go};
use super::session_command::{Outcome, Work};

/// Move to an entry to try something else from there.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
A prompt is taken back: the leaf becomes its parent, and its text is printed, to be edited and
sent again.

Example:
  offshoot branch-here leaf~2   take the last two prompts back")]
pub(crate) struct Args {
    /// An entry: an id or a prefix of it, `@label`, `branch:2`, `leaf~1`, `root`.
    #[arg(value_name = "REF")]
    at: String,
    /// Move to the entry itself, also if it is a prompt.
    #[arg(long)]
    exact: bool,
    #[command(flatten)]
    pub(super) summary: SummaryArgs,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let target = args.at.clone();
    let request = MoveRequest { target, exact: args.exact, summary: args.summary.request() };
    let planned = work.agent.plan_branch_here(request).await?;
    go(planned, MoveOutput::Prompt, work).await
}
