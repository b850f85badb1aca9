//! `offshoot pop`: goes back to before a prompt and leaves a summary of what was tried.

use std::ffi::OsString;

use offshoot_agent::command::PopRequest;
use session_tree::{EntryId, NewBranchSummary, PopPlan, Session};

use crate::app::App;
use crate::change::{Change, Changing};
use crate::error::{CommandError, Failure};
use crate::talk::{command_agent, done, waiting};
use crate::ui::{count, one_line};

/// Arguments of `offshoot pop`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// The prompt to take back; the last one of the path, or the last push, if not given.
    #[arg(value_name = "REF")]
    to: Option<String>,
    /// Your summary of the abandoned branch. Without it the model of the session or of the settings makes one, or the
    /// offline model.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
    #[command(flatten)]
    how: Changing,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    if args.message.as_ref().is_some_and(|message| message.trim().is_empty()) {
        return Err(CommandError::Usage(
            Failure::new("the note is empty").hint("`offshoot branch-here` moves without one"),
        ));
    }
    let mut session = app.open_to_change(&args.session, args.how.dry_run)?;
    let target = args.to.as_deref().map(|reference| session.resolve(reference)).transpose()?;
    let plan = session.plan_pop(target)?;
    let change = planned(&session, &plan);
    let prompt = plan.prompt().unwrap_or_default().to_owned();
    if args.how.dry_run {
        change.session(&session).tell(app, args.how)?;
    } else {
        app.migrate(&mut session)?;
        match &args.message {
            Some(message) => {
                let summary = NewBranchSummary { summary: message.clone(), ..NewBranchSummary::default() };
                let entry = session.apply_pop(&plan, &summary)?.summary_entry;
                session.barrier()?;
                finish(change, entry, &session, app, args.how)?;
            }
            None => summarized(session, args, change, app)?,
        }
    }
    match prompt.is_empty() || args.how.json {
        true => Ok(()),
        false => app.ui.tell(&format!("the prompt was: {}", one_line(&prompt))),
    }
}

/// Describes what a pop does.
fn planned(session: &Session, plan: &PopPlan) -> Change {
    let old_leaf = session.leaf_id();
    let place = |node| session.tree().id(node).to_string();
    let onto = plan.new_leaf().map_or_else(|| "the start".to_owned(), place);
    let left = count(plan.abandoned().len(), "entry");
    Change::new("went", "go", format!("back to {onto}, {left} left behind"))
        .field("abandonedEntries", plan.abandoned().len())
        .field("prompt", plan.prompt())
        .undo_by_moving(session, old_leaf.as_ref())
}

/// Goes back with a summary that a model makes; nothing changes if it fails or is interrupted.
fn summarized(session: Session, args: &Args, change: Change, app: &mut App) -> Result<(), CommandError> {
    let mut agent = command_agent(session, true, app)?;
    let pop = agent.plan_pop(&PopRequest { target: args.to.clone(), ..PopRequest::default() })?;
    let popped = done(waiting(async |cancel| agent.pop(pop, cancel).await)??)?;
    let mut session = agent.session();
    session.barrier()?;
    finish(change, popped.arrival.summary_entry, &session, app, args.how)
}

fn finish(
    mut change: Change,
    entry: Option<EntryId>,
    session: &Session,
    app: &mut App,
    how: Changing,
) -> Result<(), CommandError> {
    let entry = entry.map(|id| id.to_string());
    change = change.field("entryId", entry.clone());
    if let Some(entry) = entry {
        change = change.gives(entry);
    }
    change.session(session).tell(app, how)
}
