//! The errors of commands, their messages and exit codes.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use offshoot_agent::command::CancelledBy;
use offshoot_agent::error::AgentError;
pub(crate) use offshoot_agent::error::chain;
use serde::Serialize;
use session_tree::{Error, QueryError};

use crate::database;
use crate::ui::Ui;

/// The reason why a command ended early.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// An error with a message and hints.
    Failed(Failure),
    /// Invalid arguments.
    Usage(Failure),
    /// The check found damage.
    DamageFound,
    /// Some of several sessions failed; each was already reported.
    Several,
    /// The reader of the output has closed the pipe.
    BrokenPipe,
    /// The user cancelled it.
    Interrupted,
    /// A signal ended an idle server.
    #[cfg_attr(not(feature = "server"), expect(dead_code, reason = "only servers end like this"))]
    Signal(u8),
    /// An extension cancelled a change; nothing changed.
    CancelledByHook(String, Failure),
}

/// An error message with hints.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub(crate) struct Failure {
    /// The error and its cause.
    pub(crate) message: String,
    /// Suggestions for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hints: Vec<String>,
}

impl Failure {
    /// Creates an error without hints.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Failure { message: message.into(), hints: Vec::new() }
    }

    /// Returns the message, preceded by the name unless the message contains it.
    pub(crate) fn about(&self, name: &str) -> String {
        match self.message.contains(name) {
            true => self.message.clone(),
            false => format!("{name}: {}", self.message),
        }
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl From<Failure> for CommandError {
    fn from(failure: Failure) -> Self {
        CommandError::Failed(failure)
    }
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        let own = || Failure { message: chain(&error), hints: hints(&error) };
        CommandError::Failed(database::failure(&error).unwrap_or_else(own))
    }
}

impl From<QueryError> for CommandError {
    fn from(error: QueryError) -> Self {
        let failure = Failure::new(format!("cannot search: {error}"));
        CommandError::Usage(failure.hint("put a part in double quotes to search for its text"))
    }
}

impl From<AgentError> for CommandError {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Session(error) => error.into(),
            error => Failure::new(chain(&error)).into(),
        }
    }
}

impl From<CancelledBy> for CommandError {
    fn from(by: CancelledBy) -> Self {
        match by {
            CancelledBy::User => CommandError::Interrupted,
            CancelledBy::Hook(name) => {
                let failure = Failure::new(format!("the extension {name} cancelled it; nothing changed"));
                CommandError::CancelledByHook(name, failure)
            }
        }
    }
}

impl From<offshoot_providers::Error> for CommandError {
    fn from(error: offshoot_providers::Error) -> Self {
        let hints = error.hint().into_iter().map(|hint| hint.to_string()).collect();
        CommandError::Failed(Failure { message: chain(&error), hints })
    }
}

impl From<offshoot_web::Error> for CommandError {
    fn from(error: offshoot_web::Error) -> Self {
        match error {
            offshoot_web::Error::Session(error) => error.into(),
            offshoot_web::Error::Write(error) => error.into(),
            error => Failure::new(chain(&error)).into(),
        }
    }
}

impl From<io::Error> for CommandError {
    /// Converts an error of the output.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => CommandError::BrokenPipe,
            _ => Failure::new(format!("cannot write the output: {error}")).into(),
        }
    }
}

impl CommandError {
    /// Creates an error of a refused system call.
    pub(crate) fn system(action: &str, path: &Path, error: &io::Error) -> Self {
        Failure::new(format!("cannot {action} {}: {error}", path.display())).into()
    }

    /// Creates the error of a missing working directory.
    pub(crate) fn no_cwd(error: &io::Error) -> Self {
        Failure::new(format!("cannot tell the working directory: {error}")).into()
    }

    /// Creates the error of a missing home directory.
    pub(crate) fn no_home() -> Self {
        Failure::new("cannot find the home directory")
            .hint("set OFFSHOOT_HOME, or give the path of a session file")
            .into()
    }

    /// Returns the failure to report, if any.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        match self {
            CommandError::Failed(failure)
            | CommandError::Usage(failure)
            | CommandError::CancelledByHook(_, failure) => Some(failure),
            CommandError::DamageFound
            | CommandError::Several
            | CommandError::BrokenPipe
            | CommandError::Interrupted
            | CommandError::Signal(_) => None,
        }
    }

    /// Prints the error and returns the exit code.
    pub(crate) fn report(&self, ui: &mut Ui) -> ExitCode {
        if let Some(failure) = self.failure() {
            tracing::error!("{}", failure.message);
            ui.error(&failure.message, &failure.hints);
        }
        // docs/commands.md has the table of exit codes.
        match self {
            CommandError::BrokenPipe => ExitCode::SUCCESS,
            CommandError::Failed(_) | CommandError::Several | CommandError::CancelledByHook(..) => {
                ExitCode::from(1)
            }
            CommandError::Usage(_) => ExitCode::from(2),
            CommandError::DamageFound => ExitCode::from(4),
            CommandError::Interrupted => ExitCode::from(130),
            CommandError::Signal(number) => ExitCode::from(128u8.saturating_add(*number)),
        }
    }
}

fn hints(error: &Error) -> Vec<String> {
    match error {
        Error::NotASession { reason, .. } => vec![format!("{reason}; the file was not changed")],
        Error::AmbiguousPrefix { candidates, .. } | Error::AmbiguousLabel { candidates, .. } => {
            vec![one_of(candidates.iter().map(ToString::to_string))]
        }
        Error::AmbiguousSession { candidates, .. } => {
            candidates.iter().take(10).map(|path| path.display().to_string()).collect()
        }
        Error::AlreadyPresent { .. } | Error::PickedBefore { .. } => {
            vec!["`--again` copies it all the same".into()]
        }
        Error::DoesNotFit { .. } => vec!["`-m` takes your own words".into()],
        Error::NotSaved => vec!["send a message before cloning or forking it".into()],
        Error::NothingToPop => vec!["name an entry to go back to".into()],
        Error::Invalid { .. } => {
            vec!["`offshoot show SESSION REF --raw` prints an entry as it is stored".into()]
        }
        Error::UnknownEntry { .. } => {
            vec!["`offshoot tree --flat SESSION` lists the ids of all entries".into()]
        }
        Error::UnknownSession { .. } => vec!["`offshoot sessions --all` lists the sessions".into()],
        Error::BadReference { .. } => {
            vec!["an entry is named by its id or a prefix of it, `@label`, `leaf`, `root`, `leaf^`, `leaf~2` or `branch:1`".into()]
        }
        Error::Exists { .. } => vec!["choose another name; no file is ever replaced".into()],
        Error::EntryTooLong { .. } => vec!["put the text into a file and name the file instead".into()],
        Error::Locked { .. } => vec!["nothing was written; try again when that program is done".into()],
        Error::Replaced { .. } => vec!["run the command again to work on the file that is there now".into()],
        _ => Vec::new(),
    }
}

fn one_of(names: impl ExactSizeIterator<Item = String>) -> String {
    const MOST: usize = 10;
    let left_out = names.len().saturating_sub(MOST);
    let mut text = format!("one of: {}", names.take(MOST).collect::<Vec<_>>().join(", "));
    if left_out > 0 {
        text.push_str(&format!(", and {left_out} more"));
    }
    text
}
