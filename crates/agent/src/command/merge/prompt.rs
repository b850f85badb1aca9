//! What a model is asked when it is to tell what another branch did.

use std::collections::HashSet;

use session_tree::{BranchSummaryPlan, BranchSummarySettings, Merge, Message, Role, Session};

use super::disk::ContestedFile;
use crate::agent::{Agent, readable};
use crate::error::Result;
use crate::shared::SharedSession;
use crate::summary::MergeMaterial;

/// The most prompts of the current branch that are told, and the most characters of each.
const MOST_PROMPTS: usize = 60;
const LONGEST_PROMPT: usize = 400;

/// The most files of each list.
const MOST_FILES: usize = 200;

impl Agent {
    /// Puts the question together: the source as far as it fits, and what was asked and changed here.
    pub(super) fn merge_prompt(
        &self,
        source: Option<&SharedSession>,
        merge: &Merge,
        contested: &[ContestedFile],
        focus: Option<&str>,
    ) -> Result<MergeMaterial> {
        let settings = self.branch_summary_settings();
        let here = self.session();
        let other = source.map(SharedSession::lock);
        let there = told_there(other.as_deref().unwrap_or(&here), merge, &settings)?;
        let here = here.plan_branch_summary(here.leaf(), merge.base, &settings)?;
        Ok(MergeMaterial {
            messages: readable(&there.messages),
            omitted: there.omitted_older,
            current_branch: current_branch(&here),
            contested: contested_text(contested),
            focus: focus.map(str::to_owned),
        })
    }
}

/// Plans what is told of the source: what is new here, the newest as far as it fits.
fn told_there(
    source: &Session,
    merge: &Merge,
    settings: &BranchSummarySettings,
) -> Result<BranchSummaryPlan> {
    let leaf = source.node(merge.source_leaf.as_str())?;
    let start = match &merge.earlier {
        Some(earlier) => Some(&earlier.source_leaf),
        None => merge.base_id.as_ref(),
    };
    let start = start.and_then(|id| source.tree().node(id.as_str()));
    let mut told = source.plan_branch_summary(Some(leaf), start, settings)?;
    let counted: HashSet<_> = merge.entries.iter().copied().collect();
    told.messages.retain(|(node, _)| counted.contains(node));
    Ok(told)
}

/// Tells what was asked and changed here since the two parted.
fn current_branch(here: &BranchSummaryPlan) -> String {
    let asked = here.messages.iter().map(|(_, message)| message);
    let asked: Vec<&Message> = asked.filter(|message| message.role() == Role::User).collect();
    let shown = &asked[asked.len().saturating_sub(MOST_PROMPTS)..];
    let mut lines = vec!["Asked since the two parted:".to_owned()];
    lines.extend(shown.iter().map(|prompt| format!("- {}", one_line(&prompt.text()))));
    if shown.is_empty() {
        lines.push("(nothing)".to_owned());
    }
    for (title, files) in
        [("Files changed: ", here.file_ops.modified_files()), ("Files read: ", here.file_ops.read_files())]
    {
        if !files.is_empty() {
            lines.push(format!("{title}{}", files[..files.len().min(MOST_FILES)].join(", ")));
        }
    }
    lines.join("\n")
}

/// Lists the files that both changed, one per line.
pub(super) fn contested_text(contested: &[ContestedFile]) -> Option<String> {
    let line = |file: &ContestedFile| format!("{}: {}", file.path, file.on_disk.words());
    let lines: Vec<String> = contested.iter().map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn one_line(text: &str) -> String {
    let clipped: String = text.trim().chars().take(LONGEST_PROMPT).collect();
    clipped.split_whitespace().collect::<Vec<_>>().join(" ")
}
