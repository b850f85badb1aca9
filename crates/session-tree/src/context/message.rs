//! Entries as messages of a context.

use super::convert::text_of;
use super::edits::ContentEdit;
use crate::entry::{Entry, Message};
use crate::json::{Kind as JsonKind, ValueRef};
use crate::kind::{Kind, Role};
use crate::time::Timestamp;

/// Returns the message that an entry contributes, with an edit applied; none if it contributes nothing.
///
/// A compaction contributes its summary here, whether or not it is the latest one of its path.
pub(crate) fn message_of(entry: &Entry, edit: Option<&ContentEdit>) -> Option<Message> {
    if matches!(edit, Some(ContentEdit::Omit)) {
        return None;
    }
    let message = unedited(entry)?;
    match edit {
        Some(ContentEdit::Replace(content)) => {
            let role = message.role();
            let content = is_editable(role).then(|| ContentEdit::content_for(content, role));
            Some(content.map_or_else(|| message.clone(), |content| message.with_content(&content)))
        }
        Some(ContentEdit::Omit) | None => Some(message),
    }
}

/// Returns the state of prompt and tools that a compaction carries.
pub(super) fn checkpoint_of(entry: &Entry) -> Option<Message> {
    let system = entry.value()?.get("systemMessage")?;
    (entry.kind() == Kind::Compaction && system.kind() == JsonKind::Object).then(|| Message::of(system))
}

/// Tells whether an edit changes the content of messages with this role.
pub(super) fn is_editable(role: Role) -> bool {
    matches!(role, Role::User | Role::Assistant | Role::ToolResult | Role::Custom)
}

fn unedited(entry: &Entry) -> Option<Message> {
    let value = entry.value()?;
    match entry.kind() {
        Kind::Message => stored_message(entry.message()?),
        Kind::CustomMessage => Some(custom_message(value)),
        Kind::BranchSummary => branch_summary(value),
        Kind::Compaction => Some(compaction_summary(value)),
        Kind::Opaque
        | Kind::ThinkingLevelChange
        | Kind::ModelChange
        | Kind::Usage
        | Kind::Custom
        | Kind::Label
        | Kind::SessionInfo
        | Kind::ContextEdit
        | Kind::LeafMove
        | Kind::ModeChange
        | Kind::RuleInjection
        | Kind::ResetBoundary => None,
    }
}

/// The message as the file has it; one that needs a content gets an empty one.
fn stored_message(value: ValueRef<'_>) -> Option<Message> {
    if value.kind() != JsonKind::Object {
        return None;
    }
    let message = Message::of(value);
    if value.get("content").is_some_and(|content| !content.is_null()) {
        return Some(message);
    }
    Some(match message.role() {
        Role::System => message.with_content(b"\"\""),
        Role::User | Role::Assistant | Role::ToolResult => message.with_content(b"[]"),
        Role::Other
        | Role::BashExecution
        | Role::Custom
        | Role::BranchSummary
        | Role::CompactionSummary
        | Role::FileMention => message,
    })
}

fn custom_message(entry: ValueRef<'_>) -> Message {
    let mut out = Built::new("custom");
    out.copy(entry, "customType");
    match entry.get("content").filter(|content| !content.is_null()) {
        Some(content) => out.member("content", content.raw()),
        None => out.member("content", b"[]"),
    }
    out.copy(entry, "display");
    out.copy(entry, "details");
    out.finish(entry)
}

fn branch_summary(entry: ValueRef<'_>) -> Option<Message> {
    if text_of(entry.get("summary")).is_empty() {
        return None;
    }
    let mut out = Built::new("branchSummary");
    out.copy(entry, "summary");
    out.copy(entry, "fromId");
    Some(out.finish(entry))
}

fn compaction_summary(entry: ValueRef<'_>) -> Message {
    let mut out = Built::new("compactionSummary");
    out.copy(entry, "summary");
    out.copy(entry, "tokensBefore");
    out.finish(entry)
}

/// A message that is put together from the members of an entry.
struct Built(Vec<u8>);

impl Built {
    fn new(role: &str) -> Self {
        Self(format!("{{\"role\":\"{role}\"").into_bytes())
    }

    fn member(&mut self, key: &str, value: &[u8]) {
        self.0.extend_from_slice(b",\"");
        self.0.extend_from_slice(key.as_bytes());
        self.0.extend_from_slice(b"\":");
        self.0.extend_from_slice(value);
    }

    fn copy(&mut self, entry: ValueRef<'_>, key: &str) {
        if let Some(value) = entry.get(key) {
            self.member(key, value.raw());
        }
    }

    /// Adds the time of the entry in milliseconds; a time that cannot be read is left out.
    fn finish(mut self, entry: ValueRef<'_>) -> Message {
        if let Some(millis) = entry.get("timestamp").and_then(millis) {
            self.member("timestamp", millis.to_string().as_bytes());
        }
        self.0.push(b'}');
        Message::built(self.0)
    }
}

/// The time that an entry names, in milliseconds; pi also understands a number there.
fn millis(timestamp: ValueRef<'_>) -> Option<i64> {
    let spelled = || Timestamp::parse(&timestamp.as_str()?).map(Timestamp::as_millis);
    timestamp.as_i64().or_else(spelled)
}
