//! Finds the cut of a path: it keeps about as many tokens as asked for, and never separates a call from its result.

use crate::context::{ContextEdits, path_edits};
use crate::entry::Message;
use crate::error::Result;
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::tree::{Node, Tree};

/// One entry that is in the context or between such entries.
pub(super) struct Row {
    pub node: Node,
    /// The message of the entry in the context; none for settings, bookkeeping and entries that an edit removed.
    pub message: Option<Message>,
    pub tokens: u64,
}

/// The place of a cut.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The first row to keep.
    pub at: usize,
    /// The row that began the turn that the cut splits.
    pub turn_start: Option<usize>,
}

/// Finds where to cut so that about `keep` tokens are kept.
pub(super) fn find(session: &Session, rows: &[Row], edits: &ContextEdits, keep: u64) -> Result<Cut> {
    let mut cut_points = (0..rows.len()).filter(|place| can_begin_with(&rows[*place])).peekable();
    let Some(first) = cut_points.peek().copied() else { return Ok(Cut { at: 0, turn_start: None }) };
    let at = match reach_back(rows, keep) {
        None => first,
        Some(reached) => {
            let last = rows.iter().rposition(can_begin_with).unwrap_or(first);
            let at = cut_points.find(|place| *place >= reached).unwrap_or(last);
            if only_a_failed_turn_follows(session, rows, edits, at)? { at + 1 } else { at }
        }
    };
    // Before moving over settings: a cut at the settings in front of a prompt does not split the turn before it.
    let turn_start = split_turn(rows, at);
    Ok(Cut { at: over_silent_entries(session.tree(), rows, at), turn_start })
}

/// Returns the row from which on there are `keep` tokens; none if there are fewer.
fn reach_back(rows: &[Row], keep: u64) -> Option<usize> {
    let mut tokens = 0_u64;
    rows.iter().rposition(|row| {
        tokens = tokens.saturating_add(row.tokens);
        row.tokens > 0 && tokens >= keep
    })
}

/// Returns true if the kept part may begin with this row. A tool result would be without its call.
fn can_begin_with(row: &Row) -> bool {
    row.message.as_ref().is_some_and(|message| match message.role() {
        Role::Assistant | Role::CompactionSummary => true,
        Role::ToolResult | Role::System | Role::Other => false,
        Role::User | Role::BashExecution | Role::Custom | Role::BranchSummary | Role::FileMention => true,
    })
}

/// Returns true if a row begins a turn.
fn begins_turn(row: &Row) -> bool {
    row.message.as_ref().is_some_and(|message| match message.role() {
        Role::User | Role::BashExecution | Role::Custom | Role::BranchSummary | Role::FileMention => true,
        Role::Assistant | Role::CompactionSummary | Role::ToolResult | Role::System | Role::Other => false,
    })
}

/// Returns the start of the turn that a cut splits; none if the cut is between turns.
fn split_turn(rows: &[Row], at: usize) -> Option<usize> {
    let start = rows.iter().take(at + 1).rposition(begins_turn)?;
    (start != at).then_some(start)
}

/// Moves a cut back over entries without a message, so that the settings of the kept part stay with it.
fn over_silent_entries(tree: &Tree, rows: &[Row], at: usize) -> usize {
    let stops = |row: &Row| row.message.is_some() || tree.kind(row.node) == Kind::Compaction;
    rows.iter().take(at).rposition(stops).map_or(0, |place| place + 1)
}

/// Returns true if only a failed turn follows a row, and an edit removed it from the context.
///
/// Compaction then has to free room for another attempt, so the row itself is not kept either. If the edits behind the
/// row also shortened a message, they have freed room already.
fn only_a_failed_turn_follows(
    session: &Session,
    rows: &[Row],
    edits: &ContextEdits,
    at: usize,
) -> Result<bool> {
    let tree = session.tree();
    let behind = rows.get(at + 1..).unwrap_or_default();
    let is_silent = |row: &Row| row.message.is_none() && tree.kind(row.node) != Kind::Compaction;
    let has_failed = |row: &Row| tree.role(row.node) == Some(Role::Assistant) && edits.omits(row.node);
    if !behind.iter().all(is_silent) || !behind.iter().any(has_failed) {
        return Ok(false);
    }
    let later_edits = path_edits(session, behind.iter().map(|row| row.node))?;
    let was_replaced = |row: &Row| row.message.is_some() && later_edits.replaces(row.node);
    Ok(!rows.iter().any(was_replaced))
}
