//! `undo`: takes the last prompt back, or the last pick or merge.

use super::moving::{MoveOutput, go};
use super::session_command::{Outcome, Work};

/// Take back the last prompt, or a pick or merge that nothing followed.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Everything stays in the tree; only the leaf moves. The text of the prompt is printed, to be
edited and sent again.")]
pub(crate) struct Args {}

pub(crate) async fn run(_: &Args, work: &mut Work<'_>) -> Outcome {
    let planned = work.agent.plan_undo().await?;
    go(planned, MoveOutput::Prompt, work).await
}
