//! From entries to items: what the path of a session looks like.
//!
//! Every entry is looked at by itself, so that a long path need not be read to show its end. A tool result shows the
//! call it belongs to; a call shows by itself only if it has no result.

use serde_json::Value as Json;
use session_tree::json::ValueRef;
use session_tree::{BRANCH_SUMMARY_PREAMBLE, Block, Body, Content, Message, Node, Role, Session};

use super::{Item, ShellItem, Tone, ToolItem, ToolState};
use crate::numbers;

/// How many results of one answer are looked for.
const MOST_RESULTS: usize = 256;

/// Returns what the entry at a place of a path looks like; nothing for entries that only keep books.
pub fn items_at(session: &Session, path: &[Node], at: usize) -> Vec<Item> {
    let Some(node) = path.get(at) else { return Vec::new() };
    let Ok(entry) = session.entry_at(*node) else { return Vec::new() };
    let body = entry.body();
    let is_merge = body.merge().is_some();
    match body {
        Body::Message(Some(_)) => {
            entry.to_message().map_or_else(Vec::new, |message| message_items(session, path, at, &message))
        }
        Body::ModelChange { provider, model_id, .. } => {
            let name = [provider, model_id].into_iter().flatten().collect::<Vec<_>>().join("/");
            vec![Item::Setting(format!("model: {name}"))]
        }
        Body::ThinkingLevelChange { level } => {
            vec![Item::Setting(format!("thinking: {}", level.as_deref().unwrap_or("off")))]
        }
        Body::Compaction { summary, tokens_before, .. } => {
            let tokens = numbers::tokens(tokens_before.unwrap_or(0.0) as u64);
            let title = format!("summary of older messages ({tokens} tokens before)");
            vec![Item::Summary { title, text: summary.unwrap_or_default().into_owned() }]
        }
        Body::BranchSummary { summary, .. } => {
            let title =
                if is_merge { "merged from another branch" } else { "summary of the branch that was left" };
            let text = summary.unwrap_or_default();
            // The preamble is for models; the title replaces it.
            let text = text.strip_prefix(BRANCH_SUMMARY_PREAMBLE.trim()).unwrap_or(&text).to_owned();
            vec![Item::Summary { title: title.to_owned(), text }]
        }
        Body::CustomMessage { custom_type, details, display: false, .. } => {
            attached(custom_type.as_deref(), details).into_iter().collect()
        }
        Body::CustomMessage { custom_type, content, display: true, .. } => vec![Item::Custom {
            kind: custom_type.unwrap_or_default().into_owned(),
            text: Content::of(content).text().into_owned(),
        }],
        Body::Opaque { .. } => vec![Item::Setting(format!("[{}]", entry.type_name()))],
        Body::Message(None)
        | Body::Usage { .. }
        | Body::Custom { .. }
        | Body::Label { .. }
        | Body::SessionInfo { .. }
        | Body::ContextEdit { .. }
        | Body::LeafMove { .. }
        | Body::ModeChange { .. }
        | Body::RuleInjection { .. }
        | Body::ResetBoundary
        | Body::Placeholder => Vec::new(),
    }
}

/// Returns the texts of the last prompts of a path, oldest first, for the history of the editor.
pub fn prompts(session: &Session, path: &[Node], most: usize) -> Vec<String> {
    let prompts = path.iter().rev().filter(|node| session.tree().role(**node) == Some(Role::User));
    let texts = prompts.take(most).filter_map(|node| session.entry_at(*node).ok()?.to_message());
    let mut texts: Vec<String> = texts.map(|message| message.text().into_owned()).collect();
    texts.retain(|text| !text.trim().is_empty());
    texts.reverse();
    texts
}

fn message_items(session: &Session, path: &[Node], at: usize, message: &Message) -> Vec<Item> {
    match message.role() {
        Role::Assistant => answer_items(session, path, at, message),
        Role::ToolResult => vec![Item::Tool(result_item(session, path, at, message))],
        _ => item_of(message).into_iter().collect(),
    }
}

/// Makes the item of a message that can be shown by itself; none if it is hidden, an answer or a tool result.
pub fn item_of(message: &Message) -> Option<Item> {
    match message.role() {
        Role::User => {
            let images = message.content().image_count();
            Some(Item::Prompt { text: message.text().into_owned(), images })
        }
        Role::BashExecution => Some(Item::Shell(shell_item(message))),
        Role::Assistant | Role::ToolResult | Role::System => None,
        Role::Custom | Role::FileMention | Role::BranchSummary | Role::CompactionSummary | Role::Other => {
            custom(message)
        }
    }
}

/// Makes the item of a message of an extension; none if it is hidden or says nothing.
fn custom(message: &Message) -> Option<Item> {
    let value = message.value();
    let text = message.text().into_owned();
    let is_hidden = value.get("display").and_then(ValueRef::as_bool) == Some(false);
    let kind = value.get("customType").and_then(ValueRef::as_str);
    let kind = kind.map_or_else(|| message.role().to_string(), |kind| kind.into_owned());
    if let Some(attached) = attached(Some(&kind), value.get("details")) {
        return Some(attached);
    }
    (!is_hidden && !text.is_empty()).then_some(Item::Custom { kind, text })
}

