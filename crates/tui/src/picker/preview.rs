//! The preview of a session: its last turns, its branches, its cost.

use ratatui::text::Line;
use session_tree::{Position, Result, Session, SessionSummary};

use crate::chat::highlight::CodeCache;
use crate::chat::item::{Item, ItemStyle, items_at, rows};
use crate::numbers::{count, money, tokens};
use crate::paint::span;
use crate::theme::{Role, Theme};
use crate::time::Local;

/// The number of the last messages that are shown.
const MESSAGES: usize = 8;
/// The most rows of one message.
const MESSAGE_ROWS: usize = 6;
/// The most branches that are named.
const BRANCHES: usize = 6;

/// The preview of a session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionPreview {
    /// The last prompts and answers of the active branch, oldest first.
    messages: Vec<Item>,
    branches: Vec<String>,
    tokens: u64,
    cost: f64,
}

impl SessionPreview {
    /// Reads the preview of a session.
    pub fn of(session: &Session) -> Result<Self> {
        let branches = session_view::branches(session)?.into_iter().map(|branch| branch.name).collect();
        let usage = session_view::Stats::of(session)?.usage;
        let path = session.branch_path(Position::Leaf);
        let items = (0..path.len()).rev().flat_map(|at| items_at(session, &path, at).into_iter().rev());
        let said = items.filter(|item| matches!(item, Item::Prompt { .. } | Item::Text(_)));
        let mut messages: Vec<Item> = said.take(MESSAGES).collect();
        messages.reverse();
        Ok(Self { messages, branches, tokens: usage.total, cost: usage.cost })
    }

    pub(super) fn lines(&self, theme: Theme, columns: usize) -> Vec<Line<'static>> {
        let muted = theme.style(Role::Muted);
        let branches = count(self.branches.len(), "branch");
        let figures = format!("{branches}, {} tok, {}", tokens(self.tokens), money(self.cost));
        let mut lines = vec![Line::from(span(&figures, muted))];
        if self.branches.len() > 1 {
            let name = |name: &String| Line::from(span(&format!("{} {name}", theme.pick("⎇", "-")), muted));
            lines.extend(self.branches.iter().take(BRANCHES).map(name));
        }
        let (item_style, mut codes) = (ItemStyle::new(theme), CodeCache::plain());
        for item in &self.messages {
            lines.push(Line::default());
            lines.extend(rows(item, columns, &item_style, &mut codes).into_iter().take(MESSAGE_ROWS));
        }
        lines
    }
}

/// Returns the facts that a list has of a session before its file is opened.
pub(super) fn summary_lines(row: &SessionSummary, theme: Theme, local: Local) -> Vec<Line<'static>> {
    let created = row.created.map(|time| format!("created {}, ", local.stamp(time))).unwrap_or_default();
    let times = format!("{created}last used {}", local.stamp(row.modified));
    let damage = row.damage.as_ref().map(|damage| (damage.to_string(), Role::Error));
    let facts = [(row.title().to_owned(), Role::Title), (row.cwd.clone(), Role::Muted), (times, Role::Muted)];
    let line = |(text, role): (String, Role)| Line::from(span(&text, theme.style(role)));
    facts.into_iter().chain(damage).map(line).collect()
}
