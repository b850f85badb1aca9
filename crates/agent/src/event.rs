//! What the agent tells whoever watches: a terminal, a script, a machine.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value as Json, json};
use session_tree::{EntryId, LockHolder, Message, Timestamp};

use crate::hooks::HookFailure;
use crate::model::{Answer, AnswerEvent, ModelError};
use crate::tool::{ToolCall, ToolOutput};
use crate::turn::Outcome;

/// Something that happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AgentEvent {
    /// Work on a prompt begins.
    AgentStart,
    /// The model is asked.
    TurnStart {
        /// How often it was asked before, for this prompt.
        index: u32,
        /// When.
        time: Timestamp,
    },
    /// The model has answered, and its tools are done.
    TurnEnd {
        /// How often it was asked before, for this prompt.
        index: u32,
        /// The answer.
        message: Message,
        /// The results of its tools.
        results: Vec<Message>,
    },
    /// An answer grows.
    Answer(AnswerEvent),
    /// A message is in the session.
    Message {
        /// Its entry.
        id: EntryId,
        /// The message.
        message: Message,
    },
    /// A tool begins.
    ToolStart(ToolCall),
    /// A tool has something to show.
    ToolUpdate {
        /// The call.
        call_id: String,
        /// What it has so far.
        output: ToolOutput,
    },
    /// A tool call may not run: permissions, a person or an extension refused it.
    ToolRefused {
        /// The call.
        call: ToolCall,
        /// Why.
        reason: String,
    },
    /// A tool is done.
    ToolEnd {
        /// The call.
        call: ToolCall,
        /// What came of it.
        output: ToolOutput,
    },
    /// It is waited before the model is asked again.
    RetryStart {
        /// Which attempt comes next, from one.
        attempt: u32,
        /// How long it is waited.
        delay: Duration,
        /// Why.
        error: ModelError,
    },
    /// Another program holds the lock of the session file. The append is tried again until the lock is free.
    SessionLocked {
        /// The session file.
        path: PathBuf,
        /// The process that holds the lock, if the system reports it.
        holder: Option<LockHolder>,
    },
    /// The context is being compacted.
    CompactionStart {
        /// Why: `manual`, `threshold` or `overflow`.
        reason: &'static str,
    },
    /// The compaction is over.
    CompactionEnd {
        /// Why it was begun.
        reason: &'static str,
        /// The compaction, if there is one.
        entry: Option<EntryId>,
        /// Why there is none; no text if it was cancelled.
        error: Option<String>,
        /// Why the summary is worse than usual: it is incomplete, or no model made it.
        warning: Option<String>,
    },
    /// An extension failed.
    HookFailed(HookFailure),
    /// Work on a prompt is over.
    AgentEnd(Outcome),
    /// Something that an extension wished for could not be done.
    Failed {
        /// Why.
        error: String,
    },
}

/// Whoever watches.
#[derive(Clone)]
pub struct Watcher(Arc<dyn Fn(AgentEvent) + Send + Sync>);

impl Watcher {
    /// Calls a function with everything that happens.
    pub fn new(watch: impl Fn(AgentEvent) + Send + Sync + 'static) -> Self {
        Watcher(Arc::new(watch))
    }

    /// Calls a function with everything that happens, spelled as `--mode json` prints it.
    pub fn spelled(watch: impl Fn(&Json) + Send + Sync + 'static) -> Self {
        let answer = Mutex::new(Answer::default());
        Watcher::new(move |event| {
            let mut answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
            watch(&spelled(&event, &mut answer));
        })
    }

    /// Tells what happened.
    pub fn tell(&self, event: AgentEvent) {
        (self.0)(event);
    }
}

impl Default for Watcher {
    fn default() -> Self {
        Watcher::new(drop)
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}

impl AgentEvent {
    /// Returns the name under which extensions and machines know the event.
    pub fn name(&self) -> &'static str {
        match self {
            AgentEvent::AgentStart => "agent_start",
            AgentEvent::TurnStart { .. } => "turn_start",
            AgentEvent::TurnEnd { .. } => "turn_end",
            AgentEvent::Answer(event) => answer_name(event),
            AgentEvent::Message { .. } => "message_end",
            AgentEvent::ToolStart(_) => "tool_execution_start",
            AgentEvent::ToolUpdate { .. } => "tool_execution_update",
            AgentEvent::ToolRefused { .. } => "tool_refused",
            AgentEvent::ToolEnd { .. } => "tool_execution_end",
            AgentEvent::RetryStart { .. } => "auto_retry_start",
            AgentEvent::SessionLocked { .. } => "session_locked",
            AgentEvent::CompactionStart { .. } => "compaction_start",
            AgentEvent::CompactionEnd { .. } => "compaction_end",
            AgentEvent::HookFailed(_) => "extension_error",
            AgentEvent::AgentEnd(_) => "agent_end",
            AgentEvent::Failed { .. } => "error",
        }
    }

