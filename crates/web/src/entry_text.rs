//! The content of an entry for readers from top to bottom.
//!
//! entry -> **entry text** -> Markdown, or the part of the page for readers without scripts

use std::borrow::Cow;

use session_tree::json::ValueRef;
use session_tree::{Block, Body, Content, Entry, Role};

use crate::ExportOptions;

/// The content of an entry and its speaker.
pub(crate) struct EntryText {
    /// The kind of speaker, in a word that is also its class in the page.
    pub(crate) who: &'static str,
    /// The name of the speaker.
    pub(crate) speaker: String,
    /// The parts of the message; never empty.
    pub(crate) pieces: Vec<Piece>,
}

/// A part of a message.
pub(crate) enum Piece {
    /// Prose.
    Prose(String),
    /// The thinking of a model.
    Thinking(String),
    /// Something with a title that opens: a call of a tool, its result, a command with its output.
    Fold { title: String, text: String },
    /// An image.
    Image { mime_type: String, data: String },
    /// A remark, such as an error.
    Note(String),
}

/// The titles of summaries.
const SUMMARY: &str = "Summary of another branch";
const MERGE: &str = "Merged from another branch";

impl EntryText {
    /// Returns the content of an entry; `None` for settings, names and the like.
    pub(crate) fn of(entry: &Entry, options: &ExportOptions) -> Option<Self> {
        let body = entry.body();
        let title = if body.merge().is_some() { MERGE } else { SUMMARY };
        let said = match body {
            Body::Message(Some(message)) => Self::of_message(message, options)?,
            Body::CustomMessage { custom_type, content, display: true, .. } => {
                let name = custom_type.unwrap_or("extension".into());
                EntryText::new("custom", &name, pieces(Content::of(content), options))
            }
            Body::Compaction { summary, .. } => EntryText::summary("compaction", "Compaction", summary),
            Body::BranchSummary { summary, .. } => EntryText::summary("summary", title, summary),
            Body::Placeholder => {
                EntryText::new("damaged", "Damaged line", vec![Piece::Note("cannot be read".into())])
            }
            _ => return None,
        };
        (!said.pieces.is_empty()).then_some(said)
    }

    fn new(who: &'static str, speaker: &str, pieces: Vec<Piece>) -> Self {
        Self { who, speaker: speaker.to_owned(), pieces }
    }

    fn summary(who: &'static str, speaker: &str, text: Option<Cow<'_, str>>) -> Self {
        Self::new(who, speaker, vec![Piece::Prose(text.unwrap_or_default().into_owned())])
    }

    fn of_message(message: ValueRef<'_>, options: &ExportOptions) -> Option<Self> {
        let some = |key: &str| message.get(key).and_then(ValueRef::as_str);
        let text = |key: &str| some(key).unwrap_or_default();
        let is = |key: &str| message.get(key).and_then(ValueRef::as_bool);
        let content = Content::of(message.get("content"));
        let summary = || some("summary").or_else(|| Some(content.text()));
        Some(match Role::from_name(text("role").as_bytes()) {
            Role::User => EntryText::new("user", "You", pieces(content, options)),
            Role::Assistant => {
                let mut said = pieces(content, options);
                said.extend(some("errorMessage").map(|error| Piece::Note(error.into_owned())));
                let model = some("model").filter(|model| !model.is_empty());
                EntryText::new("assistant", &model.unwrap_or("Assistant".into()), said)
            }
            Role::ToolResult => {
                let title = if is("isError") == Some(true) { "failed" } else { "result" };
                EntryText::new("result", &text("toolName"), output(content, title, options))
            }
            Role::BashExecution => {
                let title = format!("$ {}", text("command"));
                let output = if options.tools { text("output").into_owned() } else { String::new() };
                EntryText::new("bash", "Command", vec![Piece::Fold { title, text: output }])
            }
            Role::CompactionSummary => EntryText::summary("compaction", "Compaction", summary()),
            Role::BranchSummary => EntryText::summary("summary", SUMMARY, summary()),
            Role::Custom | Role::FileMention | Role::Other => {
                let name = some("customType").unwrap_or_else(|| text("role"));
                return (is("display") != Some(false))
                    .then(|| EntryText::new("custom", &name, pieces(content, options)));
            }
            Role::System => {
                let prompt = Piece::Fold { title: "System prompt".into(), text: content.text().into_owned() };
                let tools = message.get("toolsAdded").into_iter().flat_map(ValueRef::items);
                let names: Vec<_> = tools.filter_map(|tool| tool.get("name")?.as_str()).collect();
                let tools = (!names.is_empty()).then(|| Piece::Note(format!("Tools: {}", names.join(", "))));
                EntryText::new("system", "System", std::iter::once(prompt).chain(tools).collect())
            }
        })
    }
}

fn pieces(content: Content<'_>, options: &ExportOptions) -> Vec<Piece> {
    let piece = |block: Block<'_>| match block {
        Block::Text(text) => (!text.trim().is_empty()).then(|| Piece::Prose(text.into_owned())),
        Block::Thinking(text) if options.thinking && !text.trim().is_empty() => {
            Some(Piece::Thinking(text.into_owned()))
        }
        Block::ToolCall { name, arguments, .. } => {
            let arguments = arguments.filter(|_| options.tools);
            let text = arguments.map(|value| String::from_utf8_lossy(value.raw()).into_owned());
            Some(Piece::Fold { title: name.into_owned(), text: text.unwrap_or_default() })
        }
        other => image(other),
    };
    content.blocks().filter_map(piece).collect()
}

fn output(content: Content<'_>, title: &str, options: &ExportOptions) -> Vec<Piece> {
    let piece = |block: Block<'_>| match block {
        Block::Text(text) => Some(Piece::Fold { title: title.to_owned(), text: text.into_owned() }),
        other => image(other),
    };
    content.blocks().filter(|_| options.tools).filter_map(piece).collect()
}

fn image(block: Block<'_>) -> Option<Piece> {
    let Block::Image { data, mime_type } = block else { return None };
    Some(Piece::Image { mime_type: mime_type.into_owned(), data: data.into_owned() })
}
