//! The handle of an agent: the one way in which front ends, extensions and embedding programs use it.
//!
//! Prompts and requests go through the queue, and each request has a reply. Small changes, such as a label,
//! are made at once, even during a turn. Everything that happens is in the event stream.

mod requests;

pub use requests::{ChangeSettings, SystemPrompt};

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use serde_json::Value as Json;
use session_tree::{BranchSummarySettings, Entry, EntryId, Message, Position, Session, Timestamp};
use tokio::sync::{mpsc, oneshot};

use crate::agent::{Agent, Move, Submission};
use crate::approval::{ApprovalRequest, Approvals};
use crate::cancel::Cancel;
use crate::command::resolve;
use crate::error::{AgentError, Result};
use crate::event::{AgentEvent, Events, Subscription};
use crate::extension::ExtensionCommand;
use crate::hooks::given;
use crate::model::{Model, ThinkingLevel};
use crate::permission::Rule;
use crate::queue::{Delivery, Job, JobFuture, Queue, QueueText, Queued};
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::shared::{SessionGuard, SharedSession, Source, lock};
use crate::tools::ToolBox;

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
        let message = Message::custom(&self.custom_type, self.content.clone()).display(self.display);
        let message = message.details(self.details.clone()).build().with_time(time);
        // Checked now: the message may be queued before it is appended.
        Ok(Message::parse(message.raw())?)
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

/// The state of an agent that every front end shows.
#[derive(Debug, Clone, Default)]
pub struct AgentState {
    /// The model.
    pub model: Option<Arc<dyn Model>>,
    /// The thinking level.
    pub thinking: ThinkingLevel,
    /// The commands of extensions.
    pub commands: Vec<Arc<dyn ExtensionCommand>>,
    /// The previous position of the leaf.
    pub previous: Option<EntryId>,
    /// The files that tools do not open, and the texts that are masked.
    pub secrets: Arc<Secrets>,
    /// How much of a branch the model can be told.
    pub branch_summary: BranchSummarySettings,
    /// The settings.
    pub settings: Settings,
}

/// The reply to a request.
///
/// A reply need not be awaited: the request runs in any case.
#[derive(Debug)]
pub struct Reply<T> {
    reply: oneshot::Receiver<Result<T>>,
    cancel: Cancel,
}

impl<T> Reply<T> {
    /// Returns a handle that stops the request.
    pub fn canceller(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Waits for the reply. If `cancel` is cancelled first, the request is stopped.
    pub async fn unless(mut self, cancel: &Cancel) -> Result<T> {
        tokio::select! {
            biased;
            reply = &mut self => return reply,
            () = cancel.cancelled() => self.cancel.cancel(),
        }
        self.await
    }
}

impl<T> Future for Reply<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        Pin::new(&mut self.reply).poll(context).map(|reply| reply.unwrap_or(Err(AgentError::Dropped)))
    }
}

/// Keeps the prompts in the queue waiting until it is dropped.
#[derive(Debug)]
pub struct QueueHold(
    #[expect(dead_code, reason = "the agent notices when it is dropped")] oneshot::Sender<()>,
);

/// The handle of an agent; clones are handles of the same agent.
#[derive(Debug, Clone)]
pub struct AgentHandle {
    pub(crate) session: SharedSession,
    pub(crate) queue: Queue,
    pub(crate) events: Events,
    pub(crate) tools: Arc<Mutex<ToolBox>>,
    pub(crate) state: Arc<Mutex<AgentState>>,
    pub(crate) approvals: Approvals,
    pub(crate) source: Source,
}

impl AgentHandle {
    /// Returns a handle whose changes are recorded as those of an extension.
    pub fn for_extensions(&self) -> Self {
        AgentHandle { source: Source::Extension, ..self.clone() }
    }

