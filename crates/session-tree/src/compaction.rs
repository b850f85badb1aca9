//! Compaction: plans which part of a path a summary replaces, and builds the text of that summary.
//!
//! A side branch of the walk: path -> context -> **compaction plan** -> a new entry
//!
//! The application asks a model for the summary and passes the answer to [`CompactionPlan::summary_text`]. Planning
//! never writes.

mod append;
mod cut;

use crate::context::{ContextEntries, ContextItem, path_edits};
use crate::entry::{Body, Entry, Message};
use crate::error::{Error, Result};
use crate::estimate::estimate_tokens;
use crate::file_ops::FileOps;
use crate::id::{EntryId, Stamp};
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::tree::Node;

use cut::{Cut, Row};

/// The text between the summary of the history and that of a split turn.
const SPLIT_TURN: &str = "\n\n---\n\n**Turn Context (split turn):**\n\n";

/// The text in place of an empty history.
const NO_HISTORY: &str = "No prior history.";

/// Settings of compaction: when to compact, and how much to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionSettings {
    /// True to compact automatically.
    pub enabled: bool,
    /// The tokens of the model's window to leave free.
    pub reserve_tokens: u64,
    /// The tokens of recent messages to keep as they are.
    pub keep_recent_tokens: u64,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self { enabled: true, reserve_tokens: 16_384, keep_recent_tokens: 20_000 }
    }
}

/// Returns true if a context of this size leaves too little of a window of `context_window` tokens.
pub fn should_compact(tokens: u64, context_window: u64, settings: &CompactionSettings) -> bool {
    settings.enabled && tokens.saturating_add(settings.reserve_tokens) > context_window
}

/// A planned compaction.
#[derive(Debug, Clone)]
pub struct CompactionPlan {
    session: Stamp,
    /// The end of the path that the plan was made for.
    pub leaf: EntryId,
    /// The first entry of the path that stays in the context.
    pub first_kept: EntryId,
    /// The messages that the summary replaces, with their entries, oldest first.
    pub messages_to_summarize: Vec<(Node, Message)>,
    /// The beginning of the turn that the cut splits, to be summarised separately; empty if it splits none.
    pub turn_prefix: Vec<(Node, Message)>,
    /// The entry that began the split turn.
    pub turn_start: Option<Node>,
    /// The tokens of the whole context before compaction.
    pub tokens_before: u64,
    /// The summary of the compaction before this one, which the new summary continues.
    pub previous_summary: Option<String>,
    /// The files that the summarised messages touched, and those that the previous compaction lists.
    pub file_ops: FileOps,
}

impl CompactionPlan {
    /// Builds the stored text of the summary: the parts that a model wrote, then the lists of files.
    ///
    /// `history` is the model's summary of the messages to summarise; the previous summary replaces it if there are
    /// none. `prefix` is the summary of the turn prefix, and is used only if a turn is split.
    pub fn summary_text(&self, history: Option<&str>, prefix: Option<&str>) -> String {
        let previous = self.previous_summary.as_deref().filter(|summary| !summary.is_empty());
        let mut text = history.or(previous).unwrap_or(NO_HISTORY).to_owned();
        if let (true, Some(prefix)) = (self.is_split_turn(), prefix) {
            text.push_str(SPLIT_TURN);
            text.push_str(prefix);
        }
        text.push_str(&self.file_ops.text_block());
        text
    }

    /// Returns true if the cut splits a turn.
    pub fn is_split_turn(&self) -> bool {
        self.turn_start.is_some()
    }
}

impl Session {
    /// Plans a compaction of the path to the leaf. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyCompacted`] if the path ends with a compaction, [`Error::NothingToCompact`] if everything on
    /// it would be kept.
    pub fn plan_compaction(&self, settings: &CompactionSettings) -> Result<CompactionPlan> {
        let leaf = self.leaf().ok_or(Error::NothingToCompact)?;
        self.plan_compaction_at(leaf, settings)
    }

    /// Plans a compaction of the path to an entry, as [`Session::plan_compaction`] does for the leaf.
    pub fn plan_compaction_at(&self, at: Node, settings: &CompactionSettings) -> Result<CompactionPlan> {
        if self.tree().kind(self.check_node(at)?) == Kind::Compaction {
            return Err(Error::AlreadyCompacted);
        }
        let path = self.tree().path(at);
        let context = self.context_of(Some(at))?;
        let tokens_before = self.estimate_items(&path, &context.items).tokens;
        let ContextEntries { compaction: previous, kept, rest } = self.context_entries(&path)?;
        let kept = kept.iter().filter(|node| self.tree().role(**node) != Some(Role::System));
        let nodes: Vec<Node> = kept.chain(rest).copied().collect();
        let rows = self.rows(&nodes, &context.items);
        let edits = path_edits(self, nodes.iter().copied())?;
        let cut = cut::find(self, &rows, &edits, settings.keep_recent_tokens)?;
        // A context edit can remove the previous summary from the context, so that it cannot be continued.
        let is_there = |previous: &Entry| context.items.iter().any(|item| item.source == previous.node());
        let previous = previous.filter(is_there);
        self.plan_of(at, rows, &cut, tokens_before, previous.as_ref()).ok_or(Error::NothingToCompact)
    }

    /// Joins the entries with the messages that they have in the context.
    fn rows(&self, nodes: &[Node], items: &[ContextItem]) -> Vec<Row> {
        let is_compaction = |node: Node| self.tree().kind(node) == Kind::Compaction;
        let mut items = items.iter().filter(|item| !is_compaction(item.source)).peekable();
        let row = |node: Node| {
            let item = items.next_if(|item| item.source == node);
            let message = item.map(|item| item.message.clone());
            let tokens = message.as_ref().map_or(0, estimate_tokens);
            Row { node, message, tokens }
        };
        nodes.iter().copied().map(row).collect()
    }

    /// Makes a plan of a cut; none if nothing lies before it.
    fn plan_of(
        &self,
        at: Node,
        rows: Vec<Row>,
        cut: &Cut,
        tokens_before: u64,
        previous: Option<&Entry>,
    ) -> Option<CompactionPlan> {
        let first_kept = rows.get(cut.at)?.node;
        let turn_start = cut.turn_start.map(|place| rows[place].node);
        let history_end = cut.turn_start.unwrap_or(cut.at);
        let (mut history, mut prefix, mut file_ops) = (Vec::new(), Vec::new(), FileOps::default());
        for (place, row) in rows.into_iter().enumerate().take(cut.at) {
            let Some(message) = row.message.filter(|message| message.role() != Role::System) else {
                continue;
            };
            file_ops.add_message(&message);
            if place < history_end { &mut history } else { &mut prefix }.push((row.node, message));
        }
        if history.is_empty() && prefix.is_empty() {
            return None;
        }
        let previous_summary = previous.and_then(|previous| continued(previous, &mut file_ops));
        Some(CompactionPlan {
            session: self.stamp,
            leaf: self.tree().id(at),
            first_kept: self.tree().id(first_kept),
            messages_to_summarize: history,
            turn_prefix: prefix,
            turn_start,
            tokens_before,
            previous_summary,
            file_ops,
        })
    }
}

/// Adds the files of the compaction before this one, and returns its summary.
fn continued(previous: &Entry, file_ops: &mut FileOps) -> Option<String> {
    let Body::Compaction { summary, details, from_hook, .. } = previous.body() else { return None };
    // Details of extensions have another form.
    if let (false, Some(details)) = (from_hook, details) {
        file_ops.add_details(details);
    }
    Some(summary.unwrap_or_default().into_owned())
}

#[cfg(test)]
pub(crate) mod tests;
