//! Compaction: a summary takes the place of what was said long ago.

use serde_json::{Value as Json, json};
use session_tree::{
    CompactionPlan, EntryId, Error, FirstKept, Message, NewCompaction, NewContent, Node, Role,
    convert_to_llm, should_compact,
};

use super::Agent;
use crate::cancel::Cancel;
use crate::command::{Applied, CancelledBy, entries_json, entry_json};
use crate::error::{AgentError, Result, SummaryFailure, SummaryKind};
use crate::event::AgentEvent;
use crate::hooks::{Gate, given};
use crate::summary::{self, Material, Task};
use crate::turn::Input;

/// How to compact.
#[derive(Debug, Clone, Default)]
pub struct CompactRequest {
    /// What the summary should pay attention to.
    pub focus: Option<String>,
}

/// Why it is compacted, and whether the model is asked again afterwards.
#[derive(Debug, Clone, Copy)]
struct Occasion {
    reason: &'static str,
    will_retry: bool,
}

const MANUAL: Occasion = Occasion { reason: "manual", will_retry: false };
const THRESHOLD: Occasion = Occasion { reason: "threshold", will_retry: false };
const OVERFLOW: Occasion = Occasion { reason: "overflow", will_retry: true };

impl Agent {
    /// Compacts the path because somebody asks for it.
    pub async fn compact(&mut self, request: &CompactRequest, cancel: &Cancel) -> Result<Applied<EntryId>> {
        if !self.has_said_something() {
            return Err(AgentError::NothingSaid);
        }
        let plan = self.session().plan_compaction(&self.settings.compaction)?;
        self.compact_as_planned(&plan, request, MANUAL, cancel).await
    }

    fn has_said_something(&self) -> bool {
        let session = self.session();
        let path = session.branch_path(None).into_iter();
        path.filter(|node| session.tree().role(*node).is_some()).take(2).count() == 2
    }

