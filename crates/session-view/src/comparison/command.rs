//! Commands: calls of tools and shell runs of the person, each with its outcome.

use session_tree::Node;
use session_tree::json::ValueRef;

/// The arguments that say what a call is about, the first one that is there.
const MAIN_ARGUMENTS: [&str; 8] =
    ["command", "path", "file_path", "pattern", "query", "url", "prompt", "description"];

/// One thing that was done: a call of a tool, or a command that the person ran.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandRun {
    /// The entry that holds the call or the command.
    pub node: Node,
    /// The name of the tool; `bash` for a command that the person ran.
    pub tool: String,
    /// What it was about: the command, the path, the pattern, or else all arguments as JSON.
    pub argument: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The exit code of a command that the person ran.
    pub exit_code: Option<i64>,
    /// Whether the person ran it, not the model.
    pub by_person: bool,
}

/// How a call or a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It succeeded.
    Ok,
    /// It failed or was cancelled.
    Error,
    /// Nobody knows: there is no result.
    Open,
}

impl CommandRun {
    /// Makes the run of a call whose result is not known yet.
    pub(super) fn of_call(node: Node, tool: &str, arguments: Option<ValueRef<'_>>) -> Self {
        Self {
            node,
            tool: tool.to_owned(),
            argument: main_argument(arguments),
            outcome: Outcome::Open,
            exit_code: None,
            by_person: false,
        }
    }

    /// Makes the run of a command that the person typed.
    pub(super) fn of_shell(node: Node, message: ValueRef<'_>) -> Self {
        let exit_code = message.get("exitCode").and_then(ValueRef::as_i64);
        let cancelled = message.get("cancelled").and_then(ValueRef::as_bool).unwrap_or(false);
        let outcome = match exit_code {
            _ if cancelled => Outcome::Error,
            Some(0) => Outcome::Ok,
            Some(_) => Outcome::Error,
            None => Outcome::Open,
        };
        let argument = message.get("command").and_then(ValueRef::as_str).unwrap_or_default().into_owned();
        Self { node, tool: "bash".to_owned(), argument, outcome, exit_code, by_person: true }
    }
}

impl Outcome {
    /// Reads how the call ended that a tool result answers.
    pub(super) fn of_result(message: ValueRef<'_>) -> Self {
        let failed = message.get("isError").and_then(ValueRef::as_bool).unwrap_or(false);
        if failed { Outcome::Error } else { Outcome::Ok }
    }
}

fn main_argument(arguments: Option<ValueRef<'_>>) -> String {
    let Some(arguments) = arguments else { return String::new() };
    let text = |key: &&str| arguments.get(key)?.as_str().filter(|text| !text.is_empty());
    let named = MAIN_ARGUMENTS.iter().find_map(text);
    named.map_or_else(|| arguments.js_string(), |text| text.into_owned())
}
