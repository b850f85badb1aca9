//! Branches: the paths that end in a tip, with names a person recognises.
//!
//! A side branch of *tree*. A tip is an entry without conversational descendants; labels, settings and state that
//! follow it make no new tip. At a branch point the oldest child continues the branch it came from and the others
//! begin new ones, so that a branch keeps its name when somebody branches off it. Reads, never writes.

use std::collections::HashMap;

use crate::entry::Ending;
use crate::error::Result;
use crate::id::EntryId;
use crate::json::ValueRef;
use crate::kind::{Kind, Role};
use crate::outline::{Marks, one_line_text};
use crate::session::Session;
use crate::time::Timestamp;
use crate::tree::{Node, Tree};

/// The `customType` of the entry that hides a branch from lists: `data` is `{"targetId": tip, "hidden": true}`.
pub const HIDDEN_BRANCH: &str = "session-tree.hide";

/// The path that ends in a tip.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Branch {
    /// The entry in which the branch ends.
    pub tip: Node,
    /// The id of the tip.
    pub tip_id: EntryId,
    /// Where the branch left another one; none if it starts at a root that nothing branches from.
    pub branch_point: Option<Node>,
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
    /// Whether the leaf is at the tip.
    pub is_current: bool,
    /// Whether somebody hid the branch from lists; it shows again when it grows.
    pub is_hidden: bool,
    /// Whether the last answer failed.
    pub ends_in_error: bool,
    /// Whether a compaction comes after the branch point.
    pub compacted: bool,
    /// The tip of the branch that this one was merged into.
    pub merged_into: Option<Node>,
}

impl Session {
    /// Returns the tips in file order.
    pub fn tips(&self) -> Vec<Node> {
        tips(self.tree())
    }

    /// Returns the tips, the one with the latest activity first.
    pub fn tips_by_activity(&self) -> Vec<Node> {
        newest_first(self.tree(), self.tips())
    }

    /// Returns the tip with the latest activity at or below an entry; none if no conversation is there.
    pub fn newest_tip_below(&self, node: Node) -> Option<Node> {
        let tree = self.tree();
        let below = tree.subtree(node).into_iter().filter(|node| !tree.is_bookkeeping(*node));
        let tips = below.filter(|node| !tree.children(*node).any(|child| speaks_at_or_below(tree, child)));
        tips.max_by_key(|node| (tree.timestamp(*node), *node))
    }

    /// Lists the branches, the one with the latest activity first.
    pub fn branches(&self) -> Result<Vec<Branch>> {
        self.each_branch()?.collect()
    }

    /// Reads the branches one by one, in the order of [`branches`](Session::branches): a session may have a million.
    pub fn each_branch(&self) -> Result<impl ExactSizeIterator<Item = Result<Branch>>> {
        let tree = self.tree();
        let continuations = Continuations::of(tree);
        let notes = Notes::read(self)?;
        Ok(self.tips_by_activity().into_iter().map(move |tip| {
            let own = Own::of(tree, tip, |node| continuations.continuation(node));
            self.describe_branch(&own, &notes)
        }))
    }

    /// Returns the name of the branch that ends in an entry, as if it were a tip.
    pub fn branch_name(&self, node: Node) -> Result<String> {
        let tree = self.tree();
        let own = Own::of(tree, node, |node| continuation(tree, node));
        self.own_name(&own)
    }

    fn describe_branch(&self, own: &Own, notes: &Notes) -> Result<Branch> {
        let tree = self.tree();
        let tip = own.tip;
        let count = |test: &dyn Fn(Node) -> bool| own.nodes.iter().filter(|node| test(**node)).count();
        Ok(Branch {
            tip,
            tip_id: tree.id(tip),
            branch_point: own.branch_point,
            name: self.own_name(own)?,
            label: self.label(tip).map(|label| label.text.clone()),
            from: own.branch_point.map(|point| self.place_name(point)).transpose()?.flatten(),
            entries: own.nodes.len(),
            turns: count(&|node| tree.role(node) == Some(Role::User)),
            last_activity: tree.timestamp(tip),
            is_current: self.leaf().and_then(|leaf| tree.nearest_conversational(leaf)) == Some(tip),
            is_hidden: notes.hidden.has(tip),
            ends_in_error: self.ending(tip)? == Ending::Error,
            compacted: count(&|node| tree.kind(node) == Kind::Compaction) > 0,
            merged_into: notes.merged_into(self, tip),
        })
    }

    fn own_name(&self, own: &Own) -> Result<String> {
        let oldest_first = || own.nodes.iter().rev().copied();
        if let Some(label) = oldest_first().find_map(|node| self.label(node)) {
            return Ok(label.text.clone());
        }
        let tree = self.tree();
        if let Some(prompt) = oldest_first().find(|node| tree.role(*node) == Some(Role::User)) {
            return one_line_text(self, prompt);
        }
        let first = oldest_first().find(|node| !tree.is_bookkeeping(*node)).unwrap_or(own.tip);
        // A branch summary describes another branch, so its text is no name for this one.
        let above = tree.parent(first).and_then(|parent| tree.nearest_conversational(parent));
        match above.filter(|_| matches!(tree.kind(first), Kind::BranchSummary | Kind::StackSummary)) {
            Some(above) => Ok(format!("after: {}", one_line_text(self, above)?)),
            None => one_line_text(self, first),
        }
    }

