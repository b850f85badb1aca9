//! The events of the agent as pi 1.5.0 spells them, and those of the tree.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use offshoot_agent::agent::USER_COMMAND;
use offshoot_agent::event::AgentEvent;
use offshoot_agent::handle::AgentHandle;
use offshoot_agent::hooks::HookFailure;
use offshoot_agent::model::{Answer, AnswerEvent, ModelSpec};
use offshoot_agent::queue::Delivery;
use offshoot_agent::tool::ToolOutput;
use offshoot_agent::turn::Outcome;
use serde_json::{Map, Value as Json, json};
use session_tree::{EntryId, Message, Role, Session};

use super::protocol::QueueTexts;

/// An event on the wire.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WireEvent {
    /// Its fields; the first one is `type`.
    pub(crate) json: Json,
    /// True if only subscribers get it.
    pub(crate) is_extra: bool,
    /// True if subscribers do not get it, because they get it in another form.
    pub(crate) is_replaced: bool,
}

impl WireEvent {
    /// Makes an event of pi.
    pub(crate) fn new(name: &str, fields: Json) -> Self {
        let mut json = Map::new();
        json.insert("type".to_owned(), name.into());
        if let Json::Object(fields) = fields {
            json.extend(fields);
        }
        WireEvent { json: Json::Object(json), is_extra: false, is_replaced: false }
    }

    /// Makes an event for subscribers.
    pub(crate) fn extra(name: &str, fields: Json) -> Self {
        WireEvent { is_extra: true, ..WireEvent::new(name, fields) }
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        self.json["type"].as_str().unwrap_or_default()
    }
}

/// Translates the event stream of an agent.
#[derive(Debug, Default)]
pub(crate) struct Translator {
    run: Option<Run>,
    answer: Answer,
    /// The usage of the answer so far, as messages spell it.
    usage: Json,
    is_answering: bool,
    tools: HashMap<String, RunningTool>,
    queue: QueueTexts,
    /// The number of the repeated request that is under way.
    retry: Option<u32>,
    /// True while the agent waits before it repeats a request.
    pub(crate) is_waiting_to_retry: bool,
    /// True while the context is compacted.
    pub(crate) is_compacting: bool,
    /// True while a summary is written.
    is_summarising: bool,
    /// True if the request for a summary was repeated.
    has_repeated_summary: bool,
    /// The output of a command of the user that was sent so far.
    sent_output: String,
}

/// Work on a prompt.
#[derive(Debug, Default)]
struct Run {
    messages: Vec<Json>,
    has_turn: bool,
    /// True between a failed request and the next one.
    is_ended: bool,
}

#[derive(Debug)]
struct RunningTool {
    name: String,
    arguments: Json,
    start: Instant,
    has_run: bool,
}

impl Translator {
    /// Translates an event. `bash_id` is the id of the shell command that runs, if it has one.
    pub(crate) fn translate(
        &mut self,
        event: &AgentEvent,
        agent: &AgentHandle,
        bash_id: Option<&Json>,
    ) -> Vec<WireEvent> {
        let mut out = Vec::new();
        match event {
            AgentEvent::AgentStart => {
                self.run = Some(Run::default());
                out.push(WireEvent::new("agent_start", json!({})));
                self.begin_turn(&mut out);
            }
            AgentEvent::TurnStart { .. } => {
                self.is_waiting_to_retry = false;
                if let Some(run) = self.run.as_mut().filter(|run| run.is_ended) {
                    *run = Run::default();
                    out.push(WireEvent::new("agent_start", json!({})));
                }
                self.begin_turn(&mut out);
            }
            AgentEvent::TurnEnd { message, results, .. } => {
                if let Some(run) = &mut self.run {
                    run.has_turn = false;
                }
                let results: Vec<Json> = results.iter().map(message_json).collect();
                let fields = json!({"message": message_json(message), "toolResults": results});
                out.push(WireEvent::new("turn_end", fields));
            }
            AgentEvent::Answer(step) => self.grow(step, agent, &mut out),
            AgentEvent::Message { message, .. } => self.take_message(message, &mut out),
            AgentEvent::ToolStart(_)
            | AgentEvent::ToolUpdate { .. }
            | AgentEvent::ToolRefused { .. }
            | AgentEvent::ToolEnd { .. } => out.extend(self.translate_tool(event, bash_id)),
            AgentEvent::RetryStart { attempt, delay, error } => {
                let name = match self.is_summarising {
                    true => "summarization_retry_scheduled",
                    false => "auto_retry_start",
                };
                self.has_repeated_summary = self.is_summarising;
                if !self.is_summarising {
                    self.end_run(true, &mut out);
                    (self.retry, self.is_waiting_to_retry) = (Some(*attempt), true);
                }
                let delay = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
                let fields = json!({
                    "attempt": attempt, "maxAttempts": agent.state().settings.retry.most, "delayMs": delay,
                    "errorMessage": error.to_string(),
                });
                out.push(WireEvent::new(name, fields));
            }
            AgentEvent::AgentEnd(outcome) => {
                self.is_waiting_to_retry = false;
                self.end_run(false, &mut out);
                self.run = None;
                if let Some(attempt) = self.retry.take() {
                    let mut fields = json!({"success": false, "attempt": attempt});
                    if let Outcome::Failed(error) = outcome {
                        fields["finalError"] = error.to_string().into();
                    }
                    out.push(WireEvent::new("auto_retry_end", fields));
                }
                let aborted = *outcome == Outcome::Aborted;
                out.push(WireEvent::new("agent_settled", json!({"aborted": aborted})));
            }
            AgentEvent::QueueChanged => {
                let queue = queue_texts(agent);
                if queue != self.queue {
                    let count = |texts: &QueueTexts| texts.steering.len() + texts.follow_up.len();
                    // A prompt is taken for the turn that begins.
                    if count(&queue) < count(&self.queue) {
                        self.begin_turn(&mut out);
                    }
                    out.push(WireEvent::new("queue_update", json!(queue)));
                    self.queue = queue;
                }
            }
            other => self.translate_rest(other, agent, &mut out),
        }
        out
    }

