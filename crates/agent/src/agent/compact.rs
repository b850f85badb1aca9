//! Compaction: replaces older messages by a summary.

use serde_json::{Value as Json, json};
use session_tree::{
    CompactionPlan, CompactionSettings, EntryId, Error, KeepFrom, Message, NewCompaction, NewContent, Node,
    Position, Role, convert_to_llm, serialize_conversation, should_compact,
};

use super::Agent;
use crate::cancel::Cancel;
use crate::command::{Applied, CancelledBy, entries_json, entry_json};
use crate::error::{AgentError, Result, SummaryFailure};
use crate::event::AgentEvent;
use crate::hooks::given;
use crate::model::Model;
use crate::summary::{
    ConversationPrompt, SummaryPrompt, SummarySubject, SummaryWriter, Unfinished, add_usage, offline_summary,
};
use crate::turn::{Input, Keep};

/// The reasons of a compaction, as extensions see them. After an overflow the request is sent again.
const MANUAL: &str = "manual";
const THRESHOLD: &str = "threshold";
const OVERFLOW: &str = "overflow";

impl Agent {
    /// Compacts the path on request. The summary focuses on `focus`.
    pub async fn compact(&mut self, focus: Option<&str>, cancel: &Cancel) -> Result<Applied<EntryId>> {
        let messages = {
            let session = self.session();
            let path = session.branch_path(Position::Leaf).into_iter();
            path.filter(|node| session.tree().role(*node).is_some()).take(2).count()
        };
        if messages < 2 {
            return Err(AgentError::NothingSaid);
        }
        let plan = self.session().plan_compaction(&self.compaction_settings(Keep::Default))?;
        self.compact_as_planned(&plan, focus, MANUAL, cancel).await
    }

