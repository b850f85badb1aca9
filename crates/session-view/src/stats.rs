//! Statistics of a session: entries, turns, tools, tokens, cost, bytes.
//!
//! A side branch of *tree*: entries -> **stats** -> comparison, branch table
//!
//! One pass over the entries asked for. Bodies that hold no figure are not read, and no body is kept. Numbers are
//! those that the file states; nothing is estimated and no price list is known. Reads, never writes.

mod branch;
mod count;

use std::collections::BTreeMap;

use session_tree::{Entry, Kind, ModelRef, Node, PlainResult, Result, Role, Session, Timestamp, Usage};

pub use branch::{BranchRow, BranchStats, branch_table, iter_branch_table};

/// Counts of a part of a session.
///
/// ```
/// use session_tree::{Message, Options, Role};
/// use session_view::Stats;
///
/// let mut session = Options::new().in_memory("/project")?;
/// session.append(Message::user("Build a CLI"))?;
/// session.append(Message::user("Use Rust"))?;
///
/// let stats = Stats::of(&session)?;
/// assert_eq!((stats.entries, stats.turns), (2, 2));
/// assert_eq!(stats.messages(Role::User).count, 2);
/// # Ok::<(), session_tree::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stats {
    /// How many entries there are.
    pub entries: usize,
    /// The bytes of their lines, without line feeds.
    pub bytes: u64,
    /// Entries by type, only types that occur, in the order of the variants of [`Kind`].
    #[cfg_attr(feature = "serde", serde(skip))]
    pub kinds: Vec<(Kind, Total)>,
    /// Messages by role, only roles that occur, in the order of the variants of [`Role`].
    #[cfg_attr(feature = "serde", serde(rename = "answers", serialize_with = "answers"))]
    #[cfg_attr(feature = "schema", schemars(with = "usize", description = "How many answers there are."))]
    pub roles: Vec<(Role, Total)>,
    /// How many prompts there are.
    pub turns: usize,
    /// How many answers ended in an error.
    pub failed: usize,
    /// How many answers were aborted.
    pub aborted: usize,
    /// Calls by the name of the tool.
    pub tools: BTreeMap<String, ToolStats>,
    /// Tokens and cost of everything that reports any: answers, tool results, usage entries, compactions and branch
    /// summaries.
    pub usage: Usage,
    /// Tokens and cost by `provider/model`. What does not name its model, such as a compaction, is in no part.
    pub models: BTreeMap<String, ModelStats>,
    /// The model of the last answer that names one.
    pub last_model: Option<ModelRef>,
    /// How many compactions there are.
    pub compactions: usize,
    /// How many branch summaries there are, merges included.
    pub branch_summaries: usize,
    /// How many of the branch summaries are merges.
    pub merges: usize,
    /// The images in messages, and the length of their data in base64.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub images: Total,
    /// The entries with the longest lines, longest first; at most [`Stats::MAX_LARGEST`].
    #[cfg_attr(feature = "serde", serde(skip))]
    pub largest: Vec<(Node, u64)>,
    /// The earliest time of an entry.
    pub earliest: Option<Timestamp>,
    /// The latest time of an entry.
    pub latest: Option<Timestamp>,
}

/// How many there are of something, and how many bytes they take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Total {
    /// How many.
    pub count: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// How often a tool was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolStats {
    /// How often the model called it.
    pub calls: usize,
    /// How many results there are; fewer than calls if a run was cut off.
    pub results: usize,
    /// How many of the results are errors.
    pub errors: usize,
}

/// Answers and usage of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelStats {
    /// How many answers it gave.
    pub answers: usize,
    /// The tokens and the cost of these answers, and of usage entries that name the model.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub usage: Usage,
}

impl Stats {
    /// How many entries [`Stats::largest`] holds at the most.
    pub const MAX_LARGEST: usize = 10;

    /// Counts all entries of all branches.
    pub fn of(session: &Session) -> Result<Self> {
        Self::of_entries(session, session.tree().nodes())
    }

    /// Counts the entries from the root to an entry; none for `None`.
    pub fn of_path(session: &Session, to: Option<Node>) -> Result<Self> {
        Self::of_entries(session, to.map_or_else(Vec::new, |to| session.tree().path(to)))
    }

    /// Counts entries, each as often as it is given. The last model is that of the last answer given.
    pub fn of_entries(session: &Session, nodes: impl IntoIterator<Item = Node>) -> Result<Self> {
        let mut stats = Self::default();
        for node in nodes {
            if stats.count(session, node) {
                stats.read(&session.entry_at(node)?);
            }
        }
        Ok(stats)
    }

    /// Counts an entry that the caller has read.
    pub fn add(&mut self, session: &Session, entry: &Entry) {
        if self.count(session, entry.node()) {
            self.read(entry);
        }
    }

    /// Counts a tool result that was not decoded.
    pub fn add_plain_result(&mut self, session: &Session, node: Node, result: &PlainResult<'_>) {
        self.count(session, node);
        self.count_result(result.tool, result.is_error);
    }

    /// Returns how many entries of a type there are, and their bytes.
    pub fn kind(&self, kind: Kind) -> Total {
        total_of(&self.kinds, &kind)
    }

    /// Returns how many messages of a role there are, and their bytes.
    pub fn messages(&self, role: Role) -> Total {
        total_of(&self.roles, &role)
    }

    /// Returns how often the model called a tool, whichever.
    pub fn tool_calls(&self) -> usize {
        self.tools.values().map(|tool| tool.calls).sum()
    }

    /// Returns how many tool results are errors, of whichever tool.
    pub fn tool_errors(&self) -> usize {
        self.tools.values().map(|tool| tool.errors).sum()
    }
}

#[cfg(feature = "serde")]
fn answers<S: serde::Serializer>(
    roles: &[(Role, Total)],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_u64(total_of(roles, &Role::Assistant).count as u64)
}

fn total_of<T: PartialEq>(totals: &[(T, Total)], wanted: &T) -> Total {
    totals.iter().find(|(name, _)| name == wanted).map_or_else(Total::default, |(_, total)| *total)
}

#[cfg(test)]
mod tests;
