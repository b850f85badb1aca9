//! `note`: appends a note that models read.

use schemars::JsonSchema;
use serde::Serialize;
use session_tree::EntryId;

use super::session_command::{Outcome, Work};
use crate::change::{Change, SessionState};
use crate::error::{CommandError, Failure};

/// Append a note at the current position.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
A note is a message that is neither a prompt nor an answer: the model reads it with its next
request, and people see it in the tree.

Example:
  offshoot note work Node was too slow, see branch:2")]
pub(crate) struct Args {
    /// The text.
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
}

/// The JSON of a note.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NoteJson {
    /// The entry of the note; null if it is only planned.
    entry_id: Option<EntryId>,
    #[serde(flatten)]
    session: SessionState,
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let text = args.text.join(" ");
    if text.trim().is_empty() {
        return Err(CommandError::Usage(Failure::new("a note needs a text")));
    }
    let (file, leaf) = (work.file(), work.leaf());
    let entry_id = match work.dry_run {
        true => None,
        false => Some(work.agent.note(text).unless(work.cancel).await?),
    };
    let mut change =
        Change::new("appended", "append", "a note").action("note").undo_by_moving(&file, leaf.as_ref());
    if let Some(id) = &entry_id {
        change = change.gives(id.as_str());
    }
    change.json(NoteJson { entry_id, session: work.state() })
}
