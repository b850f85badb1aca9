//! Entries as messages of a context.

use super::convert::{text_block, text_of};
use super::edits::ContentEdit;
use crate::entry::{Entry, Message};
use crate::json::{Kind as JsonKind, ObjectWriter, ValueRef};
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
    let Some(ContentEdit::Replace(content)) = edit else { return Some(message) };
    Some(match message.role() {
        // An answer and a result consist of blocks.
        Role::Assistant | Role::ToolResult if content.first() == Some(&b'"') => {
            message.with_content(&text_block(content))
        }
        role if is_editable(role) => message.with_content(content),
        _ => message,
    })
}

/// Returns the state of prompt and tools that a compaction stores.
pub(super) fn checkpoint_of(entry: &Entry) -> Option<Message> {
    let system = entry.value()?.get("systemMessage")?;
    (entry.kind() == Kind::Compaction && system.kind() == JsonKind::Object).then(|| Message::of(system))
}

/// Returns true if an edit changes the content of messages with this role.
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

/// Returns the message as the file has it; a missing content becomes an empty one where models need it.
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
    let content = entry.get("content").filter(|content| !content.is_null());
    let message = ObjectWriter::new().string("role", "custom").copy("customType", entry);
    let message = message.raw("content", content.map_or(&b"[]"[..], ValueRef::raw));
    dated(message.copy("display", entry).copy("details", entry), entry)
}

fn branch_summary(entry: ValueRef<'_>) -> Option<Message> {
    if text_of(entry.get("summary")).is_empty() {
        return None;
    }
    let message = ObjectWriter::new().string("role", "branchSummary");
    Some(dated(message.copy("summary", entry).copy("fromId", entry), entry))
}

fn compaction_summary(entry: ValueRef<'_>) -> Message {
    let message = ObjectWriter::new().string("role", "compactionSummary");
    dated(message.copy("summary", entry).copy("tokensBefore", entry), entry)
}

/// Adds the time of an entry in milliseconds; a time that cannot be read is left out. pi also reads a number there.
fn dated(message: ObjectWriter, entry: ValueRef<'_>) -> Message {
    let millis = |time: ValueRef<'_>| {
        time.as_i64().or_else(|| Timestamp::parse(&time.as_str()?).map(Timestamp::as_millis))
    };
    let millis = entry.get("timestamp").and_then(millis);
    message.optional_raw("timestamp", millis.map(|millis| millis.to_string())).message()
}
