//! The handle of an agent: what extensions, and programs that embed the agent, do at any time.
//!
//! Small changes are made at once, even during a turn. Work that needs the whole agent is an [`IdleTask`]: it waits until
//! the owner of the agent is idle.

use std::fmt;
use std::pin::Pin;

use serde_json::{Value as Json, json};
use session_tree::{EntryId, Message, Session, Timestamp};
use tokio::sync::mpsc;

use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::error::{AgentError, Result};
use crate::event::{AgentEvent, Watcher};
use crate::hooks::given;
use crate::inbox::{Delivery, Inbox};
use crate::shared::{SessionGuard, SharedSession, Source};
use crate::tools::{SharedTools, ToolBox};

/// A message of an extension: the model reads it, people see it in its own colours.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomMessage {
    /// Which extension means what by it.
    pub custom_type: String,
    /// A text, or a list of text and image blocks.
    pub content: Json,
    /// Whether people see it.
    pub display: bool,
    /// What only the extension reads.
    pub details: Option<Json>,
}

impl CustomMessage {
    /// Makes a message that people see.
    pub fn text(custom_type: impl Into<String>, text: impl Into<String>) -> Self {
        let content = Json::String(text.into());
        CustomMessage { custom_type: custom_type.into(), content, display: true, details: None }
    }

    /// Reads a message as extensions spell it.
    pub(crate) fn read(value: &Json) -> Option<Self> {
        Some(CustomMessage {
            custom_type: value["customType"].as_str()?.to_owned(),
            content: value.get("content")?.clone(),
            display: value["display"].as_bool().unwrap_or(true),
            details: given(value, "details").cloned(),
        })
    }

    /// Spells it as a message of a conversation.
    pub(crate) fn to_message(&self, time: Timestamp) -> Result<Message> {
        let mut value = json!({
            "role": "custom", "customType": self.custom_type, "content": self.content, "display": self.display,
        });
        if let Some(details) = &self.details {
            value["details"] = details.clone();
        }
        value["timestamp"] = json!(time.as_millis());
        Ok(Message::from_serialize(&value)?)
    }
}

/// How a message of an extension is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SendOptions {
    /// Whether the model is to answer; if not given, it does if it is answering already.
    pub trigger_turn: Option<bool>,
    /// When it is sent if a turn is going on; [`Delivery::NextTurn`] lets it wait in any case.
    pub deliver_as: Option<Delivery>,
}

/// What came of sending something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// It is in the session.
    Appended(EntryId),
    /// It waits for a turn.
    Queued,
}

/// A task that needs the whole agent.
pub struct IdleTask(pub(crate) Box<TaskFn>);

type TaskFn = dyn for<'a> FnOnce(&'a mut Agent, &'a Cancel) -> TaskFuture<'a> + Send;

/// A running [`IdleTask`].
pub type TaskFuture<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

impl fmt::Debug for IdleTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdleTask")
    }
}

/// The handle of an agent; clones are the same.
#[derive(Debug, Clone)]
pub struct AgentHandle {
    pub(crate) session: SharedSession,
    /// The messages that wait, and the turn that takes them.
    pub inbox: Inbox,
    pub(crate) watcher: Watcher,
    pub(crate) tasks: mpsc::UnboundedSender<IdleTask>,
    pub(crate) tools: SharedTools,
}

