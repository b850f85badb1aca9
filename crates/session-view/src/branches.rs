//! The branches of a session with their names, sizes and states.
//!
//! A side branch of *tree*. A tip is an entry without conversational descendants; labels, settings and state that
//! follow it make no new tip. At a branch point the oldest child continues the branch it came from and the others
//! begin new ones, so that a branch keeps its name when another one branches off it.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::node_set::NodeSet;
use session_tree::json::ValueRef;
use session_tree::{Ending, EntryId, Kind, Node, Result, Role, Session, Timestamp, Tree};

/// The `customType` of the entry that hides a branch from lists: `data` is `{"targetId": tip, "hidden": true}`.
pub const HIDDEN_BRANCH: &str = "session-tree.hide";

/// The path that ends in a tip.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Branch {
    /// The entry in which the branch ends.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub tip: Node,
    /// The id of the tip.
    pub tip_id: EntryId,
    /// The entry at which the branch left another one; `None` if it starts at a root that nothing branches from.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub branch_point: Option<Node>,
    /// The id of the branch point.
    pub branch_point_id: Option<EntryId>,
    /// The first label after the branch point, else the first prompt after it. A branch that begins with a branch
    /// summary and has neither is named after the entry above it: `after: …`.
    pub name: String,
    /// The label of the tip.
    pub label: Option<String>,
    /// The name of the branch point: the nearest label or prompt at or above it, else the nearest entry that is more
    /// than bookkeeping. None if the branch begins the conversation.
    pub from: Option<String>,
    /// How many entries come after the branch point.
    pub entries: usize,
    /// How many prompts come after the branch point.
    pub turns: usize,
    /// The time of the tip.
    pub last_activity: Timestamp,
    /// True if the leaf is at the tip.
    pub is_current: bool,
    /// True if the branch is hidden from lists; it shows again when it grows.
    pub is_hidden: bool,
    /// True if the last answer failed.
    pub ends_in_error: bool,
    /// True if a compaction comes after the branch point.
    pub compacted: bool,
    /// The tip of the branch that this one was merged into.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub merged_into: Option<Node>,
    /// The id of the tip of the branch that this one was merged into.
    #[cfg_attr(feature = "serde", serde(rename = "mergedInto"))]
    pub merged_into_id: Option<EntryId>,
}

/// Returns the tips of a tree, the one with the latest activity first.
pub fn tips_by_activity(tree: &Tree) -> Vec<Node> {
    let mut tips = tree.tips();
    tips.sort_by_key(|tip| Reverse((tree.timestamp(*tip), *tip)));
    tips
}

/// Lists the branches of a session, the one with the latest activity first.
pub fn branches(session: &Session) -> Result<Vec<Branch>> {
    iter_branches(session)?.collect()
}

/// Reads the branches one by one, in the order of [`branches`]: a session may have a million of them.
pub fn iter_branches(session: &Session) -> Result<impl ExactSizeIterator<Item = Result<Branch>>> {
    let tree = session.tree();
    let continuations = Continuations::of(tree);
    let notes = Notes::read(session)?;
    Ok(tips_by_activity(tree).into_iter().map(move |tip| {
        let own = OwnPart::of(tree, tip, &continuations);
        describe(session, &own, &notes)
    }))
}

fn describe(session: &Session, own: &OwnPart, notes: &Notes) -> Result<Branch> {
    let tree = session.tree();
    let tip = own.tip;
    let id = |node: Node| tree.id(node);
    let merged_into = notes.merged_into(session, tip);
    let count = |test: &dyn Fn(Node) -> bool| own.nodes.iter().filter(|node| test(**node)).count();
    Ok(Branch {
        tip,
        tip_id: tree.id(tip),
        branch_point: own.branch_point,
        branch_point_id: own.branch_point.map(id),
        name: session.path_name(own.branch_point, tip)?,
        label: session.label(tip).map(|label| label.text.clone()),
        from: own.branch_point.map(|point| name_of_point(session, point)).transpose()?.flatten(),
        entries: own.nodes.len(),
        turns: count(&|node| tree.role(node) == Some(Role::User)),
        last_activity: tree.timestamp(tip),
        is_current: session.leaf().and_then(|leaf| tree.nearest_conversational(leaf)) == Some(tip),
        is_hidden: notes.hidden.has(tip),
        ends_in_error: ending(session, tip)? == Ending::Error,
        compacted: count(&|node| tree.kind(node) == Kind::Compaction) > 0,
        merged_into,
        merged_into_id: merged_into.map(id),
    })
}

/// Returns the name of a branch point; `None` if the conversation begins after it.
fn name_of_point(session: &Session, point: Node) -> Result<Option<String>> {
    let tree = session.tree();
    for node in tree.ancestors(point) {
        if let Some(label) = session.label(node) {
            return Ok(Some(label.text.clone()));
        }
        if tree.role(node) == Some(Role::User) {
            return session.entry_name(node).map(Some);
        }
    }
    tree.nearest_conversational(point).map(|node| session.entry_name(node)).transpose()
}

