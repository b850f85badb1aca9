//! The handle of an agent, used by front ends, extensions and embedding programs.
//!
//! Prompts and requests go through the queue, and each request has a reply. Small changes, such as a label, are made at
//! once, even during a turn. The event stream reports everything that happens.

mod requests;

pub use requests::{ChangeSettings, SystemPrompt};

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use serde_json::Value as Json;
use session_tree::{BranchSummarySettings, Entry, EntryId, Message, Position, Session, Timestamp};
use tokio::sync::{mpsc, oneshot};

use crate::agent::{Agent, Move, Submission};
use crate::approval::{ApprovalRequest, Approvals, Approver};
use crate::cancel::Cancel;
use crate::command::resolve;
use crate::editor::{Editor, EditorAccess, FileRequest};
use crate::error::{AgentError, Result};
use crate::event::{AgentEvent, Events, Subscription};
use crate::extension::ExtensionCommand;
use crate::hooks::given;
use crate::model::{Model, ThinkingLevel};
use crate::permission::{Mode, Rule};
use crate::queue::{Delivery, Job, JobFuture, Queue, QueueText, Queued};
use crate::resources::Resources;
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::shared::{SessionGuard, SharedSession, Source, lock};
use crate::tools::ToolBox;

/// A message of an extension, which is part of the context.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomMessage {
    /// The type, chosen by the extension.
    pub custom_type: String,
    /// A text, or a list of text and image blocks.
    pub content: Json,
    /// True if the user sees it.
    pub display: bool,
    /// Data for the extension only.
    pub details: Option<Json>,
}

impl CustomMessage {
    /// Creates a message that the user sees.
    pub fn text(custom_type: impl Into<String>, text: impl Into<String>) -> Self {
        let content = Json::String(text.into());
        CustomMessage { custom_type: custom_type.into(), content, display: true, details: None }
    }

    /// Parses a message as extensions write it.
    pub(crate) fn read(value: &Json) -> Option<Self> {
        Some(CustomMessage {
            custom_type: value["customType"].as_str()?.to_owned(),
            content: value.get("content")?.clone(),
            display: value["display"].as_bool().unwrap_or(true),
            details: given(value, "details").cloned(),
        })
    }

    /// Converts it to a message of a session.
    pub(crate) fn to_message(&self, time: Timestamp) -> Result<Message> {
        let message = Message::custom(&self.custom_type, self.content.clone()).display(self.display);
        let message = message.details(self.details.clone()).build().with_time(time);
        // Checked now: the message may be queued before it is appended.
        Ok(Message::parse(message.raw())?)
    }
}

/// The options of sending a custom message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SendOptions {
    /// True if the model shall answer. The default is to answer only during a turn.
    pub trigger_turn: Option<bool>,
    /// The delivery during a turn. [`Delivery::NextTurn`] always waits.
    pub deliver_as: Option<Delivery>,
}

/// The result of sending a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// The message was appended.
    Appended(EntryId),
    /// The message waits in the queue.
    Queued,
}

/// The state of an agent that front ends show.
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
    /// How much of a branch fits into a summary request.
    pub branch_summary: BranchSummarySettings,
    /// The settings.
    pub settings: Settings,
    /// The skills and prompt templates.
    pub resources: Arc<Resources>,
}

/// The reply to a request.
///
/// The request runs even if its reply is not awaited.
#[derive(Debug)]
pub struct Reply<T> {
    reply: oneshot::Receiver<Result<T>>,
    cancel: Cancel,
}

