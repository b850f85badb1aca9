//! `name`: shows, sets and clears the name of a session.

use schemars::JsonSchema;
use serde::Serialize;
use session_tree::Session;

use super::session_command::{Outcome, Work};
use crate::change::{Change, SessionState, arguments};
use crate::error::{CommandError, Failure};

/// Show, set or clear the name of a session.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Example:
  offshoot name - Greeter CLI   name the latest session of this project")]
pub(crate) struct Args {
    /// The new name; without it the name is shown.
    #[arg(value_name = "TEXT", conflicts_with = "clear")]
    text: Vec<String>,
    /// Clear the name; lists then show the first prompt.
    #[arg(long)]
    clear: bool,
}

/// The JSON of a name that is shown.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Shown {
    name: Option<String>,
}

/// The JSON of a name that is set or cleared.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Named {
    name: Option<String>,
    previous_name: Option<String>,
    #[serde(flatten)]
    session: SessionState,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let text = args.text.join(" ");
    if args.text.is_empty() && !args.clear {
        return work.agent.read(show);
    }
    let plan = work.agent.plan_name(Some(text).filter(|_| !args.clear)).await?;
    if plan.name.is_none() && !args.clear {
        let failure = Failure::new("a name cannot be empty").hint("`--clear` removes the name");
        return Err(CommandError::Usage(failure));
    }
    let mut change = match &plan.name {
        _ if plan.is_noop() => Change::new("left", "leave", "the name as it is"),
        Some(name) => Change::new("named", "name", format!("the session `{name}`")),
        None => Change::new("cleared", "clear", "the name of the session"),
    };
    if !plan.is_noop() {
        change = change.undo(undo(&work.file(), plan.previous.as_deref()));
    }
    if !work.dry_run {
        work.agent.name_session(plan.clone()).unless(work.cancel).await?;
    }
    if let Some(name) = &plan.name {
        change = change.gives(name.clone());
    }
    let named = Named { name: plan.name, previous_name: plan.previous, session: work.state() };
    change.json(named)
}

fn show(session: &Session) -> Result<Change, CommandError> {
    let name = session.name().map(str::to_owned);
    let change = match &name {
        Some(name) => Change::shown(format!("the session is called `{name}`")).gives(name.clone()),
        None => Change::shown("the session has no name"),
    };
    change.json(Shown { name })
}

fn undo(file: &str, before: Option<&str>) -> String {
    match before {
        None => format!("offshoot name --clear {}", arguments(&[file])),
        Some(before) => format!("offshoot name {}", arguments(&[file, before])),
    }
}
