//! The whole text of an entry for the preview: what was said, called, returned or changed.

use std::borrow::Cow;

use ratatui::style::Style;
use ratatui::text::Line;
use session_tree::json::Value;
use session_tree::{Block, Body, Content, Entry, Node, Role as MessageRole, Session};

use crate::theme::{Role, Theme};
use crate::wrap::rows;

/// The most rows of a preview; who wants more opens the entry.
const MOST_ROWS: usize = 400;
/// The most bytes of one text that are looked at.
const MOST_BYTES: usize = 64 * 1024;

/// Where lines go, and how wide they may be.
struct Page<'p> {
    theme: Theme,
    columns: usize,
    lines: &'p mut Vec<Line<'static>>,
}

/// Adds the text of an entry.
pub(super) fn lines(
    session: &Session,
    theme: Theme,
    node: Node,
    columns: usize,
    lines: &mut Vec<Line<'static>>,
) {
    let mut page = Page { theme, columns, lines };
    match session.entry_at(node) {
        Ok(entry) => page.entry(session, &entry),
        Err(error) => page.add(&error.to_string(), Role::Error),
    }
}

impl Page<'_> {
    fn entry(&mut self, session: &Session, entry: &Entry) {
        match entry.body() {
            Body::Message(Some(message)) => self.message(session, entry.node(), message),
            Body::CustomMessage { content, .. } => self.content(Content::of(content), Role::CustomText),
            Body::Compaction { summary, .. } | Body::BranchSummary { summary, .. } => {
                self.add(&summary.unwrap_or_default(), Role::Text);
            }
            Body::Label { label, .. } => self.add(&label.unwrap_or("(cleared)".into()), Role::Warning),
            Body::SessionInfo { name } => self.add(&name.unwrap_or_default(), Role::Text),
            Body::TitleChange { title } => self.add(&title.unwrap_or_default(), Role::Text),
            Body::Placeholder => self.add("the line of this entry cannot be read", Role::Error),
            Body::Message(None)
            | Body::ModelChange { .. }
            | Body::ThinkingLevelChange { .. }
            | Body::Usage { .. }
            | Body::Custom { .. }
            | Body::ContextEdit { .. }
            | Body::LeafMove { .. }
            | Body::ModeChange { .. }
            | Body::RuleInjection { .. }
            | Body::ResetBoundary
            | Body::ModelUsage { .. }
            | Body::Opaque { .. } => {
                let text = entry.value().map(|value| value.raw().to_vec()).unwrap_or_default();
                self.add(&String::from_utf8_lossy(&text), Role::Muted);
            }
        }
    }

    fn message(&mut self, session: &Session, node: Node, message: Value<'_>) {
        let text = |key: &str| message.get(key).and_then(Value::as_str);
        let content = Content::of(message.get("content"));
        match session.tree().role(node) {
            Some(MessageRole::ToolResult) => {
                if let Some(id) = text("toolCallId") {
                    self.call_of(session, node, &id);
                }
                let failed = message.get("isError").and_then(Value::as_bool).unwrap_or(false);
                let diff = message.get("details").and_then(|details| details.get("diff")?.as_str());
                match diff {
                    Some(diff) if !failed => self.diff(&diff),
                    _ => self.content(content, if failed { Role::Error } else { Role::ToolOutput }),
                }
            }
            Some(MessageRole::BashExecution) => {
                self.add(&format!("$ {}", text("command").unwrap_or_default()), Role::ToolTitle);
                self.add(&text("output").unwrap_or_default(), Role::ToolOutput);
            }
            _ => {
                self.content(content, Role::Text);
                if let Some(error) = text("errorMessage") {
                    self.add(&error, Role::Error);
                }
            }
        }
    }

    fn content(&mut self, content: Content<'_>, role: Role) {
        for block in content.blocks() {
            match block {
                Block::Text(text) => self.add(&text, role),
                Block::Thinking(text) => self.add(&text, Role::Thinking),
                Block::Image { mime_type, .. } => self.add(&format!("[image {mime_type}]"), Role::Muted),
                Block::ToolCall { name, arguments, .. } => self.call(&name, arguments),
                Block::Other(value) => self.add(&String::from_utf8_lossy(value.raw()), Role::Muted),
            }
        }
    }

    fn call(&mut self, name: &str, arguments: Option<Value<'_>>) {
        self.add(&format!("{} {name}", self.theme.pick("→", ">")), Role::ToolTitle);
        for (key, value) in arguments.into_iter().flat_map(Value::members) {
            let value = value
                .as_str()
                .unwrap_or_else(|| Cow::Owned(String::from_utf8_lossy(value.raw()).into_owned()));
            self.add(&format!("  {}: {value}", key.as_str().unwrap_or_default()), Role::Muted);
        }
    }

    /// Adds the call that a tool answered.
    fn call_of(&mut self, session: &Session, node: Node, wanted: &str) {
        let Some(Ok(entry)) = session.answer_above(node).map(|answer| session.entry_at(answer)) else {
            return;
        };
        let content = entry.message().and_then(|message| message.get("content"));
        for block in Content::of(content).blocks() {
            if let Block::ToolCall { id, name, arguments } = block
                && id == wanted
            {
                return self.call(&name, arguments);
            }
        }
    }

    fn diff(&mut self, diff: &str) {
        for line in diff.lines() {
            self.add(line, Role::of_diff(line));
        }
    }

    fn add(&mut self, text: &str, role: Role) {
        let end = text.floor_char_boundary(MOST_BYTES.min(text.len()));
        let style: Style = self.theme.style(role);
        let room = MOST_ROWS.saturating_sub(self.lines.len());
        self.lines.extend(rows(&text[..end], style, self.columns, room));
    }
}
