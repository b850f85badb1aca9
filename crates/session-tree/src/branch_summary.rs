//! Branch summaries: what a move of the leaf leaves behind, and which part of it a summary would tell.
//!
//! A side branch of the walk: tree -> abandoned entries -> **branch summary plan** -> a new entry
//!
//! A plan is a value. Asking a model is the application's business; it hands the answer to [`branch_summary_text`].
//! Never writes.

use crate::context::{ContentEdit, ContextEdits, Selected, message_of, path_edits};
use crate::entry::{Body, Entry, Message};
use crate::error::Result;
use crate::estimate::{CharsPerToken, Estimator};
use crate::file_ops::FileOps;
use crate::kind::{Kind, Role};
use crate::position::Position;
use crate::session::Session;
use crate::tree::Node;

/// What the stored text of a branch summary begins with.
pub const BRANCH_SUMMARY_PREAMBLE: &str = "The user explored a different conversation branch before returning here.\n\
     Summary of that exploration:\n\n";

/// The window of a model of which nothing is known.
const DEFAULT_WINDOW: u64 = 128_000;

/// Puts the stored text of a branch summary together: the preamble, what a model wrote, the lists of files.
pub fn branch_summary_text(answer: &str, file_ops: &FileOps) -> String {
    [BRANCH_SUMMARY_PREAMBLE, answer, &file_ops.text_block()].concat()
}

/// How much of an abandoned branch to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchSummarySettings {
    /// The tokens of the model's window to leave free.
    pub reserve_tokens: u64,
    /// The tokens of the model's window; 128,000 if not known. However small it is, half of it may be used.
    pub context_window: Option<u64>,
    /// Whether to tell everything, however much it is.
    pub is_unlimited: bool,
    /// Whether to tell also what the latest compaction among the abandoned entries has already summarised.
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
        // No model has a window of nothing: it was not filled in.
        let window = self.context_window.filter(|window| *window > 0).unwrap_or(DEFAULT_WINDOW);
        let budget = window.saturating_sub(self.reserve_tokens).max(window / 2);
        (!self.is_unlimited).then_some(budget)
    }
}

/// What a move of the leaf leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abandoned {
    /// The deepest entry that lies on both paths.
    pub common_ancestor: Option<Node>,
    /// The entries on the old path below it, oldest first.
    pub entries: Vec<Node>,
}

/// What a branch summary would tell.
#[derive(Debug, Clone)]
pub struct BranchSummaryPlan {
    /// What the move leaves behind.
    pub abandoned: Abandoned,
    /// The abandoned entries that are told, in the order in which a model would read them: the latest compaction
    /// among them, what it keeps, and everything after it.
    pub covered: Vec<Node>,
    /// The messages of those entries that fit, with their entries.
    pub messages: Vec<(Node, Message)>,
    /// How many older messages did not fit.
    pub omitted_older: usize,
    /// The tokens of the messages that fit.
    pub tokens: u64,
    /// The files that all covered entries touched, also those that did not fit.
    pub file_ops: FileOps,
}

impl BranchSummaryPlan {
    /// Tells whether there is nothing to tell, so that no summary should be made.
    pub fn is_empty(&self) -> bool {
        let says_nothing = |message: &Message| matches!(message.role(), Role::System | Role::Other);
        self.messages.iter().all(|(_, message)| says_nothing(message))
    }

    /// Returns the `details` that the branch summary stores, as JSON.
    pub fn details_json(&self) -> String {
        self.file_ops.details_json()
    }
}

impl Session {
    /// Returns what a move of the leaf from `old` to `target` leaves behind.
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

    /// Returns what a move leaves behind; no node is the start of the session.
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

    /// Plans a summary of what a move of the leaf from `old` to `target` leaves behind. Changes nothing.
    pub fn plan_branch_summary(
        &self,
        old: impl Into<Position>,
        target: impl Into<Position>,
        settings: &BranchSummarySettings,
    ) -> Result<BranchSummaryPlan> {
        self.plan_branch_summary_with(old, target, settings, &CharsPerToken)
    }

