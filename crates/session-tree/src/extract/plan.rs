//! The plan of an extract: the entries to copy, and the links to change.

use hashbrown::HashSet;
use std::hash::RandomState;

use crate::entry::Body;
use crate::error::{Error, Result};
use crate::id::Stamp;
use crate::index::Label;
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::tree::{Node, Tree};

/// The entries of a session to extract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extract {
    /// The path to an entry.
    Path {
        /// The last entry of the path.
        at: Node,
    },
    /// The path to an entry and everything below it.
    Branch {
        /// The entry.
        at: Node,
    },
    /// An entry and everything below it; the entry becomes a root.
    Subtree {
        /// The entry.
        root: Node,
    },
    /// The whole session, line by line.
    All,
}

/// A planned extract: the entries that would be copied, and the changes of their links.
#[derive(Debug, Clone)]
pub struct ExtractPlan {
    /// The state of the tree that the plan was made from.
    tree: Stamp,
    /// The end of the indexed part of the journal: later lines are not part of the plan.
    end: u64,
    /// The selection.
    pub what: Extract,
    /// The entries to be copied, in the order in which they would be written.
    pub entries: Vec<PlannedEntry>,
    /// The labels that would be appended after the entries, in order.
    pub labels: Vec<(Node, Label)>,
    /// The selected entries that would not be copied: labels, and lines that cannot be read.
    pub left_out: Vec<Node>,
    /// True if the new session has a conversation, so that it is worth a file at once.
    pub begins_conversation: bool,
}

/// An entry that would be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedEntry {
    /// The entry.
    pub node: Node,
    /// Its parent in the new session.
    pub parent: Option<Node>,
    /// The entry a compaction keeps from, if that has to change.
    pub first_kept: Option<Node>,
    /// True if the links of the line have to change.
    pub(super) is_spliced: bool,
}

impl Session {
    /// Plans a new session made of entries of this one. Changes nothing.
    ///
    /// Label entries are left out, because other entries may be their children; the labels themselves are appended at
    /// the end. Children of a skipped entry become children of its parent.
    pub fn plan_extract(&self, what: Extract) -> Result<ExtractPlan> {
        if let Extract::Path { at } | Extract::Branch { at } | Extract::Subtree { root: at } = what {
            self.check_node(at)?;
        }
        let mut planner = Planner::new(self, what);
        match what {
            Extract::All => planner.take_all(),
            Extract::Path { at } => planner.take_path(&self.tree().path(at))?,
            Extract::Branch { at } => {
                let path = self.tree().path(at);
                planner.take_path(&path[..path.len() - 1])?;
                planner.take_below(at, path.len() - 1)?;
            }
            Extract::Subtree { root } => {
                planner.outside = self.tree().ancestors(root).skip(1).collect();
                planner.take_below(root, 0)?;
            }
        }
        Ok(planner.finish())
    }

    /// Fails with [`Error::StalePlan`] if a plan was made for another session or before this one was read again, or if
    /// a whole session grew since.
    pub(super) fn check_extract(&self, plan: &ExtractPlan) -> Result<()> {
        let is_fresh = self.tree().stamp() == plan.tree;
        let has_grown = plan.what == Extract::All && self.index.end != plan.end;
        if is_fresh && !has_grown { Ok(()) } else { Err(Error::StalePlan) }
    }
}

/// Walks over the selected entries, parents first, and plans each of them.
struct Planner<'s> {
    session: &'s Session,
    tree: &'s Tree,
    plan: ExtractPlan,
    /// The selected entries from the top to the current one.
    trail: Vec<Node>,
    /// The copied entries of the trail, with their place in it.
    copied: Vec<(usize, Node)>,
    /// The place in the trail that an entry had when it was taken.
    depth: Vec<u32>,
    /// Entries above a subtree that becomes a separate session.
    outside: HashSet<Node, RandomState>,
}

const NOT_TAKEN: u32 = u32::MAX;

impl<'s> Planner<'s> {
    fn new(session: &'s Session, what: Extract) -> Self {
        let plan = ExtractPlan {
            tree: session.tree().stamp(),
            end: session.index.end,
            what,
            entries: Vec::new(),
            labels: Vec::new(),
            left_out: Vec::new(),
            begins_conversation: false,
        };
        let tree = session.tree();
        Planner {
            session,
            tree,
            plan,
            trail: Vec::new(),
            copied: Vec::new(),
            depth: vec![NOT_TAKEN; tree.node_bound()],
            outside: HashSet::default(),
        }
    }

