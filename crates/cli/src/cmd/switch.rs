//! `switch`: moves the leaf to another branch.

use offshoot_agent::command::{Applied, SwitchRequest};

use super::moving::{Gives, SummaryArgs, go};
use super::session_command::{Outcome, Work};
use crate::change::Change;

/// Move to another branch.
///
/// The newest tip at or below the entry becomes the leaf; a prompt at the tip stays where it is.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  offshoot switch branch:2          move to the second branch of `offshoot branches`
  offshoot switch work @parser -s   move in the session `work`, and summarise the branch that is left")]
pub(crate) struct Args {
    /// An entry of the branch: an id or a prefix of it, `@label`, `branch:2`, `leaf~1`, `root`.
    #[arg(value_name = "REF", required_unless_present = "start", conflicts_with = "start")]
    to: Option<String>,
    /// Move to the entry itself, not to the tip of its branch.
    #[arg(long, conflicts_with = "start")]
    exact: bool,
    /// Move to before the first entry; the next prompt becomes a new root.
    #[arg(long)]
    start: bool,
    #[command(flatten)]
    pub(super) summary: SummaryArgs,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let planned = match &args.to {
        Some(target) => {
            let summary = args.summary.request();
            work.agent.plan_switch(&SwitchRequest { target: target.clone(), exact: args.exact, summary })?
        }
        None if work.agent.session().leaf().is_none() => {
            let change = Change::new("stayed", "stay", "at the start").field("moved", false);
            return Ok(Applied::Done(change.session(&work.agent.session())));
        }
        None => work.agent.plan_new_here()?,
    };
    go(planned, Gives::Leaf, work).await
}
