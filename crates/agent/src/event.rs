//! The event stream of an agent, in order, for any number of subscribers.

mod log;

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use serde_json::{Value as Json, json};
use session_tree::{EntryId, LockHolder, Message, Timestamp};
use tokio::sync::{Notify, mpsc};

use crate::agent::Submission;
use crate::error::AgentError;
use crate::hooks::HookFailure;
use crate::model::{Answer, AnswerEvent, ModelError, ThinkingLevel};
use crate::shared::{Source, lock};
use crate::tool::{ToolCall, ToolOutput};
use crate::turn::Outcome;

/// An event of the agent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AgentEvent {
    /// Work on a prompt starts.
    AgentStart,
    /// A request to the model starts.
    TurnStart {
        /// The number of earlier requests for this prompt.
        index: u32,
        /// The time.
        time: Timestamp,
        /// The entry that the answer becomes.
        entry: EntryId,
    },
    /// The model has answered and its tools have finished.
    TurnEnd {
        /// The number of earlier requests for this prompt.
        index: u32,
        /// The answer.
        message: Message,
        /// The results of its tools.
        results: Vec<Message>,
    },
    /// A part of an answer.
    Answer(AnswerEvent),
    /// A message was appended.
    Message {
        /// Its entry.
        id: EntryId,
        /// The message.
        message: Message,
    },
    /// A tool starts.
    ToolStart(ToolCall),
    /// A running tool has output.
    ToolUpdate {
        /// The id of the call.
        call_id: String,
        /// The output so far.
        output: ToolOutput,
    },
    /// A tool call was refused by permissions, the user or an extension.
    ToolRefused {
        /// The call.
        call: ToolCall,
        /// The reason.
        reason: String,
    },
    /// A tool has finished.
    ToolEnd {
        /// The call.
        call: ToolCall,
        /// The output.
        output: ToolOutput,
    },
    /// The agent waits before it sends a request again.
    RetryStart {
        /// The number of the next attempt, from 1.
        attempt: u32,
        /// The time to wait.
        delay: Duration,
        /// The error of the last attempt.
        error: ModelError,
    },
    /// Another program holds the lock of the session file. The append is retried until the lock is free.
    SessionLocked {
        /// The session file.
        path: PathBuf,
        /// The process that holds the lock, if the system reports it.
        holder: Option<LockHolder>,
    },
    /// A compaction starts.
    CompactionStart {
        /// The reason: `manual`, `threshold` or `overflow`.
        reason: &'static str,
    },
    /// A compaction has ended.
    CompactionEnd {
        /// The reason of the compaction.
        reason: &'static str,
        /// The compaction, if it succeeded.
        entry: Option<EntryId>,
        /// The error; empty if the compaction was cancelled.
        error: Option<String>,
        /// The reason why the summary is incomplete or not written by a model.
        warning: Option<String>,
    },
    /// An extension failed.
    HookFailed(HookFailure),
    /// Something beside the conversation failed that the user should know, such as a tool server.
    Warning {
        /// A description of the failure, and of the remedy.
        text: String,
    },
    /// The work on a prompt is over.
    AgentEnd(Outcome),
    /// A prompt or a request of an extension failed.
    Failed {
        /// The error.
        error: Arc<AgentError>,
    },
    /// Prompts were not sent because the work before them failed or was cancelled. A front end puts them back into its
    /// editor.
    Returned {
        /// The prompts, oldest first.
        prompts: Vec<Submission>,
    },
    /// The queue has changed.
    QueueChanged,
    /// The thinking level has changed.
    ThinkingChanged {
        /// The level.
        level: ThinkingLevel,
    },
    /// The name of the session has changed.
    NameChanged {
        /// The name; none if it was removed.
        name: Option<String>,
    },
    /// The label of an entry has changed.
    LabelChanged {
        /// The entry.
        entry: EntryId,
        /// The label; none if it was removed.
        label: Option<String>,
    },
    /// An extension appended an entry with its own state.
    CustomEntry {
        /// The entry.
        id: EntryId,
    },
    /// A model starts to summarise the branch that the leaf leaves.
    BranchSummaryStart,
    /// The summary of a branch was written, cancelled, or failed.
    BranchSummaryEnd {
        /// True if it was cancelled.
        aborted: bool,
        /// The error, if it failed.
        error: Option<String>,
    },
    /// The session was replaced.
    SessionReplaced {
        /// The reason: `new`, `resume` or `fork`.
        reason: &'static str,
        /// The file of the previous session.
        previous_file: Option<PathBuf>,
    },
    /// The leaf was moved, or another session was opened. An append is not a move.
    PositionChanged {
        /// The id of the previous session.
        session: String,
        /// The previous leaf.
        from: Option<EntryId>,
        /// The source of the move.
        by: Source,
    },
}

