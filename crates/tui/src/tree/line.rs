//! One row of the tree as a line of the screen.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use session_view::{OutlineRow, RowStyle, TurnStats};

use crate::input::skip_columns;
use crate::numbers::{count, money, tokens};
use crate::paint::{self, span};
use crate::theme::{Role, Theme};
use crate::time::Local;
use crate::width::width;

/// Below this width only the tools of a turn are counted.
const NARROW: usize = 60;

/// How rows are drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowLayout {
    pub(super) theme: Theme,
    pub(super) columns: usize,
    /// The number of columns that are scrolled out to the left.
    pub(super) pan: usize,
    /// The clock, if times of labels show.
    pub(super) label_times: Option<Local>,
}

/// Makes the line of a row.
pub(super) fn line(row: &OutlineRow, layout: RowLayout, is_here: bool) -> Line<'static> {
    let RowLayout { theme, columns, pan, .. } = layout;
    let tail = tail(row, theme);
    let right = row.turn.map_or_else(Vec::new, |turn| stats(turn, theme, columns));
    let [tail_width, right_width] = [&tail, &right].map(|spans| spans.iter().map(Span::width).sum::<usize>());
    let room = columns.saturating_sub(2 + tail_width + right_width);
    // Whole levels were left out already.
    let skipped = pan - 3 * (pan / 3).min(row.levels.len());
    let body = paint::shorten(skip(body(row, layout), skipped), room);
    let gap = room.saturating_sub(body.width());
    let mut spans = vec![paint::cursor(theme, is_here)];
    spans.extend(body.spans);
    spans.extend(tail);
    if !right.is_empty() {
        spans.push(Span::raw(" ".repeat(gap)));
        spans.extend(right);
    }
    let line = Line::from(spans);
    if is_here { line.patch_style(Style::new().add_modifier(Modifier::BOLD)) } else { line }
}

/// Returns everything from the guide lines to the text.
fn body(row: &OutlineRow, layout: RowLayout) -> Line<'static> {
    let theme = layout.theme;
    let first = (layout.pan / 3).min(row.levels.len());
    let mut spans = vec![Span::styled(row.prefix_from(theme.charset, first), theme.style(Role::Dim))];
    if row.on_path {
        spans.push(Span::styled(theme.pick("• ", "* "), theme.style(Role::Accent)));
    }
    if let Some(label) = &row.label {
        spans.push(span(&format!("[{}] ", label.text), theme.style(Role::Warning)));
        if let Some(local) = layout.label_times {
            spans.push(span(&format!("{} ", local.stamp(label.set_at)), theme.style(Role::Muted)));
        }
    }
    if row.is_error {
        spans.push(Span::styled(theme.pick("✗ ", "x "), theme.style(Role::Error)));
    }
    spans.extend(text(row, theme));
    Line::from(spans)
}

/// Returns the text: the speaker in colour, the hits of the query marked.
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

/// Returns the style of the text after the speaker.
fn said(row: &OutlineRow, theme: Theme, style: Style) -> Style {
    match row.style {
        RowStyle::User | RowStyle::Assistant | RowStyle::Custom | RowStyle::Summary => {
            theme.style(Role::Text)
        }
        RowStyle::Error | RowStyle::Tool | RowStyle::Compaction | RowStyle::Title | RowStyle::Muted => style,
    }
}

/// Returns the length of the speaker: `user:`, `[branch summary]:`.
fn head_len(row: &OutlineRow) -> usize {
    let end = if row.text.starts_with('[') { row.text.find("]:").map(|at| at + 2) } else { None };
    end.or_else(|| row.text.find(": ").map(|at| at + 1)).unwrap_or(0)
}

/// Returns the mark after the text of the leaf.
fn tail(row: &OutlineRow, theme: Theme) -> Vec<Span<'static>> {
    let text = match (row.is_leaf, row.leaf_below) {
        (true, _) => theme.pick(" ← active", " <- active"),
        (false, true) => theme.pick(" ← active below", " <- active below"),
        (false, false) => return Vec::new(),
    };
    vec![Span::styled(text, theme.style(Role::Accent).add_modifier(Modifier::BOLD))]
}

/// Returns the figures of a turn for the right edge; fewer where there is little room.
fn stats(turn: TurnStats, theme: Theme, columns: usize) -> Vec<Span<'static>> {
    let muted = theme.style(Role::Muted);
    let mut figures = Vec::new();
    if let Some(before) = turn.compacted {
        let house = theme.pick("⌂", "c");
        figures.push(span(&format!("  {house}{}", tokens(before)), theme.style(Role::BorderAccent)));
    }
    if columns < NARROW {
        figures.extend((turn.tools > 0).then(|| span(&format!("  {}t", turn.tools), muted)));
    } else {
        let tools = if turn.tools > 0 { count(turn.tools, "tool") } else { String::new() };
        let used = if turn.tokens > 0 { format!("{} tok", tokens(turn.tokens)) } else { String::new() };
        let cost = if turn.cost > 0.0 { money(turn.cost) } else { String::new() };
        figures.push(span(&format!("  {tools:>8}  {used:>8}  {cost:>6}"), muted));
    }
    let failed = if turn.failed { theme.pick(" ✗", " x") } else { "  " };
    figures.push(Span::styled(failed, theme.style(Role::Error)));
    figures
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
