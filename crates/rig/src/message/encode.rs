//! Messages of rig as messages of a session, for every program that reads sessions.

use rig_core::completion::Message;
use rig_core::message::{
    AssistantContent, AssistantMessage, DocumentSourceKind, Image, MimeType, StopReason, ToolResult,
    ToolResultContent, UserContent,
};
use serde::Serialize;
use serde_json::{Value, json};
use session_tree::{Message as SessionMessage, Result, StopReason as SessionStop};

/// Returns a message as the session holds it. Content that sessions have no block for is described in words.
pub(super) fn message(message: &Message) -> Result<SessionMessage> {
    let value = match message {
        Message::System { content } => json!({"role": "system", "content": content}),
        Message::Assistant(answer) => return Ok(assistant(answer)),
        Message::User { content } => match content.as_slice() {
            [UserContent::ToolResult(result)] => tool_result(result),
            blocks => json!({"role": "user", "content": blocks.iter().map(user_block).collect::<Vec<_>>()}),
        },
    };
    SessionMessage::parse(value.to_string())
}

fn assistant(answer: &AssistantMessage) -> SessionMessage {
    let mut builder = SessionMessage::assistant();
    for block in &answer.content {
        builder = match block {
            AssistantContent::Text(text) => builder.text(&text.text),
            AssistantContent::Reasoning(reasoning) => builder.thinking(&reasoning.text),
            AssistantContent::ToolCall(call) => {
                let (id, function) = (call.id.to_string(), &call.function);
                builder.tool_call(id, function.name.as_str(), function.arguments_value())
            }
            AssistantContent::Image(_) => builder.text("[image]"),
            // An item that only its provider understands; the field `rig` has it.
            _ => builder,
        };
    }
    if let Some(origin) = &answer.origin {
        builder = builder.api(origin.api.as_str()).model(&origin.provider, &origin.model);
    }
    match &answer.stop {
        Some(StopReason::Stop) => builder.stop_reason(SessionStop::Stop),
        Some(StopReason::Length) => builder.stop_reason(SessionStop::Length),
        Some(StopReason::ToolUse) => builder.stop_reason(SessionStop::ToolUse),
        Some(StopReason::Error(reason)) => builder.stop_reason(SessionStop::Error).error_message(reason),
        Some(StopReason::Aborted(reason)) => builder.stop_reason(SessionStop::Aborted).error_message(reason),
        _ => builder,
    }
    .build()
}

fn tool_result(result: &ToolResult) -> Value {
    let block = |content: &ToolResultContent| match content {
        ToolResultContent::Text(content) => text(&content.text),
        ToolResultContent::Image(content) => image(content),
        ToolResultContent::Json { value } => text(&value.to_string()),
    };
    json!({
        "role": "toolResult",
        "toolCallId": result.call.to_string(),
        "toolName": result.name.as_str(),
        "content": result.content.iter().map(block).collect::<Vec<_>>(),
        "isError": result.is_error,
    })
}

fn user_block(content: &UserContent) -> Value {
    match content {
        UserContent::Text(content) => text(&content.text),
        UserContent::Image(content) => image(content),
        UserContent::Audio(audio) => described("audio", &audio.data, audio.media_type.as_ref()),
        UserContent::Video(video) => described("video", &video.data, video.media_type.as_ref()),
        UserContent::Document(document) => match &document.data {
            DocumentSourceKind::String(content) => text(content),
            data => described("document", data, document.media_type.as_ref()),
        },
        // Split off before.
        UserContent::ToolResult(_) => text("[tool result]"),
    }
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image(image: &Image) -> Value {
    match (&image.data, &image.media_type) {
        (DocumentSourceKind::Base64(data), Some(media_type)) => {
            json!({"type": "image", "data": data, "mimeType": media_type.to_mime_type()})
        }
        (data, media_type) => described("image", data, media_type.as_ref()),
    }
}

/// Describes content in words, for instance `[document: pdf, https://example.org/a.pdf]`.
fn described(kind: &str, data: &DocumentSourceKind, media_type: Option<&impl Serialize>) -> Value {
    let media_type = media_type.and_then(|media_type| serde_json::to_value(media_type).ok());
    let media_type = media_type.as_ref().and_then(Value::as_str);
    let source = match data {
        DocumentSourceKind::Url(source) | DocumentSourceKind::FileId(source) => Some(source.as_str()),
        _ => None,
    };
    let details: Vec<&str> = media_type.into_iter().chain(source).collect();
    match details.is_empty() {
        true => text(&format!("[{kind}]")),
        false => text(&format!("[{kind}: {}]", details.join(", "))),
    }
}
