//! Prompts: each is answered as soon as its turn begins, it is queued, or an extension has handled it.

use std::rc::Rc;

use offshoot_agent::agent::{Submission, Submitted};
use offshoot_agent::extension::{CommandRun, numbered};
use offshoot_agent::queue::Delivery;
use serde_json::{Value as Json, json};

use super::client::{Client, Reply};
use super::events::{WireEvent, without_stack};
use super::protocol::{Accepted, Command, Disposition, ImageInput, StreamingBehavior};
use super::server::Server;
use crate::failure::{Failure, FailureKind};

const COMPACTING: &str =
    "Cannot submit a prompt while compaction is in progress. Wait for compaction to finish and retry.";
const WORKING: &str = "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the \
                       message.";

/// A prompt that waits for its turn.
pub(crate) struct StartingPrompt {
    number: u64,
    client: Rc<Client>,
    id: Option<Json>,
}

impl Server {
    /// Sends a prompt and answers it.
    pub(crate) async fn prompt(self: &Rc<Self>, client: &Rc<Client>, id: Option<Json>, command: Command) {
        let Command::Prompt { message, images, streaming_behavior } = command else { return };
        let reply = match self.run_extension_command(&message).await {
            ExtensionRun::Handled => accepted(Disposition::Handled),
            ExtensionRun::Prompt(text) => {
                let submission = submission(text, images);
                self.submit(client, &id, submission, streaming_behavior).await
            }
        };
        if reply.as_ref().is_ok_and(String::is_empty) {
            return;
        }
        self.events_sent().await;
        client.answer(id.as_ref(), Some("prompt"), reply).await;
    }

    /// Sends a prompt to the agent. The reply is empty if it was answered already.
    async fn submit(
        &self,
        client: &Rc<Client>,
        id: &Option<Json>,
        submission: Submission,
        behavior: Option<StreamingBehavior>,
    ) -> Reply {
        if self.translator.borrow().is_compacting {
            return Err(Failure::of(FailureKind::Busy, COMPACTING));
        }
        if self.is_streaming() {
            let delivery = match behavior {
                None => return Err(Failure::of(FailureKind::Busy, WORKING)),
                Some(StreamingBehavior::Steer) => Delivery::Steer,
                Some(StreamingBehavior::FollowUp) => Delivery::FollowUp,
            };
            self.agent.queue_prompt(submission, delivery);
            return accepted(Disposition::Queued);
        }
        let number = self.next_number();
        let starting = StartingPrompt { number, client: client.clone(), id: id.clone() };
        self.starting.borrow_mut().push_back(starting);
        let result = self.agent.prompt(submission).await;
        // The turn has begun if the event is on its way.
        self.events_sent().await;
        let is_answered = {
            let mut starting = self.starting.borrow_mut();
            let before = starting.len();
            starting.retain(|prompt| prompt.number != number);
            starting.len() == before
        };
        match result {
            Err(error) if is_answered => {
                let event = WireEvent::extra("error", json!({"errorMessage": error.to_string()}));
                self.publish([event]).await;
                Ok(String::new())
            }
            Ok(_) if is_answered => Ok(String::new()),
            Ok(Submitted::Handled) => accepted(Disposition::Handled),
            Ok(Submitted::Answered(_)) => accepted(Disposition::Started),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends a prompt for another protocol, or runs the command of an extension that it names. Returns when the work is
    /// done.
    pub(crate) async fn send_prompt(&self, submission: Submission) -> Result<Submitted, Failure> {
        match self.run_extension_command(&submission.text).await {
            ExtensionRun::Handled => Ok(Submitted::Handled),
            ExtensionRun::Prompt(text) => Ok(self.agent.prompt(Submission { text, ..submission }).await?),
        }
    }

    /// Answers the prompt of the turn that begins.
    pub(crate) async fn answer_started(&self) {
        let starting = self.starting.borrow_mut().pop_front();
        if let Some(StartingPrompt { client, id, .. }) = starting {
            client.answer(id.as_ref(), Some("prompt"), accepted(Disposition::Started)).await;
        }
    }

    /// Returns true while a turn runs or begins.
    pub(crate) fn is_streaming(&self) -> bool {
        self.agent.has_turn() || !self.starting.borrow().is_empty()
    }

    /// Queues a prompt that steers the turn or follows it.
    pub(crate) fn queue(
        &self,
        message: String,
        images: Option<Vec<ImageInput>>,
        delivery: Delivery,
    ) -> Reply {
        if let Some(name) = self.extension_command(&message) {
            return Err(Failure::new(format!(
                "Extension command \"/{name}\" cannot be queued. Use prompt() or execute the command when not streaming."
            )));
        }
        self.agent.queue_prompt(submission(message, images), delivery);
        accepted(Disposition::Queued)
    }

    /// Returns the name of the extension's command that a text names.
    fn extension_command(&self, text: &str) -> Option<String> {
        let name = text.strip_prefix('/')?.split(' ').next()?.to_owned();
        numbered(&self.agent.state().commands).into_iter().any(|(known, _)| known == name).then_some(name)
    }

    /// Runs the extension's command that a text names.
    async fn run_extension_command(&self, text: &str) -> ExtensionRun {
        let Some(name) = self.extension_command(text) else { return ExtensionRun::Prompt(text.to_owned()) };
        let arguments = text.split_once(' ').map_or("", |(_, arguments)| arguments).to_owned();
        match self.agent.run_extension_command(name.clone(), arguments).await {
            Ok(CommandRun::Unknown) => ExtensionRun::Prompt(text.to_owned()),
            Ok(CommandRun::Done(Some(prompt))) => ExtensionRun::Prompt(prompt),
            Ok(CommandRun::Done(None)) => ExtensionRun::Handled,
            Ok(CommandRun::Failed(error)) => self.report_command(&name, error).await,
            Err(error) => self.report_command(&name, error.to_string()).await,
        }
    }

    async fn report_command(&self, name: &str, error: String) -> ExtensionRun {
        let error = without_stack(&error);
        let fields = json!({"extensionPath": format!("command:{name}"), "event": "command", "error": error});
        self.publish([WireEvent::new("extension_error", fields)]).await;
        ExtensionRun::Handled
    }
}

/// The result of a text that may name a command of an extension.
enum ExtensionRun {
    /// The command ran.
    Handled,
    /// The text is a prompt, or the command returned one.
    Prompt(String),
}

fn submission(text: String, images: Option<Vec<ImageInput>>) -> Submission {
    let images = images.unwrap_or_default().into_iter().map(Into::into).collect();
    Submission { text, images, source: "rpc", ..Submission::default() }
}

pub(crate) fn accepted(disposition: Disposition) -> Reply {
    super::commands::data(&Accepted { disposition })
}
