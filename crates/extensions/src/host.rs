//! What extensions need of their surroundings: a session, a model, a person, a screen.
//!
//! extension -> engine -> **host** -> agent, terminal, print mode, test
//!
//! An extension runs on a thread of its own; everything here is called from there. The session is answered at once and
//! without waiting, everything that takes long is a future.

mod perform;
mod plain;

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::handle::{CustomMessage, SendOptions};
use offshoot_agent::inbox::Delivery;
use offshoot_agent::model::{ModelSpec, ThinkingLevel, ToolSpec};
use offshoot_agent::secrets::Secrets;
use serde_json::Value as Json;
use session_tree::Session;

use crate::component::Component;

pub use plain::PlainHost;

/// Something that the host does for an extension and that may take long.
pub type HostFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The surroundings of extensions.
pub trait Host: Send + Sync {
    /// Returns who sits in front of it.
    fn mode(&self) -> Mode;

    /// Tells whether questions are answered by a person.
    fn has_ui(&self) -> bool {
        matches!(self.mode(), Mode::Tui | Mode::Rpc)
    }

    /// Returns the working directory.
    fn cwd(&self) -> PathBuf;

    /// Returns the directory of the user's own files.
    fn config_dir(&self) -> PathBuf;

    /// Returns which files extensions may not open, and which environment variables they and the programs that they
    /// start do not get.
    fn secrets(&self) -> Arc<Secrets>;

    /// Tells whether the user trusts the project.
    fn is_project_trusted(&self) -> bool;

    /// Lets `work` read and change the session, at once. Nobody else has the session meanwhile.
    fn with_session(&self, work: &mut dyn FnMut(&mut Session));

    /// Returns how the agent is set and what it does.
    fn state(&self) -> State;

    /// Returns all models that could be chosen.
    fn models(&self) -> Vec<ModelSpec>;

    /// Returns all tools, whether the model may call them or not.
    fn tools(&self) -> Vec<ToolSpec>;

    /// Does something at once, or puts it into a queue.
    ///
    /// # Errors
    ///
    /// Why it cannot be done; the extension sees it as an exception.
    fn act(&self, extension: &str, action: Action) -> Result<(), String>;

    /// Does something that takes long.
    fn command(&self, extension: &str, command: Command, cancel: Cancel) -> HostFuture<Result<Json, String>>;

    /// Asks a person. Nothing is answered if there is nobody, or if the question is closed.
    fn ask(&self, extension: &str, question: Question, cancel: Cancel) -> HostFuture<Option<Json>>;

    /// Shows something, if there is a screen.
    fn show(&self, extension: &str, notice: Notice);

    /// Takes the news that something went wrong outside of any call.
    fn report(&self, trouble: Trouble);
}

/// Who sits in front of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A person in front of a terminal.
    Tui,
    /// A program that may ask a person.
    Rpc,
    /// A program that reads events.
    Json,
    /// Nobody: one prompt, one answer.
    Print,
}

impl Mode {
    /// Returns the name that extensions read.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Tui => "tui",
            Mode::Rpc => "rpc",
            Mode::Json => "json",
            Mode::Print => "print",
        }
    }
}

/// How the agent is set and what it does.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The model.
    pub model: Option<ModelSpec>,
    /// How hard it thinks.
    pub thinking: ThinkingLevel,
    /// Whether no turn is going on.
    pub is_idle: bool,
    /// Whether messages wait for the turn to take them.
    pub has_pending: bool,
    /// What the model is told before the conversation.
    pub system: String,
    /// The names of the tools that the model may call.
    pub active_tools: Vec<String>,
    /// The text in the editor.
    pub editor_text: String,
}

/// Something that is done at once, or put into a queue.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Sends a message of the extension.
    SendMessage(CustomMessage, SendOptions),
    /// Sends a prompt in the name of the user.
    SendUserMessage {
        /// A text, or blocks.
        content: Json,
        /// When it is sent if a turn is going on.
        deliver_as: Option<Delivery>,
    },
    /// Labels an entry, or takes its label off.
    SetLabel {
        /// The entry.
        target: String,
        /// The label.
        label: Option<String>,
    },
    /// Names the session.
    SetSessionName(String),
    /// Chooses how hard the model thinks.
    SetThinking(ThinkingLevel),
    /// Chooses the tools that the model may call.
    SetActiveTools(Vec<String>),
    /// Stops the turn.
    Abort,
    /// Ends the program as soon as no turn is going on.
    Shutdown,
    /// The commands, tools or other registrations of the extension have changed.
    Registered,
}

