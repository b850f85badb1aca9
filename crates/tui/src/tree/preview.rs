//! The preview of an entry: its position, its cost, and its whole text as the conversation shows it.

use ratatui::text::Line;
use session_tree::{Body, Entry, Kind, Node, Role as MessageRole, Session, Usage, estimate_tokens};
use session_view::{Outline, Query, TurnStats};

use crate::chat::highlight::CodeCache;
use crate::chat::item::{Item, ItemStyle, items_at, rows};
use crate::numbers::{count, money, tokens};
use crate::paint::span;
use crate::theme::{Role, Theme};
use crate::time::Local;
use crate::wrap;

/// The number of ancestors that are searched for the last count of tokens.
const LOOK_BACK: usize = 32;
/// The most rows of a preview.
const MAX_ROWS: usize = 400;
/// The most bytes of one text.
const MAX_BYTES: usize = 64 * 1024;

/// Makes the lines of the preview, and returns the number of the first one with a hit of the query.
pub(super) fn lines(
    session: &Session,
    outline: &Outline,
    theme: Theme,
    local: Local,
    node: Node,
    columns: usize,
) -> (Vec<Line<'static>>, Option<usize>) {
    let mut lines = head(session, theme, local, node);
    let muted = theme.style(Role::Muted);
    if let Ok(Some(turn)) = outline.turn_stats(session, node) {
        lines.push(Line::from(span(&turn_line(turn), muted)));
    }
    if let Some(count) = context_at(session, node) {
        lines.push(Line::from(span(&format!("context here: {} tok", tokens(count)), muted)));
    }
    lines.push(Line::default());
    let head = lines.len();
    lines.extend(body(session, theme, node, columns));
    lines.truncate(MAX_ROWS);
    let query = Query::parse(outline.query());
    let hit = if query.is_empty() { None } else { mark_hits(&query, theme, &mut lines[head..]) };
    (lines, hit.map(|hit| head + hit))
}

/// Draws an entry like the conversation does; one that the conversation leaves out as it is in the file.
fn body(session: &Session, theme: Theme, node: Node, columns: usize) -> Vec<Line<'static>> {
    let mut items = items_at(session, &[node], 0);
    if items.iter().all(|item| matches!(item, Item::Setting(_))) {
        let (text, role) = match session.entry_at(node).ok().and_then(|entry| raw_text(&entry)) {
            Some(text) => (text, Role::Muted),
            None => ("the line of this entry cannot be read".to_owned(), Role::Error),
        };
        return wrap::rows(&text, theme.style(role), columns, MAX_ROWS);
    }
    let item_style = ItemStyle { is_expanded: true, ..ItemStyle::new(theme) };
    let mut codes = CodeCache::plain();
    let mut lines = Vec::new();
    for item in &mut items {
        shorten(item);
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(rows(item, columns, &item_style, &mut codes));
    }
    lines
}

/// Shortens a long text, so that a key does not wait for rows that are never visible.
fn shorten(item: &mut Item) {
    let text = match item {
        Item::Prompt { text, .. } | Item::Text(text) | Item::Thinking(text) => text,
        Item::Custom { text, .. } | Item::Summary { text, .. } => text,
        Item::Tool(tool) => &mut tool.output,
        Item::Shell(shell) => &mut shell.output,
        _ => return,
    };
    text.truncate(text.floor_char_boundary(MAX_BYTES));
}

fn raw_text(entry: &Entry) -> Option<String> {
    let value = entry.value()?;
    let raw = value.raw();
    Some(String::from_utf8_lossy(&raw[..raw.len().min(MAX_BYTES)]).into_owned())
}

/// Marks the hits of the query, and returns the number of the first line with one.
fn mark_hits(query: &Query, theme: Theme, lines: &mut [Line<'static>]) -> Option<usize> {
    let mut first = None;
    for (number, line) in lines.iter_mut().enumerate() {
        let text = line.to_string();
        let hits = query.highlights(&text);
        if hits.is_empty() {
            continue;
        }
        first = first.or(Some(number));
        let style = line.spans.last().map(|span| span.style).unwrap_or_default();
        let mut spans = Vec::new();
        let mut end = 0;
        for hit in hits {
            spans.push(span(&text[end..hit.start], style));
            spans.push(span(&text[hit.clone()], theme.style(Role::Match)));
            end = hit.end;
        }
        spans.push(span(&text[end..], style));
        line.spans = spans;
    }
    first
}

/// Returns the id, type, time, label and branch of an entry.
fn head(session: &Session, theme: Theme, local: Local, node: Node) -> Vec<Line<'static>> {
    let tree = session.tree();
    let kind = tree.kind(node).name();
    let what = tree.role(node).and_then(MessageRole::name).or(kind).unwrap_or("unknown type");
    let mut lines = vec![Line::from(vec![
        span(&format!("#{}", tree.id(node)), theme.style(Role::Dim)),
        span(&format!("  {what}"), theme.style(Role::Title)),
        span(&format!("  {}", local.stamp(tree.timestamp(node))), theme.style(Role::Muted)),
    ])];
    if let Some(label) = session.label(node) {
        let text = format!("[{}]  set {}", label.text, local.stamp(label.set_at));
        lines.push(Line::from(span(&text, theme.style(Role::Warning))));
    }
    if let Ok(name) = session.branch_name(node) {
        lines.push(Line::from(span(&format!("branch: {name}"), theme.style(Role::Muted))));
    }
    lines
}

fn turn_line(turn: TurnStats) -> String {
    let replies = count(turn.replies, "reply");
    let tools = count(turn.tools, "tool");
    format!("turn: {replies}, {tools}, {} tok, {}", tokens(turn.tokens), money(turn.cost))
}

/// Returns the number of tokens of the context here, if a model reported a count not far above.
fn context_at(session: &Session, node: Node) -> Option<u64> {
    let tree = session.tree();
    let mut after = 0;
    for node in tree.ancestors(node).take(LOOK_BACK) {
        match tree.kind(node) {
            Kind::Message => {}
            // It removes everything above it from the context.
            Kind::Compaction => return None,
            _ => continue,
        }
        let entry = session.entry_at(node).ok()?;
        let Body::Message(Some(message)) = entry.body() else { continue };
        let usage = message.get("usage").map_or(0, |usage| Usage::of(usage).total);
        if tree.role(node) == Some(MessageRole::Assistant) && usage > 0 {
            return Some(usage.saturating_add(after));
        }
        after += estimate_tokens(&entry.to_message()?);
    }
    None
}
