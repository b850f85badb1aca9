//! `export-branch`: writes a part of a session as a session file.

use std::path::{Path, PathBuf};

use offshoot_agent::command::{ExportRequest, ExportScope};
use session_tree::{Destination, NewSession};

use super::fork::{CopyJson, Made};
use super::session_command::{Outcome, Work};
use crate::change::Change;
use crate::ui::count;

/// Write a branch as a session file.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The file holds the path to the entry and everything below it. The session stays as it is.

Examples:
  offshoot export-branch work branch:2          write branch-2.jsonl
  offshoot export-branch work @done done.jsonl  write done.jsonl")]
pub(crate) struct Args {
    /// An entry: an id or a prefix of it, `@label`, `branch:2`, `leaf~1`, `root`.
    #[arg(value_name = "REF")]
    at: String,
    /// The file, which must not exist; the default is named after the entry. `-` is standard output.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// The same as FILE.
    #[arg(long, short, value_name = "FILE", conflicts_with = "file", hide = true)]
    output: Option<PathBuf>,
    /// Export only the path to the entry.
    #[arg(long)]
    path: bool,
    /// Export only the entry, which becomes the root, and everything below it.
    #[arg(long, conflicts_with = "path")]
    subtree: bool,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let entry = args.at.clone();
    let scope = match (args.path, args.subtree) {
        (true, _) => ExportScope::Path,
        (_, true) => ExportScope::Subtree,
        _ => ExportScope::Branch,
    };
    let file = args.file.as_ref().or(args.output.as_ref());
    let name = file.cloned().unwrap_or_else(|| file_name(&entry));
    if name.as_os_str() == "-" {
        return write_out(ExportRequest { entry, scope, file: name }, work).await;
    }
    let file = Path::new(&work.app.env.cwd()?).join(&name);
    let plan = work.agent.plan_export(ExportRequest { entry, scope, file }).await?;
    let entries = plan.plan.entries.len();
    let parent = work.file();
    let what = format!("{} of {}", count(entries, "entry"), work.session_name());
    let mut made = Made::new(what, Destination::File(name.clone()));
    if !work.dry_run {
        let exported = work.agent.export_branch(plan, work.app.options()).await?;
        made.file = Some(name.display().to_string());
        made.id = Some(exported.header().id().into_owned());
    }
    let json = CopyJson { parent_session: parent, entries, plan: None };
    made.change(("exported", "export"), json)
}

/// Writes the lines to standard output.
async fn write_out(request: ExportRequest, work: &mut Work<'_>) -> Outcome {
    let plan = work.agent.plan_export(request).await?.plan;
    let lines = work.agent.read(|session| {
        let header = work.app.options().new_header(NewSession {
            cwd: session.header().cwd().unwrap_or_default().into_owned(),
            id: None,
            parent_session: session.file().map(|file| file.display().to_string()),
        });
        let mut lines = Vec::new();
        session.write_extract(&plan, &header, &mut lines).map(|_| lines)
    })?;
    if !work.dry_run {
        work.app.ui.raw(&lines)?;
    }
    let what = format!("{} of {}", count(plan.entries.len(), "entry"), work.file());
    let json = CopyJson { parent_session: work.file(), entries: plan.entries.len(), plan: None };
    Change::new("exported", "export", what).json(json)
}

/// Returns the default name of the file for an entry.
fn file_name(reference: &str) -> PathBuf {
    let is_plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let parts = reference.split(|c| !is_plain(c)).map(|part| part.trim_matches(['.', '-']));
    let parts = parts.filter(|part| !part.is_empty() && *part != "branch");
    let parts: Vec<&str> = ["branch"].into_iter().chain(parts).collect();
    format!("{}.jsonl", parts.join("-")).into()
}

#[cfg(test)]
mod tests;
