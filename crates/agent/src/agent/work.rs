//! Runs tool calls: approval, order, results.

use std::pin::pin;
use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value as Json, json};
use session_tree::{Message, Position, Role, Timestamp};
use tokio::sync::mpsc;
use tracing::{Instrument as _, info_span};

use super::Agent;
use crate::approval::{Approval, without_approver};
use crate::cancel::Cancel;
use crate::command::is_picked_or_merged;
use crate::event::AgentEvent;
use crate::hooks::given;
use crate::permission::ProvenanceWarning;
use crate::shared::lock;
use crate::tool::{ToolCall, ToolOutput, ToolPlace};
use crate::tools::ReadyCall;
use crate::turn::Input;

const ABORTED: &str = "Operation aborted";

impl Agent {
    /// Runs tool calls and returns their results in the order of the calls.
    ///
    /// A call that may change something starts when all calls before it have finished, and blocks those after it.
    /// Neighbouring calls that only read run concurrently.
    pub(super) async fn work(&mut self, calls: Vec<ToolCall>, cancel: &Cancel) -> Input {
        let provenance = self.take_provenance_warning();
        let agent = &*self;
        let is_concurrent: Vec<bool> = {
            let tools = lock(&agent.tools);
            calls.iter().map(|call| tools.runs_concurrently(call)).collect()
        };
        let numbered: Vec<usize> = (0..calls.len()).collect();
        let mut outputs = Vec::with_capacity(calls.len());
        for group in numbered.chunk_by(|one, next| is_concurrent[*one] && is_concurrent[*next]) {
            let running = group.iter().map(|number| {
                let call = &calls[*number];
                let span = info_span!("tool", name = call.name, id = call.id);
                agent.run_call(call, provenance, cancel).instrument(span)
            });
            outputs.extend(join_all(running).await);
        }
        self.tool_results(&calls, &outputs, cancel)
    }

    /// Answers the calls of an answer that was cut off at the output limit: none of them runs, because their arguments
    /// may be incomplete and later calls may be missing.
    pub(super) async fn refuse_cut_calls(&self, calls: &[ToolCall], cancel: &Cancel) -> Input {
        let mut outputs = Vec::with_capacity(calls.len());
        for call in calls {
            let output = ToolOutput::error(format!(
                "The call of `{}` was not run: the answer reached the output limit and was cut off, so no call in it was \
                 run. Send the call again with complete arguments; split long content over several answers.",
                call.name
            ));
            self.announce(AgentEvent::ToolStart(call.clone()), cancel).await;
            self.announce(AgentEvent::ToolEnd { call: call.clone(), output: output.clone() }, cancel).await;
            outputs.push(output);
        }
        self.tool_results(calls, &outputs, cancel)
    }

    fn tool_results(&self, calls: &[ToolCall], outputs: &[ToolOutput], cancel: &Cancel) -> Input {
        let now = self.session().now();
        let results =
            calls.iter().zip(outputs).map(|(call, output)| result_message(call, output, now)).collect();
        if cancel.is_cancelled() { Input::Aborted(results) } else { Input::ToolsDone(results) }
    }

    /// Returns a warning if the model has read text of foreign origin since it last called a tool.
    fn take_provenance_warning(&mut self) -> Option<ProvenanceWarning> {
        if std::mem::take(&mut self.is_imported) {
            return Some(ProvenanceWarning::Imported);
        }
        let session = self.session();
        let tree = session.tree();
        let is_copied = |node| session.entry_at(node).is_ok_and(|entry| is_picked_or_merged(&entry));
        // The results of copied calls do not count.
        let mut path = session.branch_path(Position::Leaf).into_iter().rev();
        let last = path.find(|node| tree.role(*node) == Some(Role::ToolResult) || is_copied(*node));
        last.is_some_and(is_copied).then_some(ProvenanceWarning::PickedOrMerged)
    }

    async fn run_call(
        &self,
        call: &ToolCall,
        provenance: Option<ProvenanceWarning>,
        cancel: &Cancel,
    ) -> ToolOutput {
        if cancel.is_cancelled() {
            return ToolOutput::error(ABORTED);
        }
        let mut call = call.clone();
        self.announce(AgentEvent::ToolStart(call.clone()), cancel).await;
        let output = match self.permitted(call.clone(), provenance, cancel).await {
            Ok(ready) => {
                call = ready.call.clone();
                self.run_watched(ready, cancel).await
            }
            Err(refused) => refused,
        };
        let mut output = self.result_of_hooks(&call, output, cancel).await;
        self.secrets.mask_output(&mut output);
        self.announce(AgentEvent::ToolEnd { call, output: output.clone() }, cancel).await;
        output
    }