impl AgentHandle {
    /// Takes the session for one step; see [`SharedSession::lock`].
    pub fn session(&self) -> SessionGuard<'_> {
        self.session.lock_as(Source::Extension)
    }

    /// Tells whether no turn is going on.
    pub fn is_idle(&self) -> bool {
        !self.inbox.is_busy()
    }

    /// Sends a message of an extension.
    ///
    /// While a turn goes on, it is sent after the tools that run now, unless the options say otherwise. While none
    /// does, it is appended at once, and the model answers if the options say so.
    ///
    /// # Errors
    ///
    /// [`session_tree::Error::Invalid`] if its content is neither a text nor a list of blocks.
    pub fn send_message(&self, message: &CustomMessage, options: SendOptions) -> Result<Sent> {
        let spelled = message.to_message(self.session().now())?;
        if options.deliver_as == Some(Delivery::NextTurn) {
            self.inbox.send(Delivery::NextTurn, spelled);
            return Ok(Sent::Queued);
        }
        let late = (options.trigger_turn == Some(false)).then_some(Delivery::AfterTurn);
        let delivery = options.deliver_as.or(late).unwrap_or(Delivery::Steer);
        let Err(spelled) = self.inbox.send_to_turn(delivery, spelled) else { return Ok(Sent::Queued) };
        if options.trigger_turn == Some(true) {
            self.begin_turn(spelled);
            return Ok(Sent::Queued);
        }
        self.keep(spelled).map(Sent::Appended)
    }

    /// Appends a message, and tells whoever watches.
    fn keep(&self, message: Message) -> Result<EntryId> {
        let mut session = self.session();
        let id = append(&mut session, &message)?;
        self.settle(&mut session)?;
        drop(session);
        self.watcher.tell(AgentEvent::Message { id: id.clone(), message });
        Ok(id)
    }

    /// Appends a message of an extension; no model is asked because of it.
    pub(crate) fn append_message(&self, message: &CustomMessage) -> Result<EntryId> {
        let spelled = message.to_message(self.session().now())?;
        self.keep(spelled)
    }

    /// Sends what counts as a prompt of the person. While a turn goes on it must be said when it is sent.
    ///
    /// # Errors
    ///
    /// [`AgentError::Busy`] if a turn is going on and nobody said when.
    pub fn send_user_message(&self, message: Message, deliver_as: Option<Delivery>) -> Result<Sent> {
        match deliver_as {
            Some(Delivery::NextTurn) => self.inbox.send(Delivery::NextTurn, message),
            Some(delivery) => {
                if let Err(message) = self.inbox.send_to_turn(delivery, message) {
                    self.begin_turn(message);
                }
            }
            None if self.inbox.is_busy() => return Err(AgentError::Busy),
            None => self.begin_turn(message),
        }
        Ok(Sent::Queued)
    }

    fn begin_turn(&self, message: Message) {
        self.when_idle(move |agent, cancel| {
            Box::pin(async move {
                if let Err(error) = agent.submit_message(message, cancel).await {
                    agent.watcher.tell(AgentEvent::Failed { error: error.to_string() });
                }
            })
        });
    }

    /// Gives the model other tools, from the next request on, also while a turn goes on.
    pub fn set_tools(&self, tools: ToolBox) {
        self.tools.set(tools);
    }

    /// Appends state of an extension; it never reaches a model.
    pub fn append_entry(&self, custom_type: &str, data: Option<&Json>) -> Result<EntryId> {
        let mut session = self.session();
        let id = session.append_custom_entry(custom_type, data)?;
        self.settle(&mut session)?;
        Ok(id)
    }

    /// Makes sure that what was appended is on the disk, unless a turn goes on: it does so itself, again and again.
    fn settle(&self, session: &mut Session) -> Result<()> {
        if self.is_idle() {
            session.sync()?;
        }
        Ok(())
    }

    /// Labels an entry, or takes its label off.
    pub fn set_label(&self, target: &str, label: Option<&str>) -> Result<EntryId> {
        let mut session = self.session();
        let node = session.node(target)?;
        let shown = |session: &Session| session.label(node).map(|label| label.text.clone());
        let previous = shown(&session);
        let id = session.append_label_change(target, label)?;
        session.sync()?;
        let label = shown(&session);
        drop(session);
        let target = EntryId::from(target);
        self.when_idle(move |agent, cancel| {
            Box::pin(async move {
                agent.tell_label(&target, label.as_deref(), previous.as_deref(), cancel).await;
            })
        });
        Ok(id)
    }

    /// Names the session.
    pub fn set_session_name(&self, name: &str) -> Result<EntryId> {
        let mut session = self.session();
        let id = session.append_session_info(name)?;
        session.sync()?;
        // As it is spelled in the file, which may differ from what was asked for.
        let name = session.name().map(str::to_owned);
        drop(session);
        self.when_idle(move |agent, cancel| {
            Box::pin(async move { agent.tell_name(name.as_deref(), cancel).await })
        });
        Ok(id)
    }

    /// Runs a task as soon as the agent is idle; see [`Agent::run_task`].
    pub fn when_idle(
        &self,
        task: impl for<'a> FnOnce(&'a mut Agent, &'a Cancel) -> TaskFuture<'a> + Send + 'static,
    ) {
        // The agent may be gone during shutdown.
        drop(self.tasks.send(IdleTask(Box::new(task))));
    }
}

/// Appends a message; those of extensions are entries of their own kind.
pub(crate) fn append(session: &mut Session, message: &Message) -> Result<EntryId> {
    if message.role() != session_tree::Role::Custom {
        return Ok(session.append_message(message)?);
    }
    let value = message.value().to_serde().unwrap_or_default();
    let custom_type = value["customType"].as_str().unwrap_or_default();
    let display = value["display"].as_bool().unwrap_or(true);
    Ok(session.append_custom_message(custom_type, &value["content"], display, value.get("details"))?)
}
