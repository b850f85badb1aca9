//! Cherry-picks: entries of another branch, or of another session, copied under the leaf.
//!
//! session, source -> **plan** -> **apply**
//!
//! Entries are quoted below a line that names their origin, or copied natively as messages. Planning changes nothing;
//! applying appends at the leaf with one write. The source is never changed, copied tool calls are never run, and
//! neither files nor models are used.

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
use crate::draft::{Draft, Spelling};
use crate::entry::{Entry, Envelope, Message};
use crate::error::Result;
use crate::id::EntryId;
use crate::json::Doc;
use crate::session::Session;
use crate::time::Timestamp;
use crate::tree::Node;

pub use item::PickItem;
pub use plan::{PickMode, PickPlan, PickRequest};
pub(crate) use provenance::session_json;
pub use provenance::{CHERRY_PICK, pick_origin};
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
    /// Reads the messages as the entries store them.
    pub(crate) fn verbatim(session: &'s Session) -> Self {
        Self { session, edits: ContextEdits::default() }
    }

    /// Reads the messages with the context edits among `nodes` applied.
    pub(crate) fn edited(session: &'s Session, nodes: &[Node]) -> Result<Self> {
        Ok(Self { session, edits: path_edits(session, nodes.iter().copied())? })
    }

    pub(crate) fn message(&self, node: Node) -> Result<Option<Message>> {
        Ok(message_of(&self.session.entry_at(node)?, self.edits.get(node)))
    }
}

/// Returns the message that a draft will contribute to the context.
pub(crate) fn message_of_draft(draft: &Draft) -> Option<Message> {
    let (id, timestamp) = (EntryId::from("draft"), Timestamp::from_millis(0));
    let mut line = Vec::new();
    draft.write_spelled(&mut line, &id, None, timestamp, &Spelling::Id);
    line.pop();
    let doc = Doc::parse(line).ok()?;
    let raw = doc.shared_text();
    let envelope = Envelope { id, parent_id: None, kind: draft.kind(), timestamp };
    let entry = Entry::new(Node::DETACHED, envelope, Some(doc), raw);
    message_of(&entry, None)
}

#[cfg(test)]
mod tests;
