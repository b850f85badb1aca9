//! Figures: what a session holds in numbers. Entries, turns, tools, tokens, cost, bytes.
//!
//! A side branch of *tree*: entries -> **figures** -> comparison, branch table
//!
//! One pass over the entries asked for. Bodies that hold no figure are not read, and no body is kept. Numbers are
//! those that the file states; nothing is estimated and no price list is known. Reads, never writes.

mod branch;
mod count;

use std::collections::BTreeMap;

use crate::context::ModelRef;
use crate::entry::{Entry, PlainResult, Usage};
use crate::error::Result;
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::time::Timestamp;
use crate::tree::Node;

pub use branch::{BranchFigures, BranchRow};

/// What a part of a session holds in numbers.
///
/// ```
/// use session_tree::{Options, Role};
///
/// let mut session = Options::new().in_memory("/project")?;
/// session.append_user_text("Build a CLI")?;
/// session.append_user_text("Use Rust")?;
///
/// let figures = session.figures_of_all()?;
/// assert_eq!((figures.entries, figures.turns), (2, 2));
/// assert_eq!(figures.messages(Role::User).count, 2);
/// # Ok::<(), session_tree::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Figures {
    /// How many entries there are.
    pub entries: usize,
    /// The bytes of their lines, without line feeds.
    pub bytes: u64,
    /// Entries by type, in the order of [`Kind::ALL`]; only types that occur.
    pub kinds: Vec<(Kind, Share)>,
    /// Messages by role, in the order of [`Role::ALL`]; only roles that occur.
    pub roles: Vec<(Role, Share)>,
    /// How many prompts there are.
    pub turns: usize,
    /// How many answers ended in an error.
    pub failed: usize,
    /// How many answers were aborted.
    pub aborted: usize,
    /// Calls by the name of the tool.
    pub tools: BTreeMap<String, ToolFigures>,
    /// Tokens and cost of everything that reports any: answers, tool results, usage entries, compactions and branch
    /// summaries.
    pub usage: Usage,
    /// Tokens and cost by `provider/model`. What does not name its model, such as a compaction, is in no part.
    pub models: BTreeMap<String, ModelFigures>,
    /// The model of the last answer that names one.
    pub last_model: Option<ModelRef>,
    /// How many compactions there are.
    pub compactions: usize,
    /// How many branch summaries there are, merges included.
    pub branch_summaries: usize,
    /// How many of the branch summaries are merges.
    pub merges: usize,
    /// The images in messages, and the length of their data in base64.
    pub images: Share,
    /// The entries with the longest lines, longest first; at most [`Figures::MOST_LARGEST`].
    pub largest: Vec<(Node, u64)>,
    /// The earliest time of an entry.
    pub earliest: Option<Timestamp>,
    /// The latest time of an entry.
    pub latest: Option<Timestamp>,
}

/// How many there are of something, and how many bytes they take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// How many.
    pub count: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// How often a tool was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolFigures {
    /// How often the model called it.
    pub calls: usize,
    /// How many results there are; fewer than calls if a run was cut off.
    pub results: usize,
    /// How many of the results are errors.
    pub errors: usize,
}

/// What a model was used for.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelFigures {
    /// How many answers it gave.
    pub answers: usize,
    /// The tokens and the cost of these answers, and of usage entries that name the model.
    pub usage: Usage,
}

impl Figures {
    /// How many entries [`Figures::largest`] holds at the most.
    pub const MOST_LARGEST: usize = 10;

    /// Counts an entry that somebody has read.
    pub fn add(&mut self, session: &Session, entry: &Entry) {
        if self.count(session, entry.node()) {
            self.read(entry);
        }
    }

    /// Counts a tool result that nobody had to decode.
    pub fn add_plain_result(&mut self, session: &Session, node: Node, result: &PlainResult<'_>) {
        self.count(session, node);
        self.count_result(result.tool, result.is_error);
    }

    /// Returns how many entries of a type there are, and their bytes.
    pub fn kind(&self, kind: Kind) -> Share {
        share_of(&self.kinds, &kind)
    }

    /// Returns how many messages of a role there are, and their bytes.
    pub fn messages(&self, role: Role) -> Share {
        share_of(&self.roles, &role)
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

/// Reading.
impl Session {
    /// Counts entries, each as often as it is given. The last model is that of the last answer given.
    pub fn figures(&self, nodes: impl IntoIterator<Item = Node>) -> Result<Figures> {
        let mut figures = Figures::default();
        for node in nodes {
            if figures.count(self, node) {
                figures.read(&self.entry_at(node)?);
            }
        }
        Ok(figures)
    }

    /// Counts the entries from the root to an entry; none before the first one.
    pub fn figures_of_path(&self, to: Option<Node>) -> Result<Figures> {
        self.figures(to.map_or_else(Vec::new, |to| self.tree().path(to)))
    }

    /// Counts all entries of all branches.
    pub fn figures_of_all(&self) -> Result<Figures> {
        self.figures(self.tree().nodes())
    }
}

fn share_of<T: PartialEq>(shares: &[(T, Share)], wanted: &T) -> Share {
    shares.iter().find(|(name, _)| name == wanted).map_or_else(Share::default, |(_, share)| *share)
}

#[cfg(test)]
mod tests;