/// An event and its number in the stream.
#[derive(Debug, Clone)]
pub struct Event {
    /// The number of the event, from 0 and without gaps.
    pub seq: u64,
    /// The event.
    pub event: AgentEvent,
}

/// The event stream of an agent; clones share it.
#[derive(Clone, Default)]
pub struct Events(Arc<Stream>);

#[derive(Default)]
struct Stream {
    /// Events that are not delivered yet.
    pending: Mutex<VecDeque<Event>>,
    next_seq: AtomicU64,
    subscribers: Mutex<Vec<Subscriber>>,
    windows: Mutex<Vec<Weak<Window>>>,
    /// Wakes the agent when a subscriber with a window has read an event or is gone.
    read: Notify,
}

/// The events that a subscriber may leave unread before the agent waits for it.
#[derive(Debug)]
struct Window {
    unread: AtomicUsize,
    max: usize,
}

impl Window {
    fn is_full(&self) -> bool {
        self.unread.load(Ordering::Relaxed) >= self.max
    }
}

/// A subscriber. It is removed when it returns false.
type Subscriber = Box<dyn FnMut(&Event) -> bool + Send>;

impl Events {
    /// Makes a stream that calls a function for each event.
    pub fn new(mut on_event: impl FnMut(&Event) + Send + 'static) -> Self {
        let events = Events::default();
        events.add(move |event| {
            on_event(event);
            true
        });
        events
    }

    /// Subscribes to all events from now on.
    pub fn subscribe(&self) -> Subscription {
        let (send, receive) = mpsc::unbounded_channel();
        self.add(move |event| send.send(event.clone()).is_ok());
        Subscription { receive, window: None }
    }

    /// Subscribes to all events from now on. The agent waits while `max` events are unread. Then
    /// partial output of tools is skipped, because the next update contains it.
    pub fn subscribe_within(&self, max: usize) -> Subscription {
        let (send, receive) = mpsc::unbounded_channel();
        let window = Arc::new(Window { unread: AtomicUsize::new(0), max });
        lock(&self.0.windows).push(Arc::downgrade(&window));
        let (own, stream) = (window.clone(), self.0.clone());
        self.add(move |event| {
            if own.is_full() && matches!(event.event, AgentEvent::ToolUpdate { .. }) {
                return !send.is_closed();
            }
            own.unread.fetch_add(1, Ordering::Relaxed);
            send.send(event.clone()).is_ok()
        });
        Subscription { receive, window: Some((window, stream)) }
    }

    /// Waits until every subscriber with a window has room for another event.
    pub(crate) async fn room(&self) {
        loop {
            let read = self.0.read.notified();
            let is_full = {
                let mut windows = lock(&self.0.windows);
                windows.retain(|window| window.strong_count() > 1);
                windows.iter().filter_map(Weak::upgrade).any(|window| window.is_full())
            };
            if !is_full {
                return;
            }
            read.await;
        }
    }

    fn add(&self, subscriber: impl FnMut(&Event) -> bool + Send + 'static) {
        lock(&self.0.subscribers).push(Box::new(subscriber));
    }

    /// Sends an event to all subscribers. Events that a subscriber emits are delivered after the current one.
    pub(crate) fn emit(&self, event: AgentEvent) {
        log::log(&event);
        {
            let mut pending = lock(&self.0.pending);
            let seq = self.0.next_seq.fetch_add(1, Ordering::Relaxed);
            pending.push_back(Event { seq, event });
        }
        // If another call is delivering, it delivers this event too.
        while !lock(&self.0.pending).is_empty()
            && let Ok(mut subscribers) = self.0.subscribers.try_lock()
        {
            loop {
                let Some(event) = lock(&self.0.pending).pop_front() else { break };
                subscribers.retain_mut(|subscriber| subscriber(&event));
            }
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stream")
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Events")
    }
}

/// A receiver of events.
#[derive(Debug)]
pub struct Subscription {
    receive: mpsc::UnboundedReceiver<Event>,
    window: Option<(Arc<Window>, Arc<Stream>)>,
}

impl Subscription {
    /// Waits for the next event. Returns `None` when the agent has ended.
    pub async fn next(&mut self) -> Option<Event> {
        let event = self.receive.recv().await;
        self.note_read();
        event
    }

    /// Returns the next event if it is already there.
    pub fn try_next(&mut self) -> Option<Event> {
        let event = self.receive.try_recv().ok()?;
        self.note_read();
        Some(event)
    }

