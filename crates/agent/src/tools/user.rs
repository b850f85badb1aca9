//! Commands of the user: `!command` adds the output to the context, `!!command` only shows it.

use std::path::PathBuf;

use session_tree::{Message, Timestamp};

use super::output::Tail;
use super::shell::{self, End};
use crate::tool::{ToolOutput, ToolPlace};

/// A command of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserCommand {
    /// The command line.
    pub command: String,
    /// True if it is not part of the context.
    pub is_private: bool,
}

impl UserCommand {
    /// Parses `!command` or `!!command`. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.trim().strip_prefix('!')?;
        let (command, is_private) = match rest.strip_prefix('!') {
            Some(private) => (private, true),
            None => (rest, false),
        };
        let command = command.trim();
        (!command.is_empty()).then(|| UserCommand { command: command.to_owned(), is_private })
    }
}

/// The output of a command of the user.
#[derive(Debug, Default)]
pub(crate) struct CommandOutput {
    /// The output within the limits.
    pub(crate) text: String,
    pub(crate) exit_code: Option<i64>,
    pub(crate) is_cancelled: bool,
    /// True if the output was cut.
    pub(crate) is_cut: bool,
    /// The file with the whole output.
    pub(crate) full: Option<PathBuf>,
}

impl CommandOutput {
    /// Returns the end of a text within the limits.
    pub(crate) fn of(text: &str) -> Self {
        let mut tail = Tail::default();
        tail.push(text.as_bytes());
        let capped = tail.capped();
        CommandOutput { is_cut: capped.cut_by.is_some(), text: capped.text, ..CommandOutput::default() }
    }
}

/// Runs a command of the user and returns the `bashExecution` message that sessions store.
///
/// It needs no approval. A command that cannot be started gives a message too.
pub async fn run_user_command(command: &UserCommand, place: &ToolPlace, now: Timestamp) -> Message {
    let progress = &place.progress;
    let ran = shell::run(&command.command, place, None, |capture| {
        progress(ToolOutput::text(place.secrets.mask(&capture.so_far().text)));
    });
    let output = match ran.await {
        Ok(ran) => CommandOutput {
            exit_code: match ran.end {
                End::Exited(status) => status.code().map(i64::from),
                End::TimedOut(_) | End::Cancelled => None,
            },
            is_cancelled: ran.end == End::Cancelled,
            is_cut: ran.output.cut_by.is_some(),
            text: place.secrets.mask(&ran.output.text).into_owned(),
            full: ran.full_output,
        },
        Err(error) => CommandOutput {
            // The exit code of shells for a command that cannot be run.
            exit_code: Some(126),
            ..CommandOutput::of(&format!("cannot run the command: {error}"))
        },
    };
    command_message(command, &output, now)
}

/// Creates the `bashExecution` message of a command.
pub(crate) fn command_message(command: &UserCommand, output: &CommandOutput, now: Timestamp) -> Message {
    let message = Message::bash(&command.command).output(&output.text).exit_code(output.exit_code);
    let message = message.cancelled(output.is_cancelled).truncated(output.is_cut);
    let message = message.exclude_from_context(command.is_private);
    let message = match &output.full {
        Some(path) => message.full_output_path(path.to_string_lossy()),
        None => message,
    };
    message.build().with_time(now)
}
