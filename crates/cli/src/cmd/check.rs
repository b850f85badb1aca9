//! `offshoot check`: reports problems of session files.

mod targets;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use session_tree::fs::RealFs;
use session_tree::repair::read_headerless;
use session_tree::{Diagnostic, Error, Fix, Problem, Report, Severity};

use crate::app::{App, is_stream};
use crate::change::quoted;
use crate::error::{CommandError, Failure};
use crate::reading::Output;
use crate::ui::{Tone, Ui, bytes, count};

use targets::Target;

/// Report all problems in session files; never writes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Sessions, or directories: all session files below them.
    #[arg(value_name = "SESSION", required_unless_present = "batch", conflicts_with = "batch")]
    sessions: Vec<OsString>,
    /// Print nothing; only set the exit code.
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let mut worst = CheckSummary::default();
    targets::each(&args.sessions, args.output.batch, app, &mut |app, name, target| {
        let found =
            target.and_then(|target| check(&target, app)).unwrap_or_else(|error| CheckResult::failed(&error));
        worst.note(name, &found);
        match (args.quiet, args.output.json) {
            (true, _) => Ok(()),
            (false, true) => app.ui.json(&Checked { file: name.to_owned(), found }),
            (false, false) => found.print(name, &mut app.ui),
        }
    })?;
    if !args.quiet && !args.output.json {
        for name in &worst.in_place {
            app.ui.tell(&format!("`offshoot repair {}` carries the fixes out", quoted(name)))?;
        }
        for name in &worst.by_copy {
            app.ui.tell(&format!("`offshoot repair {} --copy FILE` writes a repaired copy", quoted(name)))?;
        }
    }
    if !args.quiet && !args.output.json {
        worst.report_exposed(app)?;
    }
    worst.end()
}

/// The outcome of all checks.
#[derive(Default)]
struct CheckSummary {
    failed: bool,
    damaged: bool,
    /// The files that can be repaired by appending to them.
    in_place: Vec<String>,
    /// The files that can only be repaired in a copy.
    by_copy: Vec<String>,
    /// The files that other users can read, with their modes.
    exposed: Vec<(String, u32)>,
}

impl CheckSummary {
    fn note(&mut self, name: &str, found: &CheckResult) {
        match found {
            CheckResult::Report(report) => {
                let mode = |(found, _): (&Diagnostic, _)| match found.problem {
                    Problem::LooseMode { mode } => Some((name.to_owned(), mode)),
                    _ => None,
                };
                self.exposed.extend(report.findings().filter_map(mode));
                self.damaged |= report.worst() == Some(Severity::Damage);
                let fixes = || report.findings().filter_map(|(_, fix)| fix);
                match fixes().any(Fix::needs_copy) {
                    true => self.by_copy.push(name.to_owned()),
                    false if fixes().next().is_some() => self.in_place.push(name.to_owned()),
                    false => {}
                }
            }
            CheckResult::Failed { .. } => self.failed = true,
            CheckResult::NotASession { .. } => {}
        }
    }

    fn report_exposed(&self, app: &mut App) -> Result<(), CommandError> {
        match self.exposed.as_slice() {
            [] => Ok(()),
            [(name, mode)] => app.ui.tell(&format!(
                "hint: other users can read this file (mode {mode:o}); `chmod 600 {}` makes it private",
                quoted(name)
            )),
            all => app.ui.tell(&format!("hint: other users can read {} of these files", all.len())),
        }
    }

    fn end(self) -> Result<(), CommandError> {
        match self {
            CheckSummary { failed: true, .. } => Err(CommandError::Several),
            CheckSummary { damaged: true, .. } => Err(CommandError::DamageFound),
            CheckSummary { .. } => Ok(()),
        }
    }
}

/// The result for one file.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum CheckResult {
    Report(Report),
    /// A file of a directory that is no session.
    #[serde(rename_all = "camelCase")]
    NotASession {
        is_session: bool,
        reason: &'static str,
    },
    Failed {
        error: Failure,
    },
}

/// The JSON of the result for one file.
#[derive(Serialize, JsonSchema)]
pub(super) struct Checked {
    file: String,
    #[serde(flatten)]
    found: CheckResult,
}

