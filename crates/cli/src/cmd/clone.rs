//! `clone`: copies a session and continues in the copy.

use super::fork::{self, CopyJson, Made, Output};
use super::session_command::{Outcome, Work};
use crate::app::file_of;
use crate::change::Effect;
use crate::ui::count;

/// Create a copy of a session.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The copy holds the path to the leaf, or all branches with `--all`. The old session stays as it
is.")]
pub(crate) struct Args {
    /// Copy all branches, not only the path to the leaf.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    output: Output,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let to = work.destination(args.output.output.as_deref())?;
    if !args.all {
        let plan = work.agent.plan_clone(Some(to)).await?;
        return fork::apply(plan, ("cloned", "clone"), work).await;
    }
    let plan = work.agent.plan_clone_all(to.clone()).await?;
    let (old_file, entries) = work.agent.read(|session| (file_of(session), session.tree().len()));
    let what = format!("all {} of {}", count(entries, "entry"), work.session_name());
    let mut made = Made::new(what, to);
    let mut effect = Effect::None;
    if !work.dry_run {
        let options = work.app.options();
        let replaced = work.finish(work.agent.clone_all(plan, options)).await?;
        effect = made.replaced(replaced, Default::default(), work)?;
    }
    let json = CopyJson { parent_session: old_file, entries, plan: None };
    Ok(made.change(("cloned", "clone"), json)?.effect(effect))
}