    fn note_read(&self) {
        if let Some((window, stream)) = &self.window {
            window.unread.fetch_sub(1, Ordering::Relaxed);
            stream.read.notify_waiters();
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some((_, stream)) = self.window.take() {
            stream.read.notify_waiters();
        }
    }
}

impl AgentEvent {
    /// Returns the name of the event for extensions and programs.
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
            AgentEvent::Warning { .. } => "warning",
            AgentEvent::AgentEnd(_) => "agent_end",
            AgentEvent::Failed { .. } => "error",
            AgentEvent::Returned { .. } => "prompts_returned",
            AgentEvent::QueueChanged => "queue_changed",
            AgentEvent::ThinkingChanged { .. } => "thinking_level_changed",
            AgentEvent::NameChanged { .. } => "session_info_changed",
            AgentEvent::LabelChanged { .. } => "label_changed",
            AgentEvent::CustomEntry { .. } => "entry_appended",
            AgentEvent::BranchSummaryStart => "branch_summary_start",
            AgentEvent::BranchSummaryEnd { .. } => "branch_summary_end",
            AgentEvent::SessionReplaced { .. } => "session_replaced",
            AgentEvent::PositionChanged { .. } => "position_changed",
        }
    }

    /// Returns the event as JSON. `answer` is the answer so far; the event is added to it and named after its block.
    pub fn to_json_in(&self, answer: &mut Answer) -> Json {
        let mut json = self.to_json();
        match self {
            AgentEvent::TurnStart { .. } => *answer = Answer::default(),
            AgentEvent::Answer(step) => {
                answer.take(step);
                if let Some(update) = answer.update_json(step) {
                    json["assistantMessageEvent"] = update;
                }
            }
            _ => {}
        }
        json
    }

    /// Returns the event as JSON, without the parts of an answer.
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
            AgentEvent::TurnStart { index, time, .. } => {
                json!({"turnIndex": index, "timestamp": time.as_millis()})
            }
            AgentEvent::TurnEnd { index, message, results } => json!({
                "turnIndex": index, "message": message.value().to_serde(),
                "toolResults": results.iter().filter_map(|result| result.value().to_serde()).collect::<Vec<_>>(),
            }),
            AgentEvent::Failed { error } => json!({"errorMessage": error.to_string()}),
            AgentEvent::Returned { prompts } => {
                json!({"prompts": prompts.iter().map(|prompt| &prompt.text).collect::<Vec<_>>()})
            }
            AgentEvent::QueueChanged | AgentEvent::BranchSummaryStart => json!({}),
            AgentEvent::ThinkingChanged { level } => json!({"level": level.name()}),
            AgentEvent::NameChanged { name } => json!({"name": name}),
            AgentEvent::LabelChanged { entry, label } => json!({"entryId": entry.as_str(), "label": label}),
            AgentEvent::CustomEntry { id } => json!({"entryId": id.as_str()}),
            AgentEvent::BranchSummaryEnd { aborted, error } => {
                json!({"aborted": aborted, "errorMessage": error})
            }
            AgentEvent::SessionReplaced { reason, previous_file } => {
                json!({"reason": reason, "previousSessionFile": previous_file})
            }
            AgentEvent::PositionChanged { session, from, by } => json!({
                "previousSessionId": session, "previousLeafId": from.as_ref().map(EntryId::as_str),
                "source": by.name(),
            }),
            AgentEvent::Answer(AnswerEvent::Begin { response_id }) => json!({"responseId": response_id}),
            AgentEvent::Answer(AnswerEvent::Usage(usage)) => json!({
                "input": usage.input, "output": usage.output,
                "cacheRead": usage.cache_read, "cacheWrite": usage.cache_write,
            }),
            AgentEvent::Answer(AnswerEvent::End { stop }) => json!({"stopReason": stop.name()}),
            // Only the answer has the position of a block.
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
            AgentEvent::Warning { text } => json!({"message": text}),
            AgentEvent::AgentEnd(Outcome::Done) => json!({"outcome": "done", "errorMessage": null}),
            AgentEvent::AgentEnd(Outcome::Aborted) => json!({"outcome": "aborted", "errorMessage": null}),
            AgentEvent::AgentEnd(Outcome::Failed(error)) => {
                json!({"outcome": "failed", "errorMessage": error.to_string()})
            }
        }
    }
}

fn output_json(output: &ToolOutput) -> Json {
    json!({"content": output.content, "details": output.details})
}

/// Returns the name of a part of an answer for extensions and programs.
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

#[cfg(test)]
mod tests;