    /// Compacts if the context has become too long for the model. What cannot be compacted is left as it is.
    pub(super) async fn watch_context(&mut self, cancel: &Cancel) -> Result<()> {
        let Some(model) = &self.model else { return Ok(()) };
        let tokens = self.projected_tokens()?;
        if !should_compact(tokens, model.spec().context_window, &self.settings.compaction) {
            return Ok(());
        }
        let Some(plan) = self.plan_compaction()? else { return Ok(()) };
        // Who watches has been told; the turn goes on and may still succeed.
        match self.compact_as_planned(&plan, &CompactRequest::default(), THRESHOLD, cancel).await {
            Ok(_) | Err(AgentError::Summary { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Plans a compaction; none if there is nothing to compact.
    fn plan_compaction(&self) -> Result<Option<CompactionPlan>> {
        match self.session().plan_compaction(&self.settings.compaction) {
            Err(Error::NothingToCompact | Error::AlreadyCompacted) => Ok(None),
            plan => Ok(Some(plan?)),
        }
    }

    /// Guesses how long the context is.
    pub(crate) fn projected_tokens(&self) -> Result<u64> {
        let session = self.session();
        Ok(session.projected_tokens(session.leaf())?)
    }

    /// Returns the entries of the path in the shape that extensions see.
    fn path_json(&self) -> Result<Vec<Json>> {
        let session = self.session();
        entries_json(&session, &session.branch_path(None))
    }

    /// Leaves the failed answer out of the context and compacts.
    pub(super) async fn compact_after_overflow(
        &mut self,
        failed: Option<EntryId>,
        cancel: &Cancel,
    ) -> Result<Input> {
        if let Some(failed) = failed {
            self.session().append_context_edit(failed.as_str(), &NewContent::Omit)?;
        }
        let Some(plan) = self.plan_compaction()? else { return Ok(Input::Compacted(false)) };
        match self.compact_as_planned(&plan, &CompactRequest::default(), OVERFLOW, cancel).await {
            Ok(Applied::Done(_)) => Ok(Input::Compacted(true)),
            Ok(Applied::Cancelled(_)) if cancel.is_cancelled() => Ok(Input::Aborted(Vec::new())),
            Ok(Applied::Cancelled(_)) | Err(AgentError::Summary { .. }) => Ok(Input::Compacted(false)),
            Err(error) => Err(error),
        }
    }

    /// Makes the summary, or lets an extension make it, and appends it. Tells everybody before and after.
    async fn compact_as_planned(
        &mut self,
        plan: &CompactionPlan,
        request: &CompactRequest,
        occasion: Occasion,
        cancel: &Cancel,
    ) -> Result<Applied<EntryId>> {
        let Occasion { reason, will_retry } = occasion;
        self.watcher.tell(AgentEvent::CompactionStart { reason });
        let mut from_extension = false;
        let result = self.compaction(plan, request, occasion, &mut from_extension, cancel).await;
        let (entry, error) = match &result {
            Ok(Applied::Done(id)) => (Some(id.clone()), None),
            Ok(Applied::Cancelled(_)) => (None, None),
            Err(error) => (None, Some(error.to_string())),
        };
        if entry.is_none() && self.hooks.wants("session_compact_failed") {
            let payload = json!({
                "type": "session_compact_failed", "reason": reason, "errorMessage": error,
                "aborted": error.is_none(), "willRetry": will_retry, "fromExtension": from_extension,
            });
            self.tell("session_compact_failed", &payload, cancel).await;
        }
        self.watcher.tell(AgentEvent::CompactionEnd { reason, entry, error });
        self.tell_news(cancel).await;
        result
    }

    async fn compaction(
        &mut self,
        plan: &CompactionPlan,
        request: &CompactRequest,
        occasion: Occasion,
        from_extension: &mut bool,
        cancel: &Cancel,
    ) -> Result<Applied<EntryId>> {
        let gate = self.before_compact(plan, request, occasion, cancel).await?;
        if let Some(name) = gate.cancelled_by {
            return Ok(Applied::Cancelled(CancelledBy::Hook(name)));
        }
        let made = gate.get("compaction").and_then(|made| from_hook(made, plan));
        *from_extension = made.is_some();
        let summary = match made {
            Some(summary) => summary,
            None => match self.summarize(plan, request.focus.as_deref(), cancel).await? {
                Some(summary) => summary,
                None => return Ok(Applied::Cancelled(CancelledBy::User)),
            },
        };
        let id = self.session().append_compaction(&summary)?;
        self.session().barrier()?;
        if self.hooks.wants("session_compact") {
            let payload = json!({
                "type": "session_compact", "compactionEntry": entry_json(&self.session(), &id)?,
                "fromExtension": summary.from_hook, "fromHook": summary.from_hook,
                "reason": occasion.reason, "willRetry": occasion.will_retry,
            });
            self.tell("session_compact", &payload, cancel).await;
        }
        Ok(Applied::Done(id))
    }

    /// Lets the model make the summary: of the history, and of the turn that is cut in two.
    async fn summarize(
        &self,
        plan: &CompactionPlan,
        focus: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Option<NewCompaction>> {
        let model = self.model.clone().ok_or(AgentError::NoModelForSummary)?;
        let failed = |reason: SummaryFailure| AgentError::Summary { what: SummaryKind::Compaction, reason };
        let now = self.session().now();
        let previous = plan.previous_summary.as_deref();
        let (mut history, mut prefix, mut usage) = (None, None, None);
        let parts = [
            (&plan.messages_to_summarize, if previous.is_some() { Task::Update } else { Task::First }),
            (&plan.turn_prefix, Task::TurnPrefix),
        ];
        for (messages, task) in parts {
            let messages = readable(messages);
            if messages.is_empty() {
                continue;
            }
            let previous = previous.filter(|_| task == Task::Update);
            let messages = messages.iter().collect();
            let material = Material { task, messages, previous, focus, replace: false };
            let made = summary::make(&*model, &material, self.thinking, now, cancel).await.map_err(failed)?;
            let Some(made) = made else { return Ok(None) };
            usage = Some(added(usage, made.usage));
            *if task == Task::TurnPrefix { &mut prefix } else { &mut history } = Some(made.text);
        }
        let details = serde_json::from_str(&plan.details_json()).ok();
        Ok(Some(NewCompaction {
            summary: plan.summary_text(history.as_deref(), prefix.as_deref()),
            first_kept: FirstKept::Entry(plan.first_kept_id.clone()),
            tokens_before: plan.tokens_before,
            details,
            usage,
            from_hook: false,
        }))
    }

    /// Asks extensions, who may not want it or bring a summary of their own.
    async fn before_compact(
        &self,
        plan: &CompactionPlan,
        request: &CompactRequest,
        occasion: Occasion,
        cancel: &Cancel,
    ) -> Result<Gate> {
        const EVENT: &str = "session_before_compact";
        if !self.hooks.wants(EVENT) {
            return Ok(Gate::default());
        }
        let payload = json!({
            "type": EVENT, "preparation": self.preparation_json(plan), "branchEntries": self.path_json()?,
            "customInstructions": request.focus, "reason": occasion.reason, "willRetry": occasion.will_retry,
            "model": self.model_json(),
        });
        Ok(self.hooks.gate(EVENT, &payload, cancel).await)
    }

    fn preparation_json(&self, plan: &CompactionPlan) -> Json {
        let list = |messages: &[(Node, Message)]| -> Vec<Json> {
            messages.iter().filter_map(|(_, message)| message.value().to_serde()).collect()
        };
        let settings = &self.settings.compaction;
        json!({
            "firstKeptEntryId": plan.first_kept_id.as_str(),
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

/// What a model reads of the messages that are summed up.
pub(crate) fn readable(messages: &[(Node, Message)]) -> Vec<Message> {
    let readable = messages.iter().filter_map(|(_, message)| convert_to_llm(message));
    readable.filter(|message| message.role() != Role::System).collect()
}

/// Takes a summary that an extension made; one without text is none.
fn from_hook(made: &Json, plan: &CompactionPlan) -> Option<NewCompaction> {
    let summary = made["summary"].as_str().filter(|summary| !summary.is_empty())?;
    let first_kept =
        made["firstKeptEntryId"].as_str().map_or_else(|| plan.first_kept_id.clone(), EntryId::from);
    Some(NewCompaction {
        summary: summary.to_owned(),
        first_kept: FirstKept::Entry(first_kept),
        tokens_before: made["tokensBefore"].as_u64().unwrap_or(plan.tokens_before),
        details: given(made, "details").cloned(),
        usage: given(made, "usage").cloned(),
        from_hook: true,
    })
}

/// Adds what two answers cost.
fn added(sum: Option<Json>, usage: Json) -> Json {
    let Some(sum) = sum else { return usage };
    match (sum, usage) {
        (Json::Object(mut sum), Json::Object(usage)) => {
            for (key, value) in usage {
                let before = sum.remove(&key);
                sum.insert(key, added(before, value));
            }
            Json::Object(sum)
        }
        (Json::Number(one), Json::Number(other)) => match (one.as_u64(), other.as_u64()) {
            (Some(one), Some(other)) => json!(one + other),
            _ => json!(one.as_f64().unwrap_or(0.0) + other.as_f64().unwrap_or(0.0)),
        },
        (sum, _) => sum,
    }
}
