//! Sends requests to the model: path -> request -> stream -> message.

use std::pin::pin;
use std::sync::Arc;

use futures_util::StreamExt;
use serde_json::{Value as Json, json};
use session_tree::{Message, Position, Role};

use super::Agent;
use super::notify::messages_json;
use super::wire::HookObserver;
use crate::cancel::Cancel;
use crate::error::{AgentError, Result};
use crate::event::{AgentEvent, answer_name};
use crate::model::{Answer, Model, ModelError, Request, StopReason, WireObserver};
use crate::shared::lock;
use crate::turn::Input;

impl Agent {
    /// Returns the request that the model would get now.
    ///
    /// System prompt and tools are the agent's own. Those stored in a session file are only shown.
    pub fn request(&self) -> Result<Request> {
        let (context, estimate, id) = {
            let session = self.session();
            let estimate = session.context_estimate(Position::Leaf)?;
            (session.context()?, estimate, session.header().id().into_owned())
        };
        let messages = context.to_request().into_iter();
        Ok(Request {
            system: self.system.clone(),
            messages: messages.filter(|message| message.role() != Role::System).collect(),
            tools: lock(&self.tools).specs(),
            thinking: self.thinking,
            max_output: None,
            // Without a token count from the service the estimate would miss the system prompt and the tools.
            input_tokens: estimate.last_usage.map(|_| estimate.tokens),
            session: Some(id),
            cache: true,
            observer: None,
        })
    }

    /// Sends the request and waits for the answer.
    pub(super) async fn ask(&mut self, cancel: &Cancel) -> Result<Input> {
        let model = self.model.clone().ok_or(AgentError::NoModel)?;
        self.notify_turn_start(cancel).await;
        let mut request = self.request()?;
        if self.hooks.wants("context") {
            request.messages = self.changed_by_hooks(request.messages, cancel).await;
            request.input_tokens = None;
        }
        if self.hooks.wants("context_with_system") {
            self.change_with_system(&mut request, cancel).await;
            request.input_tokens = None;
        }
        request.observer = HookObserver::new(&self.hooks, cancel)
            .map(|observer| Arc::new(observer) as Arc<dyn WireObserver>);
        let (answer, end) = self.listen(&model, request, cancel).await;
        let (spec, now) = (model.spec(), self.session().now());
        Ok(match end {
            End::Complete => {
                let is_cut = answer.stop() == Some(StopReason::Length);
                let message = answer.into_message(spec, now);
                let calls = message.tool_calls();
                Input::Answered { message, calls, is_cut }
            }
            End::Broken(error) => {
                Input::Failed { message: answer.into_failed(spec, now, &error.to_string()), error }
            }
            End::Stopped => Input::Aborted(vec![answer.into_aborted(spec, now)]),
        })
    }

    async fn listen(&self, model: &Arc<dyn Model>, request: Request, cancel: &Cancel) -> (Answer, End) {
        let mut stream = model.answer(request);
        let mut answer = Answer::default();
        // One future for the whole answer, which comes in thousands of parts.
        let mut stopped = pin!(cancel.cancelled());
        loop {
            let next = tokio::select! {
                biased;
                () = &mut stopped => return (answer, End::Stopped),
                next = stream.next() => next,
            };
            match next {
                Some(Ok(event)) => {
                    answer.take(&event);
                    if self.hooks.wants(answer_name(&event)) {
                        self.notify_answer_part(&answer, &event, model.spec(), cancel).await;
                    }
                    self.events.emit(AgentEvent::Answer(event));
                    // A front end that reads slowly slows the answer down.
                    cancel.unless_cancelled(self.events.room()).await;
                }
                Some(Err(error)) => return (answer, End::Broken(error)),
                None if answer.stop().is_some() => return (answer, End::Complete),
                None => {
                    let reason = "the stream ended before the answer did".to_owned();
                    return (answer, End::Broken(ModelError::BrokenStream { reason }));
                }
            }
        }
    }

    /// Runs the hook that may change the messages of a request. The session is not changed.
    async fn changed_by_hooks(&self, messages: Vec<Message>, cancel: &Cancel) -> Vec<Message> {
        let payload = json!({"type": "context", "messages": messages_json(&messages)});
        let changed = self.hooks.chain("context", payload, cancel).await;
        read_messages(&changed["messages"]).unwrap_or(messages)
    }

    /// Runs the hook that may change the whole request; its first message is the system prompt.
    async fn change_with_system(&self, request: &mut Request, cancel: &Cancel) {
        const EVENT: &str = "context_with_system";
        let system = json!({"role": "system", "content": request.system});
        let mut messages = messages_json(&request.messages);
        if let Json::Array(list) = &mut messages {
            list.insert(0, system);
        }
        let payload = json!({"type": EVENT, "messages": messages});
        let changed = self.hooks.chain(EVENT, payload, cancel).await;
        let Some(messages) = read_messages(&changed["messages"]) else { return };
        let (system, said): (Vec<Message>, _) =
            messages.into_iter().partition(|message| message.role() == Role::System);
        request.system = system.iter().map(Message::text).collect::<Vec<_>>().join("\n\n");
        request.messages = said;
    }
}

/// Parses the messages of a hook's answer. Invalid messages are skipped.
fn read_messages(list: &Json) -> Option<Vec<Message>> {
    Some(
        list.as_array()?
            .iter()
            .filter_map(|value| Message::parse_unchecked(value.to_string()).ok())
            .collect(),
    )
}

/// How a stream ended.
enum End {
    Complete,
    Broken(ModelError),
    Stopped,
}
