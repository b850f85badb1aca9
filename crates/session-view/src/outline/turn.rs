//! Statistics of turns: from a prompt to the next one.

use session_tree::json::ValueRef;
use session_tree::{Body, Entry, Kind, Node, Result, Role, Session, Tree, Usage};

use crate::node_set::NodeSet;

/// Statistics of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// True if its last answer failed.
    pub failed: bool,
    /// The tokens before the latest compaction of the turn.
    pub compacted: Option<u64>,
}

/// Computes [`Outline::turn_stats`](super::Outline::turn_stats) of all turns for a caller that reads every entry anyway, in the
/// order of an outline that shows them all.
#[derive(Debug)]
pub struct TurnWalk {
    /// By entry: the number of prompts on its path.
    numbers: Vec<u32>,
    open: Option<OpenTurn>,
}

#[derive(Debug)]
struct OpenTurn {
    prompt: Node,
    /// The entry that the turn has come to.
    last: Node,
    stats: TurnStats,
}

impl TurnWalk {
    /// Begins before the first entry.
    pub fn new(tree: &Tree) -> Self {
        Self { numbers: vec![0; tree.node_bound()], open: None }
    }

    /// Goes on to the next entry, and returns the turn that is over. `entry` may be missing for what is no answer.
    pub fn pass(&mut self, tree: &Tree, node: Node, entry: Option<&Entry>) -> Option<(Node, TurnStats)> {
        let parent = tree.parent(node);
        let above = parent.map_or(0, |parent| self.numbers[parent.index()]);
        let is_prompt = tree.role(node) == Some(Role::User);
        let number = above + u32::from(is_prompt);
        self.numbers[node.index()] = number;
        if is_prompt {
            let stats = TurnStats { number: number as usize, ..TurnStats::default() };
            return self.open.replace(OpenTurn { prompt: node, last: node, stats }).map(OpenTurn::end);
        }
        // Where a turn parts, the branch that it follows comes first.
        if let Some(open) = self.open.as_mut().filter(|open| Some(open.last) == parent) {
            open.last = node;
            entry.into_iter().for_each(|entry| open.stats.add(entry));
        }
        None
    }

    /// Ends behind the last entry, and returns the last turn.
    pub fn end(self) -> Option<(Node, TurnStats)> {
        self.open.map(OpenTurn::end)
    }
}

impl OpenTurn {
    fn end(self) -> (Node, TurnStats) {
        (self.prompt, self.stats)
    }
}

/// Follows a turn from its prompt; where it parts, along the active branch, else along the oldest.
pub(super) fn stats(session: &Session, prompt: Node, active: &NodeSet) -> Result<TurnStats> {
    let tree = session.tree();
    let is_prompt = |node: &Node| tree.role(*node) == Some(Role::User);
    let mut stats = TurnStats::default();
    let mut at = next(tree, prompt, active);
    while let Some(node) = at.filter(|node| !is_prompt(node)) {
        let is_answer = tree.role(node) == Some(Role::Assistant);
        if is_answer || matches!(tree.kind(node), Kind::Compaction | Kind::BranchSummary) {
            stats.add(&session.entry_at(node)?);
        }
        at = next(tree, node, active);
    }
    Ok(stats)
}

impl TurnStats {
    /// Counts an entry of the turn.
    fn add(&mut self, entry: &Entry) {
        match entry.body() {
            Body::Message(Some(message)) => self.add_answer(message),
            Body::Compaction { tokens_before, usage, .. } => {
                self.compacted = Some(tokens_before.unwrap_or(0.0).max(0.0) as u64);
                self.add_usage(usage);
            }
            Body::BranchSummary { usage, .. } => self.add_usage(usage),
            _ => {}
        }
    }

    fn add_answer(&mut self, message: ValueRef<'_>) {
        let [role, content, stop, usage] = message.get_each(["role", "content", "stopReason", "usage"]);
        if !role.is_some_and(|role| role.is_str("assistant")) {
            return;
        }
        self.replies += 1;
        let is_call = |block: &ValueRef<'_>| block.get("type").is_some_and(|kind| kind.is_str("toolCall"));
        self.tools += content.into_iter().flat_map(ValueRef::items).filter(is_call).count();
        self.failed = stop.is_some_and(|reason| reason.is_str("error"));
        self.add_usage(usage);
    }

    fn add_usage(&mut self, usage: Option<ValueRef<'_>>) {
        let usage = usage.map(Usage::of).unwrap_or_default();
        self.tokens = self.tokens.saturating_add(usage.total);
        self.cost += usage.cost;
    }
}

/// Counts the prompts on the path to every entry; `order` gives parents before their children.
pub(super) fn numbers(tree: &Tree, order: impl Iterator<Item = Node>) -> Vec<u32> {
    let mut numbers = vec![0; tree.node_bound()];
    for node in order {
        let above: u32 = tree.parent(node).map_or(0, |parent| numbers[parent.index()]);
        numbers[node.index()] = above + u32::from(tree.role(node) == Some(Role::User));
    }
    numbers
}

/// Finds the prompt of the turn of an entry.
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

fn next(tree: &Tree, node: Node, active: &NodeSet) -> Option<Node> {
    let mut children = tree.children(node);
    let first = children.next()?;
    let later = std::iter::once(first).chain(children).find(|child| active.has(*child));
    later.or_else(|| tree.children(node).min_by_key(|child| tree.timestamp(*child)))
}
