//! A host without a screen: print mode, programs that embed the agent, tests. The session is real; nobody answers.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offshoot_agent::cancel::Cancel;
use offshoot_agent::extension::CommandRun;
use offshoot_agent::handle::AgentHandle;
use offshoot_agent::inbox::Delivery;
use offshoot_agent::model::{Model, ModelSpec, ThinkingLevel, ToolSpec};
use offshoot_agent::secrets::Secrets;
use serde_json::{Value as Json, json};
use session_tree::{Message, Options, Session};
use tokio::sync::oneshot;

use super::perform::{complete, perform};
use super::{Action, Command, Host, HostFuture, Mode, Notice, Question, State, Trouble};

/// A host without a screen.
///
/// What takes the whole agent waits until whoever owns the agent [grants](offshoot_agent::agent::Agent::grant) it.
/// Nobody sees what is shown and reported: a host that has somebody to tell wraps this one.
pub struct PlainHost {
    mode: Mode,
    cwd: PathBuf,
    config_dir: PathBuf,
    is_trusted: bool,
    agent: AgentHandle,
    models: Vec<Arc<dyn Model>>,
    options: Arc<dyn Fn() -> Options + Send + Sync>,
    secrets: Option<Arc<Secrets>>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    state: State,
    tools: Vec<ToolSpec>,
}

impl PlainHost {
    /// Makes a host for an agent.
    pub fn new(agent: AgentHandle, cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        PlainHost {
            mode: Mode::Print,
            config_dir: cwd.join(".offshoot"),
            cwd,
            is_trusted: false,
            agent,
            models: Vec::new(),
            options: Arc::new(Options::new),
            secrets: None,
            inner: Mutex::default(),
        }
    }

    /// Sets who sits in front of it.
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the directory of the user's own files.
    pub fn with_config_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.config_dir = directory.into();
        self
    }

    /// Says whether the user trusts the project.
    pub fn with_trust(mut self, is_trusted: bool) -> Self {
        self.is_trusted = is_trusted;
        self
    }

    /// Sets the models that can be chosen and asked; the first one is the model of the agent.
    pub fn with_models(mut self, models: Vec<Arc<dyn Model>>) -> Self {
        self.inner().state.model = models.first().map(|model| model.spec().clone());
        self.models = models;
        self
    }

    /// Sets what extensions may not open and get; without, `credentials.json` in the directory of the user's own files
    /// and variables that look like credentials.
    pub fn with_secrets(mut self, secrets: Arc<Secrets>) -> Self {
        self.secrets = Some(secrets);
        self
    }

    /// Sets how the sessions that extensions open and make are opened and made.
    pub fn with_options(mut self, options: impl Fn() -> Options + Send + Sync + 'static) -> Self {
        self.options = Arc::new(options);
        self
    }

    /// Sets how the agent is set. What it does is known without.
    pub fn set_state(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.inner().state);
    }

    /// Sets the tools that there are.
    pub fn set_tools(&self, tools: Vec<ToolSpec>) {
        self.inner().tools = tools;
    }

    /// Returns the handle of the agent.
    pub fn agent(&self) -> &AgentHandle {
        &self.agent
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send_user(&self, content: &Json, deliver_as: Option<Delivery>) -> Result<(), String> {
        if let Some(line) = content.as_str().and_then(|text| text.strip_prefix('/')) {
            self.run_command(line);
            return Ok(());
        }
        let time = self.agent.session().now().as_millis();
        let value = json!({"role": "user", "content": content, "timestamp": time});
        let message = Message::from_value(&value).map_err(|error| error.to_string())?;
        self.agent.send_user_message(message, deliver_as).map(drop).map_err(|error| error.to_string())
    }

    /// Runs what looks like a command of an extension; if there is none of that name, it is a prompt after all.
    fn run_command(&self, line: &str) {
        let line = line.to_owned();
        self.agent.when_idle(move |agent, cancel| {
            Box::pin(async move {
                let (name, arguments) = line.split_once(' ').unwrap_or((&line, ""));
                let prompt = match agent.run_extension_command(name, arguments, cancel).await {
                    CommandRun::Unknown => format!("/{line}"),
                    CommandRun::Done(Some(prompt)) => prompt,
                    // Who watches has been told.
                    CommandRun::Done(None) | CommandRun::Failed(_) => return,
                };
                let message = Message::user(&prompt, agent.session().now());
                drop(agent.prompt(vec![message], cancel).await);
            })
        });
    }

    fn set_thinking(&self, level: ThinkingLevel) {
        self.inner().state.thinking = level;
        // What cannot be written is not worth a failure: the level counts all the same.
        self.agent.when_idle(move |agent, _| Box::pin(async move { drop(agent.choose_thinking(level)) }));
    }

    fn set_model(&self, provider: &str, id: &str) -> Json {
        let Some(model) = self.model(provider, id) else { return Json::Bool(false) };
        self.inner().state.model = Some(model.spec().clone());
        self.agent.when_idle(move |agent, _| Box::pin(async move { drop(agent.choose_model(model)) }));
        Json::Bool(true)
    }

    fn model(&self, provider: &str, id: &str) -> Option<Arc<dyn Model>> {
        let is_meant = |model: &&Arc<dyn Model>| model.spec().provider == provider && model.spec().id == id;
        self.models.iter().find(is_meant).cloned()
    }

    /// Lets the agent do something when it has time, and waits until it has.
    fn wish(&self, command: Command, cancel: Cancel) -> HostFuture<Result<Json, String>> {
        let (reply, answer) = oneshot::channel();
        let options = self.options.clone();
        self.agent.when_idle(move |agent, _| {
            // The extension may have stopped waiting.
            Box::pin(async move { drop(reply.send(perform(agent, &command, options(), &cancel).await)) })
        });
        Box::pin(async move { answer.await.unwrap_or_else(|_| Err("the agent has ended".to_owned())) })
    }
}

