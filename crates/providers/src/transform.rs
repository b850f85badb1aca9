//! A conversation as one model may read it.
//!
//! stored messages -> **turns** -> body of a wire format
//!
//! The thoughts of another model become plain text, or are left out if they cannot be read. Signatures are sent only to
//! the model that made them. Images become a line for models that do not read them. Consecutive tool results are one
//! turn. Never touches a wire format.

mod ids;
mod images;

use offshoot_agent::model::ModelSpec;
use serde_json::{Value as Json, json};
use session_tree::json::ValueRef;
use session_tree::{Message, Role};

pub(crate) use ids::{digest, exact_id, fitting_id, item_id};
pub(crate) use images::{ImageLimits, limit_images};

/// One side's part of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Turn {
    /// A prompt.
    User(Vec<Part>),
    /// An answer.
    Assistant(Vec<AssistantBlock>),
    /// All tool results between two answers.
    Results(Vec<ToolResult>),
}

/// A part of a prompt or a tool result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Text(String),
    Image { data: String, mime_type: String },
}

/// A block of an answer. It has a signature only for the model that made it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AssistantBlock {
    Text { text: String, signature: Option<String> },
    Thinking(Thinking),
    Call { id: String, name: String, arguments: Json, signature: Option<String> },
}

/// Thoughts of the same model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Thinking {
    pub text: String,
    pub signature: Option<String>,
    /// True if only the signature is known.
    pub is_redacted: bool,
    /// Details that a gateway requires unchanged.
    pub details: Option<Json>,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolResult {
    pub id: String,
    pub name: String,
    pub parts: Vec<Part>,
    pub is_error: bool,
}

/// The field of a stored thinking block for details that a gateway requires unchanged.
pub(crate) const DETAILS: &str = "reasoningDetails";

const NO_IMAGE: &str = "[an image was left out: this model does not read images]";

impl ToolResult {
    /// Returns the text of the result; a remark if it has none, because services refuse empty results.
    pub(crate) fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(Part::text).collect();
        match (texts.is_empty(), self.images().next()) {
            (false, _) => texts.join("\n"),
            (true, Some(_)) => "(see the attached image)".into(),
            (true, None) => "(no output)".into(),
        }
    }

    /// Returns the images of the result.
    pub(crate) fn images(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.text().is_none())
    }
}

impl Part {
    fn text(&self) -> Option<&str> {
        match self {
            Part::Text(text) => Some(text),
            Part::Image { .. } => None,
        }
    }
}

/// Brings a conversation into the shape in which a model may read it. Messages that say nothing are left out.
pub(crate) fn turns(spec: &ModelSpec, messages: &[Message]) -> Vec<Turn> {
    let mut turns = Vec::new();
    for message in messages {
        match message.role() {
            Role::User => add(&mut turns, Turn::User(parts(spec, message))),
            Role::Assistant => add(&mut turns, Turn::Assistant(said(spec, message))),
            Role::ToolResult => add_result(&mut turns, result(spec, message)),
            // The agent sends these three and nothing else.
            Role::BashExecution
            | Role::Custom
            | Role::System
            | Role::BranchSummary
            | Role::CompactionSummary
            | Role::FileMention
            | Role::Other => {}
        }
    }
    ids::make_unique(&mut turns);
    turns
}

fn add(turns: &mut Vec<Turn>, turn: Turn) {
    let is_empty = match &turn {
        Turn::User(parts) => parts.is_empty(),
        Turn::Assistant(said) => said.is_empty(),
        Turn::Results(results) => results.is_empty(),
    };
    if !is_empty {
        turns.push(turn);
    }
}

fn add_result(turns: &mut Vec<Turn>, result: ToolResult) {
    match turns.last_mut() {
        Some(Turn::Results(results)) => results.push(result),
        _ => turns.push(Turn::Results(vec![result])),
    }
}

