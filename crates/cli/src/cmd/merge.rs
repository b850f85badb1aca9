//! `merge`: appends one text about another branch at the leaf.

use offshoot_agent::command::{MergeBranchRequest, MergeDraft, MergeWith, MergedBranch};
use offshoot_tui::app::merge_warnings;
use schemars::JsonSchema;
use serde::Serialize;
use session_tree::EntryId;
use session_tree::merge::{MergeOutcome, MergePlan};

use super::cherry_pick::open_source;
use super::session_command::{Outcome, Work};
use crate::change::{Change, Effect, SessionState};
use crate::ui::{count, thousands};

/// Summarise another branch at the current position.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = "\
Files are never changed. The text says what the other branch did, and which files both branches
changed.

Examples:
  offshoot merge branch:2                   quote the turns of the second branch
  offshoot merge branch:2 --mode summary    let the model write a summary
  offshoot merge branch:2 -m 'use a mutex'  write it yourself")]
pub(crate) struct Args {
    /// The branch to merge, named by its tip or by an entry up to which to merge; `SESSION:REF` in another session.
    #[arg(value_name = "REF")]
    pub(crate) branch: String,
    /// How the text is made: a digest quotes the turns of the branch, a summary is written by a model. The default is a
    /// summary in the chat, and a digest elsewhere.
    #[arg(long, value_enum, conflicts_with = "message")]
    mode: Option<Mode>,
    /// The subject that a summary should focus on.
    #[arg(long, value_name = "TEXT")]
    focus: Option<String>,
    /// Your own text.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
    /// The reason; stored with the merge, not sent to models.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Append a text even where moving the leaf is enough.
    #[arg(long)]
    no_ff: bool,
    /// Write the text without showing it first. Only the chat shows it.
    #[arg(long)]
    pub(crate) no_review: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    Digest,
    Summary,
}

/// The JSON of a merge.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Merged {
    #[serde(flatten)]
    plan: MergePlan,
    /// The entry that was appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_id: Option<EntryId>,
    #[serde(flatten)]
    session: SessionState,
}

impl Merged {
    fn of(draft: &MergeDraft, entry_id: Option<EntryId>, work: &Work<'_>) -> Self {
        Merged { plan: draft.plan.clone(), entry_id, session: work.state() }
    }
}

impl Args {
    /// Returns true if a model writes the text.
    pub(crate) fn writes_summary(&self, is_chat: bool) -> bool {
        let default = if is_chat { Mode::Summary } else { Mode::Digest };
        self.message.is_none() && (self.mode.unwrap_or(default) == Mode::Summary || self.focus.is_some())
    }

    /// Returns the request for the agent.
    pub(crate) fn request(&self, is_chat: bool) -> MergeBranchRequest {
        let with = match &self.message {
            Some(text) => MergeWith::Text(text.clone()),
            None if self.writes_summary(is_chat) => MergeWith::Summary { focus: self.focus.clone() },
            None => MergeWith::Digest,
        };
        let (branch, note) = (self.branch.clone(), self.note.clone());
        MergeBranchRequest { branch, with, note, no_fast_forward: self.no_ff }
    }
}

pub(crate) async fn run(args: &Args, work: &mut Work<'_>) -> Outcome {
    let (source, branch) = open_source(&args.branch, work.app)?;
    let is_summary = args.writes_summary(work.is_chat);
    if is_summary {
        work.choose_model().await?;
    }
    let request = MergeBranchRequest { branch, ..args.request(work.is_chat) };
    let mut draft = work.agent.plan_merge(source, request).await?;
    if !work.dry_run {
        draft = work.finish(work.agent.draft_merge(draft)).await?;
    }
    apply(&draft, work).await
}

/// Writes a merge whose text is made, or reports it in a dry run.
pub(crate) async fn apply(draft: &MergeDraft, work: &mut Work<'_>) -> Outcome {
    let old_leaf = work.leaf();
    let mut change = described(draft);
    for warning in draft.merge().map(merge_warnings).unwrap_or_default() {
        change = change.note(format!("warning: {warning}"));
    }
    change = change.undo_by_moving(&work.file(), old_leaf.as_ref());
    if work.dry_run {
        if draft.merge().is_some() {
            change = change.preview(draft.text());
        }
        return change.json(Merged::of(draft, None, work));
    }
    let merged = work.finish(work.agent.merge(draft.clone())).await?;
    let mut entry_id = None;
    change = match merged {
        MergedBranch::UpToDate => change.no_undo(),
        MergedBranch::FastForwarded(arrival) => change.effect(Effect::Moved {
            prompt: arrival.editor_text,
            images: arrival.images,
            remembered: None,
        }),
        MergedBranch::Appended { entry, .. } => {
            let change = change.gives(entry.as_str()).effect(Effect::Appended { model: None });
            entry_id = Some(entry);
            change
        }
    };
    change.json(Merged::of(draft, entry_id, work))
}

fn described(draft: &MergeDraft) -> Change {
    let merge = match &draft.plan.outcome {
        MergeOutcome::UpToDate => {
            return Change::new("merged", "merge", "nothing: already up to date").action("none");
        }
        MergeOutcome::FastForward { to } => {
            return Change::new("moved", "move", format!("to {to}: that branch continues this one"));
        }
        MergeOutcome::Merge(merge) => merge,
    };
    let turns = count(merge.turns - merge.omitted_turns, "turn");
    let size = match draft.text() {
        "" => "with a summary by a model".to_owned(),
        _ => format!("about {} tokens", thousands(merge.tokens())),
    };
    let what = format!("{turns} of \"{}\", {size}", merge.branch);
    Change::new("merged", "merge", what)
}
