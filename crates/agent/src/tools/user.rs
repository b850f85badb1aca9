//! Commands that users type: `!command` for the conversation, `!!command` for their eyes only.

use serde_json::json;
use session_tree::{Message, Timestamp};

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

/// Runs a command that a user typed, and returns the `bashExecution` message that sessions store.
///
/// Users may run what they like: nobody is asked. A command that cannot be started is a message too.
pub async fn run_user_command(command: &UserCommand, place: &ToolPlace, now: Timestamp) -> Message {
    let progress = &place.progress;
    let ran = shell::run(&command.command, &place.cwd, None, &place.cancel, |capture| {
        progress(ToolOutput::text(capture.so_far().text));
    });
    let mut message = json!({"role": "bashExecution", "command": command.command});
    match ran.await {
        Ok(ran) => {
            let code = match ran.end {
                End::Exited(status) => status.code(),
                End::TimedOut(_) | End::Cancelled => None,
            };
            message["output"] = json!(ran.captured.capped.text);
            if let Some(code) = code {
                message["exitCode"] = json!(code);
            }
            message["cancelled"] = json!(ran.end == End::Cancelled);
            message["truncated"] = json!(ran.captured.capped.cut_by.is_some());
            if let Some(path) = ran.captured.full_output {
                message["fullOutputPath"] = json!(path.to_string_lossy());
            }
        }
        Err(error) => {
            message["output"] = json!(format!("cannot run the command: {error}"));
            // What shells say of a command that cannot be run.
            message["exitCode"] = json!(126);
            message["cancelled"] = json!(false);
            message["truncated"] = json!(false);
        }
    }
    if command.is_private {
        message["excludeFromContext"] = json!(true);
    }
    message["timestamp"] = json!(now.as_millis());
    // An object with a role is always a message.
    Message::from_value(&message).unwrap_or_else(|_| Message::user("", now))
}
