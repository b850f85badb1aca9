//! What an extension has registered: commands, tools, keys, flags, renderers, and the events it listens to.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_agent::model::ToolSpec;
use serde_json::Value as Json;

/// What one extension has registered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Registry {
    /// The events it listens to, under the names that the agent knows, with the numbers of the listeners.
    pub events: BTreeMap<String, Vec<u64>>,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Whether it can complete what is typed behind it.
    pub completes: bool,
}

/// A tool of an extension.
#[derive(Debug, Clone, PartialEq)]
pub struct RegisteredTool {
    /// The tool as models see it.
    pub spec: ToolSpec,
    /// Whether it draws its results.
    pub renders_result: bool,
    /// One line about it for the system prompt.
    pub prompt_snippet: Option<String>,
    /// More about it for the system prompt.
    pub prompt_guidelines: Vec<String>,
    /// Whether its calls may run while other calls run.
    pub is_concurrent: bool,
}

/// A key of an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortcutSpec {
    /// The key, such as `ctrl+alt+p`.
    pub key: String,
    /// What it does.
    pub description: String,
}

impl Registry {
    /// Takes the news from script. Tells whether anything but events has changed.
    pub(crate) fn take(&mut self, registered: &Json) -> bool {
        let before = self.clone();
        let list = |key: &str| registered[key].as_array().into_iter().flatten();
        let names = |key: &str| list(key).filter_map(|name| name.as_str().map(str::to_owned));
        self.events.clear();
        for listener in list("events") {
            let name = listener[0].as_str().unwrap_or_default().to_owned();
            self.events.entry(name).or_default().extend(listener[1].as_u64());
        }
        self.commands = list("commands").map(command).collect();
        self.tools = list("tools").map(tool).collect();
        self.shortcuts = list("shortcuts").map(shortcut).collect();
        self.flags = names("flags").collect();
        self.message_renderers = names("messageRenderers").collect();
        self.entry_renderers = names("entryRenderers").collect();
        Registry { events: BTreeMap::new(), ..before } != Registry { events: BTreeMap::new(), ..self.clone() }
    }
}

fn own(value: &Json, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn command(value: &Json) -> CommandSpec {
    CommandSpec {
        name: own(value, "name"),
        description: own(value, "description"),
        completes: value["completes"].as_bool().unwrap_or(false),
    }
}

fn tool(value: &Json) -> RegisteredTool {
    let is = |key: &str| value[key].as_bool().unwrap_or(false);
    let guidelines = value["promptGuidelines"].as_array().into_iter().flatten();
    RegisteredTool {
        spec: tool_spec(value),
        renders_result: is("rendersResult"),
        prompt_snippet: value["promptSnippet"].as_str().map(str::to_owned),
        prompt_guidelines: guidelines.filter_map(|line| line.as_str().map(str::to_owned)).collect(),
        is_concurrent: is("concurrent"),
    }
}

/// Reads a tool as models see it.
pub(crate) fn tool_spec(value: &Json) -> ToolSpec {
    ToolSpec {
        name: own(value, "name"),
        description: own(value, "description"),
        parameters: value["parameters"].clone(),
    }
}

fn shortcut(value: &Json) -> ShortcutSpec {
    ShortcutSpec { key: own(value, "key"), description: own(value, "description") }
}
