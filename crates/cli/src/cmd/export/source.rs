//! The session to export: the session itself, a copy of one branch, or a redacted copy.
//!
//! Content that must not be exported is not in the copy, so no writer can leak it.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};

use offshoot_web::{RedactReport, Redactor};
use session_tree::{Extract, NewHeader, Node, Options, Session};
use tempfile::NamedTempFile;

use super::Args;
use crate::app::App;
use crate::database;
use crate::error::CommandError;
use crate::leftovers;
use crate::ui::count;

/// A session to export.
pub(super) struct Source {
    /// The session.
    pub(super) session: Session,
    /// The number of redactions; `None` if none were requested.
    pub(super) redacted: Option<usize>,
    /// The file of the session, if it is a copy; deleted on drop.
    _copy: Option<NamedTempFile>,
}

impl Source {
    /// Makes the requested copies and reports the redactions.
    pub(super) fn prepare(args: &Args, session: Session, app: &mut App) -> Result<Self, CommandError> {
        let mut source = Source { session, redacted: None, _copy: None };
        if let Some(reference) = &args.branch {
            source = source.branch(reference, app)?;
        }
        if args.redact || !args.redact_pattern.is_empty() {
            source = source.without_secrets(args, app)?;
        }
        Ok(source)
    }

    /// Copies the path to the newest tip at or below an entry.
    fn branch(self, reference: &str, app: &App) -> Result<Self, CommandError> {
        let session = self.session;
        let tip = tip(&session, reference)?;
        let plan = session.plan_extract(Extract::Path { at: tip })?;
        let header = session.header();
        let new = NewHeader {
            cwd: header.cwd().unwrap_or_default().into_owned(),
            id: header.id().into_owned(),
            parent_session: None,
            time: header.timestamp().unwrap_or_else(|| app.env.now()),
        };
        let copy = temporary()?;
        let mut out = BufWriter::new(copy.as_file());
        session.write_extract(&plan, &new, &mut out)?;
        drop(out);
        Self::of_copy(copy, self.redacted)
    }

    fn without_secrets(self, args: &Args, app: &mut App) -> Result<Self, CommandError> {
        let redactor = Redactor::new(app.env.home().as_deref(), &args.redact_pattern)?;
        let copy = temporary()?;
        let mut out = BufWriter::new(copy.as_file());
        let report = match self.session.file() {
            Some(path) if database::is_address(path) => {
                let mut bytes = Vec::new();
                self.session.write_to(&mut bytes)?;
                redactor.copy(bytes.as_slice(), &mut out)?
            }
            Some(path) => {
                let file = File::open(path).map_err(|error| CommandError::system("read", path, &error))?;
                redactor.copy(BufReader::with_capacity(1 << 18, file), &mut out)?
            }
            None => RedactReport::default(),
        };
        out.flush()?;
        drop(out);
        tell(&report, app)?;
        Self::of_copy(copy, Some(report.total()))
    }

    fn of_copy(copy: NamedTempFile, redacted: Option<usize>) -> Result<Self, CommandError> {
        // No sidecar: this file is not opened again.
        let session = Options::new().cache_bytes(512 << 10).open_read_only(copy.path())?;
        Ok(Source { session, redacted, _copy: Some(copy) })
    }
}

fn temporary() -> Result<NamedTempFile, CommandError> {
    let directory = std::env::temp_dir();
    leftovers::create_in(&directory, "offshoot-export", |_| {})
        .map_err(|error| CommandError::system("write into", &directory, &error))
}

/// Returns the leaf if requested, else the newest tip at or below an entry.
fn tip(session: &Session, reference: &str) -> Result<Node, CommandError> {
    let node = session_view::resolve(session, reference)?;
    if session.leaf() == Some(node) {
        return Ok(node);
    }
    Ok(session.tree().newest_tip_below(node).unwrap_or(node))
}

/// Reports the redactions before anything is written.
fn tell(report: &RedactReport, app: &mut App) -> Result<(), CommandError> {
    if report.findings.is_empty() {
        return app.ui.tell("found nothing to redact; patterns are guesses, look at the export yourself");
    }
    app.ui.tell(&format!("redacted {}:", count(report.total(), "place")))?;
    for finding in &report.findings {
        let places = finding.lines.iter().zip(&finding.samples);
        let places: Vec<String> = places.map(|(line, sample)| format!("line {line} {sample}")).collect();
        let more = if finding.count > places.len() { ", …" } else { "" };
        app.ui.tell(&format!("  {} × {}: {}{more}", finding.count, finding.kind, places.join(", ")))?;
    }
    app.ui.tell("patterns are guesses; look at the export before you hand it on")
}
