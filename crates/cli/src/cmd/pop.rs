//! `pop`: goes back to before a prompt and leaves a summary of what was tried.

use offshoot_agent::command::PopRequest;
use schemars::JsonSchema;
use serde::Serialize;
use session_tree::{EntryId, PopPlan};

use super::session_command::{Outcome, Work};
use crate::change::{Change, Effect, SessionState};
use crate::error::{CommandError, Failure};
use crate::ui::{count, one_line};

/// Go back to before a prompt and leave a summary of what was tried.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The model of the session or of the settings writes the summary, or the offline model; `-m` uses
your own.

Example:
  offshoot pop work -m 'channels deadlock, use a mutex'")]
pub(crate) struct Args {
    /// The prompt to take back; the default is the last `push` of the path, or else its last prompt.
    #[arg(value_name = "REF")]
    to: Option<String>,
    /// Your own summary of the branch that is left.
    #[arg(long, short, value_name = "TEXT")]
    pub(super) message: Option<String>,
    /// The subject that the summary should focus on.
    #[arg(long, value_name = "TEXT", conflicts_with = "message")]
    focus: Option<String>,
    /// Put the prompt into the editor, not only into the input history.
    #[arg(long)]
    edit: bool,
}

/// The JSON of a pop.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Popped {
    #[serde(flatten)]
    plan: PopPlan,
    /// The number of entries that are left behind.
    abandoned_entries: usize,
    /// The summary that was appended.
    entry_id: Option<EntryId>,
    #[serde(flatten)]
    session: SessionState,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    if args.message.as_ref().is_some_and(|message| message.trim().is_empty()) {
        let failure = Failure::new("the summary is empty");
        return Err(CommandError::Usage(failure.hint("`branch-here` moves without a summary")));
    }
    if args.message.is_none() {
        work.choose_model().await?;
    }
    let (target, note, focus) = (args.to.clone(), args.message.clone(), args.focus.clone());
    let request = PopRequest { target, note, focus };
    let pop = work.agent.plan_pop(request).await?;
    let target = pop.plan.new_leaf().map_or_else(|| "the start".to_owned(), ToString::to_string);
    let left = pop.plan.abandoned().len();
    let change = Change::new("went", "go", format!("back to {target}, {} left behind", count(left, "entry")))
        .undo_by_moving(&work.file(), work.leaf().as_ref());
    let noted = |change: Change, prompt: Option<&str>| match prompt {
        Some(prompt) if !prompt.is_empty() => change.note(format!("the prompt was: {}", one_line(prompt))),
        _ => change,
    };
    let plan = pop.plan.clone();
    let json = |entry_id, session| Popped { plan, abandoned_entries: left, entry_id, session };
    if work.dry_run {
        let change = noted(change, pop.plan.prompt());
        return change.json(json(None, work.state()));
    }
    let arrival = work.finish(work.agent.go(pop.movement)).await?;
    let entry = arrival.summary_entry;
    let mut change = match &entry {
        Some(entry) => change.gives(entry.as_str()),
        None => change,
    };
    change = change.json(json(entry, work.state()))?;
    if !work.is_chat {
        change = noted(change, arrival.editor_text.as_deref());
    }
    let effect = Effect::Moved {
        prompt: arrival.editor_text.clone().filter(|_| args.edit),
        images: arrival.images,
        remembered: arrival.editor_text,
    };
    Ok(change.effect(effect))
}
