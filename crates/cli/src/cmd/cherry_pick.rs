//! `cherry-pick`: copies entries of another branch, or of another session, to the leaf.

use offshoot_agent::command::{CherryPick, CherryPickRequest};
use offshoot_agent::shared::SharedSession;
use schemars::JsonSchema;
use serde::Serialize;
use session_tree::EntryId;
use session_view::split_reference;

use super::session_command::{Outcome, Work};
use crate::app::App;
use crate::change::{Change, Effect, SessionState};
use crate::error::CommandError;
use crate::ui::{count, thousands};

/// Copy entries of another branch or session to the current position.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = "\
Examples:
  offshoot cherry-pick @parser --turn       copy a whole turn of another branch
  offshoot cherry-pick old.jsonl:a1b2c3d4   copy an entry of another session")]
pub(crate) struct Args {
    /// The entry to copy, or `REF..REF` for the entries below the first down to the second; `SESSION:REF` takes them
    /// from another session.
    #[arg(value_name = "REF[..REF]")]
    pub(crate) what: String,
    /// How to copy: quoted under a line that names the origin, or with their own type. Prompts are copied as they are
    /// in both modes.
    #[arg(long = "as", value_enum, value_name = "MODE", default_value_t)]
    mode: Mode,
    /// Copy the whole turn that the entry belongs to.
    #[arg(long)]
    turn: bool,
    /// The reason; stored with the copy, not sent to models.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Copy entries that are on this branch already, or were picked before.
    #[arg(long)]
    again: bool,
    /// Copy state of extensions too.
    #[arg(long)]
    with_state: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Mode {
    #[default]
    Quote,
    Native,
}

/// The JSON of a cherry-pick.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Picked {
    /// The entries that are copied.
    source_entry_ids: Vec<EntryId>,
    /// The text that enters the context.
    text: String,
    /// The estimated tokens of the text.
    tokens: u64,
    warnings: Vec<String>,
    /// The new entries; empty in a dry run.
    entry_ids: Vec<EntryId>,
    #[serde(flatten)]
    session: SessionState,
}

impl Args {
    /// Returns the request for the agent.
    pub(crate) fn request(&self) -> CherryPickRequest {
        CherryPickRequest {
            what: self.what.clone(),
            turn: self.turn,
            native: self.mode == Mode::Native,
            note: self.note.clone(),
            with_state: self.with_state,
            again: self.again,
        }
    }
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let (source, what) = open_source(&args.what, work.app)?;
    let request = CherryPickRequest { what, ..args.request() };
    let pick = work.agent.plan_cherry_pick(source, request).await?;
    apply(pick, work).await
}

/// Copies entries as planned.
pub(crate) async fn apply(pick: CherryPick, work: &mut Work<'_>) -> Outcome {
    let old_leaf = work.leaf();
    let (text, tokens, warnings) = (pick.plan.text(), pick.plan.tokens(), pick.warnings.clone());
    let source_entry_ids = pick.plan.source_ids().cloned().collect();
    let mut change = described(&pick, old_leaf.as_ref());
    for warning in &warnings {
        change = change.note(format!("warning: {warning}"));
    }
    change = change.undo_by_moving(&work.file(), old_leaf.as_ref());
    let mut ids = Vec::new();
    if work.dry_run {
        change = change.preview(text.as_str());
    } else {
        let picked = work.finish(work.agent.cherry_pick(pick)).await?;
        change = change.effect(Effect::Appended { model: picked.model });
        ids = picked.entries;
    }
    for id in &ids {
        change = change.gives(id.as_str());
    }
    let picked = Picked { source_entry_ids, text, tokens, warnings, entry_ids: ids, session: work.state() };
    change.json(picked)
}

fn described(pick: &CherryPick, leaf: Option<&EntryId>) -> Change {
    let plan = &pick.plan;
    let sources: Vec<String> = plan.source_ids().map(ToString::to_string).collect();
    let onto = leaf.map_or("the start", EntryId::as_str);
    let copies = count(plan.items.len(), "entry");
    let what =
        format!("{} under {onto}: {copies}, about {} tokens", sources.join(", "), thousands(plan.tokens()));
    Change::new("copied", "copy", what)
}

/// Opens the session that a reference names, if it names another one. Returns the reference inside it.
pub(crate) fn open_source(
    reference: &str,
    app: &App,
) -> Result<(Option<SharedSession>, String), CommandError> {
    let (session, reference) = split_reference(reference);
    let session = session.map(|wanted| app.open(wanted)).transpose()?;
    Ok((session.map(SharedSession::new), reference.to_owned()))
}
