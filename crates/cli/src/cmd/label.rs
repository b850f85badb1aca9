//! `label`: sets, removes and shows labels.

use offshoot_agent::command::{LabelPlan, LabelRequest};
use schemars::JsonSchema;
use serde::Serialize;
use session_tree::{EntryId, Session, Timestamp};

use super::session_command::{Outcome, Work};
use super::texts::place;
use crate::change::{Change, SessionState, arguments};
use crate::error::{CommandError, Failure};
use crate::ui::count;

/// Put a label on an entry, show it, or remove it.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
A label is a name for an entry: every command takes `@NAME` for it. `offshoot labels` lists all
labels.

Examples:
  offshoot label work parser-done      label the last answer
  offshoot label work leaf~2 baseline  label an entry
  offshoot label work -d @baseline     take a label off")]
pub(crate) struct Args {
    /// An entry and its new label. Without an entry the answer to the last prompt gets the label; an entry alone shows
    /// its label.
    #[arg(value_name = "[REF] NAME", num_args = 0..)]
    words: Vec<String>,
    /// Remove the label of the given entry.
    #[arg(long, short)]
    delete: bool,
}

/// The JSON of a label that is shown.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    entry_id: EntryId,
    label: Option<String>,
    /// The time at which the label was set.
    label_timestamp: Option<Timestamp>,
}

/// The JSON of a label that is set or removed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Labelled {
    entry_id: EntryId,
    /// The new label; null if it was removed.
    label: Option<String>,
    previous_label: Option<String>,
    #[serde(flatten)]
    session: SessionState,
}

/// Whether another label of the entry may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replace {
    Yes,
    No,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let request = match (args.delete, args.words.as_slice()) {
        (true, [target]) => LabelRequest { target: Some(target.clone()), label: None },
        (true, _) => return Err(usage("`label -d` needs one entry")),
        (false, []) => return Err(usage("a label needs a name")),
        (false, [.., name]) if name.trim().is_empty() => return Err(usage("a label cannot be empty")),
        (false, [word]) => {
            let shown = LabelRequest { target: Some(word.clone()), label: None };
            match work.agent.plan_label(shown).await {
                Ok(plan) => {
                    let shown = work.agent.read(|session| show(session, &plan.target))?;
                    return Ok(shown);
                }
                Err(error) if word.starts_with('@') => return Err(error.into()),
                Err(_) => LabelRequest { target: None, label: Some(word.clone()) },
            }
        }
        (false, [target, rest @ ..]) => match work.agent.find(target) {
            Ok(_) => LabelRequest { target: Some(target.clone()), label: Some(rest.join(" ")) },
            // In the chat several words without an entry are one label; in a script the first word is an entry.
            Err(_) if work.is_chat => LabelRequest { target: None, label: Some(args.words.join(" ")) },
            Err(error) => return Err(error.into()),
        },
    };
    let plan = work.agent.plan_label(request).await?;
    apply(plan, Replace::Yes, work).await
}

/// Labels an entry as planned.
pub(super) async fn apply(plan: LabelPlan, replace: Replace, work: &mut Work<'_>) -> Outcome {
    if let (Some(previous), Replace::No, false) = (&plan.previous, replace, plan.is_noop()) {
        let failure = Failure::new(format!("the entry has the label `{previous}` already"));
        return Err(failure.hint("`--force` replaces it").into());
    }
    let what = work.agent.read(|session| place(session, session.tree().node(plan.target.as_str())))?;
    let mut change = match &plan.label {
        _ if plan.is_noop() => Change::new("left", "leave", format!("{what} as it is")),
        Some(label) => Change::new("labelled", "label", format!("{what} `{label}`")),
        None => Change::new("unlabelled", "unlabel", what),
    };
    if !plan.is_noop() {
        change = change.undo(undo(&work.file(), &plan.target, plan.previous.as_deref()));
    }
    if !work.dry_run {
        work.agent.label(plan.clone()).unless(work.cancel).await?;
    }
    let others = work.agent.read(|session| others(session, &plan));
    let LabelPlan { target, label, previous, .. } = plan;
    let change = change.gives(target.as_str());
    let session = work.state();
    let change = change.json(Labelled { entry_id: target, label, previous_label: previous, session })?;
    Ok(match others {
        Some(warning) => change.note(warning),
        None => change,
    })
}

/// Reports the label of an entry.
fn show(session: &Session, id: &EntryId) -> Result<Change, CommandError> {
    let node = session.node(id.as_str())?;
    let label = session.label(node);
    let (text, set_at) = (label.map(|label| label.text.clone()), label.map(|label| label.set_at));
    let what = place(session, Some(node))?;
    let change = match &text {
        Some(text) => Change::shown(format!("{what} has the label `{text}`")).gives(text.clone()),
        None => Change::shown(format!("{what} has no label")),
    };
    change.json(Shown { entry_id: id.clone(), label: text, label_timestamp: set_at })
}

fn usage(message: &str) -> CommandError {
    let failure = Failure::new(message);
    CommandError::Usage(failure.hint("`label NAME` labels the last answer, `label REF NAME` an entry"))
}

fn undo(file: &str, id: &EntryId, before: Option<&str>) -> String {
    match before {
        None => format!("offshoot label --delete {}", arguments(&[file, id.as_str()])),
        Some(before) => format!("offshoot label {}", arguments(&[file, id.as_str(), before])),
    }
}

/// Warns if other entries have the same label, because it is then ambiguous.
fn others(session: &Session, plan: &LabelPlan) -> Option<String> {
    let label = plan.label.as_ref()?;
    let same = session
        .labels()
        .into_iter()
        .filter(|(node, other)| other.text == *label && session.tree().id(*node) != plan.target);
    match same.count() {
        0 => None,
        others => {
            let have = if others == 1 { "has" } else { "have" };
            let others = count(others, "other entry");
            Some(format!("warning: {others} {have} this label too, so `@{label}` names none of them"))
        }
    }
}