/// Returns how the branch with this tip ends.
pub(crate) fn ending(session: &Session, tip: Node) -> Result<Ending> {
    if session.tree().role(tip) != Some(Role::Assistant) {
        return Ok(Ending::Fine);
    }
    Ok(session.entry_at(tip)?.message().map_or(Ending::Fine, Ending::of))
}

/// The child that continues the branch, for each branch point.
struct Continuations {
    /// By entry: how many of its children have conversation at or below them.
    speaking: Vec<u32>,
    /// By entry: the oldest of these children.
    oldest: Vec<Option<Node>>,
}

impl Continuations {
    fn of(tree: &Tree) -> Self {
        let rows = tree.node_bound();
        let mut all = Continuations { speaking: vec![0; rows], oldest: vec![None; rows] };
        for (node, _) in tree.ordered().into_iter().rev() {
            let speaks = all.speaking[node.index()] > 0 || !tree.is_bookkeeping(node);
            let (true, Some(parent)) = (speaks, tree.parent(node)) else { continue };
            let at = parent.index();
            all.speaking[at] += 1;
            let age = |node: &Node| (tree.timestamp(*node), *node);
            all.oldest[at] = all.oldest[at].into_iter().chain([node]).min_by_key(age);
        }
        all
    }

    /// The child that continues the branch at a branch point; none anywhere else.
    fn continuation(&self, node: Node) -> Option<Node> {
        let at = node.index();
        self.oldest[at].filter(|_| self.speaking[at] > 1)
    }
}

/// The entries of a branch after its branch point, latest first.
struct OwnPart {
    tip: Node,
    branch_point: Option<Node>,
    nodes: Vec<Node>,
}

impl OwnPart {
    fn of(tree: &Tree, tip: Node, continuations: &Continuations) -> Self {
        let mut nodes = vec![tip];
        // The highest branch point so far at which this is the branch that goes on.
        let mut highest = None;
        let mut at = tip;
        while let Some(parent) = tree.parent(at) {
            match continuations.continuation(parent) {
                Some(child) if child != at => {
                    return OwnPart { tip, branch_point: Some(parent), nodes };
                }
                Some(_) => highest = Some((parent, nodes.len())),
                None => {}
            }
            nodes.push(parent);
            at = parent;
        }
        if let Some((_, len)) = highest {
            nodes.truncate(len);
        }
        OwnPart { tip, branch_point: highest.map(|(point, _)| point), nodes }
    }
}

/// Branches that other entries hide or merge.
struct Notes {
    hidden: NodeSet,
    /// The last merge entry of each merged tip.
    merges: HashMap<Node, Node>,
}

impl Notes {
    fn read(session: &Session) -> Result<Self> {
        let tree = session.tree();
        let mut notes = Notes { hidden: NodeSet::default(), merges: HashMap::new() };
        for node in tree.nodes() {
            match tree.kind(node) {
                Kind::Custom if tree.is_internal(node) && !tree.is_leaf_marker(node) => {
                    notes.take_hide(session, node)?;
                }
                Kind::BranchSummary => notes.take_merge(session, node)?,
                _ => {}
            }
        }
        Ok(notes)
    }

    fn take_hide(&mut self, session: &Session, node: Node) -> Result<()> {
        let entry = session.entry_at(node)?;
        let Some(value) = entry.value() else { return Ok(()) };
        if !value.get("customType").is_some_and(|kind| kind.is_str(HIDDEN_BRANCH)) {
            return Ok(());
        }
        let tree = session.tree();
        let data = |key: &str| value.get("data").and_then(|data| data.get(key));
        let named = data("targetId").and_then(ValueRef::as_str).and_then(|id| tree.node(&id));
        let Some(tip) =
            named.or_else(|| tree.parent(node)).and_then(|target| tree.nearest_conversational(target))
        else {
            return Ok(());
        };
        if data("hidden").and_then(ValueRef::as_bool).unwrap_or(true) {
            self.hidden.add(tip);
        } else {
            self.hidden.remove(tip);
        }
        Ok(())
    }

    fn take_merge(&mut self, session: &Session, node: Node) -> Result<()> {
        let entry = session.entry_at(node)?;
        let source = entry.value().and_then(|value| value.get("details")?.get("merge")?.get("sourceLeafId"));
        let source = source.and_then(ValueRef::as_str).and_then(|id| session.tree().node(&id));
        if let Some(source) = source.and_then(|source| session.tree().nearest_conversational(source)) {
            self.merges.insert(source, node);
        }
        Ok(())
    }

    /// The branch a tip was last merged into.
    fn merged_into(&self, session: &Session, tip: Node) -> Option<Node> {
        session.tree().newest_tip_below(*self.merges.get(&tip)?)
    }
}

#[cfg(test)]
mod tests;