    /// Translates the events of tools and of shell commands.
    fn translate_tool(&mut self, event: &AgentEvent, bash_id: Option<&Json>) -> Option<WireEvent> {
        match event {
            AgentEvent::ToolStart(call) => {
                let (name, arguments) = (call.name.clone(), call.arguments.clone());
                let fields = json!({"toolCallId": call.id, "toolName": name, "args": arguments});
                let tool = RunningTool { name, arguments, start: Instant::now(), has_run: true };
                self.tools.insert(call.id.clone(), tool);
                Some(WireEvent::new("tool_execution_start", fields))
            }
            AgentEvent::ToolUpdate { call_id, output } if call_id == USER_COMMAND => {
                self.bash_output(&output.all_text(), bash_id)
            }
            AgentEvent::ToolUpdate { call_id, output } => {
                let (name, arguments) = match self.tools.get(call_id) {
                    Some(tool) => (tool.name.as_str(), tool.arguments.clone()),
                    None => ("", Json::Null),
                };
                let fields = json!({
                    "toolCallId": call_id, "toolName": name, "args": arguments,
                    "partialResult": output_json(output),
                });
                Some(WireEvent::new("tool_execution_update", fields))
            }
            AgentEvent::ToolRefused { call, .. } => {
                if let Some(tool) = self.tools.get_mut(&call.id) {
                    tool.has_run = false;
                }
                None
            }
            AgentEvent::ToolEnd { call, output } => {
                let mut fields = json!({
                    "toolCallId": call.id, "toolName": call.name, "result": output_json(output),
                    "isError": output.is_error,
                });
                if let Some(tool) = self.tools.remove(&call.id).filter(|tool| tool.has_run) {
                    let millis = u64::try_from(tool.start.elapsed().as_millis()).unwrap_or(u64::MAX);
                    fields["durationMs"] = millis.into();
                }
                Some(WireEvent::new("tool_execution_end", fields))
            }
            _ => None,
        }
    }

