//! Context edits: replacements of the content of other entries in the context.

use std::collections::HashMap;

use crate::entry::{Body, Replacement};
use crate::error::Result;
use crate::json::Kind as JsonKind;
use crate::kind::Kind;
use crate::session::Session;
use crate::tree::Node;

/// The latest edit of each edited entry of a path.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContextEdits {
    by_target: HashMap<Node, ContentEdit>,
}

/// The effect of an edit on the message of its target.
#[derive(Debug, Clone)]
pub(crate) enum ContentEdit {
    /// The target contributes nothing.
    Omit,
    /// The target contributes this content, given as JSON: a string or an array.
    Replace(Vec<u8>),
}

impl ContextEdits {
    /// Returns the edit of an entry.
    pub(crate) fn get(&self, node: Node) -> Option<&ContentEdit> {
        // Nearly no session has edits, and this is asked for every message.
        if self.by_target.is_empty() { None } else { self.by_target.get(&node) }
    }

    /// Returns true if an edit removes an entry from the context.
    pub(crate) fn omits(&self, node: Node) -> bool {
        matches!(self.get(node), Some(ContentEdit::Omit))
    }

    /// Returns true if an edit replaces the content of an entry.
    pub(crate) fn replaces(&self, node: Node) -> bool {
        matches!(self.get(node), Some(ContentEdit::Replace(_)))
    }
}

impl ContentEdit {
    /// Reads a replacement; none if it is neither null nor a content.
    fn of(replacement: Replacement<'_>) -> Option<Self> {
        match replacement {
            Replacement::Omit => Some(Self::Omit),
            Replacement::Content(content) => {
                let fits = matches!(content.kind(), JsonKind::String | JsonKind::Array);
                fits.then(|| Self::Replace(content.raw().to_vec()))
            }
            Replacement::Unreadable => None,
        }
    }
}

/// Collects the edits among some entries of a path, oldest first; the last one of each target counts.
pub(crate) fn path_edits(session: &Session, nodes: impl Iterator<Item = Node>) -> Result<ContextEdits> {
    let tree = session.tree();
    let mut edits = ContextEdits::default();
    for node in nodes.filter(|node| tree.kind(*node) == Kind::ContextEdit) {
        let entry = session.entry_at(node)?;
        let Body::ContextEdit { target, replacement } = entry.body() else { continue };
        let target = target.and_then(|target| tree.node(&target));
        if let (Some(target), Some(edit)) = (target, ContentEdit::of(replacement)) {
            edits.by_target.insert(target, edit);
        }
    }
    Ok(edits)
}
