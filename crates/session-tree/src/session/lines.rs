//! Raw lines of many entries, read in large pieces through one buffer.

use std::ops::Range;

use super::Session;
use crate::error::Result;
use crate::index::LONGEST_LINE;
use crate::journal::read_into;
use crate::tree::{Node, Tree};

/// The largest piece that is read at once, except for a single longer line; it fits into the processor's cache.
const MAX_PIECE: u64 = 1 << 20;
/// Lines nearer to each other than this are read together with the bytes between them.
const MAX_DISTANCE: u64 = 16 << 10;

/// A piece of the journal with the raw lines of some entries; see [`Session::read_raw_lines`].
#[derive(Debug, Clone, Copy)]
pub struct RawLines<'b> {
    tree: &'b Tree,
    nodes: &'b [Node],
    start: u64,
    bytes: &'b [u8],
}

impl<'b> RawLines<'b> {
    /// Returns the entries that were asked for and whose lines are in this piece.
    pub fn nodes(&self) -> &'b [Node] {
        self.nodes
    }

    /// Returns all bytes of the piece, including those between the lines.
    pub fn bytes(&self) -> &'b [u8] {
        self.bytes
    }

    /// Returns the range of an entry's line in [`bytes`](RawLines::bytes), without its line feed; `None` if the piece does
    /// not contain it.
    pub fn range(&self, node: Node) -> Option<Range<usize>> {
        let (position, len) = self.tree.place(node);
        let from = usize::try_from(position.checked_sub(self.start)?).ok()?;
        let to = from.checked_add(len as usize)?;
        (to <= self.bytes.len()).then_some(from..to)
    }

    /// Returns the line of an entry, without its line feed; `None` if the piece does not contain it.
    pub fn line(&self, node: Node) -> Option<&'b [u8]> {
        self.bytes.get(self.range(node)?)
    }
}

impl Session {
    /// Reads the raw lines of many entries, best in file order, and passes them to `read` piece by piece.
    ///
    /// Lines longer than [`LONGEST_LINE`] are skipped. `buffer` is scratch memory that can be used again.
    pub fn read_raw_lines(
        &self,
        nodes: &[Node],
        buffer: &mut Vec<u8>,
        mut read: impl FnMut(RawLines<'_>) -> Result<()>,
    ) -> Result<()> {
        let tree = self.tree();
        nodes.iter().try_for_each(|node| self.check_node(*node).map(drop))?;
        let mut rest = nodes;
        while !rest.is_empty() {
            let nodes;
            (nodes, rest) = rest.split_at(piece_len(tree, rest));
            let ((start, _), (last, len)) = (tree.place(nodes[0]), tree.place(nodes[nodes.len() - 1]));
            if u64::from(len) > LONGEST_LINE {
                continue;
            }
            buffer.resize((last - start) as usize + len as usize, 0);
            read_into(&*self.journal, start, buffer).map_err(|error| self.io_error("read", error))?;
            read(RawLines { tree, nodes, start, bytes: buffer })?;
        }
        Ok(())
    }
}

/// Returns how many of the entries can be read in one piece.
fn piece_len(tree: &Tree, nodes: &[Node]) -> usize {
    let (start, len) = tree.place(nodes[0]);
    let (mut last, mut end) = (start, start + u64::from(len));
    for (at, node) in nodes.iter().enumerate().skip(1) {
        let (position, len) = tree.place(*node);
        let is_near = (last..=end + MAX_DISTANCE).contains(&position) && position - start <= MAX_PIECE;
        if !is_near || u64::from(len) > LONGEST_LINE {
            return at;
        }
        (last, end) = (position, position + u64::from(len));
    }
    nodes.len()
}
