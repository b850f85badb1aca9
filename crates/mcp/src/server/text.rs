//! The text of entries, as a model reads it.

use session_tree::json::ValueRef;
use session_tree::{Block, Body, Content, Entry, Node, Role, Session};

/// Returns the text of an entry in full: what was said, tool calls with their arguments, results, summaries.
pub(super) fn full(entry: &Entry) -> String {
    match entry.body() {
        Body::Message(Some(message)) => of_message(message),
        Body::CustomMessage { content, .. } => of_content(Content::of(content)),
        Body::Compaction { summary, .. } | Body::BranchSummary { summary, .. } => {
            summary.unwrap_or_default().into_owned()
        }
        Body::Label { label, .. } => label.unwrap_or_default().into_owned(),
        Body::SessionInfo { name } => name.unwrap_or_default().into_owned(),
        Body::Placeholder => "(the line cannot be read)".to_owned(),
        Body::Message(None)
        | Body::ThinkingLevelChange { .. }
        | Body::ModelChange { .. }
        | Body::ContextEdit { .. }
        | Body::Usage { .. }
        | Body::Custom { .. }
        | Body::LeafMove { .. }
        | Body::ModeChange { .. }
        | Body::RuleInjection { .. }
        | Body::ResetBoundary
        | Body::Opaque { .. } => String::from_utf8_lossy(entry.raw()).into_owned(),
    }
}

/// Returns the text of a message in full.
pub(super) fn of_message(message: ValueRef<'_>) -> String {
    let string = |key| message.get(key).and_then(ValueRef::as_str);
    let role = string("role").map(|role| Role::from_name(role.as_bytes()));
    let mut text = match role {
        Some(Role::BashExecution) => {
            format!("$ {}\n{}", string("command").unwrap_or_default(), string("output").unwrap_or_default())
        }
        Some(Role::BranchSummary | Role::CompactionSummary) => {
            string("summary").unwrap_or_default().into_owned()
        }
        _ => of_content(Content::of(message.get("content"))),
    };
    if let Some(error) = string("errorMessage") {
        text.push_str(&format!("\nerror: {error}"));
    }
    text
}

fn of_content(content: Content<'_>) -> String {
    let part = |block: Block<'_>| match block {
        Block::Text(text) => text.into_owned(),
        Block::Thinking(text) => format!("(thinking) {text}"),
        Block::Image { mime_type, .. } => format!("(image {mime_type})"),
        Block::ToolCall { name, arguments, .. } => {
            let arguments = arguments.map(|value| String::from_utf8_lossy(value.raw()).into_owned());
            format!("(calls {name} {})", arguments.unwrap_or_default())
        }
        Block::Other(value) => String::from_utf8_lossy(value.raw()).into_owned(),
    };
    content.blocks().map(part).collect::<Vec<_>>().join("\n")
}

/// Returns the largest index that is at most `at` and between two characters.
pub(super) fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns `active` for an entry on the path to the leaf, else `abandoned`.
pub(super) fn state(session: &Session, node: Node) -> &'static str {
    match session.leaf() {
        Some(leaf) if session.tree().is_on_path(node, leaf) => "active",
        _ => "abandoned",
    }
}

/// Returns what an entry is: the role of a message, else its type.
pub(super) fn kind(session: &Session, node: Node) -> String {
    let tree = session.tree();
    match (tree.role(node), tree.kind(node).name()) {
        (Some(role), _) => role.to_string(),
        (None, name) => name.unwrap_or("other").to_owned(),
    }
}
