//! The readable part of the page: the end of the path to the leaf, for readers without scripts and for printing
//! programs that know none.
//!
//! path -> **items** -> template

use session_tree::{Block, Content, Entry, Node, Session};

use crate::ExportOptions;
use crate::card::minute;
use crate::error::Result;
use crate::said::Said;
use crate::text::head;
use crate::wire::is_image;

/// How much text the readable part has, about.
const BUDGET: usize = 64 * 1024;
/// How many entries it has at the most.
const MOST: usize = 300;
/// How many characters of one text are shown.
const LONGEST: usize = 6_000;
/// How long the data of an image may be.
const LARGEST_IMAGE: usize = 24 * 1024;

/// The end of a path.
pub(crate) struct Readable {
    /// How many entries come before it.
    pub(crate) skipped: usize,
    /// What is shown.
    pub(crate) items: Vec<Item>,
}

/// An entry to read.
pub(crate) struct Item {
    /// Who speaks: a word of ours, also its class.
    pub(crate) who: &'static str,
    /// The same for people.
    pub(crate) speaker: String,
    /// When.
    pub(crate) time: String,
    /// The label, if it has one.
    pub(crate) label: Option<String>,
    /// What is said.
    pub(crate) pieces: Vec<Piece>,
}

/// A part of what is said.
pub(crate) enum Piece {
    /// Prose.
    Prose(String),
    /// What a model thought.
    Thinking(String),
    /// Something with a title that opens.
    Fold { title: String, text: String },
    /// An image.
    Image { mime_type: String, data: String },
    /// A remark.
    Note(String),
}

impl Piece {
    fn weight(&self) -> usize {
        match self {
            Piece::Prose(text) | Piece::Thinking(text) | Piece::Note(text) => text.len() + 64,
            Piece::Fold { title, text } => title.len() + text.len() + 64,
            Piece::Image { data, .. } => data.len() + 64,
        }
    }
}

/// Reads the end of the path to the leaf.
pub(crate) fn last_part(session: &Session, options: &ExportOptions) -> Result<Readable> {
    let mut items = Vec::new();
    let mut weight = 0;
    let mut before = session.leaf();
    while let Some(node) = before {
        if items.len() >= MOST || weight > BUDGET {
            break;
        }
        if let Some(item) = item(session, node, options)? {
            weight += item.pieces.iter().map(Piece::weight).sum::<usize>() + 256;
            items.push(item);
        }
        before = session.tree().parent(node);
    }
    items.reverse();
    let skipped = before.map_or(0, |node| session.tree().ancestors(node).count());
    Ok(Readable { skipped, items })
}

fn item(session: &Session, node: Node, options: &ExportOptions) -> Result<Option<Item>> {
    if session.tree().is_bookkeeping(node) {
        return Ok(None);
    }
    let entry = session.entry_at(node)?;
    let Some((who, speaker, pieces)) = said(&entry, options) else { return Ok(None) };
    if pieces.is_empty() {
        return Ok(None);
    }
    Ok(Some(Item {
        who,
        speaker,
        time: minute(entry.timestamp()),
        label: session.label(node).map(|label| label.text.clone()),
        pieces,
    }))
}

fn said(entry: &Entry, options: &ExportOptions) -> Option<(&'static str, String, Vec<Piece>)> {
    Some(match Said::of(entry)? {
        Said::Prompt(content) => ("user", "You".into(), pieces(content, options)),
        Said::Answer { model, content, error } => {
            let mut said = pieces(content, options);
            said.extend(error.map(|error| Piece::Note(cut(&error))));
            ("assistant", cut(&model), said)
        }
        Said::Result { tool, failed, content } => {
            let title = if failed { "failed" } else { "result" };
            ("result", cut(&tool), output(content, title, options))
        }
        Said::Command { command, output } => {
            let text = if options.tools { cut(&output) } else { String::new() };
            ("bash", "Command".into(), vec![Piece::Fold { title: cut(&format!("$ {command}")), text }])
        }
        Said::Extension { name, content } => ("custom", cut(&name), pieces(content, options)),
        Said::Compaction(text) => ("compaction", "Compaction".into(), vec![prose(&text)]),
        Said::Summary { title, text } => ("summary", title.into(), vec![prose(&text)]),
        Said::System { content, tools } => {
            let prompt = Piece::Fold { title: "System prompt".into(), text: cut(&content.text()) };
            let tools =
                (!tools.is_empty()).then(|| Piece::Note(cut(&format!("Tools: {}", tools.join(", ")))));
            ("system", "System".into(), std::iter::once(prompt).chain(tools).collect())
        }
        Said::Damaged => ("damaged", "Damaged line".into(), vec![Piece::Note("cannot be read".into())]),
    })
}

fn pieces(content: Content<'_>, options: &ExportOptions) -> Vec<Piece> {
    let piece = |block: Block<'_>| match block {
        Block::Text(text) if text.trim().is_empty() => None,
        Block::Text(text) => Some(prose(&text)),
        Block::Thinking(text) if options.thinking && !text.trim().is_empty() => {
            Some(Piece::Thinking(cut(&text)))
        }
        Block::Image { data, mime_type } => Some(image(&data, &mime_type)),
        Block::ToolCall { name, arguments, .. } => Some(Piece::Fold {
            title: cut(&name),
            text: arguments
                .filter(|_| options.tools)
                .map(|value| cut(&String::from_utf8_lossy(value.raw())))
                .unwrap_or_default(),
        }),
        Block::Thinking(_) | Block::Other(_) => None,
    };
    content.blocks().filter_map(piece).collect()
}

fn output(content: Content<'_>, title: &str, options: &ExportOptions) -> Vec<Piece> {
    if !options.tools {
        return Vec::new();
    }
    let piece = |block: Block<'_>| match block {
        Block::Text(text) => Some(Piece::Fold { title: title.to_owned(), text: cut(&text) }),
        Block::Image { data, mime_type } => Some(image(&data, &mime_type)),
        Block::Thinking(_) | Block::ToolCall { .. } | Block::Other(_) => None,
    };
    content.blocks().filter_map(piece).collect()
}

fn image(data: &str, mime_type: &str) -> Piece {
    if data.len() <= LARGEST_IMAGE && is_image(mime_type, data) {
        return Piece::Image { mime_type: mime_type.to_owned(), data: data.to_owned() };
    }
    Piece::Note("an image that is shown with JavaScript".to_owned())
}

fn prose(text: &str) -> Piece {
    Piece::Prose(cut(text))
}

fn cut(text: &str) -> String {
    match head(text, LONGEST) {
        (text, true) => text.to_owned(),
        (text, false) => format!("{text}\n\n… (more with JavaScript)"),
    }
}