    /// Translates the events that do not belong to a run.
    fn translate_rest(&mut self, event: &AgentEvent, agent: &AgentHandle, out: &mut Vec<WireEvent>) {
        match event {
            AgentEvent::CompactionStart { reason } => {
                (self.is_compacting, self.is_summarising) = (true, true);
                out.push(WireEvent::new("compaction_start", json!({"reason": reason})));
            }
            AgentEvent::CompactionEnd { reason, entry, error, .. } => {
                self.is_compacting = false;
                self.end_summary(out);
                let mut fields = json!({"reason": reason});
                if let Some(result) = entry.as_ref().and_then(|id| compaction_json(agent, id)) {
                    fields["result"] = result;
                }
                fields["aborted"] = (entry.is_none() && error.is_none()).into();
                fields["willRetry"] = (*reason == "overflow" && entry.is_some()).into();
                if let Some(error) = error {
                    fields["errorMessage"] = format!("Compaction failed: {error}").into();
                }
                out.push(WireEvent::new("compaction_end", fields));
            }
            AgentEvent::HookFailed(HookFailure { handler, event, message }) => {
                let error = without_stack(message);
                let fields = json!({"extensionPath": handler, "event": event, "error": error});
                out.push(WireEvent::new("extension_error", fields));
            }
            AgentEvent::ThinkingChanged { level } => {
                out.push(WireEvent::new("thinking_level_changed", json!({"level": level.name()})));
            }
            AgentEvent::NameChanged { name } => {
                let fields = name.as_ref().map_or(json!({}), |name| json!({"name": name}));
                out.push(WireEvent::new("session_info_changed", fields));
            }
            AgentEvent::LabelChanged { entry, label } => {
                out.push(WireEvent::extra("label_changed", json!({"entryId": entry, "label": label})));
            }
            AgentEvent::CustomEntry { id } => {
                if let Some(entry) = agent.read(|session| entry_json(session, id.as_str())) {
                    let event = WireEvent::new("entry_appended", json!({"entry": entry}));
                    out.push(WireEvent { is_replaced: true, ..event });
                }
            }
            AgentEvent::BranchSummaryStart => {
                self.is_summarising = true;
                out.push(WireEvent::extra("branch_summary_start", json!({})));
            }
            AgentEvent::BranchSummaryEnd { aborted, error } => {
                self.end_summary(out);
                let mut fields = json!({"aborted": aborted});
                if let Some(error) = error {
                    fields["errorMessage"] = error.as_str().into();
                }
                out.push(WireEvent::extra("branch_summary_end", fields));
            }
            AgentEvent::SessionReplaced { reason, previous_file } => {
                let (id, file) = agent.read(|session| {
                    (session.header().id().into_owned(), session.file().map(Path::to_path_buf))
                });
                let fields = json!({
                    "reason": reason, "sessionFile": file, "sessionId": id, "previousSessionFile": previous_file,
                });
                out.push(WireEvent::extra("session_replaced", fields));
            }
            AgentEvent::PositionChanged { session, from, by } => {
                out.extend(leaf_changed(agent, session, from.as_ref(), by.name()));
            }
            AgentEvent::Failed { error } => {
                out.push(WireEvent::extra("error", json!({"errorMessage": error.to_string()})));
            }
            AgentEvent::Returned { prompts } => {
                let texts: Vec<&str> = prompts.iter().map(|prompt| prompt.text.as_str()).collect();
                out.push(WireEvent::extra("prompts_returned", json!({"prompts": texts})));
            }
            _ => {}
        }
    }

    fn end_summary(&mut self, out: &mut Vec<WireEvent>) {
        self.is_summarising = false;
        if std::mem::take(&mut self.has_repeated_summary) {
            out.push(WireEvent::new("summarization_retry_finished", json!({})));
        }
    }

    fn begin_turn(&mut self, out: &mut Vec<WireEvent>) {
        if let Some(run) = self.run.as_mut().filter(|run| !run.has_turn) {
            run.has_turn = true;
            out.push(WireEvent::new("turn_start", json!({})));
        }
    }

    fn end_run(&mut self, will_retry: bool, out: &mut Vec<WireEvent>) {
        if let Some(run) = self.run.as_mut().filter(|run| !run.is_ended) {
            run.is_ended = true;
            let messages = std::mem::take(&mut run.messages);
            let fields = json!({"messages": messages, "willRetry": will_retry});
            out.push(WireEvent::new("agent_end", fields));
        }
    }

    fn grow(&mut self, step: &AnswerEvent, agent: &AgentHandle, out: &mut Vec<WireEvent>) {
        let Some(spec) = agent.state().model.map(|model| model.spec().clone()) else { return };
        if let AnswerEvent::Begin { .. } = step {
            self.answer = Answer::default();
            self.usage = Json::Null;
        }
        self.answer.take(step);
        match step {
            AnswerEvent::Usage(_) => self.usage = usage_json(&self.answer, &spec, agent),
            AnswerEvent::BlockStart { .. }
            | AnswerEvent::BlockDelta { .. }
            | AnswerEvent::BlockEnd { .. } => {
                if !self.is_answering {
                    self.begin_turn(out);
                    self.is_answering = true;
                    out.push(WireEvent::new("message_start", json!({"message": pending(&spec, agent)})));
                }
                if self.usage.is_null() {
                    self.usage = usage_json(&self.answer, &spec, agent);
                }
                let update = self.answer.update_json(step);
                let fields = json!({"usage": self.usage, "assistantMessageEvent": update});
                out.push(WireEvent::new("message_update", fields));
            }
            _ => {}
        }
    }

    fn take_message(&mut self, message: &Message, out: &mut Vec<WireEvent>) {
        let json = message_json(message);
        let is_answer = message.role() == Role::Assistant;
        if !(is_answer && std::mem::take(&mut self.is_answering)) {
            self.begin_turn(out);
            out.push(WireEvent::new("message_start", json!({"message": json})));
        }
        out.push(WireEvent::new("message_end", json!({"message": json})));
        if let Some(run) = &mut self.run {
            run.messages.push(json);
        }
        let has_failed = message.value().get("stopReason").and_then(|stop| stop.as_str());
        let has_failed = matches!(has_failed.as_deref(), Some("error" | "aborted"));
        if let Some(attempt) = self.retry.filter(|_| is_answer && !has_failed) {
            self.retry = None;
            out.push(WireEvent::new("auto_retry_end", json!({"success": true, "attempt": attempt})));
        }
    }

