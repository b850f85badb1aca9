//! `offshoot check`: everything odd in session files, explained.

mod fix;
mod targets;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use session_tree::fs::RealFs;
use session_tree::{Error, Report, Severity, salvage};

use crate::app::App;
use crate::change::quoted;
use crate::error::{CommandError, Failure};
use crate::reading::Output;
use crate::ui::{Tone, Ui, bytes, count};

pub(super) use fix::{JsonFix, words};
use targets::Target;

/// Report everything unusual in session files; never writes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Sessions, or directories: all session files below them.
    #[arg(value_name = "SESSION", required_unless_present = "batch", conflicts_with = "batch")]
    sessions: Vec<OsString>,
    /// Print nothing; only the exit code tells.
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let mut worst = Worst::default();
    targets::each(&args.sessions, args.output.batch, app, &mut |app, name, target| {
        let found =
            target.and_then(|target| check(&target, app)).unwrap_or_else(|error| Found::failed(&error));
        worst.note(name, &found);
        match (args.quiet, args.output.json) {
            (true, _) => Ok(()),
            (false, true) => found.print_json(name, &mut app.ui),
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
    worst.end()
}

/// How it ends.
#[derive(Default)]
struct Worst {
    failed: bool,
    damaged: bool,
    /// The files that can be repaired by appending to them.
    in_place: Vec<String>,
    /// The files that can only be repaired in a copy.
    by_copy: Vec<String>,
}

impl Worst {
    fn note(&mut self, name: &str, found: &Found) {
        match found {
            Found::Report(report) => {
                self.damaged |= report.worst() == Some(Severity::Damage);
                let fixes = || report.findings().filter_map(|(_, fix)| fix);
                match fixes().any(session_tree::Fix::needs_copy) {
                    true => self.by_copy.push(name.to_owned()),
                    false if fixes().next().is_some() => self.in_place.push(name.to_owned()),
                    false => {}
                }
            }
            Found::LostHeader { .. } => {
                self.damaged = true;
                self.by_copy.push(name.to_owned());
            }
            Found::Failed(_) => self.failed = true,
            Found::NotASession(_) => {}
        }
    }

    fn end(self) -> Result<(), CommandError> {
        match self {
            Worst { failed: true, .. } => Err(CommandError::Several),
            Worst { damaged: true, .. } => Err(CommandError::Found),
            Worst { .. } => Ok(()),
        }
    }
}

/// What was found in one file.
enum Found {
    Report(Report),
    /// The header is gone, but entries are there.
    LostHeader {
        bytes: [u64; 2],
        entries: usize,
    },
    /// Some other file that a directory holds.
    NotASession(&'static str),
    Failed(Failure),
}

impl Found {
    fn failed(error: &CommandError) -> Self {
        let failure = error.failure().cloned();
        Found::Failed(failure.unwrap_or_else(|| Failure::new("it could not be checked")))
    }

    fn print(&self, name: &str, ui: &mut Ui) -> Result<(), CommandError> {
        match self {
            Found::Report(report) => print_report(report, name, ui),
            Found::LostHeader { bytes, entries } => print_lost_header(name, *bytes, *entries, ui),
            Found::NotASession(reason) => {
                let said = [(Tone::Plain, name), (Tone::Dim, ": not a session: "), (Tone::Dim, reason)];
                ui.line(&said)
            }
            Found::Failed(failure) => {
                ui.error(&failure.about(name), &failure.hints);
                Ok(())
            }
        }
    }

    fn print_json(&self, name: &str, ui: &mut Ui) -> Result<(), CommandError> {
        match self {
            Found::Report(report) => ui.json(&JsonReport::of(report, name)),
            Found::LostHeader { bytes, entries } => ui.json(&JsonReport::lost_header(name, *bytes, *entries)),
            Found::NotASession(reason) => {
                ui.json(&serde_json::json!({"file": name, "isSession": false, "reason": reason}))
            }
            Found::Failed(failure) => ui.json(&serde_json::json!({"file": name, "error": failure})),
        }
    }
}

fn check(target: &Target, app: &App) -> Result<Found, CommandError> {
    match app.options().open_read_only(&target.path) {
        Ok(session) => Ok(Found::Report(session.check_file(&RealFs)?)),
        Err(Error::NotASession { path, reason }) => headless(&path, reason, target.is_named),
        Err(error) => Err(error.into()),
    }
}

/// A file that lost its header is damaged; one that never had any is somebody else's.
fn headless(path: &Path, reason: &'static str, is_named: bool) -> Result<Found, CommandError> {
    match salvage(Arc::new(RealFs), path) {
        Ok(left) => {
            let header = left.lost_header().unwrap_or(0..0);
            let entries = left.session().tree().len();
            Ok(Found::LostHeader { bytes: [header.start, header.end], entries })
        }
        Err(_) if is_named => Err(Error::NotASession { path: path.into(), reason }.into()),
        Err(_) => Ok(Found::NotASession(reason)),
    }
}

fn print_report(report: &Report, name: &str, ui: &mut Ui) -> Result<(), CommandError> {
    let size = format!(
        " ({}, {}, {})",
        count(count_of(report.lines), "line"),
        count(count_of(report.entries), "entry"),
        bytes(report.bytes)
    );
    let (tone, verdict) = verdict(report);
    ui.line(&[(Tone::Plain, name), (Tone::Plain, ": "), (tone, &verdict), (Tone::Dim, &size)])?;
    for (diagnostic, offered) in report.findings() {
        let (tone, word) = word(diagnostic.problem.severity());
        let said = diagnostic.to_string();
        ui.line(&[(Tone::Plain, "  "), (tone, word), (Tone::Plain, ": "), (Tone::Plain, &said)])?;
        if let Some(offered) = offered {
            let copy = if offered.needs_copy() { ", in a copy (`--copy`)" } else { "" };
            fix(ui, &format!("{}{copy}", words(offered)))?;
        }
    }
    Ok(())
}

fn print_lost_header(
    name: &str,
    [from, to]: [u64; 2],
    entries: usize,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let held = format!(" ({})", count(entries, "entry"));
    ui.line(&[(Tone::Plain, name), (Tone::Plain, ": "), (Tone::Bad, "1 damaged place"), (Tone::Dim, &held)])?;
    let said = format!(": line 1 (bytes {from}..{to}): the header cannot be read");
    ui.line(&[(Tone::Plain, "  "), (Tone::Bad, "damage"), (Tone::Plain, &said)])?;
    fix(ui, "write what can be read into a new file (`--copy`)")
}

fn fix(ui: &mut Ui, words: &str) -> Result<(), CommandError> {
    ui.line(&[(Tone::Plain, "    "), (Tone::Good, "fix"), (Tone::Plain, ": "), (Tone::Plain, words)])
}

/// How many findings there are of each kind, the worst first.
fn verdict(report: &Report) -> (Tone, String) {
    let Some(worst) = report.worst() else { return (Tone::Good, "clean".into()) };
    let found = |wanted: Severity| {
        report.diagnostics.iter().filter(|found| found.problem.severity() == wanted).count()
    };
    let parts = [
        (found(Severity::Damage), "damaged place"),
        (found(Severity::Warning), "warning"),
        (found(Severity::Note), "note"),
    ];
    let said = parts.into_iter().filter(|(number, _)| *number > 0).map(|(number, noun)| count(number, noun));
    (word(worst).0, said.collect::<Vec<_>>().join(", "))
}

fn count_of(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns how a severity is shown.
pub(super) fn word(severity: Severity) -> (Tone, &'static str) {
    match severity {
        Severity::Damage => (Tone::Bad, "damage"),
        Severity::Warning => (Tone::Notice, "warning"),
        Severity::Note => (Tone::Dim, "note"),
    }
}

/// The JSON form of a report.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonReport<'r> {
    file: &'r str,
    lines: u64,
    entries: u64,
    bytes: u64,
    clean: bool,
    findings: Vec<JsonFinding<'r>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonFinding<'r> {
    severity: &'static str,
    code: &'static str,
    message: String,
    line: u64,
    bytes: [u64; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<JsonFix<'r>>,
}

impl<'r> JsonReport<'r> {
    fn of(report: &'r Report, file: &'r str) -> Self {
        let findings = report.findings().map(|(diagnostic, fix)| JsonFinding {
            severity: word(diagnostic.problem.severity()).1,
            code: diagnostic.problem.code(),
            message: diagnostic.problem.to_string(),
            line: diagnostic.line,
            bytes: [diagnostic.bytes.start, diagnostic.bytes.end],
            fix: fix.map(JsonFix::of),
        });
        JsonReport {
            file,
            lines: report.lines,
            entries: report.entries,
            bytes: report.bytes,
            clean: report.is_clean(),
            findings: findings.collect(),
        }
    }

    fn lost_header(file: &'r str, bytes: [u64; 2], entries: usize) -> Self {
        let finding = JsonFinding {
            severity: word(Severity::Damage).1,
            code: "lost-header",
            message: "the header cannot be read".into(),
            line: 1,
            bytes,
            fix: Some(JsonFix::salvage()),
        };
        let size = Path::new(file).metadata().map_or(0, |meta| meta.len());
        JsonReport {
            file,
            lines: 0,
            entries: entries as u64,
            bytes: size,
            clean: false,
            findings: vec![finding],
        }
    }
}
