//! Quotes: the content of other entries as text, below a line that names its origin.
//!
//! The first line names the origin, and a tool call becomes one line, so that a model does not take the quoted actions
//! for its own.

use std::borrow::Cow;

use super::MessageReader;
use super::target::Target;
use super::unit::Unit;
use crate::call::describe_call;
use crate::context::convert_to_llm;
use crate::entry::{Block, Message};
use crate::error::Result;
use crate::excerpt::{excerpt, single_line};
use crate::json::ValueRef;
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::time::Timestamp;
use crate::tree::Node;

/// The most characters of a tool result that are quoted.
const SHOWN_RESULT: usize = 400;

/// The most characters of the name of a branch or session that are quoted.
const SHOWN_NAME: usize = 80;

/// The origin that a quote names.
#[derive(Debug, Clone)]
pub(crate) struct Attribution {
    branch: String,
    /// The name of the source session, if it is another one.
    session: Option<String>,
}

impl Attribution {
    pub(crate) fn of(here: &Target<'_>, source: &Session, tip: Node) -> Result<Self> {
        let is_other = here.session.header().id() != source.header().id();
        let named = || source.name().map_or_else(|| source.header().id().into_owned(), String::from);
        Ok(Self { branch: source.branch_name(tip)?, session: is_other.then(named) })
    }

    /// Returns the first line of a quote; `entries` names the quoted entries, `changed` the files that changed here.
    pub(crate) fn line(&self, entries: &str, time: Timestamp, changed: &[String]) -> String {
        let branch = excerpt(&self.branch, SHOWN_NAME);
        let session = self
            .session
            .as_ref()
            .map_or_else(String::new, |session| format!(" of session {}", excerpt(session, SHOWN_NAME)));
        let time = time.to_string();
        let date = time.get(..10).unwrap_or(&time);
        let changed = match changed {
            [] => String::new(),
            files => format!(" Changed on this branch since: {}.", files.join(", ")),
        };
        format!(
            "Copied from branch {branch}{session}, {entries}, {date}. File changes mentioned here were not applied on this branch unless noted.{changed}"
        )
    }
}

/// Returns the text of a unit: an answer with a line for each call, a prompt, a result or a summary.
pub(crate) fn unit_text(reader: &MessageReader<'_>, unit: &Unit) -> Result<String> {
    let Some(message) = reader.message(unit.head)? else { return Ok(String::new()) };
    Ok(match message.role() {
        Role::Assistant => {
            let mut lines: Vec<String> =
                Some(answer_text(&message)).filter(|text| !text.is_empty()).into_iter().collect();
            lines.extend(call_lines(reader, &message, &unit.results)?);
            lines.join("\n")
        }
        Role::ToolResult => result_line(&message),
        Role::BranchSummary | Role::CompactionSummary => {
            message.value().get("summary").and_then(ValueRef::as_str).unwrap_or_default().into_owned()
        }
        Role::User | Role::Custom | Role::BashExecution | Role::FileMention => {
            convert_to_llm(&message).map_or_else(String::new, |message| message.text().into_owned())
        }
        Role::System | Role::Other => String::new(),
    })
}

/// Returns the text of a unit with its speaker in front; empty if there is no text.
pub(crate) fn spoken(reader: &MessageReader<'_>, unit: &Unit) -> Result<String> {
    let mut text = unit_text(reader, unit)?;
    let tree = reader.session.tree();
    let role = tree.role(unit.head);
    if role == Some(Role::User)
        && let Some(message) = reader.message(unit.head)?
    {
        text.push_str(&images_text(&message));
    }
    let text = text.trim();
    let who = match role {
        _ if text.is_empty() => "",
        Some(Role::User) => "User: ",
        Some(Role::Assistant) => "Assistant: ",
        Some(Role::ToolResult) => "Tool: ",
        None if tree.kind(unit.head) != Kind::CustomMessage => "Summary: ",
        Some(_) | None => "",
    };
    Ok(format!("{who}{text}"))
}

/// Returns the text of an answer; the error of one that failed without a text.
fn answer_text(message: &Message) -> String {
    let text = message.text();
    match message.error_message().filter(|error| !error.is_empty() && text.trim().is_empty()) {
        Some(error) => format!("(failed: {})", excerpt(&error, SHOWN_RESULT)),
        None => text.trim().to_owned(),
    }
}

/// Returns one line per call: the tool, its main argument, the outcome, and the beginning of the result.
fn call_lines(reader: &MessageReader<'_>, answer: &Message, results: &[Option<Node>]) -> Result<Vec<String>> {
    let blocks = answer.content().blocks().filter_map(|block| match block {
        Block::ToolCall { name, arguments, .. } => Some(describe_call(&name, arguments, None)),
        Block::Text(_) | Block::Image { .. } | Block::Thinking(_) | Block::Other(_) => None,
    });
    let mut lines = Vec::new();
    for (line, result) in blocks.zip(results) {
        let result = result.map(|node| reader.message(node)).transpose()?.flatten();
        lines.push(match result {
            Some(result) => format!("{line} {}", outcome(&result)),
            None => format!("{line} no result"),
        });
    }
    Ok(lines)
}

fn result_line(result: &Message) -> String {
    let tool = result.value().get("toolName").and_then(ValueRef::as_str).unwrap_or(Cow::Borrowed("tool"));
    format!("[{}] {}", single_line(tool.trim()), outcome(result))
}

fn outcome(result: &Message) -> String {
    let word = if result.is_error() { "error" } else { "ok" };
    let shown = excerpt(&result.text(), SHOWN_RESULT) + &images_text(result);
    if shown.is_empty() { word.to_owned() } else { format!("{word}: {}", shown.trim_start()) }
}

fn images_text(message: &Message) -> String {
    match message.content().image_count() {
        0 => String::new(),
        1 => " [1 image]".to_owned(),
        count => format!(" [{count} images]"),
    }
}
