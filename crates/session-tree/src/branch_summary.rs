//! Branch summaries: the entries that a move of the leaf abandons, and the plan of a summary of them.
//!
//! A side branch of the walk: tree -> abandoned entries -> **branch summary plan** -> a new entry
//!
//! The application asks a model for the summary and passes the answer to [`branch_summary_text`]. Never writes.

use crate::context::{ContentEdit, ContextEdits, ContextEntries, message_of, path_edits};
use crate::entry::{Body, Entry, Message};
use crate::error::Result;
use crate::estimate::estimate_tokens;
use crate::file_ops::FileOps;
use crate::kind::{Kind, Role};
use crate::position::Position;
use crate::session::Session;
use crate::tree::Node;

/// The beginning of the stored text of a branch summary.
pub const BRANCH_SUMMARY_PREAMBLE: &str = "The user explored a different conversation branch before returning here.\n\
     Summary of that exploration:\n\n";

/// The assumed window of an unknown model.
const DEFAULT_WINDOW: u64 = 128_000;

/// Builds the stored text of a branch summary: the preamble, the answer of a model, the lists of files.
pub fn branch_summary_text(answer: &str, file_ops: &FileOps) -> String {
    [BRANCH_SUMMARY_PREAMBLE, answer, &file_ops.text_block()].concat()
}

/// Settings of branch summaries: how much of an abandoned branch to summarise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchSummarySettings {
    /// The tokens of the model's window to leave free.
    pub reserve_tokens: u64,
    /// The tokens of the model's window; 128,000 if not known. However small it is, half of it may be used.
    pub context_window: Option<u64>,
    /// True to summarise everything, whatever its size.
    pub is_unlimited: bool,
    /// True to include entries that the latest compaction among the abandoned entries has summarised.
    pub through_compactions: bool,
}

impl Default for BranchSummarySettings {
    fn default() -> Self {
        Self { reserve_tokens: 16_384, context_window: None, is_unlimited: false, through_compactions: false }
    }
}

impl BranchSummarySettings {
    /// Returns the tokens that the messages may take; none if there is no limit.
    fn budget(&self) -> Option<u64> {
        // A window of 0 means that it is unknown.
        let window = self.context_window.filter(|window| *window > 0).unwrap_or(DEFAULT_WINDOW);
        let budget = window.saturating_sub(self.reserve_tokens).max(window / 2);
        (!self.is_unlimited).then_some(budget)
    }
}

/// The entries that a move of the leaf abandons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abandoned {
    /// The deepest entry that lies on both paths.
    pub common_ancestor: Option<Node>,
    /// The entries on the old path below it, oldest first.
    pub entries: Vec<Node>,
}

/// A planned branch summary.
#[derive(Debug, Clone)]
pub struct BranchSummaryPlan {
    /// The entries that the move abandons.
    pub abandoned: Abandoned,
    /// The abandoned entries to summarise, in the order in which a model would read them: the latest compaction among
    /// them, the entries that it keeps, and all entries after it.
    pub covered: Vec<Node>,
    /// The messages of those entries that fit, with their entries.
    pub messages: Vec<(Node, Message)>,
    /// The number of older messages that did not fit.
    pub omitted_older: usize,
    /// The tokens of the messages that fit.
    pub tokens: u64,
    /// The files that all covered entries touched, also those that did not fit.
    pub file_ops: FileOps,
}

impl BranchSummaryPlan {
    /// Returns true if there is nothing to summarise.
    pub fn is_empty(&self) -> bool {
        let says_nothing = |message: &Message| matches!(message.role(), Role::System | Role::Other);
        self.messages.iter().all(|(_, message)| says_nothing(message))
    }
}

impl Session {
    /// Returns the entries that a move of the leaf from `old` to `target` abandons.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEntry`](crate::Error::UnknownEntry) if there is no such entry.
    pub fn abandoned_entries(
        &self,
        old: impl Into<Position>,
        target: impl Into<Position>,
    ) -> Result<Abandoned> {
        Ok(self.abandoned_nodes(self.node_of(&old.into())?, self.node_of(&target.into())?))
    }

    /// Returns the entries that a move abandons; no node is the start of the session.
    pub(crate) fn abandoned_nodes(&self, old: Option<Node>, target: Option<Node>) -> Abandoned {
        let Some(old) = old else { return Abandoned { common_ancestor: None, entries: Vec::new() } };
        let Some(target) = target else {
            return Abandoned { common_ancestor: None, entries: self.tree().path(old) };
        };
        Abandoned {
            common_ancestor: self.tree().common_ancestor(old, target),
            entries: self.tree().abandoned(old, target),
        }
    }

