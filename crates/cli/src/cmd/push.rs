//! `push`: labels the leaf as a place that `pop` returns to.

use super::label::{self, Replace};
use super::session_command::{Outcome, Work};

/// Label this position as a place that `pop` returns to.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// A name for it.
    #[arg(value_name = "NAME")]
    pub(crate) name: Vec<String>,
    /// Replace the label that the entry has.
    #[arg(long, short)]
    pub(crate) force: bool,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let plan = work.agent.plan_push(args.name.join(" ")).await?;
    let replace = if args.force { Replace::Yes } else { Replace::No };
    Ok(label::apply(plan, replace, work).await?.note("`pop` comes back here and leaves a summary"))
}
