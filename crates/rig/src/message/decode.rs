//! Messages of a session as messages of rig: those of other programs, and those that both express alike.

use std::borrow::Cow;

use rig_core::completion::Message;
use rig_core::message::{
    AssistantContent, AssistantMessage, CallId, DocumentSourceKind, Image, ImageMediaType, MimeType,
    Reasoning, StopReason, Text, ToolCall, ToolFunction, ToolName, ToolResult, ToolResultContent,
    UserContent,
};
use session_tree::json::ValueRef;
use session_tree::{Message as SessionMessage, Role, StopReason as SessionStop, convert_to_llm};

/// Returns a message as rig holds it. None for messages that no model reads.
pub(super) fn message(message: &SessionMessage) -> Option<Message> {
    let message = convert_to_llm(message)?;
    let content = message.value().get("content");
    let blocks = || content.into_iter().flat_map(ValueRef::items);
    let plain = content.and_then(ValueRef::as_str);
    Some(match message.role() {
        Role::System => Message::System { content: message.text().into_owned() },
        Role::Assistant => {
            let content = blocks().filter_map(assistant_block).collect();
            Message::Assistant(AssistantMessage::new(content).with_stop(stop(&message)))
        }
        Role::ToolResult => {
            let name = string(message.value(), "toolName");
            let result = ToolResult {
                call: CallId::from_wire(message.tool_call_id().unwrap_or_default()),
                name: ToolName::new(name).or_else(|_| ToolName::new("tool")).ok()?,
                content: blocks().filter_map(result_block).collect(),
                is_error: message.is_error(),
            };
            Message::User { content: vec![UserContent::ToolResult(result)] }
        }
        Role::User => Message::User {
            content: match plain {
                Some(text) => vec![UserContent::Text(Text::new(text))],
                None => blocks().filter_map(user_block).collect(),
            },
        },
        _ => return None,
    })
}

fn stop(message: &SessionMessage) -> Option<StopReason> {
    let reason = || message.error_message().unwrap_or_default().into_owned();
    match message.stop_reason()? {
        SessionStop::Length => Some(StopReason::Length),
        SessionStop::ToolUse => Some(StopReason::ToolUse),
        SessionStop::Error => Some(StopReason::Error(reason())),
        SessionStop::Aborted => Some(StopReason::Aborted(reason())),
        _ => Some(StopReason::Stop),
    }
}

fn assistant_block(block: ValueRef<'_>) -> Option<AssistantContent> {
    Some(match &*string(block, "type") {
        "text" => AssistantContent::Text(Text::new(string(block, "text"))),
        "thinking" => AssistantContent::Reasoning(Reasoning::new(string(block, "thinking"))),
        "toolCall" => {
            let name = ToolName::new(string(block, "name")).ok()?;
            let arguments = block.get("arguments").map(ValueRef::raw).unwrap_or_default();
            let function = ToolFunction::parse(name, &String::from_utf8_lossy(arguments));
            AssistantContent::ToolCall(ToolCall::from_wire(string(block, "id"), function))
        }
        _ => return None,
    })
}

fn user_block(block: ValueRef<'_>) -> Option<UserContent> {
    match &*string(block, "type") {
        "text" => Some(UserContent::Text(Text::new(string(block, "text")))),
        "image" => image(block).map(UserContent::Image),
        _ => None,
    }
}

fn result_block(block: ValueRef<'_>) -> Option<ToolResultContent> {
    match &*string(block, "type") {
        "text" => Some(ToolResultContent::Text(Text::new(string(block, "text")))),
        "image" => image(block).map(ToolResultContent::Image),
        _ => None,
    }
}

fn image(block: ValueRef<'_>) -> Option<Image> {
    Some(Image {
        data: DocumentSourceKind::Base64(string(block, "data").into_owned()),
        media_type: ImageMediaType::from_mime_type(&string(block, "mimeType")),
        ..Image::default()
    })
}

fn string<'v>(object: ValueRef<'v>, key: &str) -> Cow<'v, str> {
    object.get(key).and_then(ValueRef::as_str).unwrap_or_default()
}
