//! The figures of the branch that a move leaves.

use session_tree::{BranchSummaryPlan, NavigationPlan, Node, Result, Role, Session, estimate_tokens};

use crate::numbers::{count, tokens};

/// The branch that a move leaves.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeftBranch {
    /// The name of the branch.
    pub branch: String,
    /// The number of turns.
    pub turns: usize,
    /// The number of tool calls.
    pub tool_calls: usize,
    /// The estimated tokens of all messages, results of tools included.
    pub tokens: u64,
    /// The files that were changed there; a move changes no file.
    pub edited: Vec<String>,
    /// The name of the model that would summarise, if there is one.
    pub model: Option<String>,
}

/// The usual number of tokens of a summary.
const SUMMARY_TOKENS: u64 = 900;

impl LeftBranch {
    /// Returns the figures of a move; none if there is nothing to summarise.
    pub fn of(
        session: &Session,
        plan: &NavigationPlan,
        summary: &BranchSummaryPlan,
        model: Option<String>,
    ) -> Result<Option<Self>> {
        let (Some(old_leaf), true) = (&plan.old_leaf, plan.can_summarize && !summary.is_empty()) else {
            return Ok(None);
        };
        let tree = session.tree();
        let is_prompt = |node: &&Node| tree.role(**node) == Some(Role::User);
        let messages = plan.abandoned.iter().filter_map(|node| session.entry_at(*node).ok()?.to_message());
        Ok(Some(Self {
            branch: session.branch_name(session.node(old_leaf.as_str())?)?,
            turns: plan.abandoned.iter().filter(is_prompt).count(),
            tool_calls: session_view::Stats::of_entries(session, plan.abandoned.iter().copied())?
                .tool_calls(),
            tokens: messages.map(|message| estimate_tokens(&message)).sum(),
            edited: summary.file_ops.modified_files().into_iter().map(str::to_owned).collect(),
            model,
        }))
    }

    /// Returns the figures in one line.
    pub(super) fn figures(&self) -> String {
        let mut parts = vec![count(self.turns, "turn"), count(self.tool_calls, "tool call")];
        parts.push(format!("~{} tokens", tokens(self.tokens)));
        match self.edited.split_first() {
            None => {}
            Some((file, [])) => parts.push(format!("edited: {file}")),
            Some((file, more)) => parts.push(format!("edited: {file} and {} more", more.len())),
        }
        parts.join(", ")
    }

    /// Returns the estimated cost of a summary.
    pub(super) fn estimate(&self) -> String {
        let Some(model) = &self.model else { return "no model is configured".to_owned() };
        format!("~{} tokens with {model}", tokens(SUMMARY_TOKENS.min(self.tokens.max(1))))
    }
}