    /// Returns the event as a line of JSON; see [`Watcher::spelled`] for one that tells the parts of an answer apart.
    pub fn to_json(&self) -> Json {
        let mut spelled = json!({"type": self.name()});
        if let (Json::Object(spelled), Json::Object(fields)) = (&mut spelled, self.fields()) {
            spelled.extend(fields);
        }
        spelled
    }

    fn fields(&self) -> Json {
        match self {
            AgentEvent::AgentStart => json!({}),
            AgentEvent::TurnStart { index, time } => {
                json!({"turnIndex": index, "timestamp": time.as_millis()})
            }
            AgentEvent::TurnEnd { index, message, results } => json!({
                "turnIndex": index, "message": message.value().to_serde(),
                "toolResults": results.iter().filter_map(|result| result.value().to_serde()).collect::<Vec<_>>(),
            }),
            AgentEvent::Failed { error } => json!({"errorMessage": error}),
            AgentEvent::Answer(AnswerEvent::Begin { response_id }) => json!({"responseId": response_id}),
            AgentEvent::Answer(AnswerEvent::Usage(usage)) => json!({
                "input": usage.input, "output": usage.output,
                "cacheRead": usage.cache_read, "cacheWrite": usage.cache_write,
            }),
            AgentEvent::Answer(AnswerEvent::End { stop }) => json!({"stopReason": stop.name()}),
            // The step of a block is known only to the answer.
            AgentEvent::Answer(_) => json!({}),
            AgentEvent::Message { id, message } => {
                json!({"entryId": id.as_str(), "message": message.value().to_serde()})
            }
            AgentEvent::ToolStart(call) => {
                json!({"toolCallId": call.id, "toolName": call.name, "args": call.arguments})
            }
            AgentEvent::ToolUpdate { call_id, output } => {
                json!({"toolCallId": call_id, "partialResult": output_json(output)})
            }
            AgentEvent::ToolEnd { call, output } => json!({
                "toolCallId": call.id, "toolName": call.name, "result": output_json(output), "isError": output.is_error,
            }),
            AgentEvent::RetryStart { attempt, delay, error } => json!({
                "attempt": attempt, "delayMs": delay.as_millis() as u64, "errorMessage": error.to_string(),
            }),
            AgentEvent::SessionLocked { path, holder } => json!({
                "path": path, "process": holder.as_ref().map(|holder| holder.process),
                "program": holder.as_ref().and_then(|holder| holder.program.as_deref()),
            }),
            AgentEvent::CompactionStart { reason } => json!({"reason": reason}),
            AgentEvent::CompactionEnd { reason, entry, error, warning } => json!({
                "reason": reason, "entryId": entry.as_ref().map(EntryId::as_str),
                "aborted": entry.is_none() && error.is_none(), "errorMessage": error, "warning": warning,
            }),
            AgentEvent::ToolRefused { call, reason } => json!({
                "toolCallId": call.id, "toolName": call.name, "args": call.arguments, "reason": reason,
            }),
            AgentEvent::HookFailed(failure) => {
                json!({"extension": failure.handler, "event": failure.event, "error": failure.message})
            }
            AgentEvent::AgentEnd(Outcome::Done) => json!({"outcome": "done", "errorMessage": null}),
            AgentEvent::AgentEnd(Outcome::Aborted) => json!({"outcome": "aborted", "errorMessage": null}),
            AgentEvent::AgentEnd(Outcome::Failed(error)) => {
                json!({"outcome": "failed", "errorMessage": error.to_string()})
            }
        }
    }
}

/// Spells an event. The parts of an answer are named after what it consists of, so the answer grows along.
fn spelled(event: &AgentEvent, answer: &mut Answer) -> Json {
    let mut spelled = event.to_json();
    match event {
        AgentEvent::TurnStart { .. } => *answer = Answer::default(),
        AgentEvent::Answer(step) => {
            answer.take(step);
            if let Some(update) = answer.update_json(step) {
                spelled["assistantMessageEvent"] = update;
            }
        }
        _ => {}
    }
    spelled
}

fn output_json(output: &ToolOutput) -> Json {
    json!({"content": output.content, "details": output.details})
}

/// Returns the name under which extensions and machines know that an answer grows.
pub(crate) fn answer_name(event: &AnswerEvent) -> &'static str {
    match event {
        AnswerEvent::Begin { .. } => "message_start",
        AnswerEvent::Usage(_) => "usage",
        AnswerEvent::End { .. } => "answer_end",
        AnswerEvent::BlockStart { .. } | AnswerEvent::BlockDelta { .. } | AnswerEvent::BlockEnd { .. } => {
            "message_update"
        }
    }
}