    /// Compacts if the context is too long for the model. A context that cannot be compacted is left as it is.
    pub(super) async fn watch_context(&mut self, cancel: &Cancel) -> Result<()> {
        let Some(model) = &self.model else { return Ok(()) };
        let tokens = self.projected_tokens()?;
        if !should_compact(tokens, model.spec().context_window, &self.compaction_settings(Keep::Default)) {
            return Ok(());
        }
        let Some(plan) = self.plan_compaction(Keep::Default)? else { return Ok(()) };
        // Subscribers already have the failure; the turn continues and may still succeed.
        match self.compact_as_planned(&plan, None, THRESHOLD, cancel).await {
            Ok(_) | Err(AgentError::Summary { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Plans a compaction. Returns `None` if there is nothing to compact.
    fn plan_compaction(&self, keep: Keep) -> Result<Option<CompactionPlan>> {
        match self.session().plan_compaction(&self.compaction_settings(keep)) {
            Err(Error::NothingToCompact | Error::AlreadyCompacted) => Ok(None),
            plan => Ok(Some(plan?)),
        }
    }

    /// Returns settings for the window of the model: the default sizes would leave no room in a small one.
    fn compaction_settings(&self, keep: Keep) -> CompactionSettings {
        let mut settings = self.settings.compaction.clone();
        let window = self.model.as_ref().map_or(0, |model| model.spec().context_window);
        if window > 0 {
            settings.reserve_tokens = settings.reserve_tokens.min(window / 2);
            let free = window - settings.reserve_tokens;
            settings.keep_recent_tokens = settings.keep_recent_tokens.min(free / 2);
        }
        if keep == Keep::Minimum {
            settings.keep_recent_tokens = 1;
        }
        settings
    }

    /// Estimates the length of the context.
    pub(crate) fn projected_tokens(&self) -> Result<u64> {
        let session = self.session();
        Ok(session.context_estimate(Position::Leaf)?.tokens)
    }

    /// Returns the entries of the path in the shape that extensions see.
    fn path_json(&self) -> Result<Vec<Json>> {
        let session = self.session();
        entries_json(&session, &session.branch_path(Position::Leaf))
    }

    /// Removes the failed answer from the context and compacts.
    pub(super) async fn compact_after_overflow(
        &mut self,
        failed: Option<EntryId>,
        keep: Keep,
        cancel: &Cancel,
    ) -> Result<Input> {
        if let Some(failed) = failed {
            self.session().append_context_edit(failed.as_str(), &NewContent::Omit)?;
        }
        let plan = match (self.plan_compaction(keep)?, keep) {
            // The default settings would keep everything.
            (None, Keep::Default) => self.plan_compaction(Keep::Minimum)?,
            (plan, _) => plan,
        };
        let Some(plan) = plan else {
            let reason = "there is nothing before the last messages".to_owned();
            return Ok(Input::Compacted(Err(reason)));
        };
        let reason = match self.compact_as_planned(&plan, None, OVERFLOW, cancel).await {
            Ok(Applied::Done(_)) => return Ok(Input::Compacted(Ok(()))),
            Ok(Applied::Cancelled(_)) if cancel.is_cancelled() => return Ok(Input::Aborted(Vec::new())),
            Ok(Applied::Cancelled(CancelledBy::Hook(name))) => format!("the extension `{name}` cancelled it"),
            Ok(Applied::Cancelled(CancelledBy::User)) => "it was cancelled".to_owned(),
            Err(AgentError::Summary { reason, .. }) => reason.to_string(),
            Err(error) => return Err(error),
        };
        Ok(Input::Compacted(Err(reason)))
    }

    /// Writes the summary, or lets an extension write it, and appends it. Emits events before and after.
    async fn compact_as_planned(
        &mut self,
        plan: &CompactionPlan,
        focus: Option<&str>,
        reason: &'static str,
        cancel: &Cancel,
    ) -> Result<Applied<EntryId>> {
        self.events.emit(AgentEvent::CompactionStart { reason });
        let mut report = Report::default();
        let result = self.compaction(plan, focus, reason, &mut report, cancel).await;
        let Report { from_extension, warning } = report;
        let (entry, error) = match &result {
            Ok(Applied::Done(id)) => (Some(id.clone()), None),
            Ok(Applied::Cancelled(_)) => (None, None),
            Err(error) => (None, Some(error.to_string())),
        };
        if entry.is_none() {
            let payload = || {
                json!({
                    "reason": reason, "errorMessage": error, "aborted": error.is_none(),
                    "willRetry": reason == OVERFLOW, "fromExtension": from_extension,
                })
            };
            self.notify_with("session_compact_failed", payload, cancel).await;
        }
        self.events.emit(AgentEvent::CompactionEnd { reason, entry, error, warning });
        self.notify_new_entries(cancel).await;
        result
    }

    async fn compaction(
        &mut self,
        plan: &CompactionPlan,
        focus: Option<&str>,
        reason: &'static str,
        report: &mut Report,
        cancel: &Cancel,
    ) -> Result<Applied<EntryId>> {
        let preparation = || {
            Ok(json!({
                "preparation": self.preparation_json(plan), "branchEntries": self.path_json()?,
                "customInstructions": focus, "reason": reason, "willRetry": reason == OVERFLOW,
                "model": self.model_json(),
            }))
        };
        let gate = match self.gate("session_before_compact", preparation, cancel).await? {
            Applied::Done(gate) => gate,
            Applied::Cancelled(by) => return Ok(Applied::Cancelled(by)),
        };
        let made = gate.get("compaction").and_then(|made| from_hook(made, plan));
        report.from_extension = made.is_some();
        let summary = match made {
            Some(summary) => summary,
            None => match self.summarize(plan, focus, report, cancel).await? {
                Some(summary) => summary,
                None => return Ok(Applied::Cancelled(CancelledBy::User)),
            },
        };
        let id = self.session().apply_compaction(plan, &summary)?;
        self.session().sync()?;
        let payload = || {
            json!({
                "compactionEntry": entry_json(&self.session(), &id), "fromExtension": summary.from_hook,
                "fromHook": summary.from_hook, "reason": reason, "willRetry": reason == OVERFLOW,
            })
        };
        self.notify_with("session_compact", payload, cancel).await;
        Ok(Applied::Done(id))
    }

    /// Asks the model for a summary of the history, and of the first part of a turn that the cut splits. `None`:
    /// cancelled.
    ///
    /// If the model fails, an extract of the conversation is used: a context that cannot be compacted would stop every
    /// later turn.
    async fn summarize(
        &self,
        plan: &CompactionPlan,
        focus: Option<&str>,
        report: &mut Report,
        cancel: &Cancel,
    ) -> Result<Option<NewCompaction>> {
        let model = self.model.clone().ok_or(AgentError::NoModelForSummary)?;
        let writer = self.summary_writer(&*model, cancel);
        let (mut texts, mut usage, mut failure) = ([None, None], None, None::<SummaryFailure>);
        let parts = [
            (&plan.messages_to_summarize, SummarySubject::History, plan.previous_summary.as_deref()),
            (&plan.turn_prefix, SummarySubject::TurnPrefix, None),
        ];
        for (text, (messages, task, previous)) in texts.iter_mut().zip(parts) {
            let conversation = serialize_conversation(&readable(messages));
            if conversation.is_empty() {
                continue;
            }
            let prompt = ConversationPrompt { task, focus, replace: false };
            let written = match failure.clone() {
                None => writer.write(&prompt, &conversation, previous).await,
                Some(reason) => Err(Unfinished { reason, so_far: None, rest: conversation, usage: None }),
            };
            match written {
                Ok(None) => return Ok(None),
                Ok(Some(summary)) => {
                    usage = Some(add_usage(usage, summary.usage));
                    if summary.is_cut {
                        report.warning =
                            Some("the summary reached the output limit and is incomplete".into());
                    }
                    *text = Some(summary.text);
                }
                Err(Unfinished { reason, .. }) if reason.is_unreachable() => {
                    return Err(AgentError::Summary { what: "Compaction", reason });
                }
                Err(unfinished) => {
                    let previous = unfinished.so_far.as_deref().or(previous);
                    *text = Some(extract(&prompt, &unfinished.rest, previous, model.spec().context_window));
                    usage = unfinished.usage.map(|spent| add_usage(usage.take(), spent)).or(usage);
                    failure = Some(unfinished.reason);
                }
            }
        }
        if let Some(reason) = failure {
            report.warning =
                Some(format!("the model made no summary ({reason}); it is an extract of the conversation"));
        }
        let [history, prefix] = texts;
        Ok(Some(NewCompaction {
            summary: plan.summary_text(history.as_deref(), prefix.as_deref()),
            keep: KeepFrom::Entry(plan.first_kept.clone()),
            tokens_before: plan.tokens_before,
            details: Some(plan.file_ops.details()),
            usage,
            from_hook: false,
        }))
    }

    /// Returns the writer that asks a model for summaries.
    pub(crate) fn summary_writer<'w>(
        &'w self,
        model: &'w dyn Model,
        cancel: &'w Cancel,
    ) -> SummaryWriter<'w> {
        SummaryWriter {
            model,
            thinking: self.thinking,
            retry: &self.settings.retry,
            events: &self.events,
            now: self.session().now(),
            cancel,
        }
    }

    fn preparation_json(&self, plan: &CompactionPlan) -> Json {
        let list = |messages: &[(Node, Message)]| -> Vec<Json> {
            messages.iter().filter_map(|(_, message)| message.value().to_serde()).collect()
        };
        let settings = &self.settings.compaction;
        json!({
            "firstKeptEntryId": plan.first_kept.as_str(),
            "messagesToSummarize": list(&plan.messages_to_summarize),
            "turnPrefixMessages": list(&plan.turn_prefix),
            "isSplitTurn": plan.is_split_turn(),
            "tokensBefore": plan.tokens_before,
            "previousSummary": plan.previous_summary,
            "settings": {
                "enabled": settings.enabled, "reserveTokens": settings.reserve_tokens,
                "keepRecentTokens": settings.keep_recent_tokens,
            },
        })
    }
}

/// The details of a compaction that its entry does not store.
#[derive(Debug, Default)]
struct Report {
    from_extension: bool,
    /// The reason why the summary is incomplete or not written by a model.
    warning: Option<String>,
}

/// Writes a summary without a model, short enough for the window.
fn extract(prompt: &dyn SummaryPrompt, conversation: &str, previous: Option<&str>, window: u64) -> String {
    // An eighth of the window, at four bytes per token.
    let max = usize::try_from(window / 2).unwrap_or(usize::MAX).clamp(2_000, 100_000);
    let previous = previous.map(|previous| shortened(previous, max / 2));
    let text = offline_summary(&prompt.text(conversation, previous.as_deref()));
    shortened(&text.unwrap_or_default(), max)
}

fn shortened(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    format!("{}\n[shortened]", &text[..text.floor_char_boundary(max)])
}

/// Returns the messages to summarise, as a model reads them. Failed answers are skipped, as in every request.
pub(crate) fn readable(messages: &[(Node, Message)]) -> Vec<Message> {
    let is_failed = |message: &Message| {
        let stop = message.value().get("stopReason").and_then(|stop| stop.as_str());
        message.role() == Role::Assistant && stop.as_deref() == Some("error")
    };
    let readable = messages.iter().filter(|(_, message)| !is_failed(message));
    let readable = readable.filter_map(|(_, message)| convert_to_llm(message));
    readable.filter(|message| message.role() != Role::System).collect()
}

/// Reads the summary of an extension. Returns `None` if its text is empty.
fn from_hook(made: &Json, plan: &CompactionPlan) -> Option<NewCompaction> {
    let summary = made["summary"].as_str().filter(|summary| !summary.is_empty())?;
    let first_kept = made["firstKeptEntryId"].as_str().map_or_else(|| plan.first_kept.clone(), EntryId::from);
    Some(NewCompaction {
        summary: summary.to_owned(),
        keep: KeepFrom::Entry(first_kept),
        tokens_before: made["tokensBefore"].as_u64().unwrap_or(plan.tokens_before),
        details: given(made, "details").cloned(),
        usage: given(made, "usage").cloned(),
        from_hook: true,
    })
}
