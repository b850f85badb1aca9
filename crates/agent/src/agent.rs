//! The agent: a session, a model, tools and hooks, and the one loop that waits.
//!
//! What is to be done comes from the [turn machine](crate::turn); this does it. The session is the only state that
//! counts: whatever happens, the next start goes on from what is in the file.

mod ask;
mod compact;
mod navigate;
mod work;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use session_tree::{EntryId, Message, Session};

use crate::cancel::Cancel;
use crate::error::{AgentError, Result};
use crate::event::{AgentEvent, Watcher};
use crate::hooks::Hooks;
use crate::model::{Model, ThinkingLevel};
use crate::settings::Settings;
use crate::tools::ToolBox;
use crate::turn::{Effect, Input, Outcome, Turn};

pub use compact::{CompactRequest, Compacted};
pub use navigate::{NavigateRequest, NavigateResult, SummaryRequest};
pub use work::{Gatekeeper, Permit, Policy};

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
    session: Session,
    model: Option<Arc<dyn Model>>,
    thinking: ThinkingLevel,
    system: String,
    tools: ToolBox,
    gatekeeper: Option<Arc<dyn Gatekeeper>>,
    hooks: Hooks,
    settings: Settings,
    cwd: PathBuf,
    watcher: Watcher,
    turn: Turn,
    inbox: Inbox,
}

/// Messages for a turn that is going on; clones share one box.
#[derive(Debug, Clone, Default)]
pub struct Inbox(Arc<Mutex<Vec<(Delivery, Message)>>>);

/// When a message for a running turn is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// After the tools that run now.
    Steer,
    /// When the model has answered.
    FollowUp,
}

impl Inbox {
    /// Lets a message wait until the turn takes it.
    pub fn send(&self, delivery: Delivery, message: Message) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((delivery, message));
    }

    fn take(&self) -> Vec<(Delivery, Message)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Agent {
    /// Makes an agent without model, tools and hooks.
    pub fn new(session: Session, cwd: impl Into<PathBuf>) -> Self {
        Agent {
            session,
            model: None,
            thinking: ThinkingLevel::Off,
            system: String::new(),
            tools: ToolBox::new(),
            gatekeeper: None,
            hooks: Hooks::new(),
            settings: Settings::default(),
            cwd: cwd.into(),
            watcher: Watcher::default(),
            turn: Turn::default(),
            inbox: Inbox::default(),
        }
    }

    /// Chooses the model and how hard it thinks. Nothing is written: see [`Agent::choose_model`].
    pub fn with_model(mut self, model: Arc<dyn Model>, thinking: ThinkingLevel) -> Self {
        self.thinking = model.spec().clamp(thinking);
        self.model = Some(model);
        self
    }

    /// Sets what the model is told before the conversation.
    pub fn with_system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// Gives the model tools.
    pub fn with_tools(mut self, tools: ToolBox) -> Self {
        self.tools = tools;
        self
    }

    /// Lets somebody decide which tool calls may run; without, all may.
    pub fn with_gatekeeper(mut self, gatekeeper: Arc<dyn Gatekeeper>) -> Self {
        self.gatekeeper = Some(gatekeeper);
        self
    }

    /// Registers those who want to be asked and told.
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// Sets how the agent behaves.
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.turn = Turn::new(settings.retry.clone(), settings.steering_mode, settings.follow_up_mode);
        self.settings = settings;
        self
    }

    /// Lets somebody watch.
    pub fn with_watcher(mut self, watcher: Watcher) -> Self {
        self.watcher = watcher;
        self
    }

    /// Returns the session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the session, to be changed between turns.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Ends the agent and gives its session back.
    pub fn into_session(self) -> Session {
        self.session
    }

    /// Returns the model.
    pub fn model(&self) -> Option<&Arc<dyn Model>> {
        self.model.as_ref()
    }

    /// Returns how hard the model thinks.
    pub fn thinking(&self) -> ThinkingLevel {
        self.thinking
    }

    /// Returns the hooks.
    pub fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// Returns the box for messages that are to be sent while a turn is going on.
    pub fn inbox(&self) -> Inbox {
        self.inbox.clone()
    }

    /// Chooses another model and writes so into the session.
    pub fn choose_model(&mut self, model: Arc<dyn Model>) -> Result<EntryId> {
        let id = self.session.append_model_change(&model.spec().provider, &model.spec().id)?;
        self.thinking = model.spec().clamp(self.thinking);
        self.model = Some(model);
        Ok(id)
    }

    /// Chooses how hard the model thinks and writes so into the session.
    pub fn choose_thinking(&mut self, level: ThinkingLevel) -> Result<EntryId> {
        let level = self.model.as_ref().map_or(level, |model| model.spec().clamp(level));
        let id = self.session.append_thinking_level_change(level.name())?;
        self.thinking = level;
        Ok(id)
    }

    /// Sends messages and works until the model has answered, failed for good, or somebody stopped it.
    ///
    /// # Errors
    ///
    /// [`AgentError::NoModel`], and whatever the session refuses; what was appended before stays.
    pub async fn prompt(&mut self, messages: Vec<Message>, cancel: &Cancel) -> Result<Outcome> {
        if self.model.is_none() {
            return Err(AgentError::NoModel);
        }
        self.watch_context(cancel).await?;
        self.watcher.tell(AgentEvent::AgentStart);
        let outcome = self.run(Input::Begin(messages), cancel).await;
        if outcome.is_err() {
            // The machine waits for an answer that will not come.
            self.turn.step(Input::Aborted(Vec::new()));
        }
        for failure in self.hooks.take_failures() {
            self.watcher.tell(AgentEvent::HookFailed(failure));
        }
        let outcome = outcome?;
        self.watcher.tell(AgentEvent::AgentEnd(outcome.clone()));
        Ok(outcome)
    }

    /// Does what the machine says until the turn is over.
    async fn run(&mut self, first: Input, cancel: &Cancel) -> Result<Outcome> {
        let mut effects = VecDeque::from(self.turn.step(first));
        while let Some(effect) = effects.pop_front() {
            let input = match effect {
                Effect::Append(message) => {
                    self.append(message)?;
                    continue;
                }
                Effect::Barrier => {
                    self.session.barrier()?;
                    continue;
                }
                Effect::WatchContext => {
                    self.watch_context(cancel).await?;
                    continue;
                }
                Effect::End(outcome) => return Ok(outcome),
                Effect::Ask => self.ask(cancel).await?,
                Effect::RunTools(calls) => self.work(calls, cancel).await,
                Effect::Wait { delay, attempt, error } => {
                    self.watcher.tell(AgentEvent::RetryStart { attempt, delay, error });
                    match cancel.unless_cancelled(tokio::time::sleep(delay)).await {
                        Some(()) => Input::Waited,
                        None => Input::Aborted(Vec::new()),
                    }
                }
                Effect::CompactAfterOverflow => self.compact_after_overflow(cancel).await?,
            };
            for (delivery, message) in self.inbox.take() {
                match delivery {
                    Delivery::Steer => self.turn.steer(message),
                    Delivery::FollowUp => self.turn.follow_up(message),
                }
            }
            effects.extend(self.turn.step(input));
        }
        Ok(Outcome::Done)
    }

    fn append(&mut self, message: Message) -> Result<EntryId> {
        let id = self.session.append_message(&message)?;
        self.watcher.tell(AgentEvent::Message { id: id.clone(), message });
        Ok(id)
    }
}