/// Names the file that a prompt named; what it holds is for the model alone.
fn attached(kind: Option<&str>, details: Option<ValueRef<'_>>) -> Option<Item> {
    let path = details.filter(|_| kind == Some("file"))?.get("path")?.as_str()?;
    Some(Item::Setting(format!("attached: {path}")))
}

fn answer_items(session: &Session, path: &[Node], at: usize, message: &Message) -> Vec<Item> {
    let answered = results_after(session, path, at);
    let mut items = Vec::new();
    for block in message.content().blocks() {
        match block {
            Block::Text(text) if !text.trim().is_empty() => items.push(Item::Text(text.into_owned())),
            Block::Thinking(text) if !text.trim().is_empty() => items.push(Item::Thinking(text.into_owned())),
            Block::ToolCall { id, name, arguments } if !answered.iter().any(|known| *known == id) => {
                items.push(Item::Tool(ToolItem {
                    name: name.into_owned(),
                    arguments: arguments.and_then(ValueRef::to_serde).unwrap_or_default(),
                    state: ToolState::Interrupted,
                    ..ToolItem::default()
                }));
            }
            Block::Image { .. } => items.push(Item::Setting("[1 image]".to_owned())),
            Block::Text(_) | Block::Thinking(_) | Block::ToolCall { .. } | Block::Other(_) => {}
        }
    }
    items.extend(ending(message));
    items
}

/// Makes the notice below an answer that was stopped, cut off or failed.
pub fn ending(message: &Message) -> Option<Item> {
    let value = message.value();
    let text = |key: &str| value.get(key).and_then(ValueRef::as_str);
    let (tone, text) = match text("stopReason").as_deref() {
        Some("aborted") => (Tone::Warning, "stopped".to_owned()),
        Some("length") => (Tone::Warning, "the answer was cut off at the output limit".to_owned()),
        Some("error") => (
            Tone::Error,
            text("errorMessage").map_or_else(|| "the model failed".into(), |text| text.into_owned()),
        ),
        _ => return None,
    };
    Some(Item::Notice(tone, text))
}

/// The ids of the calls whose results follow an answer.
fn results_after(session: &Session, path: &[Node], at: usize) -> Vec<String> {
    let tree = session.tree();
    let rest = path.iter().skip(at + 1);
    let turn = rest.take_while(|node| !matches!(tree.role(**node), Some(Role::User | Role::Assistant)));
    let results = turn.filter(|node| tree.role(**node) == Some(Role::ToolResult)).take(MOST_RESULTS);
    results.filter_map(|node| call_id(&session.entry_at(*node).ok()?.to_message()?)).collect()
}

fn call_id(message: &Message) -> Option<String> {
    message.value().get("toolCallId").and_then(ValueRef::as_str).map(|id| id.into_owned())
}

fn result_item(session: &Session, path: &[Node], at: usize, message: &Message) -> ToolItem {
    let value = message.value();
    let call = call_id(message).and_then(|id| call_above(session, *path.get(at)?, &id));
    let told = || value.get("toolName").and_then(ValueRef::as_str).map(|name| name.into_owned());
    let (name, arguments) = call.unwrap_or_else(|| (told().unwrap_or_else(|| "tool".to_owned()), Json::Null));
    let diff = value.get("details").and_then(|details| details.get("diff")).and_then(ValueRef::as_str);
    let is_error = value.get("isError").and_then(ValueRef::as_bool) == Some(true);
    ToolItem {
        name,
        arguments,
        output: message.text().into_owned(),
        diff: diff.map(|diff| diff.into_owned()),
        images: message.content().image_count(),
        state: if is_error { ToolState::Failed } else { ToolState::Done },
        ..ToolItem::default()
    }
}

/// Finds the call that a result belongs to.
fn call_above(session: &Session, result: Node, id: &str) -> Option<(String, Json)> {
    let message = session.entry_at(session.tree().answer_above(result)?).ok()?.to_message()?;
    message.content().blocks().find_map(|block| match block {
        Block::ToolCall { id: own, name, arguments } if own == id => {
            Some((name.into_owned(), arguments.and_then(ValueRef::to_serde).unwrap_or_default()))
        }
        _ => None,
    })
}

/// Makes the item of a shell command of the user.
fn shell_item(message: &Message) -> ShellItem {
    let value = message.value();
    let text = |key: &str| value.get(key).and_then(ValueRef::as_str).unwrap_or_default().into_owned();
    let flag = |key: &str| value.get(key).and_then(ValueRef::as_bool) == Some(true);
    ShellItem {
        command: text("command"),
        output: text("output"),
        exit_code: value.get("exitCode").and_then(ValueRef::as_i64),
        is_private: flag("excludeFromContext"),
        is_cancelled: flag("cancelled"),
        is_running: false,
    }
}