    fn take_all(&mut self) {
        for node in self.tree.nodes() {
            let parent = self.tree.parent(node);
            self.add(PlannedEntry { node, parent, first_kept: None, is_spliced: false });
        }
    }

    fn take_path(&mut self, path: &[Node]) -> Result<()> {
        path.iter().enumerate().try_for_each(|(depth, node)| self.take(*node, depth))
    }

    fn take_below(&mut self, top: Node, depth: usize) -> Result<()> {
        let mut stack = vec![(top, depth)];
        while let Some((node, depth)) = stack.pop() {
            self.take(node, depth)?;
            stack.extend(self.tree.children(node).map(|child| (child, depth + 1)));
        }
        Ok(())
    }

    /// Takes an entry `depth` below the top; everything above it has been taken.
    fn take(&mut self, node: Node, depth: usize) -> Result<()> {
        self.trail.truncate(depth);
        self.trail.push(node);
        let above = self.copied.partition_point(|(at, _)| *at < depth);
        self.copied.truncate(above);
        self.depth[node.index()] = depth as u32;
        let parent = self.copied.last().map(|(_, node)| *node);
        if self.tree.kind(node) == Kind::Label || self.tree.is_placeholder(node) {
            self.plan.left_out.push(node);
            return Ok(());
        }
        let first_kept = self.redirected(node)?;
        let is_spliced = first_kept.is_some() || self.is_spliced(node, parent)?;
        if is_spliced && self.session.entry_at(node)?.is_placeholder() {
            // A line that is not JSON cannot be spliced, and other programs would skip it.
            self.plan.left_out.push(node);
            return Ok(());
        }
        self.copied.push((depth, node));
        self.add(PlannedEntry { node, parent, first_kept, is_spliced });
        Ok(())
    }

    fn add(&mut self, entry: PlannedEntry) {
        let is_talk = match self.tree.kind(entry.node) {
            Kind::Message => self.tree.role(entry.node) != Some(Role::System),
            kind => kind == Kind::CustomMessage,
        };
        self.plan.begins_conversation |= is_talk;
        self.plan.entries.push(entry);
    }

    /// Returns true if a line has to be changed. Only roots have to be read: other entries name the parent that they
    /// have in the tree.
    fn is_spliced(&self, node: Node, parent: Option<Node>) -> Result<bool> {
        if !self.session.index.reads_as_written() || parent != self.tree.parent(node) {
            return Ok(true);
        }
        if parent.is_some() {
            return Ok(false);
        }
        let entry = self.session.entry_at(node)?;
        Ok(entry.value().is_some_and(|value| !value.get("parentId").is_some_and(|parent| parent.is_null())))
    }

    /// Returns the new first kept entry of a compaction whose first kept entry is not copied: the next copied one.
    fn redirected(&self, node: Node) -> Result<Option<Node>> {
        if self.tree.kind(node) != Kind::Compaction {
            return Ok(None);
        }
        let entry = self.session.entry_at(node)?;
        let Body::Compaction { first_kept: Some(first_kept), .. } = entry.body() else { return Ok(None) };
        let Some(first_kept) = self.tree.node(&first_kept) else { return Ok(None) };
        let Some(place) = self.place_on_trail(first_kept) else { return Ok(None) };
        let next = self.copied.get(self.copied.partition_point(|(at, _)| *at < place));
        let next = next.map_or(node, |(_, next)| *next);
        Ok((next != first_kept).then_some(next))
    }

    /// Returns the place of an entry on the path to the current one; entries above the top count as the top.
    fn place_on_trail(&self, node: Node) -> Option<usize> {
        if self.outside.contains(&node) {
            return Some(0);
        }
        let place = self.depth[node.index()];
        (place != NOT_TAKEN && self.trail.get(place as usize) == Some(&node)).then_some(place as usize)
    }

    fn finish(mut self) -> ExtractPlan {
        if self.plan.what == Extract::All {
            return self.plan;
        }
        if matches!(self.plan.what, Extract::Branch { .. } | Extract::Subtree { .. }) {
            self.plan.entries.sort_unstable_by_key(|entry| entry.node);
            self.plan.left_out.sort_unstable();
        }
        let mut is_copied = vec![false; self.tree.node_bound()];
        for entry in &self.plan.entries {
            is_copied[entry.node.index()] = true;
        }
        let labels = self.session.labels().into_iter().filter(|(target, _)| is_copied[target.index()]);
        self.plan.labels = labels.map(|(target, label)| (target, label.clone())).collect();
        self.plan
    }
}