/// Something that takes long.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Moves the leaf: `targetId`, `summarize`, `customInstructions`, `replaceInstructions`, `label`.
    NavigateTree(Json),
    /// Moves the leaf onto an entry itself: `targetId`, and `summary` or `summarize` and `customInstructions`.
    BranchInPlace(Json),
    /// Makes a new session from a path: `entryId`, `position`.
    Fork(Json),
    /// Begins a new session: `parentSession`.
    NewSession(Json),
    /// Opens another session.
    SwitchSession(PathBuf),
    /// Compacts the path.
    Compact {
        /// What the summary should pay attention to.
        instructions: Option<String>,
    },
    /// Waits until no turn is going on.
    WaitForIdle,
    /// Loads extensions anew.
    Reload,
    /// Chooses a model.
    SetModel {
        /// The provider.
        provider: String,
        /// The name of the model there.
        id: String,
    },
    /// Asks a model something beside the conversation.
    Complete {
        /// The provider.
        provider: String,
        /// The name of the model there.
        id: String,
        /// `systemPrompt`, `messages` and `tools`.
        context: Json,
        /// `maxTokens`, `reasoning` and others.
        options: Json,
    },
}

/// A question to a person.
#[derive(Debug, Clone)]
pub enum Question {
    /// One of several.
    Select {
        /// What it is about.
        title: String,
        /// What there is to choose from.
        options: Vec<String>,
    },
    /// Yes or no.
    Confirm {
        /// What it is about.
        title: String,
        /// More of it.
        message: String,
    },
    /// One line.
    Input {
        /// What it is about.
        title: String,
        /// What stands there while it is empty.
        placeholder: String,
    },
    /// Many lines.
    Editor {
        /// What it is about.
        title: String,
        /// What stands there at first.
        prefill: String,
    },
    /// A component of the extension takes the keyboard until it is done. The answer is null; the extension knows it.
    Custom {
        /// The component.
        component: Component,
        /// Whether it lies above everything else.
        overlay: bool,
        /// True if a second Escape within a second closes it, whatever the component does with the key.
        closes_on_escape: bool,
        /// Where and how large, as the extension said.
        options: Json,
    },
}

/// Something to show.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Notice {
    /// A line of news: `info`, `warning` or `error`.
    Notify {
        /// The text.
        message: String,
        /// How serious it is.
        level: String,
    },
    /// A text in the last line, under a key; none takes it away.
    Status {
        /// The key.
        key: String,
        /// The text.
        text: Option<String>,
    },
    /// Lines above or below the editor, under a key; none takes them away.
    Widget {
        /// The key.
        key: String,
        /// The lines, or what draws them.
        content: Option<WidgetContent>,
        /// Whether it stands below the editor.
        below: bool,
    },
    /// Another footer; none gives the usual one back.
    Footer(Option<Component>),
    /// Another header; none gives the usual one back.
    Header(Option<Component>),
    /// The title of the window.
    Title(String),
    /// The text in the editor.
    EditorText(String),
    /// A text that is put into the editor at the cursor.
    Paste(String),
    /// What is shown while the model works; none gives the usual text back.
    Working(Option<String>),
    /// Something else, with its arguments: a setting of the screen that a host may know.
    Other {
        /// The name of the function that was called.
        name: String,
        /// Its arguments.
        arguments: Json,
    },
    /// Everybody waits for the extension.
    Waiting {
        /// What it was asked.
        event: String,
    },
    /// A component wants to be drawn again.
    Redraw(u64),
}

/// What a widget shows.
#[derive(Debug, Clone)]
pub enum WidgetContent {
    /// These lines.
    Lines(Vec<String>),
    /// What a component draws.
    Component(Component),
}

/// Something that went wrong in an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The extension.
    pub extension: String,
    /// What it did.
    pub doing: String,
    /// What happened, with places in the source.
    pub message: String,
    /// Whether the extension is out of use from now on.
    pub disabled: bool,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "extension `{}` ({}): {}", self.extension, self.doing, self.message)?;
        if self.disabled { f.write_str(" (it is not used any more)") } else { Ok(()) }
    }
}
