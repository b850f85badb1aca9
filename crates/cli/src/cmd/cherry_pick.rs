//! `offshoot cherry-pick`: entries of another branch, or another session, copied under the leaf.

use std::ffi::OsString;

use serde_json::json;
use session_tree::{EntryId, PickMode, PickPlan, PickRequest, Selection, Session, split_reference};

use crate::app::App;
use crate::change::{Change, Changing};
use crate::error::CommandError;
use crate::ui::{Tone, count, thousands};

/// Arguments of `offshoot cherry-pick`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session to append to.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// What to copy: an entry, or `REF..REF` for the entries below the first down to the second; `SESSION:REF` takes
    /// them from another session.
    #[arg(value_name = "REF[..REF]")]
    what: String,
    /// How to copy: quoted with a line that names the origin, or as entries of their own type. Prompts are copied as
    /// they are, everything else is quoted, unless this says otherwise.
    #[arg(long = "as", value_enum, value_name = "MODE")]
    mode: Option<Mode>,
    /// Copy the whole turn that the entry belongs to.
    #[arg(long)]
    turn: bool,
    /// Why; kept with the copy, not shown to models.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Copy also what is on this branch already, or was picked before.
    #[arg(long)]
    again: bool,
    /// Copy state of extensions too.
    #[arg(long)]
    with_state: bool,
    #[command(flatten)]
    how: Changing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    Quote,
    Native,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let mut session = app.open_to_change(&args.session, args.how.dry_run)?;
    let (other, reference) = open_source(&args.what, app)?;
    let plan = {
        let source = other.as_ref().unwrap_or(&session);
        session.plan_pick(source, &args.request(source, &reference)?)?
    };
    for warning in &plan.warnings {
        app.ui.tell(&format!("warning: {warning}"))?;
    }
    let old_leaf = session.leaf_id();
    let mut change = told(&plan, old_leaf.as_ref()).undo_by_moving(&session, old_leaf.as_ref());
    let mut ids = Vec::new();
    if args.how.dry_run && !args.how.json {
        app.ui.block(Tone::Plain, 0, &plan.text())?;
    }
    if !args.how.dry_run {
        app.migrate(&mut session)?;
        ids = session.apply_pick(&plan)?;
        session.barrier()?;
    }
    for id in &ids {
        change = change.gives(id.as_str());
    }
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    change.field("entryIds", ids).session(&session).tell(app, args.how)
}

fn told(plan: &PickPlan, leaf: Option<&EntryId>) -> Change {
    let sources: Vec<String> = plan.source_ids().map(ToString::to_string).collect();
    let warnings: Vec<String> = plan.warnings.iter().map(ToString::to_string).collect();
    let onto = leaf.map_or("the start", EntryId::as_str);
    let copies = count(plan.items.len(), "entry");
    let what =
        format!("{} under {onto}: {copies}, about {} tokens", sources.join(", "), thousands(plan.tokens()));
    Change::new("copied", "copy", what)
        .field("sourceEntryIds", sources)
        .field("text", plan.text())
        .field("tokens", plan.tokens())
        .field("warnings", json!(warnings))
}

impl Args {
    fn request(&self, source: &Session, reference: &str) -> Result<PickRequest, CommandError> {
        let selection = match reference.split_once("..") {
            Some((after, to)) => Selection::Range { after: source.resolve(after)?, to: source.resolve(to)? },
            None if self.turn => Selection::Turn(source.resolve(reference)?),
            None => Selection::Entry(source.resolve(reference)?),
        };
        let mode = self.mode.map(|mode| match mode {
            Mode::Quote => PickMode::Quote,
            Mode::Native => PickMode::Native,
        });
        Ok(PickRequest {
            mode,
            note: self.note.clone(),
            with_state: self.with_state,
            allow_present: self.again,
            allow_again: self.again,
            ..PickRequest::new(selection)
        })
    }
}

/// Opens the session that a reference names, if it names another one. Gives the reference inside it.
pub(super) fn open_source(reference: &str, app: &App) -> Result<(Option<Session>, String), CommandError> {
    let (session, reference) = split_reference(reference);
    let session = session.map(|wanted| app.open(wanted)).transpose()?;
    Ok((session, reference.to_owned()))
}