    /// Runs a tool and reports its partial output.
    async fn run_watched(&self, mut ready: ReadyCall, cancel: &Cancel) -> ToolOutput {
        let call = ready.call.clone();
        let (send, mut shown) = mpsc::unbounded_channel();
        ready.place.progress = Arc::new(move |output| drop(send.send(output)));
        let mut running = pin!(ready.run());
        let mut output = loop {
            tokio::select! {
                Some(output) = shown.recv() => self.notify_progress(&call, output, cancel).await,
                output = &mut running => break output,
            }
        };
        while let Ok(output) = shown.try_recv() {
            self.notify_progress(&call, output, cancel).await;
        }
        // Extensions get masked output too.
        self.secrets.mask_output(&mut output);
        output
    }

    async fn notify_progress(&self, call: &ToolCall, mut output: ToolOutput, cancel: &Cancel) {
        self.secrets.mask_output(&mut output);
        let event = AgentEvent::ToolUpdate { call_id: call.id.clone(), output };
        let add = |payload: &mut Json| {
            payload["toolName"] = call.name.as_str().into();
            payload["args"] = call.arguments.clone();
        };
        self.announce_with(event, add, cancel).await;
    }

    /// Asks extensions and the approver. Extensions may change the arguments.
    async fn permitted(
        &self,
        mut call: ToolCall,
        provenance: Option<ProvenanceWarning>,
        cancel: &Cancel,
    ) -> Result<ReadyCall, ToolOutput> {
        if self.hooks.wants("tool_call") {
            let payload = json!({
                "type": "tool_call", "toolCallId": call.id, "toolName": call.name, "input": call.arguments,
            });
            let answer = self.hooks.chain("tool_call", payload, cancel).await;
            if answer["block"] == true {
                let reason = answer["reason"].as_str().unwrap_or("an extension blocked the call");
                return Err(self.refused(&call, reason));
            }
            if cancel.is_cancelled() {
                // A guarding extension may not have answered.
                return Err(ToolOutput::error(ABORTED));
            }
            call.arguments = answer["input"].clone();
        }
        let mut ready = lock(&self.tools).check(call, self.tool_place(cancel.child()))?;
        ready.provenance = provenance;
        let approval = match &self.approver {
            Some(approver) => cancel.unless_cancelled(approver.approve(&ready)).await,
            None => Some(without_approver(&ready)),
        };
        match approval.unwrap_or_else(|| Approval::No(ABORTED.to_owned())) {
            Approval::Yes => Ok(ready),
            Approval::No(reason) => Err(self.refused(&ready.call, &reason)),
        }
    }

    /// Returns the environment in which the tools of this agent run.
    pub fn tool_place(&self, cancel: Cancel) -> ToolPlace {
        let (secrets, editor) = (Arc::clone(&self.secrets), self.editor.clone());
        ToolPlace { secrets, editor, ..ToolPlace::new(&self.cwd, cancel) }
    }

    /// Reports a refused call and returns its output for the model.
    fn refused(&self, call: &ToolCall, reason: &str) -> ToolOutput {
        self.events.emit(AgentEvent::ToolRefused { call: call.clone(), reason: reason.to_owned() });
        ToolOutput::error(reason)
    }

    async fn result_of_hooks(&self, call: &ToolCall, output: ToolOutput, cancel: &Cancel) -> ToolOutput {
        if !self.hooks.wants("tool_result") || cancel.is_cancelled() {
            return output;
        }
        let payload = json!({
            "type": "tool_result", "toolCallId": call.id, "toolName": call.name, "input": call.arguments,
            "content": output.content, "details": output.details, "isError": output.is_error,
        });
        let answer = self.hooks.chain("tool_result", payload, cancel).await;
        ToolOutput {
            content: answer["content"].as_array().cloned().unwrap_or(output.content),
            details: given(&answer, "details").cloned(),
            is_error: answer["isError"].as_bool().unwrap_or(output.is_error),
        }
    }
}

fn result_message(call: &ToolCall, output: &ToolOutput, time: Timestamp) -> Message {
    let result = output.content.iter().fold(call.answer(), |result, block| result.block(block));
    result.details(output.details.clone()).is_error(output.is_error).build().with_time(time)
}
