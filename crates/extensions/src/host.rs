//! The program around extensions: the session, the models, the tools, and the front end.
//!
//! extension -> engine -> **host** -> agent, front end
//!
//! Everything here is called from the threads of extensions. Output for a screen is an event for the front end, which must
//! not block.

pub(crate) mod agents;
mod perform;
mod providers;
mod sessions;
mod streams;
mod tools;

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use offshoot_agent::agent::ChosenBy;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::handle::AgentHandle;
use offshoot_agent::model::{Model, ModelSpec, ThinkingLevel};
use offshoot_agent::queue::Delivery;
use offshoot_agent::secrets::Secrets;
use offshoot_agent::shared::continues_from;
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use session_tree::{Catalog, EntryId, Message, Options, Session};
use tokio::sync::oneshot;
use tracing::warn;

use crate::extension::Extension;
use crate::network::Network;
use crate::theme::{ThemeFile, Themes};

pub use providers::{Connect, ModelConfig, ProviderConfig, RegisteredProviders};
pub use tools::Tools;

/// An operation that takes time.
pub type HostFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The receiver of what extensions show, ask and report.
pub type FrontEnd = Arc<dyn Fn(HostEvent) + Send + Sync>;

/// The program around extensions.
///
/// Operations of the agent go through its queue.
pub struct Host {
    /// The kind of front end.
    pub mode: Mode,
    /// The working directory.
    pub cwd: PathBuf,
    /// The directory of the user's own files.
    pub config_dir: PathBuf,
    /// True if the user trusts the project.
    pub is_project_trusted: bool,
    /// The files that extensions may not open, and the variables that they and their programs do not get.
    pub secrets: Arc<Secrets>,
    /// The models that can be chosen and asked.
    pub models: Vec<Arc<dyn Model>>,
    /// The providers that extensions registered.
    pub providers: RegisteredProviders,
    /// Connects a provider of an extension with its service.
    pub connect: Connect,
    /// The answers of models that script reads.
    pub(crate) streams: Arc<streams::Streams>,
    /// The themes.
    pub themes: Arc<Themes>,
    /// The effective settings, without keys and headers.
    pub settings: Json,
    /// The sessions of the user.
    pub catalog: Option<Catalog>,
    /// The sessions that extensions opened.
    pub(crate) sessions: sessions::Sessions,
    /// The agents that extensions created.
    pub(crate) agents: Arc<agents::Agents>,
    /// The network, if extensions may reach any.
    pub network: Option<Arc<dyn Network>>,
    /// Makes the options for sessions that extensions open or create.
    pub options: Arc<dyn Fn() -> Options + Send + Sync>,
    /// Receives what extensions show, ask and report.
    pub front_end: FrontEnd,
    /// The agent.
    pub agent: AgentHandle,
    /// The loaded extensions and all tools.
    pub tools: Tools,
    state: Mutex<State>,
    next_question: AtomicU64,
}

/// The state of the agent and of the screen that only the front end knows.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The model.
    pub model: Option<ModelSpec>,
    /// The thinking level.
    pub thinking: ThinkingLevel,
    /// The system prompt.
    pub system: String,
    /// The text in the editor.
    pub editor_text: String,
    /// True if the output of tools is shown in full.
    pub tools_expanded: bool,
}

/// The kind of front end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A user at a terminal.
    Tui,
    /// A program that shows what extensions show, and asks its user what they ask.
    Rpc,
    /// A program that reads events.
    Json,
    /// One prompt, one answer.
    Print,
}

impl Mode {
    /// Returns true if the front end can ask a user.
    pub fn has_ui(self) -> bool {
        matches!(self, Mode::Tui | Mode::Rpc)
    }
}

/// Something that an extension wants from the front end.
#[derive(Debug)]
pub enum HostEvent {
    /// An extension failed outside of any call.
    Failed(ExtensionFailure),
    /// An extension cannot be loaded.
    NotLoaded(String),
    /// Extensions have been loaded.
    Loaded,
    /// An extension has registered something new.
    Registered,
    /// An extension shows something.
    Show(Extension, Notice),
    /// The agent waits for an extension: its name and the event.
    Waiting(String, String),
    /// An extension asks the user.
    Ask(AskedQuestion),
    /// The answer to this question is no longer needed.
    Close(u64),
    /// An extension moved the leaf away from this entry.
    Moved(Option<EntryId>),
    /// A text for the editor, if it is empty.
    EditorText(String),
    /// Another theme was chosen.
    Theme(ThemeFile),
    /// Extensions are to be loaded again.
    Reload,
    /// The program is to end as soon as no turn is running.
    Shutdown,
}

/// A question of an extension.
#[derive(Debug)]
pub struct AskedQuestion {
    /// The number of the question.
    pub id: u64,
    /// The extension.
    pub extension: Extension,
    /// The question.
    pub question: Question,
    /// The time after which it is closed.
    pub limit: Option<Duration>,
    /// Takes the answer.
    pub answer: oneshot::Sender<Option<Json>>,
}

