//! What a person is told when a command cannot do its work, and the exit code that goes with it.

use std::error::Error as StdError;
use std::io;
use std::process::ExitCode;

use crate::ui::Ui;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// The engine could not meet the request.
    Engine(session_tree::Error),
    /// The command did its work and found something that deserves a failing exit code.
    Found,
    /// Whoever read our output went away.
    BrokenPipe,
    /// Our own output failed.
    Output(io::Error),
}

impl From<session_tree::Error> for CommandError {
    fn from(error: session_tree::Error) -> Self {
        CommandError::Engine(error)
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => CommandError::BrokenPipe,
            _ => CommandError::Output(error),
        }
    }
}

impl CommandError {
    /// Tells the person, and gives the exit code: 0 for a reader that went away, else 1.
    pub(crate) fn report(self, ui: &mut Ui) -> ExitCode {
        match self {
            CommandError::BrokenPipe => ExitCode::SUCCESS,
            CommandError::Found => ExitCode::FAILURE,
            CommandError::Output(error) => {
                ui.error(&chain(&error), &[]);
                ExitCode::FAILURE
            }
            CommandError::Engine(error) => {
                ui.error(&chain(&error), &hints(&error));
                ExitCode::FAILURE
            }
        }
    }
}

/// Joins an error and its causes: what happened, then why.
fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

fn hints(error: &session_tree::Error) -> Vec<String> {
    use session_tree::Error;
    match error {
        Error::NotASession { reason, .. } => {
            vec![format!("{reason}; the file was not changed")]
        }
        Error::AmbiguousPrefix { candidates, .. } | Error::AmbiguousLabel { candidates, .. } => {
            vec![format!(
                "one of: {}",
                candidates.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            )]
        }
        Error::UnknownEntry { .. } => {
            vec!["`offshoot tree SESSION --filter all --ids` shows the ids of all entries".into()]
        }
        _ => Vec::new(),
    }
}
