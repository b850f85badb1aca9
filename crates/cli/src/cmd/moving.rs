//! A move of the leaf, as `switch`, `branch-here` and `undo` make it.

use offshoot_agent::agent::{Move, SummaryRequest};
use schemars::JsonSchema;
use serde::Serialize;
use session_tree::{EntryId, NavigationPlan, Position};

use super::session_command::{Outcome, Work};
use super::texts::place;
use crate::change::{Change, Effect, SessionState};
use crate::error::CommandError;
use crate::ui::count;

// How to summarise the branch that is left. (A documentation comment would replace the help of the command.)
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(super) struct SummaryArgs {
    /// Summarise the branch that is left.
    #[arg(long = "summarize", short)]
    summarize: bool,
    /// Summarise it with a focus on this.
    #[arg(long, value_name = "TEXT")]
    focus: Option<String>,
}

impl SummaryArgs {
    /// Returns true if a summary was requested.
    pub(super) fn is_requested(&self) -> bool {
        self.summarize || self.focus.is_some()
    }

    /// Returns the summary to write.
    pub(super) fn request(&self) -> SummaryRequest {
        match (&self.focus, self.summarize) {
            (Some(focus), _) => SummaryRequest::Focus(focus.clone()),
            (None, true) => SummaryRequest::Standard,
            (None, false) => SummaryRequest::Skip,
        }
    }
}

/// The JSON of a move.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Moved {
    /// True if the leaf moved.
    pub(super) moved: bool,
    #[serde(flatten)]
    pub(super) plan: Option<NavigationPlan>,
    /// The number of entries that are left behind.
    pub(super) abandoned_entries: usize,
    /// The branch summary that was appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary_id: Option<EntryId>,
    #[serde(flatten)]
    pub(super) session: SessionState,
}

/// The output of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MoveOutput {
    /// The id of the new leaf.
    Leaf,
    /// The text of the prompt that was taken back.
    Prompt,
}

/// Moves the leaf as planned.
pub(super) async fn go(planned: Move, gives: MoveOutput, work: &mut Work<'_>) -> Outcome {
    if planned.summary != SummaryRequest::Skip {
        work.choose_model().await?;
    }
    let plan = planned.plan.clone();
    let (old_leaf, new_leaf) = (work.leaf(), plan.new_leaf.clone());
    let (abandoned, target) = work.agent.read(|session| {
        let new_leaf = new_leaf.as_ref().map(|id| session.node(id.as_str())).transpose()?;
        let target = Position::entry_or_start(plan.new_leaf.as_ref());
        let abandoned = session.abandoned_entries(Position::Leaf, target)?.entries.len();
        Ok::<_, CommandError>((abandoned, place(session, new_leaf)?))
    })?;
    // The leaf may be the parent of the prompt that is taken back.
    let stays = plan.is_noop || old_leaf == new_leaf;
    let mut summary = None;
    if !work.dry_run && !plan.is_noop {
        summary = work.finish(work.agent.go(planned)).await?.summary_entry;
    }
    let change = match stays {
        true => Change::new("stayed", "stay", format!("at {target}")),
        false => {
            let left = match abandoned {
                0 => String::new(),
                left => format!(", {} left behind", count(left, "entry")),
            };
            Change::new("moved", "move", format!("to {target}{left}"))
                .undo_by_moving(&work.file(), old_leaf.as_ref())
        }
    };
    let mut change = match (gives, &new_leaf, &plan.editor_text) {
        (MoveOutput::Leaf, Some(leaf), _) => change.gives(leaf.as_str()),
        (MoveOutput::Prompt, _, Some(prompt)) => change.gives(prompt.clone()),
        (MoveOutput::Leaf | MoveOutput::Prompt, ..) => change,
    };
    if !work.is_chat && !plan.images.is_empty() {
        let images = count(plan.images.len(), "image");
        change = change.note(format!("the prompt had {images}; --json prints them"));
    }
    let is_noop = plan.is_noop;
    let (prompt, images) = (plan.editor_text.clone(), plan.images.clone());
    let session = work.state();
    let change = change.json(Moved {
        moved: !stays,
        plan: Some(plan),
        abandoned_entries: abandoned,
        summary_id: summary,
        session,
    })?;
    if is_noop {
        return Ok(change);
    }
    Ok(change.effect(Effect::Moved { prompt, images, remembered: None }))
}
