//! Tool calls and shell commands of the user, each with its outcome.

use session_tree::EntryId;
use session_tree::json::ValueRef;

/// The main arguments of calls; the first one present counts.
const MAIN_ARGUMENTS: [&str; 8] =
    ["command", "path", "file_path", "pattern", "query", "url", "prompt", "description"];

/// A tool call, or a command that the user ran.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommandRun {
    /// The entry that holds the call or the command.
    pub id: EntryId,
    /// The name of the tool; `bash` for a command of the user.
    pub tool: String,
    /// The main argument: the command, the path, the pattern, or else all arguments as JSON.
    pub argument: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The exit code of a command of the user.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub exit_code: Option<i64>,
    /// True if the user ran it, not the model.
    pub by_person: bool,
}

/// How a call or a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Outcome {
    /// It succeeded.
    Ok,
    /// It failed or was cancelled.
    Error,
    /// There is no result.
    Open,
}

impl CommandRun {
    /// Makes the run of a call whose result is not known yet.
    pub(super) fn of_call(id: EntryId, tool: &str, arguments: Option<ValueRef<'_>>) -> Self {
        Self {
            id,
            tool: tool.to_owned(),
            argument: main_argument(arguments),
            outcome: Outcome::Open,
            exit_code: None,
            by_person: false,
        }
    }

    /// Makes the run of a command of the user.
    pub(super) fn of_shell(id: EntryId, message: ValueRef<'_>) -> Self {
        let exit_code = message.get("exitCode").and_then(ValueRef::as_i64);
        let cancelled = message.get("cancelled").and_then(ValueRef::as_bool).unwrap_or(false);
        let outcome = match exit_code {
            _ if cancelled => Outcome::Error,
            Some(0) => Outcome::Ok,
            Some(_) => Outcome::Error,
            None => Outcome::Open,
        };
        let argument = message.get("command").and_then(ValueRef::as_str).unwrap_or_default().into_owned();
        Self { id, tool: "bash".to_owned(), argument, outcome, exit_code, by_person: true }
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
