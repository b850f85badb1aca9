//! What an entry says to somebody who reads from top to bottom.
//!
//! entry -> **said** -> Markdown, or the part of the page for readers without scripts

use std::borrow::Cow;

use session_tree::json::Value;
use session_tree::{Body, Content, Entry, Role};

/// What an entry says, and who says it.
pub(crate) enum Said<'e> {
    /// A person asks.
    Prompt(Content<'e>),
    /// A model answers.
    Answer { model: Cow<'e, str>, content: Content<'e>, error: Option<Cow<'e, str>> },
    /// A tool is done.
    Result { tool: Cow<'e, str>, failed: bool, content: Content<'e> },
    /// A person ran a command.
    Command { command: Cow<'e, str>, output: Cow<'e, str> },
    /// An extension says something to everybody.
    Extension { name: Cow<'e, str>, content: Content<'e> },
    /// Older entries are summed up.
    Compaction(Cow<'e, str>),
    /// Another branch is summed up, or was merged.
    Summary { title: &'static str, text: Cow<'e, str> },
    /// The instructions and the tools that a model got.
    System { content: Content<'e>, tools: Vec<Cow<'e, str>> },
    /// The line cannot be read.
    Damaged,
}

/// What a summary is called.
const SUMMARY: &str = "Summary of another branch";
const MERGE: &str = "Merged from another branch";

impl<'e> Said<'e> {
    /// Returns what an entry says; nothing of settings, names and the like.
    pub(crate) fn of(entry: &'e Entry) -> Option<Self> {
        let body = entry.body();
        let title = if body.merge().is_some() { MERGE } else { SUMMARY };
        match body {
            Body::Message(Some(message)) => Self::of_message(message),
            Body::CustomMessage { custom_type, content, display: true, .. } => {
                let name = custom_type.unwrap_or("extension".into());
                Some(Said::Extension { name, content: Content::of(content) })
            }
            Body::Compaction { summary, .. } => Some(Said::Compaction(summary.unwrap_or_default())),
            Body::BranchSummary { summary, .. } => {
                Some(Said::Summary { title, text: summary.unwrap_or_default() })
            }
            Body::Placeholder => Some(Said::Damaged),
            Body::Message(None)
            | Body::CustomMessage { display: false, .. }
            | Body::ThinkingLevelChange { .. }
            | Body::ModelChange { .. }
            | Body::Usage { .. }
            | Body::Custom { .. }
            | Body::Label { .. }
            | Body::SessionInfo { .. }
            | Body::ContextEdit { .. }
            | Body::LeafMove { .. }
            | Body::ModeChange { .. }
            | Body::RuleInjection { .. }
            | Body::ResetBoundary
            | Body::TitleChange { .. }
            | Body::ModelUsage { .. }
            | Body::Opaque { .. } => None,
        }
    }

    fn of_message(message: Value<'e>) -> Option<Self> {
        let some = |key: &str| message.get(key).and_then(Value::as_str);
        let text = |key: &str| some(key).unwrap_or_default();
        let is = |key: &str| message.get(key).and_then(Value::as_bool);
        let content = Content::of(message.get("content"));
        Some(match Role::from_name(text("role").as_bytes()) {
            Role::User => Said::Prompt(content),
            Role::Assistant => Said::Answer { model: text("model"), content, error: some("errorMessage") },
            Role::ToolResult => {
                Said::Result { tool: text("toolName"), failed: is("isError").unwrap_or(false), content }
            }
            Role::BashExecution => Said::Command { command: text("command"), output: text("output") },
            Role::CompactionSummary => Said::Compaction(some("summary").unwrap_or_else(|| content.text())),
            Role::BranchSummary => {
                Said::Summary { title: SUMMARY, text: some("summary").unwrap_or_else(|| content.text()) }
            }
            Role::Custom | Role::HookMessage | Role::FileMention | Role::Other => {
                let is_shown = is("display") != Some(false) && content.blocks().next().is_some();
                let name = some("customType").unwrap_or_else(|| text("role"));
                return is_shown.then_some(Said::Extension { name, content });
            }
            Role::System => {
                let tools = message.get("toolsAdded").into_iter().flat_map(Value::items);
                Said::System { content, tools: tools.filter_map(|tool| tool.get("name")?.as_str()).collect() }
            }
        })
    }
}
