//! `offshoot merge`: what another branch achieved, told in one entry under the leaf.

use std::ffi::OsString;

use serde_json::json;
use session_tree::{Merge, MergeContent, MergeOutcome, MergeRequest, Merged, Session, SettingDifference};

use super::cherry_pick::open_source;
use crate::app::App;
use crate::change::{Change, Changing};
use crate::error::CommandError;
use crate::ui::{Tone, count, thousands};

/// Arguments of `offshoot merge`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session to append to.
    #[arg(value_name = "SESSION")]
    session: OsString,
    /// The branch to merge, named by its tip or an entry up to which to merge; `SESSION:REF` in another session.
    #[arg(value_name = "REF")]
    branch: String,
    /// How the text is made: a digest quotes the turns of the branch.
    #[arg(long, value_enum, default_value_t, conflicts_with = "message")]
    mode: Mode,
    /// Tell it in your own words.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
    /// The most tokens that a digest may take; the oldest turns are left out first.
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// Why; kept with the merge, not shown to models.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Write a text also where moving the position would do.
    #[arg(long)]
    no_ff: bool,
    #[command(flatten)]
    how: Changing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Mode {
    #[default]
    Digest,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let mut session = app.open_to_change(&args.session, args.how.dry_run)?;
    let (other, reference) = open_source(&args.branch, app)?;
    let plan = {
        let source = other.as_ref().unwrap_or(&session);
        session.plan_merge(source, source.resolve(&reference)?, &args.request())?
    };
    let old_leaf = session.leaf_id();
    if let (Some(merge), true) = (plan.merge(), args.how.dry_run && !args.how.json) {
        app.ui.block(Tone::Plain, 0, &merge.content.text)?;
    }
    if let Some(merge) = plan.merge() {
        warn(merge, app)?;
    }
    let change = match &plan.outcome {
        MergeOutcome::UpToDate => {
            Change::new("merged", "merge", "nothing: all of that branch is here already")
                .field("action", "none")
        }
        MergeOutcome::FastForward { to_id, .. } => {
            Change::new("moved", "move", format!("to {to_id}: the branch goes on from here"))
        }
        MergeOutcome::Merge(merge) => told(merge),
    };
    let change = change.undo_by_moving(&session, old_leaf.as_ref());
    if args.how.dry_run {
        return change.session(&session).tell(app, args.how);
    }
    app.migrate(&mut session)?;
    let merged = session.apply_merge(&plan)?;
    session.barrier()?;
    finish(change, &merged, &session).tell(app, args.how)
}

impl Args {
    fn request(&self) -> MergeRequest {
        let content = match &self.message {
            Some(text) => MergeContent::Text(text.clone()),
            None => MergeContent::Digest { budget_tokens: self.budget },
        };
        MergeRequest { content, note: self.note.clone(), no_fast_forward: self.no_ff }
    }
}

fn told(merge: &Merge) -> Change {
    let turns = count(merge.turns - merge.omitted_turns, "turn");
    let what = format!("{turns} of \"{}\", about {} tokens", merge.branch, thousands(merge.tokens()));
    Change::new("merged", "merge", what)
        .field("branch", merge.branch.clone())
        .field("baseId", merge.base_id.as_ref().map(ToString::to_string))
        .field("sourceLeafId", merge.source_leaf.to_string())
        .field("text", merge.content.text.clone())
        .field("tokens", merge.tokens())
        .field("contestedFiles", json!(merge.contested))
        .field("omittedTurns", merge.omitted_turns)
}

fn warn(merge: &Merge, app: &mut App) -> Result<(), CommandError> {
    if !merge.contested.is_empty() {
        app.ui.tell(&format!("warning: changed on both branches: {}", merge.contested.join(", ")))?;
    }
    for difference in &merge.differences {
        let text = match difference {
            SettingDifference::Model { theirs, .. } => {
                format!("model {}/{}", theirs.provider, theirs.model_id)
            }
            SettingDifference::ThinkingLevel { theirs, .. } => format!("thinking level {theirs}"),
        };
        app.ui.tell(&format!("note: that branch has {text}; this one keeps its own"))?;
    }
    if merge.omitted_turns > 0 {
        let turns = count(merge.omitted_turns, "turn");
        app.ui.tell(&format!("note: the oldest {turns} did not fit and are left out"))?;
    }
    Ok(())
}

fn finish(change: Change, merged: &Merged, session: &Session) -> Change {
    let change = match merged {
        Merged::UpToDate => change.no_undo(),
        Merged::FastForwarded { marker, .. } => {
            change.field("entryId", marker.as_ref().map(ToString::to_string))
        }
        Merged::Appended { entry, .. } => change.gives(entry.as_str()).field("entryId", entry.as_str()),
    };
    change.session(session)
}
