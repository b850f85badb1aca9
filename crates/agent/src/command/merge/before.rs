//! Making the draft of a merge: extensions are asked first, then a model, if one is to tell.

use serde_json::{Value as Json, json};
use session_tree::{Conflict, EntryId, Merge, MergeMode, MergeText};

use super::prompt::contested_text;
use super::{MergeDraft, MergeWith, PlannedMerge};
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::command::cherry_pick::session_json;
use crate::command::{Applied, CancelledBy, entries_json, stopped};
use crate::error::{AgentError, Result, SummaryKind};
use crate::hooks::{Gate, given};
use crate::shared::SharedSession;
use crate::summary::Unfinished;

const EVENT: &str = "session_before_merge";

impl Agent {
    /// Makes the text of a merge, to be read and changed, and then to be written by [`Agent::merge`]. Writes nothing.
    ///
    /// `source` is the session that the merge was planned with.
    ///
    /// # Errors
    ///
    /// [`AgentError::Summary`] if the model does not tell.
    pub async fn draft_merge(
        &self,
        planned: PlannedMerge,
        source: Option<&SharedSession>,
        cancel: &Cancel,
    ) -> Result<Applied<MergeDraft>> {
        planned.planned_in.check(&self.session())?;
        let mut draft = MergeDraft::of(planned);
        let Some(merge) = draft.plan.merge().cloned() else { return Ok(Applied::Done(draft)) };
        let gate = self.before_merge(&draft, &merge, source, cancel).await?;
        if let Some(by) = stopped(&gate, cancel) {
            return Ok(Applied::Cancelled(by));
        }
        let content = match told_by_hook(&draft.request.with, &gate) {
            Some(content) => content,
            None => match self.tell_merged(&draft, &merge, source, cancel).await? {
                Some(content) => content,
                None => return Ok(Applied::Cancelled(CancelledBy::User)),
            },
        };
        draft.text.clone_from(&content.text);
        draft.conflicts = conflicts_of(&gate).unwrap_or_else(|| draft.listed_conflicts());
        let extra = self.extra_entries(&gate, EVENT);
        match (&mut draft.picks, draft.plan.merge_mut()) {
            (Some(picks), _) => {
                draft.text = picks.text();
                picks.extra = extra;
            }
            (None, Some(merge)) => (merge.content, merge.extra) = (content, extra),
            (None, None) => {}
        }
        Ok(Applied::Done(draft))
    }

    async fn before_merge(
        &self,
        draft: &MergeDraft,
        merge: &Merge,
        source: Option<&SharedSession>,
        cancel: &Cancel,
    ) -> Result<Gate> {
        if !self.hooks.wants(EVENT) {
            return Ok(Gate::default());
        }
        let payload = self.merge_preparation(draft, merge, source)?;
        let gate = self.hooks.gate(EVENT, &payload, cancel).await;
        self.report_hook_failures();
        Ok(gate)
    }

    fn merge_preparation(
        &self,
        draft: &MergeDraft,
        merge: &Merge,
        source: Option<&SharedSession>,
    ) -> Result<Json> {
        let here = self.session();
        let other = source.map(SharedSession::lock);
        Ok(json!({
            "type": EVENT,
            "preparation": {
                "baseId": merge.base_id.as_ref().map(EntryId::as_str),
                "sourceLeafId": merge.source_leaf.as_str(),
                "sourceEntries": entries_json(other.as_deref().unwrap_or(&here), &merge.entries)?,
                "targetEntries": entries_json(&here, &merge.target_entries)?,
                "contestedFiles": merge.contested,
                "mode": draft.request.with.name(),
                "sourceSession": other.as_deref().map(session_json),
            },
        }))
    }

    /// Makes the text, or takes the one that was planned. `None`: somebody stopped it.
    async fn tell_merged(
        &self,
        draft: &MergeDraft,
        merge: &Merge,
        source: Option<&SharedSession>,
        cancel: &Cancel,
    ) -> Result<Option<MergeText>> {
        let focus = match &draft.request.with {
            MergeWith::Summary { focus } => focus,
            MergeWith::Text(_) | MergeWith::Pick { .. } => return Ok(Some(merge.content.clone())),
            MergeWith::Digest { .. } => {
                let mut quoted = merge.content.clone();
                quoted.text.push_str(&draft.contested_block());
                return Ok(Some(quoted));
            }
        };
        let model = self.model.clone().ok_or(AgentError::NoModelForSummary)?;
        let failed =
            |error: Unfinished| AgentError::Summary { what: SummaryKind::Merge, reason: error.reason };
        let material = self.merge_prompt(source, merge, &draft.contested, focus.as_deref())?;
        let writer = self.summary_writer(&*model, cancel);
        let made = writer.write(&material, &material.conversation(), None).await.map_err(failed)?;
        Ok(made.map(|made| MergeText {
            text: [made.text, merge.files.text_block(), draft.contested_block()].concat(),
            mode: MergeMode::Summary,
            model: Some(model.spec().full_name()),
            usage: Some(made.usage),
            ..MergeText::default()
        }))
    }
}

impl MergeDraft {
    fn of(planned: PlannedMerge) -> Self {
        let text = planned.merge().map(|merge| merge.content.text.clone());
        MergeDraft {
            text: text.unwrap_or_default(),
            request: planned.request,
            conflicts: Vec::new(),
            contested: planned.contested,
            reviewed: false,
            plan: planned.plan,
            picks: planned.picks,
            planned_in: planned.planned_in,
        }
    }

    /// Tells whose version of the contested files is on the disk; empty without such files.
    fn contested_block(&self) -> String {
        let files = contested_text(&self.contested);
        files.map_or_else(String::new, |files| format!("\n\n<contested-files>\n{files}\n</contested-files>"))
    }
}

/// Takes the text that an extension made; a person's own words, and turns that were chosen, stay.
fn told_by_hook(with: &MergeWith, gate: &Gate) -> Option<MergeText> {
    if matches!(with, MergeWith::Text(_) | MergeWith::Pick { .. }) {
        return None;
    }
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

/// Takes the conflicts that an extension found.
fn conflicts_of(gate: &Gate) -> Option<Vec<Conflict>> {
    let list = gate.get("conflicts")?.as_array()?;
    let text = |value: &Json, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let conflict = |value: &Json| Conflict {
        topic: text(value, "topic"),
        ours: text(value, "ours"),
        theirs: text(value, "theirs"),
    };
    Some(list.iter().filter(|value| value.is_object()).map(conflict).collect())
}
