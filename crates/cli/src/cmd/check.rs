//! `offshoot check`: everything odd in a session file, explained.

use std::path::PathBuf;

use session_tree::{Session, Severity};

use crate::error::CommandError;
use crate::ui::{Tone, Ui};

/// Arguments of `offshoot check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session file.
    session: PathBuf,
}

pub(crate) fn run(args: &Args, ui: &mut Ui) -> Result<(), CommandError> {
    let session = Session::open_read_only(&args.session)?;
    let report = session.check()?;
    for diagnostic in &report.diagnostics {
        let (tone, word) = match diagnostic.problem.severity() {
            Severity::Damage => (Tone::Bad, "damage"),
            Severity::Warning => (Tone::Notice, "warning"),
            Severity::Note => (Tone::Dim, "note"),
        };
        ui.line(&[(tone, word), (Tone::Plain, ": "), (Tone::Plain, &diagnostic.to_string())])?;
    }
    ui.plain(&format!("{} lines, {} entries, {} bytes", report.lines, report.entries, report.bytes))?;
    match report.worst() {
        Some(Severity::Damage) => Err(CommandError::Found),
        _ => Ok(()),
    }
}
