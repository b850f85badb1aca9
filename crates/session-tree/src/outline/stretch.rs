//! Stretches: lines that stand near each other, read together through one buffer.

use std::ops::Range;

use crate::error::Result;
use crate::index::LONGEST_LINE;
use crate::journal::read_into;
use crate::session::Session;
use crate::tree::{Node, Tree};

/// How many bytes of lines are looked at in one go: they stay in the processor's cache.
pub(super) const BLOCK: u64 = 512 * 1024;
/// Lines nearer to each other than this are read together with what lies between.
const GAP: u64 = 16 * 1024;

/// Calls `take` with the raw line of each of these entries, which are in file order. A line that is too long to be read
/// is left out.
pub(super) fn each_line(session: &Session, nodes: &[Node], take: &mut dyn FnMut(Node, &[u8])) -> Result<()> {
    let tree = session.tree();
    each_stretch(session, nodes, &mut Vec::new(), &mut |nodes, start, bytes| {
        nodes.iter().for_each(|node| take(*node, &bytes[range_in(tree, *node, start)]));
        Ok(())
    })
}

/// Where the line of an entry stands in bytes that begin at `start`.
pub(super) fn range_in(tree: &Tree, node: Node, start: u64) -> Range<usize> {
    let (at, len) = tree.place(node);
    let at = (at - start) as usize;
    at..at + len as usize
}

/// Takes the entries of a stretch, where its bytes begin, and the bytes.
pub(super) type TakeStretch<'t> = &'t mut dyn FnMut(&[Node], u64, &[u8]) -> Result<()>;

/// Calls `take` with each stretch of these entries, which are in file order, through one buffer. A line that is too long
/// to be read is left out.
pub(super) fn each_stretch(
    session: &Session,
    nodes: &[Node],
    buffer: &mut Vec<u8>,
    take: TakeStretch<'_>,
) -> Result<()> {
    let tree = session.tree();
    let mut from = 0;
    while from < nodes.len() {
        let to = stretch_end(tree, nodes, from);
        let stretch = &nodes[from..to];
        from = to;
        let ((start, _), (last, len)) = (tree.place(stretch[0]), tree.place(stretch[stretch.len() - 1]));
        if u64::from(len) > LONGEST_LINE {
            continue;
        }
        buffer.resize((last - start) as usize + len as usize, 0);
        read_into(&*session.journal, start, buffer).map_err(|error| session.io_error("read", error))?;
        take(stretch, start, buffer)?;
    }
    Ok(())
}

/// Finds where a stretch of lines ends that are near enough to be read together.
fn stretch_end(tree: &Tree, nodes: &[Node], from: usize) -> usize {
    let (start, len) = tree.place(nodes[from]);
    let mut end = start + u64::from(len);
    for (at, node) in nodes.iter().enumerate().skip(from + 1) {
        let (position, len) = tree.place(*node);
        let far = position > end + GAP || position - start > 2 * BLOCK;
        if far || u64::from(len) > LONGEST_LINE {
            return at;
        }
        end = position + u64::from(len);
    }
    nodes.len()
}
