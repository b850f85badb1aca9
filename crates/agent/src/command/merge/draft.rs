//! Writes the text of a merge: runs the hook, then asks a model if a summary is requested.

use std::collections::HashSet;

use serde_json::{Value as Json, json};
use session_tree::merge::{Conflict, Merge, MergeMode, MergeText};
use session_tree::{BranchSummaryPlan, EntryId, Message, Position, Role, serialize_conversation};

use super::{MergeDraft, MergeWith, conflicts};
use crate::agent::{Agent, readable};
use crate::cancel::Cancel;
use crate::command::cherry_pick::session_json;
use crate::command::{Applied, CancelledBy, entries_json};
use crate::error::{AgentError, Result};
use crate::hooks::{Gate, given};
use crate::summary::{MergePrompt, Unfinished, clipped_line};

const EVENT: &str = "session_before_merge";

/// The most prompts of the current branch that the model gets, and the most characters of each.
const MAX_PROMPTS: usize = 60;
const MAX_PROMPT_CHARS: usize = 400;
/// The most files of each list.
const MAX_FILES: usize = 200;

impl Agent {
    /// Writes the text of a merge, to be reviewed and then appended by [`Agent::merge`]. Appends nothing.
    ///
    /// # Errors
    ///
    /// [`AgentError::NoModelForSummary`] without a model, [`AgentError::Summary`] if the model fails.
    pub async fn draft_merge(&self, mut draft: MergeDraft, cancel: &Cancel) -> Result<Applied<MergeDraft>> {
        draft.planned_in.check(&self.session())?;
        let Some(merge) = draft.merge() else { return Ok(Applied::Done(draft)) };
        let gate = match self.gate(EVENT, || self.merge_preparation(&draft, merge), cancel).await? {
            Applied::Done(gate) => gate,
            Applied::Cancelled(by) => return Ok(Applied::Cancelled(by)),
        };
        let mut content = match (text_of_hook(&gate), &draft.request.with) {
            (Some(text), MergeWith::Summary { .. } | MergeWith::Digest) => text,
            (None, MergeWith::Summary { focus }) => {
                match self.summarize_merge(&draft, merge, focus.as_deref(), cancel).await? {
                    Some(text) => text,
                    None => return Ok(Applied::Cancelled(CancelledBy::User)),
                }
            }
            (_, MergeWith::Text(_) | MergeWith::Digest) => merge.content.clone(),
        };
        if let Some(conflicts) = conflicts_of_hook(&gate) {
            content.conflicts = conflicts;
        } else if draft.request.with != MergeWith::Digest {
            content.conflicts = conflicts::read(&content.text);
        }
        let extra = self.extra_entries(&gate, EVENT);
        if let Some(merge) = draft.plan.merge_mut() {
            (merge.content, merge.extra) = (content, extra);
        }
        Ok(Applied::Done(draft))
    }

    fn merge_preparation(&self, draft: &MergeDraft, merge: &Merge) -> Result<Json> {
        self.with_source(draft.source.as_ref(), |here, there| {
            Ok(json!({
                "preparation": {
                    "baseId": merge.base.as_ref().map(EntryId::as_str),
                    "sourceLeafId": merge.source_leaf.as_str(),
                    "sourceEntries": entries_json(there, &merge.entries)?,
                    "targetEntries": entries_json(here, &merge.target_entries)?,
                    "contestedFiles": merge.contested,
                    "mode": draft.request.with.name(),
                    "sourceSession": draft.source.is_some().then(|| session_json(there)),
                },
            }))
        })
    }

