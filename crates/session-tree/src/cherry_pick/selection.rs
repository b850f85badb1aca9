//! Selections: the entries of a source to pick.

use super::MessageReader;
use super::unit::{Unit, units_of};
use crate::error::{Error, Result};
use crate::kind::Role;
use crate::session::Session;
use crate::tree::Node;

/// The entries of a source to pick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// One entry; an answer comes with the results of its tool calls.
    Entry(Node),
    /// The turn that an entry belongs to: its prompt and everything up to the last answer before the next prompt.
    Turn(Node),
    /// The entries below `after`, down to `to`.
    Range {
        /// The entry before the first one.
        after: Node,
        /// The last entry.
        to: Node,
    },
}

/// The entries of a selection, oldest first, and the tip of the branch that they are taken from.
#[derive(Debug)]
pub(super) struct Selected {
    pub(super) nodes: Vec<Node>,
    pub(super) tip: Node,
}

impl Selection {
    pub(super) fn resolve(self, source: &Session) -> Result<Selected> {
        let (Selection::Entry(end) | Selection::Turn(end) | Selection::Range { to: end, .. }) = self;
        source.check_node(end)?;
        if let Selection::Range { after, .. } = self {
            source.check_node(after)?;
        }
        let tip = tip_of(source, end);
        let path = source.tree().path(tip);
        let place = path.iter().position(|node| *node == end).unwrap_or_default();
        let nodes = match self {
            Selection::Entry(entry) => with_results(source, entry, &path[place..])?,
            Selection::Turn(_) => turn_around(source, &path, place),
            Selection::Range { after, to } => range(source, after, to)?,
        };
        Ok(Selected { nodes, tip })
    }
}

/// Returns the tip of the branch of an entry: the current branch if the entry is on it, else the newest.
fn tip_of(source: &Session, node: Node) -> Node {
    let tree = source.tree();
    let current = source.leaf().filter(|leaf| tree.is_on_path(node, *leaf));
    let current = current
        .and_then(|leaf| tree.nearest_conversational(leaf))
        .filter(|leaf| tree.is_on_path(node, *leaf));
    current.or_else(|| tree.newest_tip_below(node)).unwrap_or(node)
}

fn with_results(source: &Session, entry: Node, below: &[Node]) -> Result<Vec<Node>> {
    let tree = source.tree();
    if tree.role(entry) != Some(Role::Assistant) {
        return Ok(vec![entry]);
    }
    let answers = |node: &Node| tree.role(*node) == Some(Role::Assistant);
    let end = below.iter().skip(1).position(answers).map_or(below.len(), |place| place + 1);
    let units = units_of(&MessageReader::verbatim(source), &below[..end])?;
    Ok(units.first().map_or_else(|| vec![entry], Unit::nodes))
}

fn turn_around(source: &Session, path: &[Node], place: usize) -> Vec<Node> {
    let tree = source.tree();
    let is_prompt = |node: &Node| tree.role(*node) == Some(Role::User);
    let start = path[..=place].iter().rposition(is_prompt).unwrap_or_default();
    let next = path[place + 1..].iter().position(is_prompt).map_or(path.len(), |at| place + 1 + at);
    // Bookkeeping entries after the last answer belong to no turn.
    let end = path[start..next].iter().rposition(|node| !tree.is_bookkeeping(*node));
    end.map_or_else(Vec::new, |end| path[start..=start + end].to_vec())
}

fn range(source: &Session, after: Node, to: Node) -> Result<Vec<Node>> {
    let tree = source.tree();
    if after != to && !tree.is_on_path(after, to) {
        return Err(Error::NotAnAncestor { after: tree.id(after), to: tree.id(to) });
    }
    let mut nodes: Vec<Node> = tree.ancestors(to).take_while(|node| *node != after).collect();
    nodes.reverse();
    Ok(nodes)
}