impl<T> Reply<T> {
    /// Returns a token that cancels the request.
    pub fn canceller(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Waits for the reply. Cancels the request if `cancel` is cancelled first.
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

/// Blocks the prompts in the queue until it is dropped.
#[derive(Debug)]
pub struct QueueHold(
    #[expect(dead_code, reason = "the agent notices when it is dropped")] oneshot::Sender<()>,
);

/// The handle of an agent. Clones share the agent.
#[derive(Debug, Clone)]
pub struct AgentHandle {
    pub(crate) session: SharedSession,
    pub(crate) queue: Queue,
    pub(crate) events: Events,
    pub(crate) tools: Arc<Mutex<ToolBox>>,
    pub(crate) state: Arc<Mutex<AgentState>>,
    pub(crate) approvals: Approvals,
    pub(crate) editor: Editor,
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

    /// Runs a function on the session.
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

    /// In a read-only session, moves the leaf to an entry below it. Returns the previous length of the path, or `None`
    /// if the leaf did not move.
    pub fn follow(&self, entry: &EntryId) -> Option<usize> {
        let mut session = self.session();
        let (leaf, node) = (session.leaf()?, session.node(entry.as_str()).ok()?);
        if session.read_only().is_none() || !session.tree().is_on_path(leaf, node) {
            return None;
        }
        let known = session.branch_path(Position::Leaf).len();
        session.branch(entry.as_str()).ok().map(|()| known)
    }

    /// Replaces the session by a read-only one on the same file.
    pub fn watch_only(&self, session: Session) {
        drop(self.session.replace(session));
    }

    /// Runs a function that changes the session. Extensions see the appended entries.
    pub fn change<T>(&self, change: impl FnOnce(&mut Session) -> T) -> T {
        change(&mut self.session())
    }

    /// Writes the session to its file and syncs it, even if it has no message yet.
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

    /// Returns the approver of this agent, for another agent of the same user.
    pub fn approver(&self) -> Arc<dyn Approver> {
        Arc::new(self.approvals.clone())
    }

    /// Registers as the front end that approves tool calls, replacing the previous one.
    pub fn approvals(&self) -> mpsc::UnboundedReceiver<ApprovalRequest> {
        self.approvals.register()
    }

    /// Registers as the editor whose files tools read and write, replacing the previous one.
    pub fn editor(&self, access: EditorAccess) -> mpsc::UnboundedReceiver<FileRequest> {
        self.editor.register(access)
    }

    /// Returns what happens to tool calls that the user must be asked about.
    pub fn permission_mode(&self) -> Mode {
        self.approvals.permissions().mode
    }

    /// Changes what happens to tool calls that the user must be asked about, from the next call on.
    pub fn set_permission_mode(&self, mode: Mode) {
        self.approvals.permissions().mode = mode;
    }

    /// Returns the rules about tool calls.
    pub fn rules(&self) -> Vec<Rule> {
        self.approvals.permissions().rules.clone()
    }

    /// Revokes a rule that allows calls. Returns false if there is no such rule.
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

    /// Sends a warning to all subscribers, for instance about a tool server that failed.
    pub fn warn(&self, text: impl Into<String>) {
        self.events.emit(AgentEvent::Warning { text: text.into() });
    }

    /// Returns true if neither a turn nor a request is running.
    pub fn is_idle(&self) -> bool {
        !self.queue.is_busy()
    }

    /// Returns true while a turn is running.
    pub fn has_turn(&self) -> bool {
        self.queue.has_turn()
    }

    /// Returns true if messages wait for the current turn or for its end.
    pub fn has_waiting(&self) -> bool {
        self.queue.has_waiting()
    }

    /// Returns the waiting prompts and requests of the user.
    pub fn queue(&self) -> Vec<Queued> {
        self.queue.list()
    }

    /// Queues a prompt, which steers or follows the current turn. If the agent is idle, a turn starts.
    pub fn queue_prompt(&self, submission: Submission, delivery: Delivery) {
        self.queue.add_prompt(delivery, submission);
        self.events.emit(AgentEvent::QueueChanged);
    }

    /// Empties the queue. Returns the prompts and commands of the user, and drops the shown requests, whose replies
    /// become [`AgentError::Dropped`].
    pub fn take_back(&self) -> Vec<Submission> {
        let prompts = self.queue.take_back();
        self.events.emit(AgentEvent::QueueChanged);
        prompts
    }

    /// Cancels the current turn or request.
    pub fn abort(&self) {
        self.queue.abort();
    }

    /// Sends a custom message.
    ///
    /// During a turn it is sent after the running tools, unless the options say otherwise. Otherwise it is appended at
    /// once, and the model answers if the options request it.
    ///
    /// # Errors
    ///
    /// [`session_tree::Error::Invalid`] if the content is neither a text nor a list of blocks.
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

    /// Appends a message and emits an event.
    fn keep(&self, message: Message) -> Result<EntryId> {
        let mut session = self.session();
        let id = session.append(&message)?;
        self.settle(&mut session)?;
        drop(session);
        self.events.emit(AgentEvent::Message { id: id.clone(), message });
        Ok(id)
    }

    /// Appends a custom message without starting a turn.
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

    /// Starts a turn with a custom message.
    fn begin_turn(&self, message: Message) {
        self.try_when_idle(move |agent, cancel| Box::pin(agent.submit_message(message, cancel)));
    }

    /// Runs a job when the agent is idle. An error becomes an event.
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

    /// Replaces the tools of the model from the next request on, even during a turn.
    pub fn set_tools(&self, tools: ToolBox) {
        *lock(&self.tools) = tools;
    }

    /// Appends state of an extension, which is not part of the context.
    pub fn append_entry(&self, custom_type: &str, data: Option<&Json>) -> Result<EntryId> {
        let mut session = self.session();
        let id = session.append_custom_entry(custom_type, data)?;
        self.settle(&mut session)?;
        drop(session);
        self.events.emit(AgentEvent::CustomEntry { id: id.clone() });
        Ok(id)
    }

    /// Syncs appended entries to disk. A running turn syncs by itself.
    fn settle(&self, session: &mut Session) -> Result<()> {
        if !self.has_turn() {
            session.sync()?;
        }
        Ok(())
    }

    /// Labels an entry or removes its label.
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
                agent.notify_label(&target, label.as_deref(), previous.as_deref(), cancel).await;
            })
        });
        Ok(id)
    }

    /// Names the session.
    pub fn set_session_name(&self, name: &str) -> Result<EntryId> {
        let mut session = self.session();
        let id = session.append_session_info(name)?;
        session.sync()?;
        // The stored name may differ from the requested one.
        let name = session.name().map(str::to_owned);
        drop(session);
        self.events.emit(AgentEvent::NameChanged { name: name.clone() });
        self.when_idle(move |agent, cancel| {
            Box::pin(async move { agent.notify_name(name.as_deref(), cancel).await })
        });
        Ok(id)
    }

    /// Runs a job when the agent is idle. The queue does not show it.
    pub(crate) fn when_idle(
        &self,
        run: impl for<'a> FnOnce(&'a mut Agent, &'a Cancel) -> JobFuture<'a> + Send + 'static,
    ) {
        self.add_job(None, Cancel::new(), run);
    }

    /// Waits in the queue under a text. Until the hold is dropped, later prompts wait but requests run.
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

    /// Runs a request when the agent is idle, and replies with its result.
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
                // The receiver of the reply may be gone.
                drop(send.send(run(agent, cancel).await));
            })
        });
        Reply { reply, cancel }
    }
}
