//! The program around the chat: its commands, settings, models and files, as the chat uses them.
//!
//! The chat knows the agent and the terminal. Everything else comes through [`Services`].

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{
    Applied, CherryPick, CherryPickRequest, MergeBranchRequest, MergeDraft, Replaced,
};
use offshoot_agent::error::AgentError;
use offshoot_agent::handle::{AgentHandle, Reply};
use offshoot_agent::model::{Model, ModelSpec};
use offshoot_agent::permission::Rule;
use offshoot_agent::shared::SharedSession;
use offshoot_extensions::host::{FrontEnd, Host};
use offshoot_extensions::theme::Themes;
use session_tree::{Catalog, Image, ModelRef, Options, Session, SessionSummary, Timestamp};
use session_view::Filter;

use crate::chat::DoubleEscape;
use crate::chat::working::Activity;
use crate::keys::Keymap;
use crate::time::Zone;

/// The message of an error, with its hints.
pub type ErrorText = String;

/// The projects in which a rule is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleScope {
    /// The current one.
    Project,
    /// All of the user.
    User,
}

/// The program around the chat.
pub trait Services {
    /// Returns the settings of the chat, and reads the key bindings.
    fn settings(&self) -> Result<ChatSettings, ErrorText>;
    /// Returns how sessions are opened and made.
    fn options(&self) -> Options;
    /// Returns the sessions that the user can choose from.
    fn catalogs(&self) -> Vec<Catalog>;
    /// Finds the file of the session that a path, an id or a name stands for.
    fn find_session(&self, wanted: &str) -> Result<PathBuf, ErrorText>;
    /// Moves a session file to the trash.
    fn trash(&mut self, file: &Path) -> std::io::Result<()>;
    /// Moves a session file back from the trash.
    fn restore(&mut self, file: &Path) -> std::io::Result<()>;
    /// Shows other programs that this session is open, and no other one.
    fn announce(&mut self, session_id: &str);
    /// Returns those of the sessions that other programs have open.
    fn open_elsewhere(&self, sessions: &[SessionSummary]) -> HashSet<PathBuf>;
    /// Returns true if another program has the session open.
    fn is_open_elsewhere(&self, session_id: &str) -> bool;
    /// Returns a warning about damage in a session that was opened.
    fn damage(&self, session: &Session) -> Option<String>;

