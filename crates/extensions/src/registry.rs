//! The registrations of an extension (commands, tools, keys, flags, renderers, events), and how the agent calls them.

use std::collections::BTreeSet;
use std::sync::Arc;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::extension::{CommandFuture, CompletionFuture, ExtensionCommand};
use offshoot_agent::handle::AgentHandle;
use offshoot_agent::model::ToolSpec;
use offshoot_agent::tool::{Effect, Tool, ToolCall, ToolFuture, ToolOutput, ToolPlace};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::extension::{Extension, given};
use crate::handle::{Kind, Progress};

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

/// A command of an extension, as the agent calls it.
#[derive(Debug)]
pub(crate) struct LoadedCommand {
    pub(crate) extension: Extension,
    pub(crate) spec: CommandSpec,
}

impl ExtensionCommand for LoadedCommand {
    fn name(&self) -> &str {
        &self.spec.name
    }

    fn description(&self) -> &str {
        &self.spec.description
    }

    fn complete<'a>(&'a self, prefix: &'a str) -> CompletionFuture<'a> {
        Box::pin(async move {
            if !self.spec.completes {
                return Vec::new();
            }
            let payload = json!({"name": self.spec.name, "prefix": prefix});
            let call = self.extension.call(Kind::Screen, "completions", &payload, None);
            // An answer after the next key is of no use.
            let answer = tokio::time::timeout(self.extension.handle.limits.screen, call).await;
            let answer = answer.ok().and_then(Result::ok).unwrap_or_default();
            let items = answer["items"].as_array().into_iter().flatten();
            items.filter_map(|item| item["value"].as_str().map(str::to_owned)).collect()
        })
    }

    fn run<'a>(&'a self, arguments: &'a str, _: &'a AgentHandle, cancel: &'a Cancel) -> CommandFuture<'a> {
        Box::pin(self.extension.run_command(&self.spec.name, arguments, cancel))
    }
}

/// A tool of an extension, as the agent calls it.
#[derive(Debug)]
pub(crate) struct ExtensionTool {
    pub(crate) extension: Extension,
    pub(crate) tool: RegisteredTool,
    /// The name that script knows it by.
    pub(crate) key: String,
}

impl ExtensionTool {
    async fn answer(&self, call: &ToolCall, place: &ToolPlace) -> Result<ToolOutput, String> {
        let payload = json!({"name": self.key, "call": call.id, "args": call.arguments});
        let progress = place.progress.clone();
        let watch: Progress = Arc::new(move |so_far| progress(output(&so_far)));
        self.extension.handle.progress.lock().insert(call.id.clone(), watch);
        let doing = format!("tool {}", call.name);
        let answer = self.extension.call(Kind::Event, &doing, &payload, Some(&place.cancel)).await;
        self.extension.handle.progress.lock().remove(&call.id);
        answer.map(|answer| output(&answer))
    }
}

impl Tool for ExtensionTool {
    fn spec(&self) -> ToolSpec {
        self.tool.spec.clone()
    }

    fn effect(&self, _: &Json) -> Effect {
        let (tool, extension) = (self.tool.spec.name.clone(), self.extension.rule_name().to_owned());
        Effect::Extension { tool, extension }
    }

    fn runs_concurrently(&self, _: &Json) -> bool {
        self.tool.concurrent
    }

    fn run<'a>(&'a self, call: ToolCall, place: &'a ToolPlace) -> ToolFuture<'a> {
        Box::pin(async move {
            self.answer(&call, place).await.unwrap_or_else(|message| ToolOutput::error(first_line(&message)))
        })
    }
}

/// Models get what went wrong, not where in the source.
fn first_line(message: &str) -> &str {
    message.split("\n    at ").next().unwrap_or(message)
}

fn output(answer: &Json) -> ToolOutput {
    ToolOutput {
        content: answer["content"].as_array().cloned().unwrap_or_default(),
        details: given(answer, "details").cloned(),
        is_error: answer["isError"].as_bool().unwrap_or(false),
    }
}
