//! Filters: the entries that have a row. All but two need the index only.

use std::fmt;

use super::body_filter::BodyFilter;
use super::forest::Order;
use crate::node_set::NodeSet;
use session_tree::{Kind, Node, Role, Tree};

/// A choice of the entries that have a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Filter {
    /// The conversation: no settings, no bookkeeping, no answers that only call tools.
    #[default]
    Default,
    /// The conversation without tool results.
    NoTools,
    /// Only prompts.
    UserOnly,
    /// Only entries with a label.
    LabeledOnly,
    /// Every entry.
    All,
    /// One row per turn: its prompt, with counts; and entries with a label.
    Turns,
    /// Only branch points and tips.
    Branches,
    /// Only what ended badly: failed and aborted answers, errors of tools, failed commands of the person,
    /// and lines that loading found to be damaged.
    Errors,
    /// Only what reads or changes files: results of `read`, `write` and `edit`, and answers with text that call them.
    Files,
}

impl Filter {
    /// All filters: those that are cycled, then those that are asked for by name.
    pub const ALL: [Filter; 9] = [
        Filter::Default,
        Filter::NoTools,
        Filter::UserOnly,
        Filter::LabeledOnly,
        Filter::All,
        Filter::Turns,
        Filter::Branches,
        Filter::Errors,
        Filter::Files,
    ];

    /// The filters that are cycled, in order. They need no reading, so that a key may go through all of them.
    pub const CYCLE: [Filter; 7] = [
        Filter::Default,
        Filter::NoTools,
        Filter::UserOnly,
        Filter::LabeledOnly,
        Filter::All,
        Filter::Turns,
        Filter::Branches,
    ];

    /// Returns the name that settings and commands use.
    pub fn name(self) -> &'static str {
        match self {
            Filter::Default => "default",
            Filter::NoTools => "no-tools",
            Filter::UserOnly => "user-only",
            Filter::LabeledOnly => "labeled-only",
            Filter::All => "all",
            Filter::Turns => "turns",
            Filter::Branches => "branches",
            Filter::Errors => "errors",
            Filter::Files => "files",
        }
    }

    /// Finds a filter by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|filter| filter.name() == name)
    }

    /// Returns the text beside the counter under the list; empty for the default.
    pub fn suffix(self) -> &'static str {
        match self {
            Filter::Default => "",
            Filter::NoTools => "[no-tools]",
            Filter::UserOnly => "[user]",
            Filter::LabeledOnly => "[labeled]",
            Filter::All => "[all]",
            Filter::Turns => "[turns]",
            Filter::Branches => "[branches]",
            Filter::Errors => "[errors]",
            Filter::Files => "[files]",
        }
    }

    /// Returns the filter after this one; after one that is not cycled comes what comes after the default.
    pub fn next(self) -> Self {
        self.step(1)
    }

    /// Returns the filter before this one; before one that is not cycled comes what comes before the default.
    pub fn previous(self) -> Self {
        self.step(Self::CYCLE.len() - 1)
    }

    fn step(self, by: usize) -> Self {
        let at = Self::CYCLE.iter().position(|filter| *filter == self).unwrap_or(0);
        Self::CYCLE[(at + by) % Self::CYCLE.len()]
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The input of filters.
pub(super) struct FilterInput<'o> {
    pub(super) tree: &'o Tree,
    pub(super) leaf: Option<Node>,
    pub(super) labelled: &'o NodeSet,
    /// Branch points and tips; only needed by the filter that shows them.
    pub(super) landmarks: &'o NodeSet,
    /// The entries that pass the filters that read bodies.
    pub(super) noted: &'o BodyFilter,
}

impl FilterInput<'_> {
    pub(super) fn shows(&self, filter: Filter, node: Node) -> bool {
        match filter {
            Filter::All => true,
            Filter::Default => self.is_conversation(node, self.tree.role(node)),
            Filter::NoTools => {
                let role = self.tree.role(node);
                role != Some(Role::ToolResult) && self.is_conversation(node, role)
            }
            Filter::UserOnly => self.is_prompt(node),
            Filter::LabeledOnly => self.labelled.has(node),
            Filter::Turns => self.is_prompt(node) || self.labelled.has(node),
            Filter::Branches => self.landmarks.has(node),
            Filter::Errors => self.noted.has(node) || self.tree.is_placeholder(node),
            Filter::Files => self.noted.has(node) && self.is_conversation(node, self.tree.role(node)),
        }
    }

    fn is_prompt(&self, node: Node) -> bool {
        self.tree.role(node) == Some(Role::User)
    }

    fn is_conversation(&self, node: Node, role: Option<Role>) -> bool {
        match role {
            Some(Role::Assistant) => self.is_answer(node),
            Some(_) => true,
            None => is_shown(self.tree.kind(node)),
        }
    }

    /// Answers that only call tools or only think are shown at the leaf alone.
    fn is_answer(&self, node: Node) -> bool {
        self.tree.has_text(node) || self.tree.ended_badly(node) || self.leaf == Some(node)
    }
}

/// Returns true for types of entries that are part of the conversation.
fn is_shown(kind: Kind) -> bool {
    match kind {
        Kind::Message
        | Kind::CustomMessage
        | Kind::Compaction
        | Kind::BranchSummary
        | Kind::ResetBoundary
        | Kind::Opaque => true,
        Kind::Label
        | Kind::Custom
        | Kind::ModelChange
        | Kind::ThinkingLevelChange
        | Kind::SessionInfo
        | Kind::ContextEdit
        | Kind::Usage
        | Kind::LeafMove
        | Kind::ModeChange
        | Kind::RuleInjection => false,
    }
}

/// Finds branch points and tips: entries below which the conversation parts, and those below which it ends.
pub(super) fn landmarks(tree: &Tree, order: &Order) -> NodeSet {
    let mut found = NodeSet::with_bound(tree.node_bound());
    // By entry: how many children carry conversation, themselves or below.
    let mut carrying = vec![0_u32; tree.node_bound()];
    for node in order.nodes(tree).rev() {
        let below = carrying[node.index()];
        let speaks = !tree.is_bookkeeping(node);
        if below > 1 || below == 0 && speaks {
            found.add(node);
        }
        if let (true, Some(parent)) = (below > 0 || speaks, tree.parent(node)) {
            carrying[parent.index()] += 1;
        }
    }
    found
}
