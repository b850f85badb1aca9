//! Short descriptions of entries for messages of commands.

use session_tree::{Block, Content, Entry, Node, Session};
use session_view::{Filter, Outline, OutlineOptions};

use super::tree::tone;
use crate::error::CommandError;
use crate::ui::{Tone, shortened};

/// The maximum length of a text in a message, in characters.
const IN_A_SENTENCE: usize = 60;

/// Returns one-line descriptions of the entries of a session.
#[derive(Debug)]
pub(super) struct Texts(Outline);

impl Texts {
    /// Builds the descriptions.
    pub(super) fn new(session: &Session) -> Self {
        Texts(Outline::new(session, OutlineOptions { filter: Filter::All, ..OutlineOptions::default() }))
    }

    /// Returns the one-line text of an entry and its tone. An answer with only tool calls names the tools.
    pub(super) fn of(&self, session: &Session, node: Node) -> Result<(Tone, String), CommandError> {
        // Skips the levels: in a deep tree they would cost more than everything else.
        let position = self.0.position_of(node).unwrap_or(usize::MAX);
        let Some(row) = self.0.bare_row(session, position)? else { return Ok((Tone::Dim, String::new())) };
        let text = match row.text.strip_suffix("(no content)") {
            Some(role) => format!("{role}{}", calls(&session.entry_at(node)?)),
            None => row.text,
        };
        Ok((tone(row.style), text))
    }
}

/// Returns the names of the tools that an answer calls.
fn calls(entry: &Entry) -> String {
    let content = Content::of(entry.message().and_then(|message| message.get("content")));
    let names = content.blocks().filter_map(|block| match block {
        Block::ToolCall { name, .. } => Some(format!("[{name}]")),
        Block::Text(_) | Block::Thinking(_) | Block::Image { .. } | Block::Other(_) => None,
    });
    let names = names.collect::<Vec<_>>();
    if names.is_empty() { "(no content)".into() } else { names.join(" ") }
}

/// Describes a position: its id and text, or `the start`.
pub(super) fn place(session: &Session, at: Option<Node>) -> Result<String, CommandError> {
    let Some(node) = at else { return Ok("the start".into()) };
    let (_, text) = Texts::new(session).of(session, node)?;
    Ok(format!("{} ({})", session.tree().id(node), shortened(&text, IN_A_SENTENCE)))
}
