//! The agent: a session, a model, tools and hooks, and the only loop that awaits.
//!
//! The [turn machine](crate::turn) decides the next step and this module performs it. The session is the only lasting
//! state: after a crash the agent continues from its file.

mod ask;
mod boundary;
mod choose;
mod compact;
mod mention;
mod lock;
mod navigate;
mod submit;
mod notify;
mod wire;
mod work;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use session_tree::{Message, Session};
use tracing::{Instrument as _, info_span};

use crate::approval::{Approvals, Approver};
use crate::cancel::Cancel;
use crate::command::{History, Reload};
use crate::editor::Editor;
use crate::error::{AgentError, Result};
use crate::event::{AgentEvent, Events};
use crate::extension::ExtensionCommand;
use crate::handle::{AgentHandle, AgentState, SystemPrompt};
use crate::hooks::Hooks;
use crate::model::{Model, ThinkingLevel};
use crate::permission::Permissions;
pub use crate::queue::Delivery;
use crate::queue::{Job, Queue};
use crate::resources::Resources;
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::shared::{SessionGuard, SharedSession, Source, continues_from, lock};
use crate::tools::ToolBox;
use crate::turn::{Effect, Input, Moment, Outcome, QueueMode, Turn};

pub use choose::ChosenBy;
pub(crate) use compact::readable;
pub use mention::FILE_MESSAGE;
pub(crate) use navigate::Step;
pub use navigate::{Move, NavigateRequest, NavigationResult, SummaryRequest};
pub use submit::{RanCommand, Submission, Submitted, USER_COMMAND};

/// A coding agent on one session.
///
/// ```
/// use offshoot_agent::agent::Agent;
/// use session_tree::Options;
///
/// let session = Options::new().in_memory("/project")?;
/// let agent = Agent::new(session, "/project");
/// assert!(agent.model().is_none());
/// # Ok::<(), session_tree::Error>(())
/// ```
#[derive(Debug)]
pub struct Agent {
    pub(crate) session: SharedSession,
    pub(crate) model: Option<Arc<dyn Model>>,
    pub(crate) thinking: ThinkingLevel,
    /// The system prompt, from the next request on.
    pub system: String,
    /// Makes the system prompt again when resources change.
    make_system: Option<SystemPrompt>,
    /// The skills and templates that the program gave.
    own_resources: Arc<Resources>,
    /// Those, and the ones that extensions added.
    resources: Arc<Resources>,
    tools: Arc<Mutex<ToolBox>>,
    approver: Option<Arc<dyn Approver>>,
    approvals: Approvals,
    editor: Editor,
    /// Variables that commands do not inherit, files that tools do not open, and text that their output does not contain.
    pub secrets: Arc<Secrets>,
    /// The handlers of events.
    pub hooks: Hooks,
    pub(crate) settings: Settings,
    pub(crate) cwd: PathBuf,
    pub(crate) events: Events,
    pub(crate) turn: Turn,
    pub(crate) queue: Queue,
    /// The messages appended since the work on a prompt began.
    run_messages: notify::RunMessages,
    /// The state that handles read.
    state: Arc<Mutex<AgentState>>,
    pub(crate) commands: Vec<Arc<dyn ExtensionCommand>>,
    /// The earlier positions of the leaf.
    pub(crate) history: History,
    /// Loads extensions for another session.
    pub(crate) reload: Option<Reload>,
    /// True when the thread of the agent is to end.
    pub(crate) has_quit: bool,
    /// True if the session was imported and no tool has been called since.
    pub(crate) is_imported: bool,
}

impl Agent {
    /// Makes an agent without model, tools and hooks.
    pub fn new(session: Session, cwd: impl Into<PathBuf>) -> Self {
        Agent {
            session: SharedSession::new(session),
            model: None,
            thinking: ThinkingLevel::Off,
            system: String::new(),
            make_system: None,
            own_resources: Arc::default(),
            resources: Arc::default(),
            tools: Arc::default(),
            approver: None,
            approvals: Approvals::default(),
            editor: Editor::default(),
            secrets: Arc::default(),
            hooks: Hooks::new(),
            settings: Settings::default(),
            cwd: cwd.into(),
            events: Events::default(),
            turn: Turn::default(),
            queue: Queue::default(),
            run_messages: notify::RunMessages::default(),
            state: Arc::default(),
            commands: Vec::new(),
            history: History::default(),
            reload: None,
            has_quit: false,
            is_imported: false,
        }
    }