    /// Parses a line of the chat.
    fn parse(&self, line: &str) -> Line;
    /// Parses a command that changes the session, given as words.
    fn parse_words(&self, words: &[&str]) -> Result<SessionCommand, ErrorText>;
    /// Opens the session that a reference `SESSION:REF` names; returns it and the rest of the reference.
    fn open_source(&self, reference: &str) -> Result<(Option<SharedSession>, String), ErrorText>;
    /// Returns the command that copies entries as reviewed.
    fn apply_pick(&self, pick: CherryPick) -> ChangeCommand;
    /// Returns the command that appends a merge as reviewed.
    fn apply_merge(&self, draft: MergeDraft) -> ChangeCommand;
    /// Makes a text about the session, for a screen of so many columns.
    fn report(&self, report: Report<'_>, session: &Session, columns: usize) -> Result<String, ErrorText>;
    /// Starts to write the session to a file; its ending decides the format, and an empty name is a default one.
    fn export(&self, file: &str, agent: &AgentHandle, stop: &Cancel) -> Result<Export, ErrorText>;
    /// Describes an error of the agent.
    fn describe(&self, error: AgentError) -> ErrorText;

    /// Keeps a rule that allows tool calls.
    fn keep_rule(&self, rule: &Rule, scope: RuleScope) -> Result<(), ErrorText>;

    /// Returns all models.
    fn models(&self) -> Vec<AvailableModel>;
    /// Returns the model of a name.
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, ErrorText>;
    /// Returns the themes that can be chosen.
    fn themes(&self) -> Arc<Themes>;
    /// Returns true for the provider of the model that answers without a network.
    fn is_offline(&self, provider: &str) -> bool;

    /// Returns true if there are extensions to load.
    fn has_extensions(&self) -> bool;
    /// Makes the host of extensions, which are not loaded yet. Returns `None` if there are no extensions.
    fn make_host(&mut self, agent: &AgentHandle, front_end: FrontEnd)
    -> Result<Option<Arc<Host>>, ErrorText>;
    /// Loads extensions for the first time, or again.
    fn load_extensions(&self, agent: &AgentHandle, is_first: bool) -> Result<Reply<()>, ErrorText>;
    /// Checks that the options and tools of the command line exist, now that extensions are loaded.
    fn check_extensions(&self) -> Result<(), ErrorText>;
    /// Reads settings, API keys and the project again. Returns a question if it is not known whether the project is
    /// trusted as it is now.
    fn read_again(&mut self) -> Result<Option<TrustQuestion>, ErrorText>;
    /// Trusts the project as it was found, and reads it.
    fn trust_project(&mut self) -> Result<(), ErrorText>;
    /// Uses what was read again, from the next turn on.
    fn use_again(&mut self, agent: &AgentHandle) -> Result<Reply<()>, ErrorText>;
}

/// The settings of the chat.
#[derive(Debug, Clone, Default)]
pub struct ChatSettings {
    /// The keys.
    pub keymap: Keymap,
    /// Warnings about key bindings that cannot be read.
    pub warnings: Vec<String>,
    /// The action of Escape when it is pressed twice.
    pub double_escape: DoubleEscape,
    /// The filter that the tree starts with.
    pub tree_filter: Filter,
    /// True if branches are left without asking for a summary.
    pub skips_summary_question: bool,
    /// True if the chat shows that a hook cancelled a command.
    pub shows_hook_cancel: bool,
}

/// The surroundings of the chat, which stay the same.
pub struct Environment {
    /// The working directory.
    pub cwd: PathBuf,
    /// The home directory, shown as `~`.
    pub home: Option<String>,
    /// The command that starts the external editor.
    pub editor: Option<String>,
    /// The zone in which times are shown.
    pub zone: &'static Zone,
    /// The clock.
    pub now: Box<dyn Fn() -> Timestamp>,
    /// True without colours.
    pub is_plain: bool,
}

/// A model that can be chosen.
#[derive(Debug, Clone)]
pub struct AvailableModel {
    /// The model.
    pub spec: ModelSpec,
    /// True if there is an API key for it, or it needs none.
    pub has_key: bool,
}

/// A line of the chat, parsed.
pub enum Line {
    /// A command that only the chat has.
    Chat(ChatCommand),
    /// A command that changes the session.
    Session(SessionCommand),
    /// The named command lacks an argument that can be chosen from a list.
    Incomplete(String),
    /// The help of a command.
    Help(String),
    /// A command with wrong arguments, and why.
    Wrong(String),
    /// An unknown command, and one with a similar name.
    Unknown(String, Option<String>),
    /// Anything else: a prompt or a shell command.
    Text,
}

/// A command that changes the session.
pub enum SessionCommand {
    /// A fork whose entry the user chooses, from a list or from the tree.
    ChooseFork {
        /// True if the tree is used.
        in_tree: bool,
    },
    /// A copy of entries, which is reviewed first.
    CherryPick(CherryPickRequest),
    /// A merge, which is reviewed first.
    Merge(MergeBranchRequest),
    /// A label for this position. The user is asked before another label is replaced.
    Push(String),
    /// Any other command.
    Change(ChangeCommand),
}

/// A command that is ready to change the session.
pub struct ChangeCommand {
    /// The activity that is shown while it runs.
    pub activity: Option<Activity>,
    /// Runs the command.
    pub run: Box<RunChange>,
}

/// The result of a command that changes the session.
pub type ChangeResult = Result<Applied<SessionChange>, ErrorText>;

/// A function that starts a command.
pub type RunChange = dyn FnOnce(&AgentHandle, &Cancel) -> LocalBoxFuture<'static, ChangeResult>;

/// A change of the session.
#[derive(Debug)]
pub struct SessionChange {
    /// The text that is shown.
    pub text: String,
    /// The effect besides the text.
    pub effect: ChangeEffect,
}

/// The effect of a change on a conversation.
#[derive(Debug, Default)]
pub enum ChangeEffect {
    /// Only the text is shown.
    #[default]
    None,
    /// Entries were appended at the leaf.
    Appended {
        /// The model that a copied entry selects.
        model: Option<ModelRef>,
    },
    /// The leaf moved.
    Moved {
        /// The prompt that was taken back, for the editor.
        prompt: Option<String>,
        /// The images of that prompt.
        images: Vec<Image>,
        /// A prompt for the input history.
        remembered: Option<String>,
    },
    /// Another session is open now.
    Replaced {
        /// The prompt that was taken back, for the editor.
        prompt: Option<String>,
        /// The images of that prompt.
        images: Vec<Image>,
        /// The model and the working directory that the session names.
        replaced: Replaced,
    },
}

/// A text about the session.
#[derive(Debug, Clone, Copy)]
pub enum Report<'a> {
    /// The tree.
    Tree,
    /// Tokens and cost.
    Stats,
    /// The effective settings.
    Settings,
    /// The MCP servers and their states.
    ToolServers,
    /// So many of the latest lines of the log.
    Log(usize),
    /// The difference between the branches of two entries.
    Diff(&'a str, &'a str),
}

