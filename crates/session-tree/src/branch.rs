//! Branches: where they end, where they begin and what they are called.
//!
//! A tip is an entry without conversational descendants; labels, settings and state that follow it make no new tip. At a
//! branch point the oldest child continues the branch it came from and the others begin new ones, so that a branch keeps
//! its name when another one branches off it.

use crate::branch_summary::BRANCH_SUMMARY_PREAMBLE;
use crate::entry::{Body, Content};
use crate::error::Result;
use crate::excerpt::{excerpt, skip_headings};
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::tree::{Node, Tree};

/// The greatest length of a name.
const MAX_NAME: usize = 200;

impl Tree {
    /// Returns the tips in file order.
    pub fn tips(&self) -> Vec<Node> {
        let mut continued = vec![false; self.node_bound()];
        let conversation = || self.nodes().filter(|node| !self.is_bookkeeping(*node));
        for node in conversation() {
            for above in self.ancestors(node).skip(1) {
                // The ancestors of a marked entry are marked, too.
                if std::mem::replace(&mut continued[above.index()], true) {
                    break;
                }
            }
        }
        conversation().filter(|node| !continued[node.index()]).collect()
    }

    /// Returns the tip with the latest activity at or below an entry; `None` if no conversation is there.
    pub fn newest_tip_below(&self, node: Node) -> Option<Node> {
        let below = self.subtree(node).into_iter().filter(|node| !self.is_bookkeeping(*node));
        let tips = below.filter(|node| !self.children(*node).any(|child| self.has_conversation(child)));
        tips.max_by_key(|node| (self.timestamp(*node), *node))
    }

    /// Returns the branch point after which the branch that ends in `tip` is on its own; `None` if nothing branches off
    /// its path.
    ///
    /// The branch that continues at every branch point starts after the first of them.
    pub fn branch_point(&self, tip: Node) -> Option<Node> {
        let mut first = None;
        for (child, parent) in self.ancestors(tip).zip(self.ancestors(tip).skip(1)) {
            match self.continuation(parent) {
                Some(next) if next != child => return Some(parent),
                Some(_) => first = Some(parent),
                None => {}
            }
        }
        first
    }

    /// Returns the child that continues the branch at a branch point; `None` anywhere else.
    fn continuation(&self, node: Node) -> Option<Node> {
        self.children(node).nth(1)?;
        let branches: Vec<Node> = self.children(node).filter(|child| self.has_conversation(*child)).collect();
        let oldest = branches.iter().min_by_key(|child| (self.timestamp(**child), **child));
        oldest.copied().filter(|_| branches.len() > 1)
    }

    /// Returns true if an entry or anything below it is more than bookkeeping.
    fn has_conversation(&self, node: Node) -> bool {
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            if !self.is_bookkeeping(node) {
                return true;
            }
            stack.extend(self.children(node));
        }
        false
    }
}

impl Session {
    /// Returns the name of the branch that ends in an entry: its first label, else its first prompt.
    ///
    /// A branch that begins with a branch summary and has neither is named after the entry above it: `after: …`.
    pub fn branch_name(&self, tip: Node) -> Result<String> {
        self.path_name(self.tree().branch_point(tip), tip)
    }

    /// Returns the name of a branch whose [branch point](Tree::branch_point) is known.
    pub fn path_name(&self, branch_point: Option<Node>, tip: Node) -> Result<String> {
        let tree = self.tree();
        let mut path: Vec<Node> =
            tree.ancestors(tip).take_while(|node| Some(*node) != branch_point).collect();
        path.reverse();
        if let Some(label) = path.iter().find_map(|node| self.label(*node)) {
            return Ok(label.text.clone());
        }
        if let Some(prompt) = path.iter().find(|node| tree.role(**node) == Some(Role::User)) {
            return self.entry_name(*prompt);
        }
        let first = path.into_iter().find(|node| !tree.is_bookkeeping(*node)).unwrap_or(tip);
        // A branch summary describes another branch, so its text is no name for this one.
        let above = tree.parent(first).and_then(|parent| tree.nearest_conversational(parent));
        match above.filter(|_| matches!(tree.kind(first), Kind::BranchSummary)) {
            Some(above) => Ok(format!("after: {}", self.entry_name(above)?)),
            None => self.entry_name(first),
        }
    }

    /// Returns the beginning of the text of an entry on one line, else its type in brackets.
    pub fn entry_name(&self, node: Node) -> Result<String> {
        let entry = self.entry_at(node)?;
        let name = match entry.body() {
            Body::Message(Some(message)) => {
                let content = Content::of(message.get("content"));
                if self.tree().role(node) == Some(Role::User) {
                    return Ok(content.prompt_excerpt(MAX_NAME));
                }
                content.excerpt(MAX_NAME)
            }
            Body::CustomMessage { content, .. } => Content::of(content).excerpt(MAX_NAME),
            Body::Compaction { summary, .. } => excerpt(&summary.unwrap_or_default(), MAX_NAME),
            Body::BranchSummary { summary, .. } => {
                let summary = summary.unwrap_or_default();
                let text = summary.strip_prefix(BRANCH_SUMMARY_PREAMBLE).unwrap_or(&summary);
                excerpt(skip_headings(text).lines().next().unwrap_or_default(), MAX_NAME)
            }
            _ => String::new(),
        };
        Ok(if name.is_empty() { format!("[{}]", excerpt(&entry.type_name(), MAX_NAME)) } else { name })
    }
}