    /// Sets the model and its thinking level. Writes nothing; see [`Agent::choose_model`].
    pub fn with_model(mut self, model: Arc<dyn Model>, thinking: ThinkingLevel) -> Self {
        self.thinking = model.spec().clamp(thinking);
        self.model = Some(model);
        self.publish_state();
        self
    }

    /// Sets the system prompt.
    pub fn with_system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// Replaces the function that makes the system prompt if one is given.
    pub(crate) fn set_system(&mut self, system: Option<SystemPrompt>) {
        if let Some(SystemPrompt(make)) = &system {
            self.system = make(&self.resources);
            self.make_system = system;
        }
    }

    /// Sets the skills and prompt templates.
    pub fn with_resources(mut self, resources: Resources) -> Self {
        self.set_resources(Arc::new(resources));
        self
    }

    /// Replaces the skills and prompt templates, also those that extensions added.
    pub(crate) fn set_resources(&mut self, resources: Arc<Resources>) {
        self.own_resources = resources.clone();
        self.resources = resources;
        self.publish_state();
    }

    /// Adds the skills, templates and themes that extensions name to those of the program.
    pub(crate) fn add_resources(&mut self, answers: &[Json]) {
        let mut resources = Resources::clone(&self.own_resources);
        let known = resources.warnings().len();
        let paths = |key: &str| -> Vec<PathBuf> {
            let named = answers.iter().filter_map(|answer| answer[key].as_array()).flatten();
            named.filter_map(Json::as_str).map(|path| self.cwd.join(path)).collect()
        };
        paths("skillPaths").iter().for_each(|path| resources.add_skills_at(path));
        paths("promptPaths").iter().for_each(|path| resources.add_templates_at(path));
        resources.themes.extend(paths("themePaths"));
        for text in &resources.warnings()[known..] {
            self.events.emit(AgentEvent::Warning { text: text.clone() });
        }
        self.resources = Arc::new(resources);
        self.publish_state();
        if let Some(SystemPrompt(make)) = &self.make_system {
            self.system = make(&self.resources);
        }
    }

    /// Returns the prompt that a line stands for if it names a skill or a template, else the line.
    pub(crate) fn expand(&self, line: String) -> String {
        match self.resources.expand(&line) {
            None => line,
            Some(Ok(prompt)) => prompt,
            Some(Err(text)) => {
                self.events.emit(AgentEvent::Warning { text });
                line
            }
        }
    }

    /// Sets the tools of the model.
    pub fn with_tools(self, tools: ToolBox) -> Self {
        *lock(&self.tools) = tools;
        self
    }

    /// Sets the approver of tool calls.
    ///
    /// Without an approver only calls that read inside the working directory run; a call that writes, runs a command or
    /// does anything else is refused. [`Mode::AllowAll`](crate::permission::Mode) allows everything that no
    /// rule denies.
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Sets the rules about tool calls. A call that they do not decide about is sent to the front end that
    /// [registered](AgentHandle::approvals); without one it is refused.
    pub fn with_permissions(self, permissions: Permissions) -> Self {
        *self.approvals.permissions() = permissions;
        let approver = Arc::new(self.approvals.clone());
        self.with_approver(approver)
    }