    pub(crate) fn session(&self) -> SessionGuard<'_> {
        self.session.lock_as(self.source)
    }

    /// Reads the session, for one step.
    pub fn read<T>(&self, read: impl FnOnce(&Session) -> T) -> T {
        read(&self.session())
    }

    /// Finds the entry that a reference names, also while the agent works; `-` is the previous position.
    ///
    /// # Errors
    ///
    /// The errors of [`session_view::resolve`].
    pub fn find(&self, reference: &str) -> Result<EntryId> {
        let previous = self.lock_state().previous.clone();
        let session = self.session();
        let node = resolve(&session, reference, previous.as_ref())?;
        Ok(session.tree().id(node))
    }

    /// Plans a move to an entry and the summary of the branch that it leaves, also while the agent works.
    /// [`go`](AgentHandle::go) applies exactly this plan, or replies that it is stale.
    ///
    /// # Errors
    ///
    /// [`session_tree::Error::UnknownEntry`] if there is no such entry.
    pub fn plan_navigation(&self, target: &str) -> Result<Move> {
        let settings = self.lock_state().branch_summary.clone();
        Ok(Move::with_planned_summary(&self.session(), target, &settings)?)
    }

    /// Reads the entries that other programs appended to the session file since the last call.
    pub fn catch_up(&self) -> Result<Vec<Entry>> {
        let mut session = self.session();
        Ok(if session.is_saved() { session.catch_up()? } else { Vec::new() })
    }

    /// In a read-only session, moves the leaf to an entry below it. Returns the length of the path before the move; none
    /// if nothing was moved.
    pub fn follow(&self, entry: &EntryId) -> Option<usize> {
        let mut session = self.session();
        let (leaf, node) = (session.leaf()?, session.node(entry.as_str()).ok()?);
        if session.read_only().is_none() || !session.tree().is_on_path(leaf, node) {
            return None;
        }
        let known = session.branch_path(Position::Leaf).len();
        session.branch(entry.as_str()).ok().map(|()| known)
    }

    /// Replaces the session by one that only reads the same file.
    pub fn watch_only(&self, session: Session) {
        drop(self.session.replace(session));
    }

    /// Changes the session, for one step. Extensions see the entries that this appends.
    pub fn change<T>(&self, change: impl FnOnce(&mut Session) -> T) -> T {
        change(&mut self.session())
    }

    /// Writes the session to its file, also if it has no message yet, and syncs it.
    pub fn save(&self) -> Result<()> {
        let mut session = self.session();
        session.save()?;
        Ok(session.sync()?)
    }

    /// Returns the state.
    pub fn state(&self) -> AgentState {
        self.lock_state().clone()
    }

    pub(crate) fn lock_state(&self) -> MutexGuard<'_, AgentState> {
        lock(&self.state)
    }

    /// Registers as the front end that approves tool calls, in place of the one before.
    pub fn approvals(&self) -> mpsc::UnboundedReceiver<ApprovalRequest> {
        self.approvals.register()
    }

    /// Returns the rules about tool calls that are in effect.
    pub fn rules(&self) -> Vec<Rule> {
        self.approvals.permissions().rules.clone()
    }

    /// Revokes a rule that allows calls. Returns false if it is not in effect.
    pub fn revoke(&self, rule: &Rule) -> bool {
        let rules = &mut self.approvals.permissions().rules;
        let known = rules.len();
        rules.retain(|own| own != rule);
        rules.len() < known
    }

    /// Subscribes to all events from now on.
    pub fn subscribe(&self) -> Subscription {
        self.events.subscribe()
    }

    /// Subscribes to all events from now on. The agent waits while `max` events are unread.
    pub fn subscribe_within(&self, max: usize) -> Subscription {
        self.events.subscribe_within(max)
    }

    /// Returns true if neither a turn nor a request runs.
    pub fn is_idle(&self) -> bool {
        !self.queue.is_busy()
    }

    /// Returns true while a turn runs.
    pub fn has_turn(&self) -> bool {
        self.queue.has_turn()
    }

    /// Returns true if messages wait for the turn that runs, or for its end.
    pub fn has_waiting(&self) -> bool {
        self.queue.has_waiting()
    }

    /// Returns the prompts and requests of the user that wait.
    pub fn queue(&self) -> Vec<Queued> {
        self.queue.list()
    }

    /// Queues a prompt: it steers the turn that runs, or follows it. An idle agent begins a turn.
    pub fn queue_prompt(&self, submission: Submission, delivery: Delivery) {
        self.queue.add_prompt(delivery, submission);
        self.events.emit(AgentEvent::QueueChanged);
    }

    /// Empties the queue: returns the prompts and commands of the user, and drops the requests that the queue shows.
    /// Their replies are [`AgentError::Dropped`].
    pub fn take_back(&self) -> Vec<Submission> {
        let prompts = self.queue.take_back();
        self.events.emit(AgentEvent::QueueChanged);
        prompts
    }

    /// Stops the turn or the request that runs.
    pub fn abort(&self) {
        self.queue.abort();
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
            self.queue.add_message(Delivery::NextTurn, spelled);
            return Ok(Sent::Queued);
        }
        let late = (options.trigger_turn == Some(false)).then_some(Delivery::AfterTurn);
        let delivery = options.deliver_as.or(late).unwrap_or(Delivery::Steer);
        let Err(spelled) = self.queue.add_to_turn(delivery, spelled) else { return Ok(Sent::Queued) };
        if options.trigger_turn == Some(true) {
            self.begin_turn(spelled);
            return Ok(Sent::Queued);
        }
        self.keep(spelled).map(Sent::Appended)
    }

    /// Appends a message, and tells whoever watches.
    fn keep(&self, message: Message) -> Result<EntryId> {
        let mut session = self.session();
        let id = session.append(&message)?;
        self.settle(&mut session)?;
        drop(session);
        self.events.emit(AgentEvent::Message { id: id.clone(), message });
        Ok(id)
    }

    /// Appends a message of an extension; no model is asked because of it.
    pub(crate) fn append_message(&self, message: &CustomMessage) -> Result<EntryId> {
        let spelled = message.to_message(self.session().now())?;
        self.keep(spelled)
    }

    /// Sends a prompt of an extension. During a turn `deliver_as` is required.
    ///
    /// # Errors
    ///
    /// [`AgentError::Busy`] if a turn runs and `deliver_as` is not given.
    pub fn send_user_message(&self, message: &Message, deliver_as: Option<Delivery>) -> Result<Sent> {
        if deliver_as.is_none() && self.queue.has_turn() {
            return Err(AgentError::Busy);
        }
        let (text, images) = (message.text().into_owned(), message.content().images());
        let submission = Submission { text, images, source: Submission::EXTENSION, ..Submission::default() };
        match deliver_as {
            Some(delivery) if delivery == Delivery::NextTurn || self.queue.has_turn() => {
                self.queue.add_prompt(delivery, submission);
            }
            _ => self.try_when_idle(move |agent, cancel| {
                Box::pin(async move { agent.run_prompt(submission, cancel).await.map(drop) })
            }),
        }
        Ok(Sent::Queued)
    }

    /// Begins a turn with a custom message.
    fn begin_turn(&self, message: Message) {
        self.try_when_idle(move |agent, cancel| Box::pin(agent.submit_message(message, cancel)));
    }

    /// Runs a job as soon as the agent is idle. Its error is an event.
    fn try_when_idle(
        &self,
        run: impl for<'a> FnOnce(&'a mut Agent, &'a Cancel) -> Pin<Box<dyn Future<Output = Result<()>> + 'a>>
        + Send
        + 'static,
    ) {
        self.when_idle(move |agent, cancel| {
            Box::pin(async move {
                if let Err(error) = run(agent, cancel).await {
                    agent.events.emit(AgentEvent::Failed { error: Arc::new(error) });
                }
            })
        });
    }

    /// Gives the model other tools, from the next request on, also while a turn goes on.
    pub fn set_tools(&self, tools: ToolBox) {
        *lock(&self.tools) = tools;
    }

    /// Appends state of an extension; it never reaches a model.
    pub fn append_entry(&self, custom_type: &str, data: Option<&Json>) -> Result<EntryId> {
        let mut session = self.session();
        let id = session.append_custom_entry(custom_type, data)?;
        self.settle(&mut session)?;
        drop(session);
        self.events.emit(AgentEvent::CustomEntry { id: id.clone() });
        Ok(id)
    }

    /// Makes sure that what was appended is on the disk, unless a turn goes on: it does so itself, again and again.
    fn settle(&self, session: &mut Session) -> Result<()> {
        if !self.has_turn() {
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
        self.events.emit(AgentEvent::LabelChanged { entry: target.clone(), label: label.clone() });
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
        self.events.emit(AgentEvent::NameChanged { name: name.clone() });
        self.when_idle(move |agent, cancel| {
            Box::pin(async move { agent.tell_name(name.as_deref(), cancel).await })
        });
        Ok(id)
    }

    /// Runs a job as soon as the agent is idle. It is not shown in the queue.
    pub(crate) fn when_idle(
        &self,
        run: impl for<'a> FnOnce(&'a mut Agent, &'a Cancel) -> JobFuture<'a> + Send + 'static,
    ) {
        self.add_job(None, Cancel::new(), run);
    }

    /// Waits in the queue, under a text. Until the hold is dropped, the prompts behind it wait and requests still run.
    pub fn hold(&self, text: QueueText) -> Reply<QueueHold> {
        let (send, reply) = oneshot::channel();
        let cancel = Cancel::new();
        self.add_job(Some(text), cancel.clone(), move |agent, cancel| {
            Box::pin(async move {
                let (hold, mut dropped) = oneshot::channel();
                // Without a receiver the hold is dropped at once.
                drop(send.send(Ok(QueueHold(hold))));
                loop {
                    tokio::select! {
                        biased;
                        _ = &mut dropped => break,
                        () = cancel.cancelled() => break,
                        job = agent.queue.next_job() => agent.run_job(job, cancel).await,
                    }
                }
            })
        });
        self.events.emit(AgentEvent::QueueChanged);
        Reply { reply, cancel }
    }

    fn add_job(
        &self,
        text: Option<QueueText>,
        cancel: Cancel,
        run: impl for<'a> FnOnce(&'a mut Agent, &'a Cancel) -> JobFuture<'a> + Send + 'static,
    ) {
        self.queue.add_job(Job { text, source: self.source, cancel, run: Box::new(run) });
    }

    /// Runs a request as soon as the agent is idle, and replies with its result.
    pub(crate) fn request<T: Send + 'static>(
        &self,
        run: impl for<'a> FnOnce(&'a mut Agent, &'a Cancel) -> Pin<Box<dyn Future<Output = Result<T>> + 'a>>
        + Send
        + 'static,
    ) -> Reply<T> {
        let (send, reply) = oneshot::channel();
        let cancel = Cancel::new();
        self.add_job(None, cancel.clone(), move |agent, cancel| {
            Box::pin(async move {
                // The sender of the request need not wait for the reply.
                drop(send.send(run(agent, cancel).await));
            })
        });
        Reply { reply, cancel }
    }
}