/// A question to the user.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[allow(missing_docs, reason = "the fields have the names that extensions use")]
pub enum Question {
    /// One of several options.
    Select { title: String, options: Vec<String> },
    /// Yes or no.
    Confirm { title: String, message: String },
    /// One line.
    Input { title: String, placeholder: String },
    /// Many lines.
    Editor { title: String, prefill: String },
    /// A component of the extension takes the keyboard until it is done. The answer is null; the extension knows it.
    /// With `closes_on_escape` a second Escape within a second closes it, whatever the component does with the key.
    Custom { component: u64, closes_on_escape: bool },
}

/// Something to show. `None` removes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields have the names that extensions use")]
pub enum Notice {
    /// A notification of the level `info`, `warning` or `error`.
    Notify { message: String, level: String },
    /// A text in the last line, under a key.
    Status { key: String, text: Option<String> },
    /// Lines, or a component that draws them, above or below the editor, under a key.
    Widget { key: String, lines: Option<Vec<String>>, component: Option<u64>, below: bool },
    /// A component in place of the footer.
    Footer { component: Option<u64> },
    /// A component in place of the header.
    Header { component: Option<u64> },
    /// The title of the window.
    Title { text: String },
    /// The text in the editor.
    EditorText { text: String },
    /// A text that is inserted into the editor at the cursor.
    Paste { text: String },
    /// A text for the clipboard of the terminal.
    Copy { text: String },
    /// The text that is shown while the model works.
    Working { text: Option<String> },
    /// True if the row that shows the work of the model is shown.
    WorkingVisible { visible: bool },
    /// The frames of the sign of work, and the time of each in milliseconds; nothing restores the default.
    WorkingIndicator { frames: Option<Vec<String>>, interval: Option<u64> },
    /// The text in place of thoughts that are hidden.
    ThinkingLabel { text: Option<String> },
    /// True if the output of tools is shown in full.
    ToolsExpanded { expanded: bool },
    /// True if the extension wants the keys before the editor gets them.
    TerminalInput { listens: bool },
    /// A component that has to be drawn again.
    Redraw { component: u64 },
}

/// A failure of an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensionFailure {
    /// The extension.
    pub extension: String,
    /// The call that failed.
    pub doing: String,
    /// The error, with places in the source.
    pub message: String,
    /// True if the extension is disabled from now on.
    pub disabled: bool,
}

impl fmt::Display for ExtensionFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "extension `{}` ({}): {}", self.extension, self.doing, self.message)?;
        if self.disabled { f.write_str(" (the extension is disabled)") } else { Ok(()) }
    }
}

impl Host {
    /// Makes a host for an agent, without models and without a front end.
    pub fn new(agent: &AgentHandle, cwd: impl Into<PathBuf>, config_dir: impl Into<PathBuf>) -> Self {
        let config_dir = config_dir.into();
        let secrets = Secrets::new().denying([config_dir.join("credentials.json")]);
        Host {
            mode: Mode::Print,
            cwd: cwd.into(),
            config_dir,
            is_project_trusted: false,
            secrets: Arc::new(secrets),
            models: Vec::new(),
            providers: RegisteredProviders::default(),
            connect: Arc::new(|_| Err("this program connects no services".to_owned())),
            streams: Arc::default(),
            themes: Arc::default(),
            settings: json!({}),
            catalog: None,
            agents: Arc::default(),
            sessions: sessions::Sessions::default(),
            network: None,
            options: Arc::new(Options::new),
            front_end: Arc::new(|_| ()),
            tools: Tools::new(agent.clone()),
            agent: agent.for_extensions(),
            state: Mutex::default(),
            next_question: AtomicU64::new(1),
        }
    }

    /// Locks the state. It must not be held while anything else of the host is called.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Sends an event to the front end.
    pub fn send(&self, event: HostEvent) {
        match &event {
            HostEvent::Failed(trouble) => warn!("{trouble}"),
            HostEvent::NotLoaded(text) => warn!("{text}"),
            HostEvent::Waiting(extension, doing) => {
                warn!(extension, doing, "the agent waits for an extension");
            }
            _ => {}
        }
        (self.front_end)(event);
    }

    /// Reports a failure that does not disable the extension.
    pub(crate) fn report(&self, extension: &str, doing: &str, message: String) {
        let (extension, doing) = (extension.to_owned(), doing.to_owned());
        self.send(HostEvent::Failed(ExtensionFailure { extension, doing, message, disabled: false }));
    }

    /// Reads or changes the session, which is locked during the call.
    pub(crate) fn with_session<T>(&self, work: impl FnOnce(&mut Session) -> T) -> T {
        let (result, before, has_moved) = self.agent.change(|session| {
            let before = session.leaf_id();
            let result = work(session);
            let has_moved = !continues_from(session, before.as_ref());
            (result, before, has_moved)
        });
        if has_moved {
            self.send(HostEvent::Moved(before));
        }
        result
    }