    /// Asks the model for a summary of the branch. `None`: cancelled.
    async fn summarize_merge(
        &self,
        draft: &MergeDraft,
        merge: &Merge,
        focus: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Option<MergeText>> {
        let model = self.model.clone().ok_or(AgentError::NoModelForSummary)?;
        let failed = |error: Unfinished| AgentError::Summary { what: "Merge", reason: error.reason };
        let (there, here) = self.merge_material(draft, merge)?;
        let prompt = MergePrompt {
            omitted: there.omitted_older,
            current_branch: current_branch(&here),
            contested: &merge.contested,
            focus,
        };
        let conversation = serialize_conversation(&readable(&there.messages));
        let writer = self.summary_writer(&*model, cancel);
        let made = writer.write(&prompt, &conversation, None).await.map_err(failed)?;
        Ok(made.map(|made| MergeText {
            text: [made.text, merge.files.text_block(), contested_block(&merge.contested)].concat(),
            mode: MergeMode::Summary,
            model: Some(model.spec().full_name()),
            usage: Some(made.usage),
            ..MergeText::default()
        }))
    }

    /// Returns the new messages of the source that fit into the request, and the plan of this branch since the base.
    fn merge_material(
        &self,
        draft: &MergeDraft,
        merge: &Merge,
    ) -> Result<(BranchSummaryPlan, BranchSummaryPlan)> {
        let settings = self.branch_summary_settings();
        self.with_source(draft.source.as_ref(), |here, source| {
            let start = match &merge.earlier {
                Some(earlier) => Some(&earlier.source_leaf),
                None => merge.base.as_ref(),
            };
            let start = start.filter(|id| source.tree().node(id.as_str()).is_some());
            let start = Position::entry_or_start(start);
            let mut there = source.plan_branch_summary(&merge.source_leaf, start, &settings)?;
            let counted: HashSet<_> = merge.entries.iter().copied().collect();
            there.messages.retain(|(node, _)| counted.contains(node));
            let base = Position::entry_or_start(merge.base.as_ref());
            Ok((there, here.plan_branch_summary(Position::Leaf, base, &settings)?))
        })
    }
}

/// Describes the current branch to the model: its prompts and its files.
fn current_branch(here: &BranchSummaryPlan) -> String {
    let prompts = here.messages.iter().map(|(_, message)| message);
    let prompts: Vec<&Message> = prompts.filter(|message| message.role() == Role::User).collect();
    let shown = &prompts[prompts.len().saturating_sub(MAX_PROMPTS)..];
    let mut lines = vec!["Prompts since the two parted:".to_owned()];
    let line = |prompt: &&Message| format!("- {}", clipped_line(&prompt.text(), MAX_PROMPT_CHARS));
    lines.extend(shown.iter().map(line));
    if shown.is_empty() {
        lines.push("(none)".to_owned());
    }
    for (title, files) in
        [("Files changed: ", here.file_ops.modified_files()), ("Files read: ", here.file_ops.read_files())]
    {
        if !files.is_empty() {
            lines.push(format!("{title}{}", files[..files.len().min(MAX_FILES)].join(", ")));
        }
    }
    lines.join("\n")
}

/// Lists the files that both branches changed. Empty without such files.
pub(super) fn contested_block(files: &[String]) -> String {
    match files {
        [] => String::new(),
        files => format!("\n\n<contested-files>\n{}\n</contested-files>", files.join("\n")),
    }
}

/// Reads the text written by an extension.
fn text_of_hook(gate: &Gate) -> Option<MergeText> {
    let made = gate.get("summary")?;
    let text = made.as_str().or_else(|| made["summary"].as_str()).filter(|text| !text.trim().is_empty())?;
    Some(MergeText {
        text: text.to_owned(),
        mode: MergeMode::Summary,
        usage: given(made, "usage").cloned(),
        from_hook: true,
        ..MergeText::default()
    })
}

/// Reads the conflicts found by an extension.
fn conflicts_of_hook(gate: &Gate) -> Option<Vec<Conflict>> {
    let list = gate.get("conflicts")?.as_array()?;
    let text = |value: &Json, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let conflict = |value: &Json| Conflict {
        topic: text(value, "topic"),
        ours: text(value, "ours"),
        theirs: text(value, "theirs"),
    };
    Some(list.iter().filter(|value| value.is_object()).map(conflict).collect())
}
