//! `offshoot cherry-pick`: copies entries of another branch, or of another session, under the leaf.

use std::ffi::OsString;

use offshoot_agent::command::{CherryPick, CherryPickRequest};
use offshoot_agent::shared::SharedSession;
use serde_json::json;
use session_tree::{EntryId, split_reference};

use crate::app::App;
use crate::change::{Change, Changing};
use crate::error::CommandError;
use crate::talk::{command_agent, done, waiting};
use crate::ui::{Tone, count, thousands};

/// Arguments of `offshoot cherry-pick`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session to append to.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// The entry to copy, or `REF..REF` for the entries below the first down to the second; `SESSION:REF` takes
    /// them from another session.
    #[arg(value_name = "REF[..REF]")]
    what: String,
    /// How to copy: quoted under a line that names the origin, or with their own type. Prompts are copied as they
    /// are in both modes.
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
    #[command(flatten)]
    how: Changing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Mode {
    #[default]
    Quote,
    Native,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let session = app.open_to_change(&args.session, args.how.dry_run)?;
    let (source, what) = open_source(&args.what, app)?;
    let request = CherryPickRequest {
        what,
        turn: args.turn,
        native: args.mode == Mode::Native,
        note: args.note.clone(),
        with_state: args.with_state,
        again: args.again,
    };
    let mut agent = command_agent(session, false, app)?;
    let pick = agent.plan_cherry_pick(source.as_ref(), &request)?;
    for warning in &pick.warnings {
        app.ui.tell(&format!("warning: {warning}"))?;
    }
    let old_leaf = agent.session().leaf_id();
    let mut change = described(&pick, old_leaf.as_ref()).undo_by_moving(&agent.session(), old_leaf.as_ref());
    let mut ids = Vec::new();
    if args.how.dry_run && !args.how.json {
        app.ui.block(Tone::Plain, 0, &pick.plan.text())?;
    }
    if !args.how.dry_run {
        app.migrate(&mut agent.session())?;
        ids = done(waiting(async |cancel| agent.cherry_pick(pick, cancel).await)??)?.entries;
    }
    for id in &ids {
        change = change.gives(id.as_str());
    }
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    change.field("entryIds", ids).session(&agent.session()).tell(app, args.how)
}

fn described(pick: &CherryPick, leaf: Option<&EntryId>) -> Change {
    let plan = &pick.plan;
    let sources: Vec<String> = plan.source_ids().map(ToString::to_string).collect();
    let onto = leaf.map_or("the start", EntryId::as_str);
    let copies = count(plan.items.len(), "entry");
    let what =
        format!("{} under {onto}: {copies}, about {} tokens", sources.join(", "), thousands(plan.tokens()));
    Change::new("copied", "copy", what)
        .field("sourceEntryIds", sources)
        .field("text", plan.text())
        .field("tokens", plan.tokens())
        .field("warnings", json!(pick.warnings))
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
