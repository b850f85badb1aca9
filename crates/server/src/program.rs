//! The rest of the program as servers see it.

use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::handle::AgentHandle;
use offshoot_agent::model::{Model, ModelSpec};
use serde_json::Value as Json;
use session_tree::{Options, Session};

use crate::failure::Failure;

/// The result of a command of the program, as its option `--json` prints it.
pub type CommandFuture<'a> = Pin<Box<dyn Future<Output = Result<Json, Failure>> + 'a>>;

/// The rest of the program: settings, models, session files and commands.
pub trait Program {
    /// Returns how sessions are opened and made.
    fn options(&self) -> Options;

    /// Finds a session file: a path, an id or a prefix of it, or a name.
    ///
    /// # Errors
    ///
    /// If there is no such session, or several.
    fn find_session(&self, wanted: &str) -> Result<PathBuf, Failure>;

    /// Lists sessions, without their entries.
    ///
    /// # Errors
    ///
    /// If the query is wrong.
    fn list_sessions(&self, query: &SessionsQuery) -> Result<Vec<Json>, Failure>;

    /// Returns a list that a command prints with `--json`.
    ///
    /// # Errors
    ///
    /// If an entry cannot be read.
    fn list(&self, session: &Session, list: List) -> Result<Json, Failure>;

    /// Returns the models that can be used.
    fn models(&self) -> Vec<ModelSpec>;

    /// Returns a model by its name: `provider/id`.
    ///
    /// # Errors
    ///
    /// If there is no such model.
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Failure>;

    /// Moves a session file to the trash.
    ///
    /// # Errors
    ///
    /// The errors of moving a file.
    fn trash(&self, file: &Path) -> io::Result<()>;

    /// Writes a session as an HTML page and returns its path.
    ///
    /// # Errors
    ///
    /// If the page cannot be written.
    fn export_html(&self, session: &Session, file: Option<&str>) -> Result<PathBuf, Failure>;

    /// Returns the commands that can be typed, without those that open another session.
    fn typed_commands(&self) -> Vec<TypedCommand>;

    /// Runs a command that was typed, such as `/switch branch:2`; none if the line names none of
    /// [`typed_commands`](Self::typed_commands).
    fn run_typed<'a>(
        &'a self,
        line: &'a str,
        agent: &'a AgentHandle,
        cancel: &'a Cancel,
    ) -> Option<TextFuture<'a>>;

    /// Runs a command that changes the session, such as `["merge", "branch:2"]`.
    fn run<'a>(
        &'a self,
        words: Vec<String>,
        agent: &'a AgentHandle,
        dry_run: bool,
        cancel: &'a Cancel,
    ) -> CommandFuture<'a>;
}

/// The text that a command of the chat shows.
pub type TextFuture<'a> = Pin<Box<dyn Future<Output = Result<String, Failure>> + 'a>>;

/// A command that can be typed as `/name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedCommand {
    /// The name, without the slash.
    pub name: String,
    /// The arguments, as help shows them.
    pub arguments: String,
    /// A short description.
    pub description: String,
}

/// The sessions to list.
#[derive(Debug, Clone, Default)]
pub struct SessionsQuery {
    /// True for the sessions of all projects.
    pub all: bool,
    /// The query, in the language of `offshoot sessions`.
    pub query: String,
    /// True to list forks below the session that they were made from.
    pub threaded: bool,
}

/// A list that a command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// The branches.
    Branches,
    /// The labels.
    Labels,
}
