//! Commands that users type: `!command` for the conversation, `!!command` for their eyes only.

use std::path::PathBuf;

use session_tree::{Message, Timestamp};

use super::output::Tail;
use super::shell::{self, End};
use crate::tool::{ToolOutput, ToolPlace};

/// A command that a user typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserCommand {
    /// The command line.
    pub command: String,
    /// Whether models never see it.
    pub is_private: bool,
}

impl UserCommand {
    /// Reads `!command` or `!!command`; `None` for any other text.
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

/// What came of a command that a user typed.
#[derive(Debug, Default)]
pub(crate) struct CommandOutput {
    /// What it wrote, within the caps.
    pub(crate) text: String,
    pub(crate) exit_code: Option<i64>,
    pub(crate) is_cancelled: bool,
    /// Whether it wrote more.
    pub(crate) is_cut: bool,
    /// Where all of it is.
    pub(crate) full: Option<PathBuf>,
}

impl CommandOutput {
    /// Takes the end of a text, as much as the caps let through.
    pub(crate) fn of(text: &str) -> Self {
        let mut tail = Tail::default();
        tail.push(text.as_bytes());
        let capped = tail.capped();
        CommandOutput { is_cut: capped.cut_by.is_some(), text: capped.text, ..CommandOutput::default() }
    }
}

/// Runs a command that a user typed, and returns the `bashExecution` message that sessions store.
///
/// Users may run what they like: nobody is asked. A command that cannot be started is a message too.
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
            // What shells say of a command that cannot be run.
            exit_code: Some(126),
            ..CommandOutput::of(&format!("cannot run the command: {error}"))
        },
    };
    command_message(command, &output, now)
}

/// Makes the `bashExecution` message of a command.
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
