//! Entries in a few words, for what commands tell about them.

use session_tree::{Block, Content, Entry, Node, Session};
use session_view::{Filter, Outline, OutlineOptions};

use super::tree::tone;
use crate::error::CommandError;
use crate::ui::{Tone, shortened};

/// The longest text that is put into a sentence, in characters.
const IN_A_SENTENCE: usize = 60;

/// Knows what each entry of a session says in one line.
#[derive(Debug)]
pub(super) struct Texts(Outline);

impl Texts {
    /// Looks at a session.
    pub(super) fn new(session: &Session) -> Self {
        Texts(Outline::new(session, OutlineOptions { filter: Filter::All, ..OutlineOptions::default() }))
    }

    /// Returns what an entry says in one line, and how it is meant; an answer that only calls tools says which.
    pub(super) fn of(&self, session: &Session, node: Node) -> Result<(Tone, String), CommandError> {
        // Without levels: those of a deep tree would cost more than all the rest.
        let position = self.0.position_of(node).unwrap_or(usize::MAX);
        let Some(row) = self.0.bare_row(session, position)? else { return Ok((Tone::Dim, String::new())) };
        let text = match row.text.strip_suffix("(no content)") {
            Some(role) => format!("{role}{}", calls(&session.entry_at(node)?)),
            None => row.text,
        };
        Ok((tone(row.style), text))
    }
}

/// The names of the tools that an answer calls.
fn calls(entry: &Entry) -> String {
    let content = Content::of(entry.message().and_then(|message| message.get("content")));
    let names = content.blocks().filter_map(|block| match block {
        Block::ToolCall { name, .. } => Some(format!("[{name}]")),
        Block::Text(_) | Block::Thinking(_) | Block::Image { .. } | Block::Other(_) => None,
    });
    let names = names.collect::<Vec<_>>();
    if names.is_empty() { "(no content)".into() } else { names.join(" ") }
}

/// Names a position for a sentence: its id and what it says, or `the start`.
pub(super) fn place(session: &Session, at: Option<Node>) -> Result<String, CommandError> {
    let Some(node) = at else { return Ok("the start".into()) };
    let (_, text) = Texts::new(session).of(session, node)?;
    Ok(format!("{} ({})", session.tree().id(node), shortened(&text, IN_A_SENTENCE)))
}