    /// Plans a summary of the entries that a move of the leaf from `old` to `target` abandons. Changes nothing.
    pub fn plan_branch_summary(
        &self,
        old: impl Into<Position>,
        target: impl Into<Position>,
        settings: &BranchSummarySettings,
    ) -> Result<BranchSummaryPlan> {
        let abandoned = self.abandoned_entries(old, target)?;
        let mut fitting = Fitting { budget: settings.budget(), ..Fitting::default() };
        let (covered, file_ops) =
            self.covered(&abandoned, settings.through_compactions, &mut |entry, message| {
                fitting.take(entry, message);
            })?;
        fitting.messages.reverse();
        let Fitting { messages, omitted_older, tokens, .. } = fitting;
        Ok(BranchSummaryPlan { abandoned, covered, messages, omitted_older, tokens, file_ops })
    }

    /// Finds the entries that a summary covers, in the order in which a model would read them, and the files they touched.
    /// Calls `take` with each message except tool results, newest first.
    pub(crate) fn covered(
        &self,
        abandoned: &Abandoned,
        through_compactions: bool,
        take: &mut dyn FnMut(&Entry, Message),
    ) -> Result<(Vec<Node>, FileOps)> {
        let entries = if through_compactions {
            abandoned.entries.clone()
        } else {
            self.in_context(&abandoned.entries)?
        };
        let edits = path_edits(self, entries.iter().copied())?;
        let mut file_ops = FileOps::default();
        for node in entries.iter().rev() {
            let entry = self.entry_at(*node)?;
            add_details(&mut file_ops, &entry);
            let Some(message) = message_of(&entry, edit_of(&entry, &edits)) else { continue };
            file_ops.add_message(&message);
            // Results are long, and the answer that follows contains what matters of them.
            if message.role() != Role::ToolResult {
                take(&entry, message);
            }
        }
        Ok((entries, file_ops))
    }

    /// Returns the abandoned entries that are in the context of their path, in its order: the latest compaction among
    /// them, the entries that it keeps, the entries that follow; or the entries after the latest reset boundary.
    ///
    /// Kept entries above the first of `nodes` are not abandoned and stay out. The summary of the compaction includes
    /// older compactions.
    fn in_context(&self, nodes: &[Node]) -> Result<Vec<Node>> {
        let Some(last) = nodes.last() else { return Ok(Vec::new()) };
        let path = self.tree().path(*last);
        let ContextEntries { compaction, kept, rest } = self.context_entries(&path)?;
        let Some(compaction) = compaction.filter(|_| rest.len() < nodes.len()) else {
            return Ok(rest[rest.len().saturating_sub(nodes.len())..].to_vec());
        };
        // The kept entries end right above the compaction, so the last ones are abandoned.
        let kept = &kept[kept.len().saturating_sub(nodes.len() - rest.len() - 1)..];
        let is_compaction = |node: &Node| self.tree().kind(*node) == Kind::Compaction;
        let mut covered = vec![compaction.node()];
        covered.extend(kept.iter().copied().filter(|node| !is_compaction(node)));
        covered.extend(rest);
        Ok(covered)
    }
}

/// The messages that fit so far, newest first.
#[derive(Default)]
struct Fitting {
    budget: Option<u64>,
    is_full: bool,
    messages: Vec<(Node, Message)>,
    omitted_older: usize,
    tokens: u64,
}

impl Fitting {
    /// Adds the next older message if it fits.
    fn take(&mut self, entry: &Entry, message: Message) {
        let tokens = estimate_tokens(&message);
        let fits = self.budget.is_none_or(|budget| self.tokens.saturating_add(tokens) <= budget);
        if self.is_full || !(fits || self.has_room_for_summary(entry.kind())) {
            self.is_full = true;
            self.omitted_older += 1;
            return;
        }
        self.is_full = !fits;
        self.tokens = self.tokens.saturating_add(tokens);
        self.messages.push((entry.node(), message));
    }

    /// Returns true if a summary may exceed the budget: it replaces many entries, so a tenth of room is enough.
    fn has_room_for_summary(&self, kind: Kind) -> bool {
        let is_summary = matches!(kind, Kind::Compaction | Kind::BranchSummary);
        is_summary && self.budget.is_some_and(|budget| u128::from(self.tokens) * 10 < u128::from(budget) * 9)
    }
}

/// Adds the lists of files of an earlier summary. Details of extensions have another form.
fn add_details(file_ops: &mut FileOps, entry: &Entry) {
    let details = match entry.body() {
        Body::BranchSummary { details, from_hook: false, .. } => details,
        Body::Compaction { details, from_hook: false, .. } => details,
        _ => None,
    };
    if let Some(details) = details {
        file_ops.add_details(details);
    }
}

/// Returns the edit that applies to an entry. Edits of summaries are ignored.
fn edit_of<'e>(entry: &Entry, edits: &'e ContextEdits) -> Option<&'e ContentEdit> {
    let is_editable = matches!(entry.kind(), Kind::Message | Kind::CustomMessage);
    edits.get(entry.node()).filter(|_| is_editable)
}

#[cfg(test)]
mod tests;
