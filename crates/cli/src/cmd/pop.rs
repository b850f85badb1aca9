//! `offshoot pop`: back to before a prompt, leaving a note about what was tried.

use session_tree::NewBranchSummary;

use crate::app::App;
use crate::change::{Change, Changing};
use crate::error::{CommandError, Failure};
use crate::ui::{count, one_line};

/// Arguments of `offshoot pop`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session.
    #[arg(value_name = "SESSION")]
    session: String,
    /// The prompt to take back; the last one of the path, or the last push, if not given.
    #[arg(value_name = "REF")]
    to: Option<String>,
    /// What was tried and how it went, for the model that goes on from there.
    #[arg(long, short, value_name = "TEXT")]
    message: String,
    #[command(flatten)]
    how: Changing,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    if args.message.trim().is_empty() {
        return Err(CommandError::Usage(
            Failure::new("the note is empty").hint("`offshoot branch-here` moves without one"),
        ));
    }
    let mut session = app.open_to_change(&args.session, args.how.dry_run)?;
    let target = args.to.as_deref().map(|reference| session.resolve(reference)).transpose()?;
    let plan = session.plan_pop(target)?;
    let old_leaf = session.leaf_id();
    let place = |node| session.tree().id(node).to_string();
    let onto = plan.new_leaf().map_or_else(|| "the start".to_owned(), place);
    let left = count(plan.abandoned().len(), "entry");
    let prompt = plan.prompt().unwrap_or_default();
    let mut change = Change::new("went", "go", format!("back to {onto}, {left} left behind"))
        .field("abandonedEntries", plan.abandoned().len())
        .field("prompt", plan.prompt())
        .undo_by_moving(&session, old_leaf.as_ref());
    if !args.how.dry_run {
        let summary = NewBranchSummary { summary: args.message.clone(), ..NewBranchSummary::default() };
        app.migrate(&mut session)?;
        let done = session.apply_pop(&plan, &summary)?;
        session.barrier()?;
        let entry = done.summary_entry.map(|id| id.to_string());
        change = change.field("entryId", entry.clone());
        if let Some(entry) = entry {
            change = change.gives(entry);
        }
    }
    change.session(&session).tell(app, args.how)?;
    match prompt.is_empty() || args.how.json {
        true => Ok(()),
        false => app.ui.tell(&format!("the prompt was: {}", one_line(prompt))),
    }
}
