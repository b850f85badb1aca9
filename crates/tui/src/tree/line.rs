//! One row of the tree as a line of the screen.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use session_tree::{OutlineRow, RowStyle, TurnStats};

use crate::input::skip_columns;
use crate::numbers::{count, money, tokens};
use crate::paint::{self, span};
use crate::theme::{Role, Theme};
use crate::time::Local;
use crate::width::width;

/// Below this width only the tools of a turn are counted.
const NARROW: usize = 60;

/// How rows are shown now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) theme: Theme,
    pub(super) columns: usize,
    pub(super) pan: usize,
    /// Show when labels were set.
    pub(super) label_times: Option<Local>,
}

/// Whether a row is the one under the cursor, or is selected together with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cursor {
    Away,
    Here,
    Marked,
}

/// Makes the line of a row.
pub(super) fn line(row: &OutlineRow, look: Look, cursor: Cursor) -> Line<'static> {
    let theme = look.theme;
    let tail = tail(row, theme);
    let right = row.turn.map_or_else(Vec::new, |turn| stats(turn, theme, look.columns));
    let [tail_width, right_width] = [&tail, &right].map(|spans| spans.iter().map(Span::width).sum::<usize>());
    let room = look.columns.saturating_sub(2 + tail_width + right_width);
    let body = paint::shorten(skip(body(row, look), skipped(row, look)), room);
    let gap = room.saturating_sub(body.width());
    let mut spans = vec![mark(cursor, theme)];
    spans.extend(body.spans);
    spans.extend(tail);
    if !right.is_empty() {
        spans.push(Span::raw(" ".repeat(gap)));
        spans.extend(right);
    }
    let line = Line::from(spans);
    if cursor == Cursor::Here { line.patch_style(Style::new().add_modifier(Modifier::BOLD)) } else { line }
}

fn mark(cursor: Cursor, theme: Theme) -> Span<'static> {
    let mark = match cursor {
        Cursor::Away => "  ",
        Cursor::Here => theme.pick("› ", "> "),
        Cursor::Marked => theme.pick("┃ ", "| "),
    };
    Span::styled(mark, theme.style(Role::Accent))
}

/// Everything from the guide lines to the text.
fn body(row: &OutlineRow, look: Look) -> Line<'static> {
    let theme = look.theme;
    let first = (look.pan / 3).min(row.levels.len());
    let mut spans = vec![Span::styled(row.prefix_from(theme.charset, first), theme.style(Role::Dim))];
    if row.on_path {
        spans.push(Span::styled(theme.pick("• ", "* "), theme.style(Role::Accent)));
    }
    if let Some(label) = &row.label {
        spans.push(span(&format!("[{}] ", label.text), theme.style(Role::Warning)));
        if let Some(local) = look.label_times {
            spans.push(span(&format!("{} ", local.stamp(label.set_at)), theme.style(Role::Muted)));
        }
    }
    if row.is_error {
        spans.push(Span::styled(theme.pick("✗ ", "x "), theme.style(Role::Error)));
    }
    spans.extend(text(row, theme));
    Line::from(spans)
}

/// How many columns are still to be moved out after whole levels were left out.
fn skipped(row: &OutlineRow, look: Look) -> usize {
    look.pan - 3 * (look.pan / 3).min(row.levels.len())
}

/// The text: who speaks in colour, what the query found marked.
fn text(row: &OutlineRow, theme: Theme) -> Vec<Span<'static>> {
    let style = theme.row_style(row.style);
    let mut spans = Vec::new();
    let mut start = 0;
    if let Some(turn) = row.turn {
        start = row.text.find(": ").map_or(0, |at| at + 2);
        spans.push(Span::styled(format!("{} ", turn.number), theme.style(Role::Dim)));
    }
    let head = head_len(row).max(start);
    let style_at = |at: usize| if at < head { style } else { said(row, theme, style) };
    let mut cuts = vec![head, row.text.len()];
    cuts.extend(row.hits.iter().flat_map(|hit| [hit.start, hit.end]));
    cuts.retain(|cut| *cut > start);
    cuts.sort_unstable();
    for end in cuts {
        let hit = row.hits.iter().any(|hit| hit.start <= start && start < hit.end);
        let own = if hit { theme.style(Role::Match) } else { style_at(start) };
        if let Some(piece) = row.text.get(start..end).filter(|piece| !piece.is_empty()) {
            spans.push(span(piece, own));
        }
        start = end;
    }
    spans
}

/// How what is said is drawn, as opposed to who says it.
fn said(row: &OutlineRow, theme: Theme, style: Style) -> Style {
    match row.style {
        RowStyle::User | RowStyle::Assistant | RowStyle::Custom | RowStyle::Summary => {
            theme.style(Role::Text)
        }
        RowStyle::Error | RowStyle::Tool | RowStyle::Compaction | RowStyle::Title | RowStyle::Muted => style,
    }
}

/// The length of what tells who speaks: `user:`, `[branch summary]:`.
fn head_len(row: &OutlineRow) -> usize {
    let end = if row.text.starts_with('[') { row.text.find("]:").map(|at| at + 2) } else { None };
    end.or_else(|| row.text.find(": ").map(|at| at + 1)).unwrap_or(0)
}

/// What follows the text of the leaf.
fn tail(row: &OutlineRow, theme: Theme) -> Vec<Span<'static>> {
    let text = match (row.is_leaf, row.leaf_below) {
        (true, _) => theme.pick(" ← active", " <- active"),
        (false, true) => theme.pick(" ← active below", " <- active below"),
        (false, false) => return Vec::new(),
    };
    vec![Span::styled(text, theme.style(Role::Accent).add_modifier(Modifier::BOLD))]
}

/// What a turn did, at the right edge in columns; less of it where there is little room.
fn stats(turn: TurnStats, theme: Theme, columns: usize) -> Vec<Span<'static>> {
    let muted = theme.style(Role::Muted);
    let mut told = Vec::new();
    if let Some(before) = turn.compacted {
        let house = theme.pick("⌂", "c");
        told.push(span(&format!("  {house}{}", tokens(before)), theme.style(Role::BorderAccent)));
    }
    if columns < NARROW {
        told.extend((turn.tools > 0).then(|| span(&format!("  {}t", turn.tools), muted)));
    } else {
        let tools = if turn.tools > 0 { count(turn.tools, "tool") } else { String::new() };
        let used = if turn.tokens > 0 { format!("{} tok", tokens(turn.tokens)) } else { String::new() };
        let cost = if turn.cost > 0.0 { money(turn.cost) } else { String::new() };
        told.push(span(&format!("  {tools:>8}  {used:>8}  {cost:>6}"), muted));
    }
    let failed = if turn.failed { theme.pick(" ✗", " x") } else { "  " };
    told.push(Span::styled(failed, theme.style(Role::Error)));
    told
}

/// Drops the first columns of a line.
fn skip(line: Line<'static>, columns: usize) -> Line<'static> {
    let mut left = columns;
    let mut spans = Vec::new();
    for span in line.spans {
        let wide = width(&span.content);
        if left >= wide {
            left -= wide;
        } else {
            let text = if left > 0 { skip_columns(&span.content, left) } else { span.content.into_owned() };
            left = 0;
            spans.push(Span::styled(text, span.style));
        }
    }
    Line::from(spans)
}
