//! The preview of an entry: where it stands, what it cost, and its whole text.

use ratatui::text::Line;
use session_tree::{
    Body, Kind, Node, Outline, Query, Role as MessageRole, Session, TurnStats, Usage, estimate_tokens,
};

use super::body;
use crate::numbers::{count, money, tokens};
use crate::paint::span;
use crate::theme::{Role, Theme};
use crate::time::Local;

/// How far above an entry the last count of tokens is looked for.
const LOOK_BACK: usize = 32;

/// Makes the lines of the preview, and tells which of them is the first that the query found.
pub(super) fn lines(
    session: &Session,
    outline: &Outline,
    theme: Theme,
    local: Local,
    node: Node,
    columns: usize,
) -> (Vec<Line<'static>>, Option<usize>) {
    let mut lines = head(session, theme, local, node);
    if let Ok(Some(turn)) = outline.turn_stats(session, node) {
        lines.push(Line::from(span(&turn_line(turn), theme.style(Role::Muted))));
    }
    if let Some(count) = context_at(session, node) {
        let text = format!("context here: {} tok", tokens(count));
        lines.push(Line::from(span(&text, theme.style(Role::Muted))));
    }
    lines.push(Line::default());
    let head = lines.len();
    body::lines(session, theme, node, columns, &mut lines);
    let query = Query::parse(outline.query());
    let hit = if query.is_empty() { None } else { mark_hits(&query, theme, &mut lines[head..]) };
    (lines, hit.map(|hit| head + hit))
}

/// Marks what the query found, and returns the first line of that.
fn mark_hits(query: &Query, theme: Theme, lines: &mut [Line<'static>]) -> Option<usize> {
    let mut first = None;
    for (number, line) in lines.iter_mut().enumerate() {
        let text = line.to_string();
        let hits = query.highlights(&text);
        if hits.is_empty() {
            continue;
        }
        first = first.or(Some(number));
        let style = line.spans.first().map(|span| span.style).unwrap_or_default();
        let mut spans = Vec::new();
        let mut end = 0;
        for hit in hits {
            spans.push(span(&text[end..hit.start], style));
            spans.push(span(&text[hit.clone()], theme.style(Role::Match)));
            end = hit.end;
        }
        spans.push(span(&text[end..], style));
        *line = Line::from(spans);
    }
    first
}

/// Id, what it is, time, label, branch.
fn head(session: &Session, theme: Theme, local: Local, node: Node) -> Vec<Line<'static>> {
    let tree = session.tree();
    let kind = tree.kind(node).name();
    let what = tree.role(node).and_then(MessageRole::name).or(kind).unwrap_or("unknown type");
    let first = Line::from(vec![
        span(&format!("#{}", tree.id(node)), theme.style(Role::Dim)),
        span(&format!("  {what}"), theme.style(Role::Title)),
        span(&format!("  {}", local.stamp(tree.timestamp(node))), theme.style(Role::Muted)),
    ]);
    let mut lines = vec![first];
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

/// Tells how many tokens a model would get here, from the last count that a model reported not far above.
fn context_at(session: &Session, node: Node) -> Option<u64> {
    let tree = session.tree();
    let mut after = 0;
    for node in tree.ancestors(node).take(LOOK_BACK) {
        match tree.kind(node) {
            Kind::Message => {}
            // What comes before it is not in the context any more.
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
