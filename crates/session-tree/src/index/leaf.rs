//! The leaf that a file asks for.

use std::io;

use super::{Index, read_line};
use crate::journal::ReadAt;
use crate::json::{self, Doc};
use crate::kind::Kind;
use crate::tree::Node;

impl Index {
    /// Returns the current position that the file asks for: see `docs/format.md`, "The leaf".
    pub(crate) fn leaf(&self, source: &dyn ReadAt) -> io::Result<Option<Node>> {
        let mut late = Vec::new();
        let mut leaf = None;
        for node in self.tree.nodes().rev() {
            if self.tree.is_placeholder(node) || !self.is_whole(source, node)? {
                continue;
            }
            if matches!(self.tree.kind(node), Kind::SessionInfo | Kind::Usage) {
                late.push(node);
                continue;
            }
            leaf = Some(node);
            break;
        }
        if let (true, Some(marker)) = (late.is_empty(), leaf)
            && let Some(target) = self.marked_position(source, marker)?
        {
            return Ok(target);
        }
        for node in late.into_iter().rev() {
            // A name that another program appended below an old position does not move the leaf.
            if self.tree.parent(node) == leaf {
                leaf = Some(node);
            }
        }
        Ok(leaf)
    }

    /// Returns true if the line of an entry can be read. Loading validates the last line only, and other programs lose
    /// the entries below one that cannot be read.
    pub(crate) fn is_whole(&self, source: &dyn ReadAt, node: Node) -> io::Result<bool> {
        Ok(read_line(source, self.tree.place(node))?.is_none_or(|line| json::validate(&line).is_ok()))
    }

    /// Reads the position from a trailing marker; `None`: the entry is no marker.
    fn marked_position(&self, source: &dyn ReadAt, node: Node) -> io::Result<Option<Option<Node>>> {
        let is_marker = self.tree.is_leaf_marker(node) || self.tree.kind(node) == Kind::LeafMove;
        if !is_marker {
            return Ok(None);
        }
        let line = read_line(source, self.tree.place(node))?;
        let Some(doc) = line.and_then(|line| Doc::parse(line).ok()) else { return Ok(None) };
        let holder = if self.tree.is_leaf_marker(node) { doc.root().get("data") } else { Some(doc.root()) };
        let Some(target) = holder.and_then(|holder| holder.get("targetId")) else { return Ok(None) };
        if target.is_null() {
            return Ok(Some(None));
        }
        let known = target.as_str().and_then(|id| self.tree.node(&id));
        Ok(Some(self.nearest_whole(source, known.or_else(|| self.tree.parent(node)))?))
    }

    /// Returns the entry itself if its line can be read, else its nearest ancestor whose line can be.
    fn nearest_whole(&self, source: &dyn ReadAt, node: Option<Node>) -> io::Result<Option<Node>> {
        for node in node.into_iter().flat_map(|node| self.tree.ancestors(node)) {
            if !self.tree.is_placeholder(node) && self.is_whole(source, node)? {
                return Ok(Some(node));
            }
        }
        Ok(None)
    }
}