    /// Sets the variables that commands do not inherit, the files that tools do not open and the texts masked in
    /// output.
    pub fn with_secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = Arc::new(secrets);
        self.publish_state();
        self
    }

    /// Sets the handlers of events.
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// Sets the settings.
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.set_settings(settings);
        self
    }

    /// Replaces the settings from the next turn on.
    pub fn set_settings(&mut self, settings: Settings) {
        self.turn = Turn::new(settings.retry.clone());
        self.settings = settings;
        self.publish_state();
    }

    /// Sets the event stream.
    pub fn with_events(mut self, events: Events) -> Self {
        self.events = events;
        self
    }

    /// Locks the session for one step; see [`SharedSession::lock`].
    pub fn session(&self) -> SessionGuard<'_> {
        self.session.lock()
    }

    /// Returns the session, to be shared with extensions and front ends.
    pub fn shared_session(&self) -> SharedSession {
        self.session.clone()
    }

    /// Returns the model.
    pub fn model(&self) -> Option<&Arc<dyn Model>> {
        self.model.as_ref()
    }

    /// Returns the thinking level.
    pub fn thinking(&self) -> ThinkingLevel {
        self.thinking
    }

    /// Returns a handle.
    pub fn handle(&self) -> AgentHandle {
        AgentHandle {
            session: self.session.clone(),
            queue: self.queue.clone(),
            events: self.events.clone(),
            tools: self.tools.clone(),
            state: self.state.clone(),
            approvals: self.approvals.clone(),
            editor: self.editor.clone(),
            source: Source::Agent,
        }
    }

    /// Updates the state that handles read.
    pub(crate) fn publish_state(&self) {
        *lock(&self.state) = AgentState {
            model: self.model.clone(),
            thinking: self.thinking,
            commands: self.commands.clone(),
            previous: self.history.behind().last().cloned().flatten(),
            secrets: self.secrets.clone(),
            branch_summary: self.branch_summary_settings(),
            settings: self.settings.clone(),
            resources: self.resources.clone(),
        };
    }

    /// Runs a job.
    pub(crate) async fn run_job(&mut self, job: Job, cancel: &Cancel) {
        let (own, by) = (job.cancel, job.source);
        let outer = self.queue.begin_job(&own);
        let (session, from) = {
            let session = self.session();
            (session.header().id().into_owned(), session.leaf_id())
        };
        {
            let mut running = (job.run)(self, &own);
            tokio::select! {
                biased;
                () = &mut running => {}
                () = cancel.cancelled() => {
                    own.cancel();
                    running.await;
                }
            }
        }
        self.notify_new_entries(cancel).await;
        let is_elsewhere = {
            let now = self.session();
            now.header().id() != session || !continues_from(&now, from.as_ref())
        };
        if is_elsewhere {
            self.events.emit(AgentEvent::PositionChanged { session, from, by });
        }
        self.queue.end_job(outer);
    }

    /// Sends messages and works until the model has answered, has failed for good, or the work is cancelled.
    ///
    /// # Errors
    ///
    /// [`AgentError::NoModel`], and the errors of the session. Entries appended before the error stay.
    pub async fn prompt(&mut self, mut messages: Vec<Message>, cancel: &Cancel) -> Result<Outcome> {
        if self.model.is_none() {
            return Err(AgentError::NoModel);
        }
        self.until_unlocked(cancel).await?;
        self.watch_context(cancel).await?;
        let for_now = self.queue.take(Delivery::NextTurn, QueueMode::All);
        messages.extend(self.run_input_hooks(for_now, cancel).await);
        self.events.emit(AgentEvent::AgentStart);
        let outcome = self.run_until_settled(messages, cancel).await;
        self.notify_work_end(outcome.as_ref().unwrap_or(&Outcome::Aborted), cancel).await;
        self.notify_new_entries(cancel).await;
        outcome
    }

    /// Runs turns until no message is waiting and no extension asks for another one.
    async fn run_until_settled(&mut self, mut messages: Vec<Message>, cancel: &Cancel) -> Result<Outcome> {
        loop {
            self.notify_with("agent_start", || json!({}), cancel).await;
            let outcome = self.run_to_the_end(messages, cancel).await;
            self.notify_run_end(outcome.as_ref().unwrap_or(&Outcome::Aborted), cancel).await;
            let outcome = outcome?;
            if !self.before_settle(&outcome, cancel).await? {
                return Ok(outcome);
            }
            messages = self.take_due(Moment::AfterAnswer, cancel).await;
            if messages.is_empty() && !self.can_be_answered()? {
                return Ok(outcome);
            }
        }
    }

    /// Runs turns until no message is waiting.
    async fn run_to_the_end(&mut self, mut messages: Vec<Message>, cancel: &Cancel) -> Result<Outcome> {
        loop {
            self.queue.begin_turn(cancel);
            let session = self.session().header().id().into_owned();
            let outcome =
                self.run(Input::Begin(messages), cancel).instrument(info_span!("turn", session)).await;
            self.queue.end_turn();
            if outcome.is_err() {
                // The machine still waits for an answer that will not come.
                self.turn.step(Input::Aborted(Vec::new()));
            }
            let outcome = outcome?;
            self.append_after_turn(cancel).await?;
            // A message may have been queued while the turn ended.
            messages = match outcome {
                Outcome::Done => self.take_due(Moment::AfterAnswer, cancel).await,
                Outcome::Aborted | Outcome::Failed(_) => Vec::new(),
            };
            if messages.is_empty() {
                return Ok(outcome);
            }
        }
    }

    /// Performs the effects of the machine until the turn is over.
    async fn run(&mut self, first: Input, cancel: &Cancel) -> Result<Outcome> {
        let mut effects = VecDeque::from(self.turn.step(first));
        while let Some(effect) = effects.pop_front() {
            let input = match effect {
                Effect::Append(message) => {
                    self.append(message, cancel).await?;
                    continue;
                }
                Effect::Barrier => {
                    self.session().sync()?;
                    continue;
                }
                Effect::End(outcome) => {
                    self.end_turn(cancel).await?;
                    return Ok(outcome);
                }
                Effect::Ask => {
                    let model = self.model.as_ref().map(|model| model.spec().full_name());
                    self.ask(cancel).instrument(info_span!("request", model)).await?
                }
                Effect::RunTools(calls) => self.work(calls, cancel).await,
                Effect::RefuseCutCalls(calls) => self.refuse_cut_calls(&calls, cancel).await,
                Effect::TakeWaiting(moment) => self.take_waiting(moment, cancel).await?,
                Effect::Wait { delay, attempt, error } => {
                    self.end_turn(cancel).await?;
                    self.events.emit(AgentEvent::RetryStart { attempt, delay, error });
                    match cancel.unless_cancelled(tokio::time::sleep(delay)).await {
                        Some(()) => Input::Waited,
                        None => Input::Aborted(Vec::new()),
                    }
                }
                Effect::CompactAfterOverflow { keep } => {
                    let failed = self.answer_id();
                    self.end_turn(cancel).await?;
                    self.compact_after_overflow(failed, keep, cancel).await?
                }
            };
            effects.extend(self.turn.step(input));
        }
        Ok(Outcome::Done)
    }

    /// Ends one answer of the model and takes the messages that wait for this moment. They stay in the queue, where
    /// they can be taken back, until the context has room for them.
    async fn take_waiting(&mut self, moment: Moment, cancel: &Cancel) -> Result<Input> {
        let wants_more = self.end_turn(cancel).await?;
        let is_asked = moment == Moment::AfterTools;
        if !is_asked && !wants_more && !self.queue.has_unanswered() {
            return Ok(Input::NothingWaits);
        }
        self.watch_context(cancel).await?;
        let messages = self.take_due(moment, cancel).await;
        let goes_on = is_asked || !messages.is_empty() || (wants_more && self.can_be_answered()?);
        Ok(if goes_on { Input::Taken(messages) } else { Input::NothingWaits })
    }

    /// Takes the messages that are due from the queue and runs the `input` hooks on them. Takes none once the work is
    /// cancelled.
    async fn take_due(&self, moment: Moment, cancel: &Cancel) -> Vec<Message> {
        let follow_ups = (Delivery::FollowUp, self.settings.follow_up_mode);
        let queues = [
            Some((Delivery::Steer, self.settings.steering_mode)),
            (moment == Moment::AfterAnswer).then_some(follow_ups),
        ];
        for (delivery, mode) in queues.into_iter().flatten() {
            while !cancel.is_cancelled() {
                let taken = self.queue.take(delivery, mode);
                if taken.is_empty() {
                    break;
                }
                self.events.emit(AgentEvent::QueueChanged);
                let messages = self.run_input_hooks(taken, cancel).await;
                if !messages.is_empty() {
                    return messages;
                }
            }
        }
        Vec::new()
    }

    /// Appends the messages that wait for the end of the turn.
    async fn append_after_turn(&mut self, cancel: &Cancel) -> Result<()> {
        let taken = self.queue.take(Delivery::AfterTurn, QueueMode::All);
        for message in self.run_input_hooks(taken, cancel).await {
            self.append(message, cancel).await?;
        }
        Ok(())
    }
}
