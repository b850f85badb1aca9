//! Submits prompts: extensions may change them, handle them or add messages; then the agent works.
//!
//! `input` -> `before_agent_start` -> prompt

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use session_tree::{EntryId, Image, Message, Session, Timestamp};

use super::Agent;
use super::mention::{self, MentionedFiles};
use crate::cancel::Cancel;
use crate::error::{AgentError, Result};
use crate::event::AgentEvent;
use crate::handle::CustomMessage;
use crate::queue::QueuedMessage;
use crate::secrets::Secrets;
use crate::tool::ToolPlace;
use crate::tools::{CommandOutput, UserCommand, command_message, run_user_command};
use crate::turn::Outcome;

/// A prompt of the user, of a program or of an extension.
#[derive(Debug, Clone, Default)]
pub struct Submission {
    /// The text.
    pub text: String,
    /// The attached images.
    pub images: Vec<Image>,
    /// The source: `interactive`, `rpc` or `extension`.
    pub source: &'static str,
    /// The part of the text that the user typed. Files named there as `@path` are attached.
    pub typed: String,
    /// True if the text is sent as it is, also if it names a skill or a prompt template.
    pub is_literal: bool,
}

impl Submission {
    /// The source of a prompt that an extension sends.
    pub(crate) const EXTENSION: &str = "extension";

    /// Creates a prompt typed by the user.
    pub fn typed(text: impl Into<String>) -> Self {
        Submission { text: text.into(), source: "interactive", ..Submission::default() }
    }

    /// Returns the paths that were typed as `@path` and do not exist.
    pub fn missing_files(&self, cwd: &Path) -> Vec<String> {
        mention::missing(&self.typed, cwd)
    }

    /// Returns the message of the prompt and one for each attached file.
    ///
    /// # Errors
    ///
    /// The errors of creating a message.
    pub fn to_messages(&self, now: Timestamp, cwd: &Path, secrets: &Secrets) -> Result<Vec<Message>> {
        let MentionedFiles { files, images } = mention::read(&self.typed, cwd, secrets);
        let images = [self.images.as_slice(), &images].concat();
        let mut messages = vec![Submission { images, ..self.clone() }.to_message(now)];
        for file in files {
            messages.push(file.to_message(now)?);
        }
        Ok(messages)
    }

    fn to_message(&self, now: Timestamp) -> Message {
        Message::user_with_images(&self.text, &self.images).with_time(now)
    }
}

/// The result of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submitted {
    /// An extension handled it; the model was not asked.
    Handled,
    /// The agent answered it.
    Answered(Outcome),
}

/// The call id of the user's commands in events. Models never use it.
pub const USER_COMMAND: &str = "!";

/// A finished command of the user.
#[derive(Debug)]
pub struct RanCommand {
    /// The command and its output.
    pub message: Message,
    /// The entry, or the reason why it could not be appended.
    pub appended: Result<EntryId>,
}

impl Agent {
    /// Submits a prompt and runs the hooks for it.
    ///
    /// # Errors
    ///
    /// The errors of [`Agent::prompt`].
    pub async fn submit(&mut self, submission: Submission, cancel: &Cancel) -> Result<Submitted> {
        let Some(submission) = self.input(submission, cancel).await else { return Ok(Submitted::Handled) };
        if self.model.is_none() {
            return Err(AgentError::NoModel);
        }
        let now = self.session().now();
        let messages = submission.to_messages(now, &self.cwd, &self.secrets)?;
        let payload = json!({
            "messageType": "user", "prompt": submission.text, "images": images_json(&submission.images),
        });
        self.begin(messages, payload, cancel).await.map(Submitted::Answered)
    }

    /// Starts a turn with a custom message.
    pub(crate) async fn submit_message(&mut self, message: Message, cancel: &Cancel) -> Result<()> {
        let payload = json!({"messageType": "custom", "message": message.value().to_serde()});
        self.begin(vec![message], payload, cancel).await.map(drop)
    }

    /// Runs the hook before the agent starts, then works until the model has answered.
    async fn begin(&mut self, mut messages: Vec<Message>, payload: Json, cancel: &Cancel) -> Result<Outcome> {
        let own_system = self.system.clone();
        messages.extend(self.before_agent_start(payload, cancel).await);
        let outcome = self.prompt(messages, cancel).await;
        // An extension changes the system prompt for one prompt only.
        self.system = own_system;
        outcome
    }

    /// Runs the hook that may change a prompt, then expands skills and templates. Returns `None` if an extension handled it.
    async fn input(&self, mut submission: Submission, cancel: &Cancel) -> Option<Submission> {
        if self.hooks.wants("input") {
            submission = self.ask_input_hook(submission, cancel).await?;
        }
        if submission.source != Submission::EXTENSION && !submission.is_literal {
            submission.text = self.expand(submission.text);
        }
        Some(submission)
    }

    async fn ask_input_hook(&self, mut submission: Submission, cancel: &Cancel) -> Option<Submission> {
        let payload = json!({
            "type": "input", "text": submission.text, "images": images_json(&submission.images),
            "source": submission.source,
        });
        let answer = self.hooks.chain("input", payload, cancel).await;
        self.report_hook_failures();
        if answer["action"] == "handled" {
            return None;
        }
        if let Some(text) = answer["text"].as_str() {
            text.clone_into(&mut submission.text);
        }
        if let Some(images) = answer["images"].as_array() {
            submission.images = images.iter().filter_map(image_of).collect();
        }
        Some(submission)
    }

