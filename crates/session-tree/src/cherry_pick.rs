//! Grafts: what was said on another branch, or in another session, brought under the leaf; and pops.
//!
//! session, source -> **plan** -> **apply**
//!
//! A pick copies entries: quoted below a line that names their origin, or natively as messages. A merge
//! brings one text about a whole branch, with a note of where that branch ended. A pop goes back and leaves a
//! summary. Planning changes nothing; applying appends at the leaf with one write. The source is never changed,
//! copied tool calls are never run, no file is looked at and no model is asked.

mod item;
mod native;
mod plan;
mod provenance;
mod quote;
mod selection;
mod target;
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

pub use item::PickItem;
pub use plan::{PickMode, PickPlan, PickRequest};
pub use provenance::CHERRY_PICK;
pub(crate) use provenance::session_json;
pub(crate) use quote::{Attribution, spoken};
pub use selection::Selection;
pub(crate) use target::{CommonAncestor, Target, touched};
pub(crate) use unit::{Unit, units_of};
pub use warning::PickWarning;

/// Reads messages of a source, with or without the context edits of their path.
pub(crate) struct MessageReader<'s> {
    pub(crate) session: &'s Session,
    edits: ContextEdits,
}

impl<'s> MessageReader<'s> {
    /// Reads what the entries say themselves.
    pub(crate) fn verbatim(session: &'s Session) -> Self {
        Self { session, edits: ContextEdits::default() }
    }

    /// Reads what the entries contribute to the context, as edits among `nodes` leave it.
    pub(crate) fn edited(session: &'s Session, nodes: &[Node]) -> Result<Self> {
        Ok(Self { session, edits: path_edits(session, nodes.iter().copied())? })
    }

    pub(crate) fn message(&self, node: Node) -> Result<Option<Message>> {
        Ok(message_of(&self.session.entry_at(node)?, self.edits.get(node)))
    }
}

/// Returns the message that a draft will contribute, read as the engine reads the line it becomes.
pub(crate) fn message_of_draft(draft: &Draft) -> Option<Message> {
    let (id, timestamp) = (EntryId::from("draft"), Timestamp::from_millis(0));
    let mut line = Vec::new();
    draft.write_line(&mut line, &id, None, timestamp);
    line.pop();
    let doc = Doc::parse(line).ok()?;
    let raw = doc.shared_text();
    let envelope = Envelope { id, parent_id: None, kind: draft.kind(), timestamp };
    let entry = Entry::new(Node::DETACHED, envelope, Some(doc), raw);
    message_of(&entry, None)
}

#[cfg(test)]
mod tests;