    /// Returns the name of a branch point; none if the conversation begins behind it.
    fn place_name(&self, point: Node) -> Result<Option<String>> {
        for node in self.tree().ancestors(point) {
            if let Some(label) = self.label(node) {
                return Ok(Some(label.text.clone()));
            }
            if self.tree().role(node) == Some(Role::User) {
                return one_line_text(self, node).map(Some);
            }
        }
        self.tree().nearest_conversational(point).map(|node| one_line_text(self, node)).transpose()
    }

    /// Tells how the branch ends that has this tip.
    pub(crate) fn ending(&self, tip: Node) -> Result<Ending> {
        if self.tree().role(tip) != Some(Role::Assistant) {
            return Ok(Ending::Fine);
        }
        Ok(self.entry_at(tip)?.message().map_or(Ending::Fine, Ending::of))
    }
}

/// Returns the tips of a tree in file order.
pub(crate) fn tips(tree: &Tree) -> Vec<Node> {
    let mut continued = vec![false; tree.row_count()];
    let talk = |node: &Node| !tree.is_bookkeeping(*node);
    for node in tree.nodes().filter(talk) {
        for above in tree.ancestors(node).skip(1) {
            // From here on up somebody else has walked already.
            if std::mem::replace(&mut continued[above.0 as usize], true) {
                break;
            }
        }
    }
    tree.nodes().filter(talk).filter(|node| !continued[node.0 as usize]).collect()
}

/// Which child goes on with the branch at each branch point.
struct Continuations {
    /// By entry: how many of its children have conversation at or below them.
    speaking: Vec<u32>,
    /// By entry: the oldest of these children.
    oldest: Vec<Option<Node>>,
}

impl Continuations {
    fn of(tree: &Tree) -> Self {
        let rows = tree.row_count();
        let mut all = Continuations { speaking: vec![0; rows], oldest: vec![None; rows] };
        for (node, _) in tree.ordered().into_iter().rev() {
            let speaks = all.speaking[node.0 as usize] > 0 || !tree.is_bookkeeping(node);
            let (true, Some(parent)) = (speaks, tree.parent(node)) else { continue };
            let at = parent.0 as usize;
            all.speaking[at] += 1;
            let age = |node: &Node| (tree.timestamp(*node), *node);
            all.oldest[at] = all.oldest[at].into_iter().chain([node]).min_by_key(age);
        }
        all
    }

    /// The child that continues the branch at a branch point; none anywhere else.
    fn continuation(&self, node: Node) -> Option<Node> {
        let at = node.0 as usize;
        self.oldest[at].filter(|_| self.speaking[at] > 1)
    }
}

/// Tells whether an entry or anything below it is more than bookkeeping.
fn speaks_at_or_below(tree: &Tree, node: Node) -> bool {
    let mut stack = vec![node];
    while let Some(node) = stack.pop() {
        if !tree.is_bookkeeping(node) {
            return true;
        }
        stack.extend(tree.children(node));
    }
    false
}

/// Like [`Continuations::continuation`], for one entry.
fn continuation(tree: &Tree, node: Node) -> Option<Node> {
    tree.children(node).nth(1)?;
    let speaking: Vec<Node> = tree.children(node).filter(|child| speaks_at_or_below(tree, *child)).collect();
    let oldest = speaking.iter().min_by_key(|child| (tree.timestamp(**child), **child));
    oldest.copied().filter(|_| speaking.len() > 1)
}

/// The part of a branch that is its own: what comes after its branch point, latest first.
struct Own {
    tip: Node,
    branch_point: Option<Node>,
    nodes: Vec<Node>,
}

impl Own {
    fn of(tree: &Tree, tip: Node, continuation: impl Fn(Node) -> Option<Node>) -> Self {
        let mut nodes = vec![tip];
        // The highest branch point so far at which this is the branch that goes on.
        let mut highest = None;
        let mut at = tip;
        while let Some(parent) = tree.parent(at) {
            match continuation(parent) {
                Some(child) if child != at => {
                    return Own { tip, branch_point: Some(parent), nodes };
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
        Own { tip, branch_point: highest.map(|(point, _)| point), nodes }
    }
}

fn newest_first(tree: &Tree, mut tips: Vec<Node>) -> Vec<Node> {
    tips.sort_by_key(|tip| std::cmp::Reverse((tree.timestamp(*tip), *tip)));
    tips
}

/// What entries elsewhere say about branches.
struct Notes {
    hidden: Marks,
    /// The last merge entry of each merged tip.
    merges: HashMap<Node, Node>,
}

impl Notes {
    fn read(session: &Session) -> Result<Self> {
        let tree = session.tree();
        let mut notes = Notes { hidden: Marks::default(), merges: HashMap::new() };
        for node in tree.nodes() {
            match tree.kind(node) {
                Kind::Custom if tree.is_internal(node) && !tree.is_leaf_marker(node) => {
                    notes.take_hide(session, node)?;
                }
                Kind::BranchSummary | Kind::StackSummary => notes.take_merge(session, node)?,
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
        session.newest_tip_below(*self.merges.get(&tip)?)
    }
}

#[cfg(test)]
mod tests;