fn ready<T: Send + 'static>(value: T) -> HostFuture<T> {
    Box::pin(std::future::ready(value))
}

impl Host for PlainHost {
    fn mode(&self) -> Mode {
        self.mode
    }

    fn has_ui(&self) -> bool {
        false
    }

    fn cwd(&self) -> PathBuf {
        self.cwd.clone()
    }

    fn config_dir(&self) -> PathBuf {
        self.config_dir.clone()
    }

    fn secrets(&self) -> Arc<Secrets> {
        let usual = || {
            let file = self.config_dir.join("credentials.json");
            Arc::new(Secrets::new().denying([file]))
        };
        self.secrets.clone().unwrap_or_else(usual)
    }

    fn is_project_trusted(&self) -> bool {
        self.is_trusted
    }

    fn with_session(&self, work: &mut dyn FnMut(&mut Session)) {
        work(&mut self.agent.session());
    }

    fn state(&self) -> State {
        let (is_idle, has_pending) = (self.agent.is_idle(), self.agent.has_pending_messages());
        State { is_idle, has_pending, ..self.inner().state.clone() }
    }

    fn models(&self) -> Vec<ModelSpec> {
        self.models.iter().map(|model| model.spec().clone()).collect()
    }

    fn tools(&self) -> Vec<ToolSpec> {
        self.inner().tools.clone()
    }

    fn act(&self, _: &str, action: Action) -> Result<(), String> {
        let done = match action {
            Action::SendMessage(message, options) => self.agent.send_message(&message, options).map(drop),
            Action::SendUserMessage { content, deliver_as } => return self.send_user(&content, deliver_as),
            Action::SetLabel { target, label } => self.agent.set_label(&target, label.as_deref()).map(drop),
            Action::SetSessionName(name) => self.agent.set_session_name(&name).map(drop),
            Action::SetThinking(level) => {
                self.set_thinking(level);
                Ok(())
            }
            Action::SetActiveTools(names) => {
                self.inner().state.active_tools = names;
                Ok(())
            }
            Action::Abort => {
                self.agent.abort();
                Ok(())
            }
            // For those who have a program that could end, or a list that changes.
            Action::Shutdown | Action::Registered => Ok(()),
        };
        done.map_err(|error| error.to_string())
    }

    fn command(&self, _: &str, command: Command, cancel: Cancel) -> HostFuture<Result<Json, String>> {
        match command {
            Command::Complete { provider, id, context, options } => {
                let Some(model) = self.model(&provider, &id) else {
                    return ready(Err(format!("no model {provider}/{id}")));
                };
                let now = self.agent.session().now();
                Box::pin(async move { Ok(complete(&*model, &context, &options, now, &cancel).await) })
            }
            Command::SetModel { provider, id } => ready(Ok(self.set_model(&provider, &id))),
            command => self.wish(command, cancel),
        }
    }

    fn ask(&self, _: &str, question: Question, _: Cancel) -> HostFuture<Option<Json>> {
        ready(match question {
            Question::Confirm { .. } => Some(Json::Bool(false)),
            Question::Select { .. }
            | Question::Input { .. }
            | Question::Editor { .. }
            | Question::Custom { .. } => None,
        })
    }

    fn show(&self, _: &str, _: Notice) {}

    fn report(&self, _: Trouble) {}
}