    /// Asks the user. Without one there is no answer, and a confirmation is denied.
    pub(crate) fn ask(
        &self,
        extension: Extension,
        question: Question,
        limit: Option<Duration>,
    ) -> HostFuture<Option<Json>> {
        if !self.mode.has_ui() {
            let answer = matches!(question, Question::Confirm { .. }).then_some(Json::Bool(false));
            return ready(answer);
        }
        let id = self.next_question.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        self.send(HostEvent::Ask(AskedQuestion { id, extension, question, limit, answer }));
        let open = OpenQuestion { id, front_end: self.front_end.clone() };
        Box::pin(async move {
            let answer = answered.await.ok().flatten();
            drop(open);
            answer
        })
    }

    /// Sends a prompt in the name of the user. A text that begins with a slash may be a command of an extension.
    pub(crate) fn send_user(&self, content: &Json, deliver_as: Option<Delivery>) -> Result<(), String> {
        if let Some(line) = content.as_str().and_then(|text| text.strip_prefix('/')) {
            drop(self.agent.run_line(line.to_owned()));
            return Ok(());
        }
        let time = self.agent.read(Session::now).as_millis();
        let value = json!({"role": "user", "content": content, "timestamp": time});
        let message = Message::from_serialize(&value).map_err(|error| error.to_string())?;
        self.agent.send_user_message(&message, deliver_as).map(drop).map_err(|error| error.to_string())
    }

    pub(crate) fn set_thinking(&self, level: ThinkingLevel) {
        self.state().thinking = level;
        // The level counts even if it cannot be written.
        drop(self.agent.choose_thinking(level));
    }

    /// Lets another model answer from the next turn on.
    pub fn set_model(&self, model: Arc<dyn Model>) {
        self.state().model = Some(model.spec().clone());
        drop(self.agent.choose_model(model, ChosenBy::Name));
    }

    /// Returns the models that can be chosen and asked, with those of extensions.
    pub fn models(&self) -> Vec<Arc<dyn Model>> {
        self.providers.over(&self.models)
    }

    pub(crate) fn model(&self, provider: &Json, id: &Json) -> Option<Arc<dyn Model>> {
        let is_meant = |model: &Arc<dyn Model>| *provider == model.spec().provider && *id == model.spec().id;
        self.models().into_iter().find(is_meant)
    }

    /// Ends what extensions left behind that are no longer loaded.
    pub fn forget_unloaded(&self) {
        self.agents.forget_unloaded();
    }

    /// Takes new registrations: the model gets the tools, the agent the commands.
    pub(crate) fn registered(&self) {
        self.tools.apply();
        let extensions = self.tools.extensions();
        if !extensions.is_empty() {
            drop(self.agent.set_commands(extensions.commands()));
        }
        self.send(HostEvent::Registered);
    }

    /// Performs an operation that takes time. [`perform`](perform::perform) has those that take the whole agent.
    pub(crate) fn start(
        &self,
        name: &str,
        arguments: Json,
        cancel: Cancel,
    ) -> HostFuture<Result<Json, String>> {
        let model = self.model(&arguments["provider"], &arguments["id"]);
        match (name, model) {
            ("reload", _) => {
                self.send(HostEvent::Reload);
                ready(Ok(Json::Null))
            }
            ("setModel", model) => {
                let is_known = model.is_some();
                model.into_iter().for_each(|model| self.set_model(model));
                ready(Ok(Json::Bool(is_known)))
            }
            ("stream", Some(model)) => {
                let now = self.agent.read(Session::now);
                ready(self.streams.begin(&*model, &arguments, now))
            }
            ("stream", None) => ready(Err(format!("no model {}/{}", arguments["provider"], arguments["id"]))),
            ("stream.next", _) => {
                let (streams, id) = (self.streams.clone(), arguments["stream"].as_u64().unwrap_or_default());
                Box::pin(async move { streams.next(id, &cancel).await })
            }
            (name, _) if name.starts_with("agent.") => {
                let (agents, name) = (self.agents.clone(), name.to_owned());
                Box::pin(async move { agents::perform(&agents, &name, &arguments, &cancel).await })
            }
            (name, _) => self.perform(name.to_owned(), arguments, cancel),
        }
    }

    /// Performs an operation of the agent.
    fn perform(&self, name: String, arguments: Json, cancel: Cancel) -> HostFuture<Result<Json, String>> {
        let (agent, options, front_end) = (self.agent.clone(), self.options.clone(), self.front_end.clone());
        Box::pin(async move {
            let answer = perform::perform(&agent, &name, &arguments, options(), &cancel).await?;
            // After a move to a prompt its text is in the editor.
            if let Some(text) = answer["editorText"].as_str() {
                front_end(HostEvent::EditorText(text.to_owned()));
            }
            Ok(answer)
        })
    }
}

fn ready<T: Send + 'static>(value: T) -> HostFuture<T> {
    Box::pin(std::future::ready(value))
}

/// Closes a question when it is dropped.
struct OpenQuestion {
    id: u64,
    front_end: FrontEnd,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        (self.front_end)(HostEvent::Close(self.id));
    }
}