    /// Plans a summary as [`Session::plan_branch_summary`] does, with tokens counted by `estimator`.
    pub fn plan_branch_summary_with(
        &self,
        old: impl Into<Position>,
        target: impl Into<Position>,
        settings: &BranchSummarySettings,
        estimator: &dyn Estimator,
    ) -> Result<BranchSummaryPlan> {
        let abandoned = self.abandoned_entries(old, target)?;
        let mut fitting = Fitting::new(settings.budget(), estimator);
        let Covered { entries: covered, file_ops } =
            self.covered(&abandoned, settings.through_compactions, &mut |entry, message| {
                fitting.take(entry, message);
            })?;
        fitting.messages.reverse();
        let Fitting { messages, omitted_older, tokens, .. } = fitting;
        Ok(BranchSummaryPlan { abandoned, covered, messages, omitted_older, tokens, file_ops })
    }

    /// Finds the entries that a summary covers, and the files they touched; calls `tell` with each message that says
    /// something, newest first.
    pub(crate) fn covered(
        &self,
        abandoned: &Abandoned,
        through_compactions: bool,
        tell: &mut dyn FnMut(&Entry, Message),
    ) -> Result<Covered> {
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
            // Results are long, and what matters of them is in the answer that follows.
            if message.role() != Role::ToolResult {
                tell(&entry, message);
            }
        }
        Ok(Covered { entries, file_ops })
    }

    /// Returns those of the abandoned entries that are in the context of the path they end, in its order: the latest
    /// compaction among them, what it keeps, what follows; or what follows the latest reset boundary.
    ///
    /// Entries that it keeps above the first of `nodes` are not left behind and stay out. Older compactions are part
    /// of its summary.
    fn in_context(&self, nodes: &[Node]) -> Result<Vec<Node>> {
        let Some(last) = nodes.last() else { return Ok(Vec::new()) };
        let path = self.tree().path(*last);
        let Selected { compaction, kept, rest } = self.selected(&path)?;
        let Some(compaction) = compaction.filter(|_| rest.len() < nodes.len()) else {
            return Ok(rest[rest.len().saturating_sub(nodes.len())..].to_vec());
        };
        // What is kept ends right above the compaction, so its last entries are the abandoned ones.
        let kept = &kept[kept.len().saturating_sub(nodes.len() - rest.len() - 1)..];
        let is_compaction = |node: &Node| self.tree().kind(*node) == Kind::Compaction;
        let mut covered = vec![compaction.node()];
        covered.extend(kept.iter().copied().filter(|node| !is_compaction(node)));
        covered.extend(rest);
        Ok(covered)
    }
}

/// The entries that a summary covers.
pub(crate) struct Covered {
    /// In the order in which a model would read them.
    pub(crate) entries: Vec<Node>,
    /// The files that they touched.
    pub(crate) file_ops: FileOps,
}

/// The messages that fit so far, newest first.
struct Fitting<'s> {
    budget: Option<u64>,
    estimator: &'s dyn Estimator,
    is_full: bool,
    messages: Vec<(Node, Message)>,
    omitted_older: usize,
    tokens: u64,
}

impl<'s> Fitting<'s> {
    fn new(budget: Option<u64>, estimator: &'s dyn Estimator) -> Self {
        Self { budget, estimator, is_full: false, messages: Vec::new(), omitted_older: 0, tokens: 0 }
    }

    /// Considers the next older message.
    fn take(&mut self, entry: &Entry, message: Message) {
        let tokens = self.estimator.tokens(&message);
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

    /// Tells whether a summary may go over the budget: it stands for much, so a tenth of room is enough.
    fn has_room_for_summary(&self, kind: Kind) -> bool {
        let is_summary = matches!(kind, Kind::Compaction | Kind::BranchSummary);
        is_summary && self.budget.is_some_and(|budget| u128::from(self.tokens) * 10 < u128::from(budget) * 9)
    }
}

/// Notes the lists of files that a summary of the engine carries. What an extension put there means something else.
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

/// Returns the edit that applies to an entry. Summaries cannot be edited away here.
fn edit_of<'e>(entry: &Entry, edits: &'e ContextEdits) -> Option<&'e ContentEdit> {
    let is_editable = matches!(entry.kind(), Kind::Message | Kind::CustomMessage);
    edits.get(entry.node()).filter(|_| is_editable)
}

#[cfg(test)]
mod tests;