    /// Returns the messages of queued prompts, with the changes of extensions.
    pub(super) async fn run_input_hooks(&self, taken: Vec<QueuedMessage>, cancel: &Cancel) -> Vec<Message> {
        let mut messages = Vec::with_capacity(taken.len());
        for taken in taken {
            let submission = match taken {
                QueuedMessage::Custom(message) => {
                    messages.push(message);
                    continue;
                }
                QueuedMessage::Prompt(submission) => self.input(submission, cancel).await,
            };
            let Some(submission) = submission else { continue };
            match submission.to_messages(self.session().now(), &self.cwd, &self.secrets) {
                Ok(prompt) => messages.extend(prompt),
                Err(error) => self.return_prompt(submission, error),
            }
        }
        messages
    }

    /// Reports that a prompt was not sent, and returns it to the front end.
    fn return_prompt(&self, submission: Submission, error: AgentError) {
        self.events.emit(AgentEvent::Failed { error: Arc::new(error) });
        self.events.emit(AgentEvent::Returned { prompts: vec![submission] });
    }

    /// Runs the hook that may add messages after the prompt and change the system prompt.
    async fn before_agent_start(&mut self, mut payload: Json, cancel: &Cancel) -> Vec<Message> {
        const EVENT: &str = "before_agent_start";
        let mut messages = Vec::new();
        if !self.hooks.wants(EVENT) {
            return messages;
        }
        payload["type"] = EVENT.into();
        payload["systemPrompt"] = self.system.as_str().into();
        let now = self.session().now();
        let (answers, payload) = self.hooks.collect(EVENT, payload, cancel).await;
        let added = answers.iter().filter_map(|answer| answer.get("message"));
        for message in added.filter_map(CustomMessage::read) {
            messages.extend(message.to_message(now).ok());
        }
        if let Some(system) = payload["systemPrompt"].as_str() {
            system.clone_into(&mut self.system);
        }
        self.report_hook_failures();
        messages
    }

    /// Runs a command of the user and appends it with its output. Events carry partial output under the call id
    /// [`USER_COMMAND`].
    ///
    /// # Errors
    ///
    /// The errors of [`Agent::run_command`].
    pub async fn run_user_command(&mut self, command: &UserCommand, cancel: &Cancel) -> Result<RanCommand> {
        let events = self.events.clone();
        let progress = move |output| {
            events.emit(AgentEvent::ToolUpdate { call_id: USER_COMMAND.to_owned(), output });
        };
        let place = ToolPlace { progress: Arc::new(progress), ..self.tool_place(cancel.clone()) };
        let message = self.run_command(command, &place).await?;
        let append = |session: &mut Session| {
            let id = session.append_message(&message)?;
            session.sync()?;
            Ok(id)
        };
        let appended = self.when_unlocked(cancel, append).await;
        Ok(RanCommand { message, appended })
    }

    /// Runs a command that the user typed after `!`, or lets an extension run it. Appends nothing; see
    /// [`Agent::run_user_command`].
    ///
    /// # Errors
    ///
    /// [`AgentError::CommandBlocked`] if an extension blocks it, if a guarding extension fails, or if it was cancelled
    /// before it started.
    pub async fn run_command(&self, command: &UserCommand, place: &ToolPlace) -> Result<Message> {
        let now = self.session().now();
        match self.run_by_hook(command, place).await? {
            Some(message) => Ok(message),
            // A guarding extension may not have answered.
            None if place.cancel.is_cancelled() => {
                Err(AgentError::CommandBlocked { reason: "it was cancelled before it started".to_owned() })
            }
            None => Ok(run_user_command(command, place, now).await),
        }
    }

    async fn run_by_hook(&self, command: &UserCommand, place: &ToolPlace) -> Result<Option<Message>> {
        if !self.hooks.wants("user_bash") {
            return Ok(None);
        }
        let payload = json!({
            "type": "user_bash", "command": command.command, "excludeFromContext": command.is_private,
            "cwd": self.cwd.to_string_lossy(),
        });
        let answer = self.hooks.first("user_bash", &payload, &place.cancel).await;
        self.report_hook_failures();
        let answer = answer.unwrap_or_default();
        if answer["block"] == true {
            let reason = answer["reason"].as_str().unwrap_or("an extension blocked it").to_owned();
            return Err(AgentError::CommandBlocked { reason });
        }
        let result = answer.get("result").filter(|result| result.is_object());
        Ok(result.map(|result| {
            let mut output = output_of(result);
            output.text = self.secrets.mask(&output.text).into_owned();
            command_message(command, &output, self.session().now())
        }))
    }
}

/// Reads the output of a command that an extension ran.
fn output_of(result: &Json) -> CommandOutput {
    let is_true = |key: &str| result[key].as_bool().unwrap_or(false);
    let output = CommandOutput::of(result["output"].as_str().unwrap_or_default());
    CommandOutput {
        exit_code: result["exitCode"].as_i64(),
        is_cancelled: is_true("cancelled"),
        is_cut: output.is_cut || is_true("truncated"),
        ..output
    }
}

fn images_json(images: &[Image]) -> Vec<Json> {
    let image = |image: &Image| json!({"type": "image", "data": image.data, "mimeType": image.mime_type});
    images.iter().map(image).collect()
}

fn image_of(value: &Json) -> Option<Image> {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    Some(Image { data: text("data")?, mime_type: text("mimeType")? })
}
