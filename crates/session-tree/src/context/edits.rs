//! Context edits: replacements of what other entries contribute.

use std::collections::HashMap;

use crate::entry::{Body, Replacement};
use crate::error::Result;
use crate::json::Kind as JsonKind;
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::tree::Node;

/// The latest edit of each entry that has one, among the entries that were looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContextEdits {
    by_target: HashMap<Node, ContentEdit>,
}

/// What an edit does to the message of its target.
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

    /// Tells whether an entry contributes nothing because of an edit.
    pub(crate) fn omits(&self, node: Node) -> bool {
        matches!(self.get(node), Some(ContentEdit::Omit))
    }

    /// Tells whether an edit gives an entry another content.
    pub(crate) fn replaces(&self, node: Node) -> bool {
        matches!(self.get(node), Some(ContentEdit::Replace(_)))
    }
}

impl ContentEdit {
    /// Reads a replacement; none if the file says nothing that can be done.
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

    /// Returns the content that a message of this role gets; an answer and a result consist of blocks.
    pub(super) fn content_for(content: &[u8], role: Role) -> Vec<u8> {
        let needs_blocks = matches!(role, Role::Assistant | Role::ToolResult);
        if needs_blocks && content.first() == Some(&b'"') {
            return super::convert::text_block(content);
        }
        content.to_vec()
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
