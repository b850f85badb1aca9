//! The readable part of the page: the end of the path to the leaf, for readers without scripts and for printing
//! programs that know none.
//!
//! path -> **items** -> template

use session_tree::{Node, Session};

use crate::ExportOptions;
use crate::card::minute;
use crate::entry_text::{EntryText, Piece};
use crate::error::Result;
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
    /// The entries.
    pub(crate) items: Vec<Item>,
}

/// An entry to read.
pub(crate) struct Item {
    /// The content.
    pub(crate) said: EntryText,
    /// The time.
    pub(crate) time: String,
    /// The label, if it has one.
    pub(crate) label: Option<String>,
}

fn weight_of(piece: &Piece) -> usize {
    64 + match piece {
        Piece::Prose(text) | Piece::Thinking(text) | Piece::Note(text) => text.len(),
        Piece::Fold { title, text } => title.len() + text.len(),
        Piece::Image { data, .. } => data.len(),
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
            weight += item.said.pieces.iter().map(weight_of).sum::<usize>() + 256;
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
    let Some(mut said) = EntryText::of(&entry, options) else { return Ok(None) };
    said.speaker = cut(&said.speaker);
    said.pieces = said.pieces.into_iter().map(small).collect();
    let label = session.label(node).map(|label| label.text.clone());
    Ok(Some(Item { said, time: minute(entry.timestamp()), label }))
}

/// Cuts a long text; a large image becomes a remark.
fn small(piece: Piece) -> Piece {
    match piece {
        Piece::Prose(text) => Piece::Prose(cut(&text)),
        Piece::Thinking(text) => Piece::Thinking(cut(&text)),
        Piece::Fold { title, text } => Piece::Fold { title: cut(&title), text: cut(&text) },
        Piece::Note(text) => Piece::Note(cut(&text)),
        Piece::Image { mime_type, data } if data.len() <= LARGEST_IMAGE && is_image(&mime_type, &data) => {
            Piece::Image { mime_type, data }
        }
        Piece::Image { .. } => Piece::Note("an image that is shown with JavaScript".to_owned()),
    }
}

fn cut(text: &str) -> String {
    match head(text, LONGEST) {
        (text, true) => text.to_owned(),
        (text, false) => format!("{text}\n\n… (more with JavaScript)"),
    }
}