    /// Returns the part of a command's output that was not sent yet.
    pub(crate) fn bash_output(&mut self, output: &str, id: Option<&Json>) -> Option<WireEvent> {
        let delta = new_part(&self.sent_output, output);
        if delta.is_empty() {
            return None;
        }
        let mut fields = json!({});
        if let Some(id) = id {
            fields["id"] = id.clone();
        }
        fields["delta"] = delta.into();
        output.clone_into(&mut self.sent_output);
        Some(WireEvent::new("bash_execution_update", fields))
    }

    /// Forgets the output of a command that has ended.
    pub(crate) fn end_bash(&mut self) {
        self.sent_output.clear();
    }
}

/// Returns the part of `now` that follows `before`. Both may be the end of a longer text.
fn new_part<'t>(before: &str, now: &'t str) -> &'t str {
    /// The length of the text that is searched for.
    const ANCHOR: usize = 256;
    if let Some(rest) = now.strip_prefix(before) {
        return rest;
    }
    let anchor = &before[before.ceil_char_boundary(before.len().saturating_sub(ANCHOR))..];
    now.rfind(anchor).map_or(now, |at| &now[at + anchor.len()..])
}

/// Returns the message of an error of script, without the places in the source.
pub(crate) fn without_stack(message: &str) -> &str {
    message.split_once("\n    at ").map_or(message, |(message, _)| message)
}

/// Returns the event of a move of the leaf; none if another session was opened.
pub(crate) fn leaf_changed(
    agent: &AgentHandle,
    session_id: &str,
    from: Option<&EntryId>,
    by: &str,
) -> Option<WireEvent> {
    agent.read(|session| {
        if session.header().id() != session_id {
            return None;
        }
        let leaf = session.leaf_id();
        let mut fields = json!({"oldLeafId": from, "newLeafId": leaf, "reason": by});
        let summary = leaf.as_ref().and_then(|id| entry_json(session, id.as_str()));
        if let Some(summary) = summary.filter(|entry| entry["type"] == "branch_summary") {
            fields["summaryEntry"] = summary;
        }
        Some(WireEvent::extra("leaf_changed", fields))
    })
}

/// Returns an entry as the file spells it.
pub(crate) fn entry_json(session: &Session, id: &str) -> Option<Json> {
    session.entry(id).ok()?.value()?.to_serde()
}

/// Returns the prompts in the queue.
pub(crate) fn queue_texts(agent: &AgentHandle) -> QueueTexts {
    let mut texts = QueueTexts::default();
    for queued in agent.queue() {
        match queued.delivery {
            Some(Delivery::Steer) => texts.steering.push(queued.text),
            Some(Delivery::FollowUp) => texts.follow_up.push(queued.text),
            Some(Delivery::AfterTurn | Delivery::NextTurn) | None => {}
        }
    }
    texts
}

pub(crate) fn message_json(message: &Message) -> Json {
    message.value().to_serde().unwrap_or_default()
}

fn output_json(output: &ToolOutput) -> Json {
    let mut json = json!({"content": output.content});
    if let Some(details) = &output.details {
        json["details"] = details.clone();
    }
    json
}

/// Spells the usage of an answer so far.
fn usage_json(answer: &Answer, spec: &ModelSpec, agent: &AgentHandle) -> Json {
    let mut counted = Answer::default();
    counted.take(&AnswerEvent::Usage(answer.usage()));
    let message = counted.into_message(spec, agent.read(Session::now));
    message.value().get("usage").and_then(|usage| usage.to_serde()).unwrap_or_default()
}

/// Spells an answer that begins.
fn pending(spec: &ModelSpec, agent: &AgentHandle) -> Json {
    let mut message = message_json(&Answer::default().into_message(spec, agent.read(Session::now)));
    message["stopReason"] = "pending".into();
    message
}

/// Returns the result of a compaction.
pub(crate) fn compaction_json(agent: &AgentHandle, id: &EntryId) -> Option<Json> {
    agent.read(|session| {
        let entry = entry_json(session, id.as_str())?;
        let mut result = json!({});
        for field in ["summary", "firstKeptEntryId", "tokensBefore"] {
            result[field] = entry[field].clone();
        }
        let after = session.context_estimate(session_tree::Position::Leaf).ok()?;
        result["estimatedTokensAfter"] = after.trailing_tokens.into();
        for field in ["usage", "details"] {
            if let Some(value) = entry.get(field) {
                result[field] = value.clone();
            }
        }
        Some(result)
    })
}

#[cfg(test)]
mod tests;
