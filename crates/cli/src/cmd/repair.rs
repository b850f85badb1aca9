//! `offshoot repair`: repairs a session by appending to it, or in a copy.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use session_tree::fs::RealFs;
use session_tree::repair::{RepairPlan, RepairRounds, Repaired, read_headerless};
use session_tree::{EntryId, Error, Fix, Session, Severity};

use crate::app::{App, file_of};
use crate::change::{Change, Changing, SessionState, quoted};
use crate::error::{CommandError, Failure};
use crate::exporting::free;
use crate::ui::count;

/// Repair a damaged session by appending to it, or in a copy.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A session: a path, an id or a prefix of it, a name, or `-` for the latest session of this project.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// Undo the last repair.
    #[arg(long, conflicts_with_all = ["copy", "no_guess"])]
    undo: bool,
    /// Write a repaired copy into this new file, and leave the session as it is.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    copy: Option<PathBuf>,
    /// Leave out fixes that are guesses.
    #[arg(long)]
    no_guess: bool,
    #[command(flatten)]
    how: Changing,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let path = app.find_file(&args.session)?;
    match app.options().open_read_only(&path) {
        Err(Error::NotASession { reason, .. }) => repair_headless(args, &path, reason, app),
        Err(error) => Err(error.into()),
        Ok(_) if args.undo => undo(args, app),
        Ok(session) => match &args.copy {
            Some(copy) => repair_copy(args, &session, &file_of(&session), copy, app),
            None => repair_here(args, app),
        },
    }
}

/// The applied or planned fixes.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Done {
    fixes: Vec<Fix>,
    /// The entries that were appended.
    appended: Vec<EntryId>,
    /// The entries that record the repair.
    records: Vec<EntryId>,
}

/// The JSON of a repair by appending.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RepairedHere<'d> {
    #[serde(flatten)]
    done: &'d Done,
    #[serde(flatten)]
    session: SessionState,
    /// True if the rest can only be repaired in a copy.
    needs_copy: bool,
    /// The number of remaining damaged places.
    damaged_places: usize,
}

/// The JSON of a repaired copy.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RepairedCopy<'d> {
    file: &'d str,
    copy: &'d str,
    /// The number of entries in the copy.
    entries: usize,
    fixes: &'d [Fix],
}

/// The JSON of an undone repair.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct UndoneRepair {
    /// The entry that records the repair.
    record: EntryId,
    /// The entries that were appended.
    appended: Vec<EntryId>,
    #[serde(flatten)]
    session: SessionState,
}

impl Done {
    fn planned(plan: &RepairPlan, with_copy: bool) -> Self {
        let fixes = plan.fixes().filter(|fix| with_copy || !fix.needs_copy()).cloned().collect();
        Done { fixes, ..Done::default() }
    }

    fn add(&mut self, rounds: RepairRounds) {
        self.fixes.extend(rounds.fixes);
        self.appended.extend(rounds.appended);
        self.records.extend(rounds.records);
    }
}

fn plan(session: &Session, no_guess: bool) -> Result<RepairPlan, CommandError> {
    let plan = session.plan_repair(&session.check()?);
    Ok(if no_guess { plan.without_inferred() } else { plan })
}

fn repair_here(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let mut session = app.open_to_change(&args.session, args.how.dry_run)?;
    let mut next = plan(&session, args.no_guess)?;
    let mut done = Done::default();
    if args.how.dry_run {
        done = Done::planned(&next, false);
    } else {
        let rounds = session.repair(next)?;
        next = rounds.remaining.clone();
        done.add(rounds);
    }
    session.sync()?;
    let file = file_of(&session);
    tell_fixes(&done, args.how, app)?;
    if done.fixes.is_empty() && next.needs_copy() {
        return Err(needs_copy(&file));
    }
    let undo = vec![format!("offshoot repair {} --undo", quoted(&file)); done.records.len()];
    let mut change =
        Change::new("repaired", "repair", format!("{file} with {}", count(done.fixes.len(), "fix")));
    for record in &done.records {
        change = change.gives(record.as_str());
    }
    if !undo.is_empty() {
        change = change.undo(undo.join(" && "));
    }
    match done.fixes.is_empty() && !args.how.json {
        true => app.ui.tell(&format!("nothing to repair in {file}"))?,
        false => {
            let (needs_copy, damaged_places) = (next.needs_copy(), damaged_places(&session)?);
            let session = SessionState::of(&session);
            let json = RepairedHere { done: &done, session, needs_copy, damaged_places };
            change.json(json)?.tell(app, args.how)?;
        }
    }
    if next.needs_copy() && !args.how.json {
        app.ui.tell(&format!("the rest needs a copy: offshoot repair {} --copy NEW", quoted(&file)))?;
    }
    Ok(())
}

