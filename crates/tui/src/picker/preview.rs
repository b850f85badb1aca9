//! The preview of a session: its last turns, its branches, its cost.

use ratatui::text::Line;
use session_tree::{Content, Result, Role as MessageRole, Session, SessionSummary};

use crate::numbers::{count, money, tokens};
use crate::paint::{self, span};
use crate::theme::{Role, Theme};
use crate::time::Local;
use crate::wrap::rows;

/// How many of the last messages are shown.
const MESSAGES: usize = 8;
/// The most branches that are named.
const BRANCHES: usize = 6;
/// The most characters of one message.
const LONGEST: usize = 600;

/// The preview of a session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionPreview {
    /// The last messages of the active branch, oldest first: who speaks, and what is said.
    messages: Vec<(MessageRole, String)>,
    branches: Vec<String>,
    branch_count: usize,
    tokens: u64,
    cost: f64,
}

impl SessionPreview {
    /// Reads the preview of a session.
    pub fn of(session: &Session) -> Result<Self> {
        let branches = session.branches()?;
        let usage = session.figures_of_all()?.usage;
        Ok(Self {
            messages: last_messages(session)?,
            branch_count: branches.len(),
            branches: branches.into_iter().take(BRANCHES).map(|branch| branch.name).collect(),
            tokens: usage.total,
            cost: usage.cost,
        })
    }

    pub(super) fn lines(&self, theme: Theme, columns: usize) -> Vec<Line<'static>> {
        let muted = theme.style(Role::Muted);
        let told = format!(
            "{}, {} tok, {}",
            count(self.branch_count, "branch"),
            tokens(self.tokens),
            money(self.cost)
        );
        let mut lines = vec![Line::from(span(&told, muted))];
        for name in self.branches.iter().filter(|_| self.branch_count > 1) {
            lines.push(paint::shorten(
                Line::from(span(&format!("{} {name}", theme.pick("⎇", "-")), muted)),
                columns,
            ));
        }
        for (role, text) in &self.messages {
            let (who, style) = match role {
                MessageRole::User => ("user", Role::Accent),
                _ => ("assistant", Role::Success),
            };
            lines.push(Line::default());
            lines.push(Line::styled(who, theme.style(style)));
            lines.extend(rows(text, theme.style(Role::Text), columns, 6));
        }
        lines
    }
}

/// What a list knows of a session before its file is opened.
pub(super) fn summary_lines(row: &SessionSummary, theme: Theme, local: Local) -> Vec<Line<'static>> {
    let muted = theme.style(Role::Muted);
    let mut lines = vec![Line::from(span(row.title(), theme.style(Role::Title)))];
    lines.push(Line::from(span(&row.cwd, muted)));
    let created = row.created.map(|time| format!("created {}, ", local.stamp(time))).unwrap_or_default();
    lines.push(Line::from(span(&format!("{created}last used {}", local.stamp(row.modified)), muted)));
    if let Some(damage) = &row.damage {
        lines.push(Line::from(span(&damage.to_string(), theme.style(Role::Error))));
    }
    lines
}

fn last_messages(session: &Session) -> Result<Vec<(MessageRole, String)>> {
    let tree = session.tree();
    let mut messages = Vec::new();
    for node in session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf)) {
        let Some(role @ (MessageRole::User | MessageRole::Assistant)) = tree.role(node) else { continue };
        let entry = session.entry_at(node)?;
        let text = Content::of(entry.message().and_then(|message| message.get("content"))).text();
        if !text.trim().is_empty() {
            messages.push((role, text.trim().chars().take(LONGEST).collect()));
        }
        if messages.len() == MESSAGES {
            break;
        }
    }
    messages.reverse();
    Ok(messages)
}
