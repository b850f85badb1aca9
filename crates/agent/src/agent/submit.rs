//! Submitting what a person typed: extensions may change it, take it over, or add to it; then the agent works.
//!
//! input -> before_agent_start -> prompt

use serde_json::{Value as Json, json};
use session_tree::{EntryId, Message, PromptImage};

use super::Agent;
use crate::cancel::Cancel;
use crate::error::{AgentError, Result};
use crate::handle::CustomMessage;
use crate::tool::ToolPlace;
use crate::tools::{UserCommand, run_user_command};
use crate::turn::Outcome;

/// What a person, a machine or an extension submits.
#[derive(Debug, Clone, Default)]
pub struct Submission {
    /// The text.
    pub text: String,
    /// The images that go with it.
    pub images: Vec<PromptImage>,
    /// Where it comes from: `interactive`, `rpc` or `extension`.
    pub source: &'static str,
}

impl Submission {
    /// Submits a text that somebody typed.
    pub fn typed(text: impl Into<String>) -> Self {
        Submission { text: text.into(), images: Vec::new(), source: "interactive" }
    }
}

/// What came of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submitted {
    /// An extension took it over; the model was not asked.
    Handled,
    /// The agent worked on it.
    Answered(Outcome),
}

impl Agent {
    /// Submits a text, with all that extensions have to say about it.
    ///
    /// # Errors
    ///
    /// As [`Agent::prompt`].
    pub async fn submit(&mut self, submission: Submission, cancel: &Cancel) -> Result<Submitted> {
        let Some(submission) = self.input(submission, cancel).await else { return Ok(Submitted::Handled) };
        if self.model.is_none() {
            return Err(AgentError::NoModel);
        }
        let mut messages = vec![self.prompt_message(&submission)?];
        let own_system = self.system.clone();
        messages.extend(self.before_agent_start(&submission, cancel).await);
        let outcome = self.prompt(messages, cancel).await;
        // What an extension told the model holds for one prompt.
        self.system = own_system;
        Ok(Submitted::Answered(outcome?))
    }

    /// Lets extensions change what was typed; none if one of them took it over.
    async fn input(&self, mut submission: Submission, cancel: &Cancel) -> Option<Submission> {
        if !self.hooks.wants("input") {
            return Some(submission);
        }
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
        Some(submission)
    }

    /// Lets extensions add messages behind the prompt, and change what the model is told before it.
    async fn before_agent_start(&mut self, submission: &Submission, cancel: &Cancel) -> Vec<Message> {
        const EVENT: &str = "before_agent_start";
        let mut messages = Vec::new();
        if !self.hooks.wants(EVENT) {
            return messages;
        }
        let mut payload = json!({
            "type": EVENT, "prompt": submission.text, "images": images_json(&submission.images),
            "systemPrompt": self.system,
        });
        let now = self.session().now();
        let added = self.hooks.collect(EVENT, &mut payload, &["systemPrompt"], cancel).await;
        for message in added.iter().flat_map(wanted_messages).filter_map(custom_message) {
            messages.extend(message.to_message(now).ok());
        }
        if let Some(system) = payload["systemPrompt"].as_str() {
            system.clone_into(&mut self.system);
        }
        self.report_hook_failures();
        messages
    }

    fn prompt_message(&self, submission: &Submission) -> Result<Message> {
        let now = self.session().now();
        if submission.images.is_empty() {
            return Ok(Message::user(&submission.text, now));
        }
        let mut content = vec![json!({"type": "text", "text": submission.text})];
        content.extend(images_json(&submission.images));
        let message = json!({"role": "user", "content": content, "timestamp": now.as_millis()});
        Ok(Message::from_value(&message)?)
    }

    /// Runs a command that a person typed behind `!`; extensions may run it in their own way. Appends nothing: see
    /// [`Agent::keep_command`].
    pub async fn run_command(&self, command: &UserCommand, place: &ToolPlace) -> Message {
        let now = self.session().now();
        match self.run_by_hook(command, place).await {
            Some(message) => message,
            None => run_user_command(command, place, now).await,
        }
    }

    /// Appends a command with its output.
    pub fn keep_command(&mut self, message: &Message) -> Result<EntryId> {
        let mut session = self.session();
        let id = session.append_message(message)?;
        session.barrier()?;
        Ok(id)
    }

    async fn run_by_hook(&self, command: &UserCommand, place: &ToolPlace) -> Option<Message> {
        if !self.hooks.wants("user_bash") {
            return None;
        }
        let payload = json!({
            "type": "user_bash", "command": command.command, "excludeFromContext": command.is_private,
            "cwd": self.cwd.to_string_lossy(),
        });
        let answer = self.hooks.first("user_bash", &payload, &place.cancel).await;
        self.report_hook_failures();
        let answer = answer?;
        let result = answer.get("result").filter(|result| result.is_object())?;
        let mut message = json!({
            "role": "bashExecution", "command": command.command,
            "output": result["output"].as_str().unwrap_or_default(),
            "exitCode": result["exitCode"].as_i64(),
            "cancelled": result["cancelled"].as_bool().unwrap_or(false),
            "truncated": result["truncated"].as_bool().unwrap_or(false),
            "timestamp": self.session().now().as_millis(),
        });
        if command.is_private {
            message["excludeFromContext"] = Json::Bool(true);
        }
        Message::from_value(&message).ok()
    }
}

fn images_json(images: &[PromptImage]) -> Vec<Json> {
    let image =
        |image: &PromptImage| json!({"type": "image", "data": image.data, "mimeType": image.mime_type});
    images.iter().map(image).collect()
}

/// Takes the messages of one answer: a list, or one.
fn wanted_messages(answer: &Json) -> &[Json] {
    match answer["messages"].as_array() {
        Some(list) => list,
        None => answer.get("message").map(std::slice::from_ref).unwrap_or_default(),
    }
}

/// Reads a message that an extension wants to be sent.
fn custom_message(value: &Json) -> Option<CustomMessage> {
    Some(CustomMessage {
        custom_type: value["customType"].as_str()?.to_owned(),
        content: value.get("content")?.clone(),
        display: value["display"].as_bool().unwrap_or(true),
        details: value.get("details").filter(|details| !details.is_null()).cloned(),
    })
}
