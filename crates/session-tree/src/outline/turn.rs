//! Turns: what happened between a prompt and the next one.

use crate::entry::{Block, Body, Content};
use crate::error::Result;
use crate::figures::Usage;
use crate::json::Value;
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::tree::{Node, Tree};

use super::marks::Marks;

/// What a turn did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct TurnStats {
    /// The number of the turn on its path, counted from 1.
    pub number: usize,
    /// How many answers the model gave.
    pub replies: usize,
    /// How many tools were called.
    pub tools: usize,
    /// The tokens of all requests of the turn.
    pub tokens: u64,
    /// The cost of all requests of the turn.
    pub cost: f64,
    /// Whether its last answer failed.
    pub failed: bool,
    /// The tokens before the latest compaction of the turn.
    pub compacted: Option<u64>,
}

/// Follows a turn from its prompt; where it parts, along the active branch, else along the oldest.
pub(super) fn stats(session: &Session, prompt: Node, active: &Marks) -> Result<TurnStats> {
    let tree = session.tree();
    let is_prompt = |node: &Node| tree.role(*node) == Some(Role::User);
    let mut stats = TurnStats::default();
    let mut at = next(tree, prompt, active);
    while let Some(node) = at.filter(|node| !is_prompt(node)) {
        match (tree.kind(node), tree.role(node)) {
            (Kind::Message, Some(Role::Assistant)) => add_answer(session, node, &mut stats)?,
            (Kind::Compaction, _) => {
                if let Body::Compaction { tokens_before, usage, .. } = session.entry_at(node)?.body() {
                    stats.compacted = Some(tokens_before.unwrap_or(0.0).max(0.0) as u64);
                    add_usage(usage, &mut stats);
                }
            }
            (Kind::BranchSummary | Kind::StackSummary, _) => {
                if let Body::BranchSummary { usage, .. } = session.entry_at(node)?.body() {
                    add_usage(usage, &mut stats);
                }
            }
            _ => {}
        }
        at = next(tree, node, active);
    }
    Ok(stats)
}

/// Counts the prompts on the path to every entry; `order` gives parents before their children.
pub(super) fn numbers(tree: &Tree, order: impl Iterator<Item = Node>) -> Vec<u32> {
    let mut numbers = vec![0; tree.row_count()];
    for node in order {
        let above: u32 = tree.parent(node).map_or(0, |parent| numbers[parent.0 as usize]);
        numbers[node.0 as usize] = above + u32::from(tree.role(node) == Some(Role::User));
    }
    numbers
}

/// Finds the prompt whose turn an entry is part of.
pub(super) fn prompt_of(tree: &Tree, node: Node) -> Option<Node> {
    tree.ancestors(node).find(|node| tree.role(*node) == Some(Role::User))
}

/// Returns all entries of a turn on all branches: those below its prompt and above the next ones.
pub(super) fn entries(tree: &Tree, prompt: Node) -> Vec<Node> {
    let mut found = Vec::new();
    let mut stack: Vec<Node> = tree.children(prompt).collect();
    while let Some(node) = stack.pop() {
        if tree.role(node) != Some(Role::User) {
            found.push(node);
            stack.extend(tree.children(node));
        }
    }
    found
}

fn next(tree: &Tree, node: Node, active: &Marks) -> Option<Node> {
    let mut children = tree.children(node);
    let first = children.next()?;
    let later = std::iter::once(first).chain(children).find(|child| active.has(*child));
    later.or_else(|| tree.children(node).min_by_key(|child| tree.timestamp(*child)))
}

fn add_answer(session: &Session, node: Node, stats: &mut TurnStats) -> Result<()> {
    let entry = session.entry_at(node)?;
    let Some(message) = entry.message() else { return Ok(()) };
    stats.replies += 1;
    let blocks = Content::of(message.get("content")).blocks();
    stats.tools += blocks.filter(|block| matches!(block, Block::ToolCall { .. })).count();
    stats.failed = message.get("stopReason").is_some_and(|reason| reason.is_str("error"));
    add_usage(message.get("usage"), stats);
    Ok(())
}

fn add_usage(usage: Option<Value<'_>>, stats: &mut TurnStats) {
    let usage = usage.map(Usage::of).unwrap_or_default();
    stats.tokens = stats.tokens.saturating_add(usage.total);
    stats.cost += usage.cost;
}
