//! Grafts: what was said on another branch, or in another session, brought under the leaf; and pops.
//!
//! session, source -> **plan** -> **apply**
//!
//! A pick copies entries: quoted with a line that tells where they come from, or natively as messages. A merge
//! brings one text about a whole branch, with a note of where that branch ended. A pop goes back and leaves a
//! summary. Planning changes nothing; applying appends at the leaf with one write. The source is never changed,
//! copied tool calls are never run, no file is looked at and no model is asked.

mod digest;
mod here;
mod merge;
mod native;
mod origin;
mod pick;
mod pop;
mod quote;
mod selection;
mod unit;
mod warning;

use crate::context::{ContextEdits, message_of, path_edits};
use crate::draft::Draft;
use crate::entry::{Entry, Envelope, Message};
use crate::error::Result;
use crate::id::EntryId;
use crate::json::Doc;
use crate::session::Session;
use crate::time::Timestamp;
use crate::tree::Node;

pub use merge::{
    Conflict, EarlierMerge, Merge, MergeContent, MergeMode, MergeOutcome, MergePlan, MergeRequest, MergeText,
    Merged, SettingDifference,
};
pub use origin::CHERRY_PICK;
pub use pick::{PickItem, PickMode, PickPlan, PickRequest};
pub use pop::{PUSH_PREFIX, PopPlan, push_label};
pub use selection::Selection;
pub use warning::PickWarning;

/// Reads messages of a source, with or without the context edits of their path.
struct Reader<'s> {
    session: &'s Session,
    edits: ContextEdits,
}

impl<'s> Reader<'s> {
    /// Reads what the entries say themselves.
    fn verbatim(session: &'s Session) -> Self {
        Self { session, edits: ContextEdits::default() }
    }

    /// Reads what the entries contribute to the context, as edits among `nodes` leave it.
    fn edited(session: &'s Session, nodes: &[Node]) -> Result<Self> {
        Ok(Self { session, edits: path_edits(session, nodes.iter().copied())? })
    }

    fn message(&self, node: Node) -> Result<Option<Message>> {
        Ok(message_of(&self.session.entry_at(node)?, self.edits.get(node)))
    }
}

/// Returns the message that a draft will contribute, read as the engine reads the line it becomes.
fn message_of_draft(draft: &Draft) -> Option<Message> {
    let (id, timestamp) = (EntryId::from("draft"), Timestamp::from_millis(0));
    let mut line = Vec::new();
    draft.write_line(&mut line, &id, None, timestamp);
    line.pop();
    let doc = Doc::parse(line).ok()?;
    let raw = doc.shared_text();
    let envelope = Envelope { id, parent_id: None, kind: draft.kind(), timestamp };
    let entry = Entry::new(Node(0), envelope, Some(doc), raw);
    message_of(&entry, None)
}

#[cfg(test)]
mod tests;
