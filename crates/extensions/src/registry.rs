//! The registrations of an extension: commands, tools, keys, flags, renderers, and the events it listens to.

use std::collections::BTreeSet;

use offshoot_agent::model::ToolSpec;
use serde::Deserialize;

/// The registrations of one extension.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Registry {
    /// The events it listens to, each with the number of a listener.
    pub events: Vec<(String, u64)>,
    /// Its commands.
    pub commands: Vec<CommandSpec>,
    /// Its tools.
    pub tools: Vec<RegisteredTool>,
    /// Its keys.
    pub shortcuts: Vec<ShortcutSpec>,
    /// The names of its flags, without the dashes.
    pub flags: Vec<String>,
    /// The types of custom messages that it draws.
    pub message_renderers: BTreeSet<String>,
    /// The types of custom entries that it draws.
    pub entry_renderers: BTreeSet<String>,
}

/// A command of an extension.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CommandSpec {
    /// Its name, without the slash.
    pub name: String,
    /// Its description.
    pub description: String,
    /// True if it can complete its arguments.
    pub completes: bool,
}

/// A tool of an extension.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegisteredTool {
    /// The tool as models see it.
    #[serde(flatten)]
    pub spec: ToolSpec,
    /// True if it draws its results.
    pub renders_result: bool,
    /// One line about it for the system prompt.
    pub prompt_snippet: Option<String>,
    /// More about it for the system prompt.
    pub prompt_guidelines: Vec<String>,
    /// True if its calls may run while other calls run.
    pub concurrent: bool,
}

/// A key of an extension.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ShortcutSpec {
    /// The key, such as `ctrl+alt+p`.
    pub key: String,
    /// Its description.
    pub description: String,
}