/// An export that runs.
pub struct Export {
    /// The file.
    pub path: PathBuf,
    /// Ends when the file is complete.
    pub work: LocalBoxFuture<'static, Result<(), ErrorText>>,
}

/// The question whether a project is trusted.
#[derive(Debug, Clone)]
pub struct TrustQuestion {
    /// True if it was trusted before one of its files changed.
    pub is_changed: bool,
    /// The files that would be used, each with its purpose.
    pub files: Vec<String>,
}

/// A command that only the chat has.
#[derive(Debug, clap::Subcommand)]
pub enum ChatCommand {
    /// Show the tree of this session and move in it.
    Tree {
        /// The entry to start at.
        #[arg(value_name = "REF")]
        at: Option<String>,
        /// Print the tree instead.
        #[arg(long)]
        print: bool,
    },
    /// Go to the previous position.
    Back,
    /// Go forward again after `/back`.
    Forward,
    /// List the branches, to switch, merge, label or export one.
    Branches,
    /// List the labels and go to one.
    Labels,
    /// Compare two branches from their common ancestor.
    Diff {
        /// An entry of one branch.
        #[arg(value_name = "REF")]
        one: String,
        /// An entry of the other branch; the default is the leaf.
        #[arg(value_name = "REF")]
        other: Option<String>,
    },
    /// Export the session as an HTML page, as Markdown, or as a session file.
    Export {
        /// The file; its ending decides the format. The default is an HTML page.
        #[arg(value_name = "FILE")]
        file: Vec<String>,
    },
    /// Show tokens and cost of this branch and of the whole session.
    Session,
    /// Open another session.
    Resume {
        /// A path, an id or a prefix of it, or a name; without one a list opens.
        #[arg(value_name = "SESSION")]
        session: Vec<String>,
    },
    /// Copy the last answer, or an entry, to the clipboard.
    Copy {
        /// The entry.
        #[arg(value_name = "REF")]
        at: Option<String>,
    },
    /// Choose a model.
    Model {
        /// The model; without it a list opens.
        #[arg(value_name = "MODEL")]
        name: Option<String>,
    },
    /// Choose the thinking level.
    Thinking {
        /// The level; without it a list opens.
        #[arg(value_name = "LEVEL")]
        level: Option<String>,
    },
    /// Choose the colours.
    Theme {
        /// The theme; without it a list opens, which shows the theme under the cursor.
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Show the effective settings.
    Settings,
    /// List the MCP servers, their states and their tools.
    Mcp,
    /// Show all keys.
    Hotkeys,
    /// Reload extensions, API keys, key bindings, settings and context files.
    Reload,
    /// Show all commands, or the help of one.
    Help {
        /// The command.
        #[arg(value_name = "COMMAND")]
        name: Option<String>,
    },
    /// Show the latest lines of the log.
    Log {
        /// How many lines.
        #[arg(value_name = "COUNT", default_value_t = 40)]
        count: usize,
    },
    /// Leave; the session is kept.
    Quit,
}

/// An error that the chat shows.
pub(super) enum ChatError {
    Text(ErrorText),
    Agent(AgentError),
}

impl From<ErrorText> for ChatError {
    fn from(text: ErrorText) -> Self {
        ChatError::Text(text)
    }
}

impl From<AgentError> for ChatError {
    fn from(error: AgentError) -> Self {
        ChatError::Agent(error)
    }
}

impl From<session_tree::Error> for ChatError {
    fn from(error: session_tree::Error) -> Self {
        ChatError::Agent(error.into())
    }
}