impl CheckResult {
    fn failed(error: &CommandError) -> Self {
        let failure = error.failure().cloned();
        CheckResult::Failed { error: failure.unwrap_or_else(|| Failure::new("it could not be checked")) }
    }

    fn print(&self, name: &str, ui: &mut Ui) -> Result<(), CommandError> {
        match self {
            CheckResult::Report(report) => print_report(report, name, ui),
            CheckResult::NotASession { reason, .. } => {
                let said = [(Tone::Plain, name), (Tone::Dim, ": not a session: "), (Tone::Dim, reason)];
                ui.line(&said)
            }
            CheckResult::Failed { error } => {
                ui.error(&error.about(name), &error.hints);
                Ok(())
            }
        }
    }
}

fn check(target: &Target, app: &App) -> Result<CheckResult, CommandError> {
    if is_stream(&target.path) {
        return Ok(CheckResult::Report(app.open(&target.path)?.check()?));
    }
    match app.options().open_read_only(&target.path) {
        Ok(session) => Ok(CheckResult::Report(session.check_file(&RealFs)?)),
        Err(Error::NotASession { path, reason }) => headless(&path, reason, target.is_named),
        Err(error) => Err(error.into()),
    }
}

/// A file that lost its header is damaged; one that never had a header is no session.
fn headless(path: &Path, reason: &'static str, is_named: bool) -> Result<CheckResult, CommandError> {
    match read_headerless(Arc::new(RealFs), path) {
        Ok(file) => Ok(CheckResult::Report(file.report())),
        Err(_) if is_named => Err(Error::NotASession { path: path.into(), reason }.into()),
        Err(_) => Ok(CheckResult::NotASession { is_session: false, reason }),
    }
}

fn print_report(report: &Report, name: &str, ui: &mut Ui) -> Result<(), CommandError> {
    let number = |number: u64, noun| count(usize::try_from(number).unwrap_or(usize::MAX), noun);
    let (lines, entries) = (number(report.lines, "line"), number(report.entries, "entry"));
    let size = format!(" ({lines}, {entries}, {})", bytes(report.bytes));
    let (tone, verdict) = verdict(report);
    ui.line(&[(Tone::Plain, name), (Tone::Plain, ": "), (tone, &verdict), (Tone::Dim, &size)])?;
    for (diagnostic, offered) in report.findings().filter(|(found, _)| !is_hint(found)) {
        let (tone, word) = word(diagnostic.problem.severity());
        let said = diagnostic.to_string();
        ui.line(&[(Tone::Plain, "  "), (tone, word), (Tone::Plain, ": "), (Tone::Plain, &said)])?;
        if let Some(offered) = offered {
            let copy = if offered.needs_copy() { ", in a copy (`--copy`)" } else { "" };
            let said = format!("{offered}{copy}");
            ui.line(&[
                (Tone::Plain, "    "),
                (Tone::Good, "fix"),
                (Tone::Plain, ": "),
                (Tone::Plain, &said),
            ])?;
        }
    }
    Ok(())
}

/// Returns true for a diagnostic that does not concern the content; it is printed as a hint.
fn is_hint(found: &Diagnostic) -> bool {
    matches!(found.problem, Problem::LooseMode { .. })
}

/// Returns the number of findings of each severity, the worst first.
fn verdict(report: &Report) -> (Tone, String) {
    let shown = || report.diagnostics.iter().filter(|found| !is_hint(found));
    let found = |wanted: Severity| shown().filter(|found| found.problem.severity() == wanted).count();
    let Some(worst) = report.worst().filter(|_| shown().next().is_some()) else {
        return (Tone::Good, "clean".into());
    };
    let parts = [
        (found(Severity::Damage), "damaged place"),
        (found(Severity::Warning), "warning"),
        (found(Severity::Note), "note"),
    ];
    let said = parts.into_iter().filter(|(number, _)| *number > 0).map(|(number, noun)| count(number, noun));
    (word(worst).0, said.collect::<Vec<_>>().join(", "))
}

/// Returns the tone and the word of a severity.
fn word(severity: Severity) -> (Tone, &'static str) {
    match severity {
        Severity::Damage => (Tone::Bad, "damage"),
        Severity::Warning => (Tone::Notice, "warning"),
        Severity::Note => (Tone::Dim, "note"),
    }
}
