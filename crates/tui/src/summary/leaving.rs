//! What is left behind by a move, in figures that a person can decide by.

use session_tree::{BranchSummaryPlan, NavigationPlan, Result, Role, Session};

use crate::numbers::{count, money, tokens};

/// What is left behind.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Leaving {
    /// The name of the branch.
    pub branch: String,
    /// How many turns are left.
    pub turns: usize,
    /// How many tools were called in them.
    pub tool_calls: usize,
    /// How many tokens a summary would be made from.
    pub tokens: u64,
    /// The files that were changed there; a move changes no file.
    pub edited: Vec<String>,
    /// The model that would summarise; none if there is none.
    pub model: Option<SummaryModel>,
}

/// The model that would summarise, and what that would cost.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryModel {
    /// Its name.
    pub name: String,
    /// What the summary would cost, if that is known.
    pub cost: Option<f64>,
}

/// About how many tokens a summary has.
const SUMMARY_TOKENS: u64 = 900;

impl Leaving {
    /// Tells what a move leaves behind; none if there is nothing to summarise.
    pub fn of(
        session: &Session,
        plan: &NavigationPlan,
        summary: &BranchSummaryPlan,
        model: Option<SummaryModel>,
    ) -> Result<Option<Self>> {
        let (Some(old_leaf), true) = (plan.old_leaf, plan.can_summarize && !summary.is_empty()) else {
            return Ok(None);
        };
        let tree = session.tree();
        let is_prompt = |node: &&session_tree::Node| tree.role(**node) == Some(Role::User);
        Ok(Some(Self {
            branch: session.branch_name(old_leaf)?,
            turns: plan.abandoned.iter().filter(is_prompt).count(),
            tool_calls: session.figures(plan.abandoned.iter().copied())?.tool_calls(),
            tokens: summary.tokens,
            edited: summary.file_ops.modified_files().into_iter().map(str::to_owned).collect(),
            model,
        }))
    }

    /// Tells the figures in one line.
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

    /// Tells what a summary would take.
    pub(super) fn estimate(&self) -> String {
        let Some(model) = &self.model else { return "no model is configured".to_owned() };
        let cost = model.cost.map(|cost| format!(" (est. {})", money(cost))).unwrap_or_default();
        format!("~{} tokens with {}{cost}", tokens(SUMMARY_TOKENS.min(self.tokens.max(1))), model.name)
    }
}
