//! The event stream in the log. Texts of messages and arguments of tools are never logged, only their sizes.

use tracing::{debug, error, trace, warn};

use super::AgentEvent;
use crate::hooks::HookFailure;
use crate::model::AnswerEvent;
use crate::turn::Outcome;

/// Logs an event: `debug` for decisions, `trace` for sizes, `warn` for failures that the agent survives, `error` for a
/// prompt that gets no answer.
pub(super) fn log(event: &AgentEvent) {
    match event {
        AgentEvent::Failed { error } => error!(%error, "a prompt or a request failed"),
        AgentEvent::AgentEnd(Outcome::Failed(error)) => error!(%error, "the model failed"),
        AgentEvent::AgentEnd(Outcome::Aborted) => debug!("the work was stopped"),
        AgentEvent::RetryStart { attempt, delay, error } => {
            warn!(%error, attempt, ?delay, "the request is repeated");
        }
        AgentEvent::SessionLocked { path, .. } => warn!(?path, "another program holds the lock"),
        AgentEvent::CompactionStart { reason } => debug!(reason, "the context is compacted"),
        AgentEvent::CompactionEnd { error: Some(text), .. }
        | AgentEvent::CompactionEnd { warning: Some(text), .. } => warn!(text, "compaction"),
        AgentEvent::HookFailed(HookFailure { handler, event, message }) => {
            warn!(handler, event, reason = message, "an extension failed");
        }
        AgentEvent::Warning { text } => warn!(text, "warning"),
        AgentEvent::ToolRefused { call, reason } => debug!(id = call.id, reason, "the tool call is refused"),
        AgentEvent::PositionChanged { from, by, .. } => debug!(?from, ?by, "the leaf moved"),
        AgentEvent::Returned { prompts } => debug!(count = prompts.len(), "prompts are returned"),
        AgentEvent::Message { id, message } => {
            trace!(%id, role = ?message.role(), bytes = message.raw().len(), "a message is appended");
        }
        AgentEvent::ToolEnd { call, output } => {
            trace!(
                id = call.id,
                blocks = output.content.len(),
                is_error = output.is_error,
                "the tool is done"
            );
        }
        AgentEvent::Answer(AnswerEvent::Usage(usage)) => trace!(?usage),
        AgentEvent::ThinkingChanged { level } => debug!(?level, "the thinking level changed"),
        AgentEvent::SessionReplaced { reason, .. } => debug!(reason, "another session is open"),
        AgentEvent::BranchSummaryEnd { aborted, error: Some(error) } => {
            warn!(aborted, error, "branch summary");
        }
        AgentEvent::AgentStart
        | AgentEvent::AgentEnd(Outcome::Done)
        | AgentEvent::TurnStart { .. }
        | AgentEvent::TurnEnd { .. }
        | AgentEvent::Answer(_)
        | AgentEvent::ToolStart(_)
        | AgentEvent::ToolUpdate { .. }
        | AgentEvent::CompactionEnd { .. }
        | AgentEvent::NameChanged { .. }
        | AgentEvent::LabelChanged { .. }
        | AgentEvent::CustomEntry { .. }
        | AgentEvent::BranchSummaryStart
        | AgentEvent::BranchSummaryEnd { .. }
        | AgentEvent::QueueChanged => {}
    }
}
