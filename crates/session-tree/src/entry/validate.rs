//! The one set of rules for messages that are written: members and types that every reader of the format relies on.
//!
//! Loading never applies them; `check` reports the messages of a file that break them.

use crate::error::InvalidReason;
use crate::json::{Kind as JsonKind, ValueRef};
use crate::kind::Role;

/// The type that a member must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    String,
    Number,
    Bool,
    Object,
    /// A string or an array of blocks.
    Content,
    /// An array of blocks.
    Blocks,
    /// The replacement of a context edit.
    Replacement,
}

impl Shape {
    fn matches(self, value: ValueRef<'_>) -> bool {
        match self {
            Shape::String => value.kind() == JsonKind::String,
            Shape::Number => value.kind() == JsonKind::Number,
            Shape::Bool => value.as_bool().is_some(),
            Shape::Object => value.kind() == JsonKind::Object,
            Shape::Content => matches!(value.kind(), JsonKind::String | JsonKind::Array),
            Shape::Blocks => value.kind() == JsonKind::Array,
            Shape::Replacement => {
                value.is_null() || value.get("content").is_some_and(|content| Shape::Content.matches(content))
            }
        }
    }

    fn description(self) -> &'static str {
        match self {
            Shape::String => "a string",
            Shape::Number => "a number",
            Shape::Bool => "true or false",
            Shape::Object => "an object",
            Shape::Content => "a string or an array of blocks",
            Shape::Blocks => "an array of blocks",
            Shape::Replacement => "null or an object with `content`",
        }
    }
}

/// Checks that an object has these members, and that each has the right type.
pub(crate) fn check_members(
    object: ValueRef<'_>,
    members: &[(&'static str, Shape)],
) -> Result<(), InvalidReason> {
    members.iter().try_for_each(|(name, shape)| check_member(object, name, *shape, ""))
}

fn check_member(object: ValueRef<'_>, name: &str, shape: Shape, path: &str) -> Result<(), InvalidReason> {
    let field = || format!("{path}{name}");
    match object.get(name) {
        Some(value) if shape.matches(value) => Ok(()),
        Some(_) => Err(InvalidReason::WrongType { field: field(), expected: shape.description() }),
        None => Err(InvalidReason::Missing { field: field() }),
    }
}

/// Checks a message and returns its role.
pub(crate) fn check_message(message: ValueRef<'_>) -> Result<Role, InvalidReason> {
    use Shape::{Blocks, Content, String};
    if message.kind() != JsonKind::Object {
        return Err(InvalidReason::NotAnObject);
    }
    check_members(message, &[("role", String)])?;
    let name = message.get("role").and_then(ValueRef::as_str).unwrap_or_default();
    let role = Role::from_name(name.as_bytes());
    let members: &[(&str, Shape)] = match role {
        Role::User | Role::Custom | Role::System => &[("content", Content)],
        Role::Assistant => &[("content", Blocks)],
        Role::ToolResult => &[("toolCallId", String), ("content", Blocks)],
        Role::BashExecution => &[("command", String)],
        Role::BranchSummary | Role::CompactionSummary => &[("summary", String)],
        Role::FileMention => &[],
        Role::Other => return Err(InvalidReason::UnknownRole { role: name.into_owned() }),
    };
    check_members(message, members)?;
    message.get("content").map_or(Ok(()), check_content)?;
    Ok(role)
}

/// Checks the blocks of a content; a content that is one string has none.
pub(crate) fn check_content(content: ValueRef<'_>) -> Result<(), InvalidReason> {
    content.items().enumerate().try_for_each(|(index, block)| check_block(index, block))
}

fn check_block(index: usize, block: ValueRef<'_>) -> Result<(), InvalidReason> {
    use Shape::{Object, String};
    let path = format!("content[{index}].");
    check_member(block, "type", String, &path)?;
    let kind = block.get("type").and_then(ValueRef::as_str).unwrap_or_default();
    let members: &[(&str, Shape)] = match &*kind {
        "text" => &[("text", String)],
        "thinking" => &[("thinking", String)],
        "image" => &[("data", String), ("mimeType", String)],
        "toolCall" => &[("id", String), ("name", String), ("arguments", Object)],
        _ => return Err(InvalidReason::UnknownBlock { index, kind: kind.into_owned() }),
    };
    members.iter().try_for_each(|(name, shape)| check_member(block, name, *shape, &path))
}