/// Writes a repaired copy of a session, and repairs the copy further.
fn repair_copy(
    args: &Args,
    session: &Session,
    file: &str,
    copy: &Path,
    app: &mut App,
) -> Result<(), CommandError> {
    let first = plan(session, args.no_guess)?;
    let (mut done, mut entries) = (Done::planned(&first, true), session.tree().len());
    free(copy)?;
    if !args.how.dry_run {
        session.write_repaired_copy(&first, Arc::new(RealFs), copy)?;
        let mut session = app.options().open(copy)?;
        let next = plan(&session, args.no_guess)?;
        done.add(session.repair(next)?);
        session.sync()?;
        entries = session.tree().len();
    }
    tell_fixes(&done, args.how, app)?;
    let copy = std::path::absolute(copy).unwrap_or_else(|_| copy.to_path_buf()).display().to_string();
    let what = format!("a repaired copy of {file} with {}: {copy}", count(entries, "entry"));
    let change =
        Change::new("wrote", "write", what).gives(copy.as_str()).undo(format!("rm {}", quoted(&copy)));
    change.json(RepairedCopy { file, copy: &copy, entries, fixes: &done.fixes })?.tell(app, args.how)
}

/// Repairs a file without a header in a copy with a new header.
fn repair_headless(
    args: &Args,
    path: &Path,
    reason: &'static str,
    app: &mut App,
) -> Result<(), CommandError> {
    let found = read_headerless(Arc::new(RealFs), path)
        .map_err(|_| Error::NotASession { path: path.into(), reason })?;
    let Some(copy) = args.copy.as_ref().filter(|_| !args.undo) else {
        let entries = count(found.session.tree().len(), "entry");
        let message = format!("the header of {} cannot be read; {entries} can", path.display());
        let command = format!("offshoot repair {} --copy NEW", quoted(&path.display().to_string()));
        return Err(Failure::new(message).hint(format!("`{command}` writes them into a new file")).into());
    };
    repair_copy(args, &found.session, &path.display().to_string(), copy, app)
}

fn needs_copy(file: &str) -> CommandError {
    let command = format!("offshoot repair {} --copy NEW", quoted(file));
    Failure::new(format!("{file} can only be repaired in a copy"))
        .hint(format!("`{command}` writes one"))
        .into()
}

fn tell_fixes(done: &Done, how: Changing, app: &mut App) -> Result<(), CommandError> {
    if how.json {
        return Ok(());
    }
    let verb = if how.dry_run { "would " } else { "" };
    done.fixes.iter().try_for_each(|fix| app.ui.tell(&format!("fix: {verb}{fix}")))
}

fn damaged_places(session: &Session) -> Result<usize, CommandError> {
    let report = session.check()?;
    let damaged = report.diagnostics.iter().filter(|found| found.problem.severity() == Severity::Damage);
    Ok(damaged.count())
}

fn undo(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let mut session = app.open_to_change(&args.session, args.how.dry_run)?;
    let file = file_of(&session);
    let Some(record) = session.last_repair()? else {
        return Err(Failure::new(format!("no repair of {file} can be taken back")).into());
    };
    let undone = if args.how.dry_run { Repaired::default() } else { session.undo_repair(record.as_str())? };
    session.sync()?;
    let change = Change::new("took back", "take back", format!("the repair {record} of {file}"));
    let undone = UndoneRepair { record, appended: undone.appended, session: SessionState::of(&session) };
    change.action("undo-repair").json(undone)?.tell(app, args.how)
}
