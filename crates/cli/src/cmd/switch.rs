//! `switch`: moves the leaf to another branch.

use offshoot_agent::command::MoveRequest;

use super::moving::{MoveOutput, Moved, SummaryArgs, go};
use super::session_command::{Outcome, Work};
use crate::change::Change;

/// Move to another branch.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The newest tip at or below the entry becomes the leaf; a prompt at the tip stays where it is.

Examples:
  offshoot switch branch:2          move to the second branch of `offshoot branches`
  offshoot switch work @parser -s   move in the session `work`, and summarise the branch that is left")]
pub(crate) struct Args {
    /// An entry of the branch: an id or a prefix of it, `@label`, `branch:2`, `leaf~1`, `root`; or `start`, the position
    /// before the first entry, where the next prompt becomes a new root.
    #[arg(value_name = "REF")]
    to: String,
    /// Move to the entry itself, not to the tip of its branch.
    #[arg(long)]
    exact: bool,
    #[command(flatten)]
    pub(super) summary: SummaryArgs,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let is_start = args.to == "start" && work.agent.read(|session| session.tree().node("start").is_none());
    if !is_start {
        let (target, summary) = (args.to.clone(), args.summary.request());
        let planned = work.agent.plan_switch(MoveRequest { target, exact: args.exact, summary }).await?;
        return go(planned, MoveOutput::Leaf, work).await;
    }
    if work.leaf().is_some() {
        let planned = work.agent.plan_new_here().await?;
        return go(planned, MoveOutput::Leaf, work).await;
    }
    let session = work.state();
    let stayed = Moved { moved: false, plan: None, abandoned_entries: 0, summary_id: None, session };
    Change::new("stayed", "stay", "at the start").json(stayed)
}
