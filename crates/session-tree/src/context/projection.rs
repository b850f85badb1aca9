//! The entries of a path that contribute to its context, in order.
//!
//! Reads the index. Of the bodies it reads only those that decide: the latest compaction, context edits, branch
//! summaries (an empty one contributes nothing) and messages whose role the index does not have.

use super::edits::{ContextEdits, path_edits};
use super::message;
use crate::entry::{Body, Entry};
use crate::error::Result;
use crate::json::Kind as JsonKind;
use crate::kind::{Kind, Role};
use crate::position::Position;
use crate::session::Session;
use crate::tree::{Node, Tree};

/// The entries that make up the context of a path.
#[derive(Debug, Clone)]
pub struct Projection {
    /// All entries of the path, oldest first.
    pub path: Vec<Node>,
    /// The messages of the context, in order.
    pub items: Vec<ProjectedItem>,
    pub(super) edits: ContextEdits,
}

/// One message that a context will hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProjectedItem {
    /// The entry that the message comes from.
    pub source: Node,
    /// The role that the message will have.
    pub role: Role,
    /// The reason why it is in the context.
    pub inclusion: Inclusion,
}

/// The reason why a message is in a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Inclusion {
    /// Its entry lies on the path.
    Plain,
    /// It is the summary of the latest compaction.
    Summary,
    /// Its entry lies before the latest compaction, which keeps it.
    Kept,
    /// A context edit has replaced its content.
    Edited,
    /// It is the state of prompt and tools that the latest compaction stores.
    SystemCheckpoint,
}

/// The entries of a path that count for its context: those behind its latest reset boundary or compaction, and those
/// that this compaction keeps.
#[derive(Debug)]
pub(crate) struct ContextEntries<'p> {
    /// The compaction that the context begins with.
    pub(crate) compaction: Option<Entry>,
    /// The entries before the compaction that it keeps.
    pub(crate) kept: &'p [Node],
    /// The entries behind the point at which the context begins.
    pub(crate) rest: &'p [Node],
}

impl Session {
    /// Returns the entries that make up the context of the path to a position.
    pub fn projection(&self, position: impl Into<Position>) -> Result<Projection> {
        self.projection_of(self.node_of(&position.into())?)
    }

    pub(super) fn projection_of(&self, at: Option<Node>) -> Result<Projection> {
        let path = at.map_or_else(Vec::new, |at| self.tree().path(at));
        let ContextEntries { compaction, kept, rest } = self.context_entries(&path)?;
        self.read_ahead(kept.iter().chain(rest).copied())?;
        let edits = path_edits(self, kept.iter().chain(rest).copied())?;
        let mut items = Vec::new();
        if let Some(entry) = &compaction {
            compaction_items(entry, &edits, &mut items);
        }
        for node in kept.iter().copied().filter(|node| self.tree().role(*node) != Some(Role::System)) {
            items.extend(self.item_of(node, Inclusion::Kept, &edits)?);
        }
        for node in rest.iter().copied() {
            items.extend(self.item_of(node, Inclusion::Plain, &edits)?);
        }
        Ok(Projection { path, items, edits })
    }

    /// Finds the entries of a path that count for its context.
    pub(crate) fn context_entries<'p>(&self, path: &'p [Node]) -> Result<ContextEntries<'p>> {
        for (place, node) in path.iter().copied().enumerate().rev() {
            let (before, rest) = (&path[..place], &path[place + 1..]);
            match self.tree().kind(node) {
                Kind::ResetBoundary => return Ok(ContextEntries { compaction: None, kept: &[], rest }),
                Kind::Compaction => {
                    let entry = self.entry_at(node)?;
                    // A damaged compaction has neither a summary nor a first kept entry.
                    if !entry.is_placeholder() {
                        let kept = kept_before(self.tree(), before, &entry);
                        return Ok(ContextEntries { compaction: Some(entry), kept, rest });
                    }
                }
                _ => {}
            }
        }
        Ok(ContextEntries { compaction: None, kept: &[], rest: path })
    }

    /// Returns the message that an entry contributes. Compactions contribute none here: only the latest one counts.
    fn item_of(
        &self,
        node: Node,
        inclusion: Inclusion,
        edits: &ContextEdits,
    ) -> Result<Option<ProjectedItem>> {
        if self.tree().is_placeholder(node) || edits.omits(node) {
            return Ok(None);
        }
        let Some(role) = self.role_of(node)? else { return Ok(None) };
        let is_edited = edits.replaces(node) && message::is_editable(role);
        let inclusion = if is_edited { Inclusion::Edited } else { inclusion };
        Ok(Some(ProjectedItem { source: node, role, inclusion }))
    }

    /// Returns the role of the message that an entry contributes; none if it contributes nothing.
    fn role_of(&self, node: Node) -> Result<Option<Role>> {
        Ok(match self.tree().kind(node) {
            Kind::Message => match self.tree().role(node) {
                // No role at all may mean no message at all.
                None | Some(Role::Other) => {
                    let entry = self.entry_at(node)?;
                    let message = entry.message().filter(|message| message.kind() == JsonKind::Object);
                    message.map(|_| Role::Other)
                }
                role => role,
            },
            Kind::CustomMessage => Some(Role::Custom),
            Kind::BranchSummary => {
                message::message_of(&self.entry_at(node)?, None).map(|_| Role::BranchSummary)
            }
            Kind::Opaque
            | Kind::ThinkingLevelChange
            | Kind::ModelChange
            | Kind::Usage
            | Kind::Compaction
            | Kind::Custom
            | Kind::Label
            | Kind::SessionInfo
            | Kind::ContextEdit
            | Kind::LeafMove
            | Kind::ModeChange
            | Kind::RuleInjection
            | Kind::ResetBoundary => None,
        })
    }
}

/// Returns the entries before a compaction that it keeps.
fn kept_before<'p>(tree: &Tree, before: &'p [Node], compaction: &Entry) -> &'p [Node] {
    let Body::Compaction { first_kept: Some(first_kept), .. } = compaction.body() else { return &[] };
    let first_kept = tree.node(&first_kept);
    before.iter().position(|node| Some(*node) == first_kept).map_or(&[], |first| &before[first..])
}

/// Adds what the latest compaction contributes: the state of prompt and tools if it has one, then its summary.
fn compaction_items(entry: &Entry, edits: &ContextEdits, items: &mut Vec<ProjectedItem>) {
    let source = entry.node();
    if edits.omits(source) {
        return;
    }
    if let Some(system) = message::checkpoint_of(entry) {
        items.push(ProjectedItem { source, role: system.role(), inclusion: Inclusion::SystemCheckpoint });
    }
    items.push(ProjectedItem { source, role: Role::CompactionSummary, inclusion: Inclusion::Summary });
}