fn result(spec: &ModelSpec, message: &Message) -> ToolResult {
    let value = message.value();
    ToolResult {
        id: text_of(value, "toolCallId").unwrap_or_default(),
        name: text_of(value, "toolName").unwrap_or_default(),
        parts: parts(spec, message),
        is_error: value.get("isError").and_then(ValueRef::as_bool).unwrap_or(false),
    }
}

/// Returns the parts of a prompt or a tool result. Empty texts are skipped, and so are prompts without a visible
/// character: some services refuse them, and every later request with them.
fn parts(spec: &ModelSpec, message: &Message) -> Vec<Part> {
    use session_tree::Block;
    let is_result = message.role() == Role::ToolResult;
    let part = |block: Block<'_>| match block {
        Block::Text(text) => {
            let is_empty = if is_result { text.is_empty() } else { text.trim().is_empty() };
            (!is_empty).then(|| Part::Text(text.into_owned()))
        }
        Block::Image { data, mime_type } if spec.reads_images => {
            Some(Part::Image { data: data.into_owned(), mime_type: mime_type.into_owned() })
        }
        Block::Image { .. } => Some(Part::Text(NO_IMAGE.into())),
        Block::Thinking(_) | Block::ToolCall { .. } | Block::Other(_) => None,
    };
    message.content().blocks().filter_map(part).collect()
}

fn said(spec: &ModelSpec, message: &Message) -> Vec<AssistantBlock> {
    let value = message.value();
    let is_same = text_of(value, "provider").as_deref() == Some(&spec.provider)
        && text_of(value, "api").as_deref() == Some(&spec.api)
        && text_of(value, "model").as_deref() == Some(&spec.id);
    let Some(content) = value.get("content") else { return Vec::new() };
    if let Some(text) = content.as_str() {
        return text_block(text.into_owned(), None).into_iter().collect();
    }
    content.items().filter_map(|block| said_block(block, is_same)).collect()
}

fn said_block(block: ValueRef<'_>, is_same: bool) -> Option<AssistantBlock> {
    let signature = |key: &str| text_of(block, key).filter(|text| is_same && !text.is_empty());
    match text_of(block, "type")?.as_str() {
        "text" => text_block(text_of(block, "text").unwrap_or_default(), signature("textSignature")),
        "thinking" => thinking(block, signature("thinkingSignature"), is_same),
        "toolCall" => Some(AssistantBlock::Call {
            id: call_id(text_of(block, "id").unwrap_or_default(), is_same),
            name: text_of(block, "name").unwrap_or_default(),
            arguments: arguments(block),
            signature: signature("thoughtSignature"),
        }),
        _ => None,
    }
}

fn text_block(text: String, signature: Option<String>) -> Option<AssistantBlock> {
    let says_something = !text.trim().is_empty() || signature.is_some();
    says_something.then_some(AssistantBlock::Text { text, signature })
}

fn thinking(block: ValueRef<'_>, signature: Option<String>, is_same: bool) -> Option<AssistantBlock> {
    let text = text_of(block, "thinking").unwrap_or_default();
    let is_redacted = block.get("redacted").and_then(ValueRef::as_bool).unwrap_or(false);
    let details = block.get(DETAILS).filter(|_| is_same).and_then(ValueRef::to_serde);
    if !is_same {
        return if is_redacted { None } else { text_block(text, None) };
    }
    let says_something = !text.trim().is_empty() || signature.is_some() || details.is_some();
    says_something.then_some(AssistantBlock::Thinking(Thinking { text, signature, is_redacted, details }))
}

/// The id of a call; the id of its item is of use only to the model that made it.
fn call_id(mut id: String, is_same: bool) -> String {
    if let Some(end) = id.find('|').filter(|_| !is_same) {
        id.truncate(end);
    }
    id
}

/// The arguments of a call; services take only objects.
fn arguments(block: ValueRef<'_>) -> Json {
    let arguments = block.get("arguments").and_then(ValueRef::to_serde);
    arguments.filter(Json::is_object).unwrap_or_else(|| json!({}))
}

fn text_of(value: ValueRef<'_>, key: &str) -> Option<String> {
    value.get(key).and_then(ValueRef::as_str).map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests;
