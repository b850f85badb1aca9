//! The first entry of each branch that is in its context; earlier ones are only in a summary.
//!
//! projection -> **first entry in the context** -> page
//!
//! Computed for the leaf and for tips, newest first, as long as that is quick.

use session_tree::{Inclusion, Node, Session};
use session_view::Outline;

use crate::error::Result;

/// How many entries of paths are looked at for all tips together.
const BUDGET: usize = 4_000_000;

/// Lists ends of paths whose context does not begin with the first entry, with the entry it begins with.
pub(crate) fn starts(session: &Session, all: &Outline) -> Result<Vec<(usize, usize)>> {
    let mut found = Vec::new();
    let mut left = BUDGET;
    let leaf = session.leaf();
    let tips = session_view::tips_by_activity(session.tree()).into_iter().filter(|tip| Some(*tip) != leaf);
    for end in leaf.into_iter().chain(tips) {
        if left == 0 {
            break;
        }
        let Some(start) = start(session, end, &mut left)? else { continue };
        if let (Some(end), Some(start)) = (all.position_of(end), all.position_of(start)) {
            found.push((end, start));
        }
    }
    Ok(found)
}

/// Finds the first entry of a path that is in its context; none if that is where the path begins.
fn start(session: &Session, end: Node, left: &mut usize) -> Result<Option<Node>> {
    let projection = session.projection(session.position_of(end)?)?;
    *left = left.saturating_sub(projection.path.len());
    let is_summary =
        |inclusion: Inclusion| matches!(inclusion, Inclusion::Summary | Inclusion::SystemCheckpoint);
    let Some(summary) = projection.items.iter().find(|item| is_summary(item.inclusion)) else {
        return Ok(None);
    };
    let first = projection.items.iter().find(|item| !is_summary(item.inclusion)).unwrap_or(summary);
    Ok(Some(first.source))
}
