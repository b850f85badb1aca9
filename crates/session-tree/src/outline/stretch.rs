//! Stretches: lines that stand near each other, read together through one buffer.

use crate::error::Result;
use crate::index::LONGEST_LINE;
use crate::journal;
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
    let mut buffer = Vec::new();
    let mut from = 0;
    while from < nodes.len() {
        let to = stretch_end(tree, nodes, from);
        let stretch = &nodes[from..to];
        from = to;
        let ((start, _), (last, len)) = (tree.place(stretch[0]), tree.place(stretch[stretch.len() - 1]));
        if u64::from(len) > LONGEST_LINE {
            continue;
        }
        read_into(session, start, (last - start) as usize + len as usize, &mut buffer)?;
        for node in stretch {
            let (at, len) = tree.place(*node);
            let at = (at - start) as usize;
            take(*node, &buffer[at..at + len as usize]);
        }
    }
    Ok(())
}

/// Finds where a stretch of lines ends that are near enough to be read together.
pub(super) fn stretch_end(tree: &Tree, nodes: &[Node], from: usize) -> usize {
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

/// Reads a range of the journal.
pub(super) fn read_into(session: &Session, start: u64, len: usize, buffer: &mut Vec<u8>) -> Result<()> {
    buffer.resize(len, 0);
    journal::read_into(&*session.journal, start, buffer).map_err(|error| session.io_error("read", error))
}
