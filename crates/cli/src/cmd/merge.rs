//! `offshoot merge`: appends one text about another branch under the leaf.

use std::ffi::OsString;

use offshoot_agent::command::{MergeBranchRequest, MergeDraft, MergeWith, MergedBranch};
use serde_json::json;
use session_tree::{Merge, MergeOutcome, SettingDifference};

use super::cherry_pick::open_source;
use crate::app::App;
use crate::change::{Change, Changing};
use crate::error::CommandError;
use crate::talk::{command_agent, done, waiting};
use crate::ui::{Tone, count, thousands};

/// Arguments of `offshoot merge`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session to append to.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// The branch to merge, named by its tip or by an entry up to which to merge; `SESSION:REF` in another session.
    #[arg(value_name = "REF")]
    branch: String,
    /// How the text is made: a digest quotes the turns of the branch, a summary is written by the model of the
    /// session or of the settings.
    #[arg(long, value_enum, default_value_t, conflicts_with = "message")]
    mode: Mode,
    /// The subject that a summary should focus on.
    #[arg(long, value_name = "TEXT")]
    focus: Option<String>,
    /// Your own text.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
    /// The reason; stored with the merge, not sent to models.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Append a text even where moving the position is enough.
    #[arg(long)]
    no_ff: bool,
    #[command(flatten)]
    how: Changing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Mode {
    #[default]
    Digest,
    Summary,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let session = app.open_to_change(&args.session, args.how.dry_run)?;
    let (source, branch) = open_source(&args.branch, app)?;
    let with = match (&args.message, args.mode) {
        (Some(text), _) => MergeWith::Text(text.clone()),
        (None, Mode::Digest) => MergeWith::Digest,
        (None, Mode::Summary) => MergeWith::Summary { focus: args.focus.clone() },
    };
    let is_summary = matches!(with, MergeWith::Summary { .. });
    let request = MergeBranchRequest { branch, with, note: args.note.clone(), no_fast_forward: args.no_ff };
    let mut agent = command_agent(session, is_summary, app)?;
    let mut draft = agent.plan_merge(source.as_ref(), &request)?;
    let old_leaf = agent.session().leaf_id();
    if !args.how.dry_run {
        draft = done(waiting(async |cancel| agent.draft_merge(draft, cancel).await)??)?;
    } else if !args.how.json && !is_summary {
        app.ui.block(Tone::Plain, 0, draft.text())?;
    }
    for warning in draft.merge().map(merge_warnings).unwrap_or_default() {
        app.ui.tell(&format!("warning: {warning}"))?;
    }
    let mut change = described(&draft).undo_by_moving(&agent.session(), old_leaf.as_ref());
    if !args.how.dry_run {
        app.migrate(&mut agent.session())?;
        change = match done(waiting(async |cancel| agent.merge(&draft, cancel).await)??)? {
            MergedBranch::UpToDate => change.no_undo(),
            MergedBranch::FastForwarded(_) => {
                let marker = agent.keep_position()?.map(|marker| marker.to_string());
                change.field("entryId", marker)
            }
            MergedBranch::Appended { entry, .. } => {
                change.gives(entry.as_str()).field("entryId", entry.as_str())
            }
        };
    }
    let session = agent.session();
    change.session(&session).tell(app, args.how)
}

fn described(draft: &MergeDraft) -> Change {
    let merge = match &draft.plan.outcome {
        MergeOutcome::UpToDate => {
            return Change::new("merged", "merge", "nothing: all of that branch is here already")
                .field("action", "none");
        }
        MergeOutcome::FastForward { to_id, .. } => {
            return Change::new("moved", "move", format!("to {to_id}: the branch goes on from here"));
        }
        MergeOutcome::Merge(merge) => merge,
    };
    let turns = count(merge.turns - merge.omitted_turns, "turn");
    let what = format!("{turns} of \"{}\", about {} tokens", merge.branch, thousands(merge.tokens()));
    Change::new("merged", "merge", what)
        .field("branch", merge.branch.clone())
        .field("baseId", merge.base_id.as_ref().map(ToString::to_string))
        .field("sourceLeafId", merge.source_leaf.to_string())
        .field("text", draft.text())
        .field("tokens", merge.tokens())
        .field("contestedFiles", json!(merge.contested))
        .field("omittedTurns", merge.omitted_turns)
}

/// Lists what the user should know before a merge is written.
pub(crate) fn merge_warnings(merge: &Merge) -> Vec<String> {
    let mut warnings = Vec::new();
    if !merge.contested.is_empty() {
        warnings.push(format!("changed on both branches: {}", merge.contested.join(", ")));
    }
    let conflicts = merge.content.conflicts.iter();
    warnings.extend(conflicts.map(|conflict| format!("decisions differ: {}", conflict.topic)));
    warnings.extend(merge.differences.iter().map(|difference| {
        let text = match difference {
            SettingDifference::Model { theirs, .. } => {
                format!("model {}/{}", theirs.provider, theirs.model_id)
            }
            SettingDifference::ThinkingLevel { theirs, .. } => format!("thinking level {theirs}"),
        };
        format!("that branch has {text}; this one keeps its own")
    }));
    if merge.omitted_turns > 0 {
        let turns = count(merge.omitted_turns, "turn");
        warnings.push(format!("the oldest {turns} did not fit and are left out"));
    }
    warnings
}
