//! `compact`: replaces older messages of the path by a summary.

use super::session_command::{Outcome, Work};
use crate::change::{Change, Effect};

/// Replace older messages of the path by a summary, to make room in the context.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The messages stay in the file; only models get the summary instead.")]
pub(crate) struct Args {
    /// The subject that the summary should focus on.
    #[arg(value_name = "FOCUS")]
    focus: Vec<String>,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let old_leaf = work.leaf();
    let change = Change::new("compacted", "compact", "the context");
    if work.dry_run {
        return change.json(work.state());
    }
    work.choose_model().await?;
    let focus = Some(args.focus.join(" ")).filter(|focus| !focus.is_empty());
    work.finish(work.agent.compact(focus)).await?;
    let change = change.undo_by_moving(&work.file(), old_leaf.as_ref()).json(work.state())?;
    Ok(change.effect(Effect::Appended { model: None }))
}
