//! Tables: columns as wide as they need, or as wide as there is room.

use ratatui::text::{Line, Span};

use crate::theme::{Role, Theme};
use crate::wrap::{Margin, wrap};

/// The most columns of a table.
const MOST_COLUMNS: usize = 32;

/// A table while it is read; the first row is its head.
#[derive(Debug, Default)]
pub(super) struct Table {
    columns: usize,
    rows: Vec<Vec<Vec<Span<'static>>>>,
}

impl Table {
    /// Begins a table of so many columns.
    pub(super) fn new(columns: usize) -> Self {
        Table { columns: columns.min(MOST_COLUMNS), rows: Vec::new() }
    }

    /// Begins a row.
    pub(super) fn next_row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Adds a cell to the row.
    pub(super) fn cell(&mut self, spans: Vec<Span<'static>>) {
        if let Some(row) = self.rows.last_mut().filter(|row| row.len() < self.columns) {
            row.push(spans);
        }
    }

    /// Draws the table in at most `room` columns.
    pub(super) fn rows(&self, room: usize, theme: Theme) -> Vec<Vec<Span<'static>>> {
        let gaps = 3 * self.columns.saturating_sub(1);
        let Some(room) = room.checked_sub(gaps + 3 * self.columns) else { return self.as_list(theme) };
        let widths = self.widths(room + 3 * self.columns);
        let border = theme.style(Role::Border);
        let mut out = Vec::new();
        for (nth, row) in self.rows.iter().enumerate() {
            out.extend(self.row(row, &widths, nth == 0, theme));
            if nth == 0 {
                let dash = theme.pick("─", "-");
                let cross = theme.pick("─┼─", "-+-");
                let parts: Vec<String> = widths.iter().map(|wide| dash.repeat(*wide)).collect();
                out.push(vec![Span::styled(parts.join(cross), border)]);
            }
        }
        out
    }

    /// The widest cells give way first.
    fn widths(&self, room: usize) -> Vec<usize> {
        let needed = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.iter().map(Span::width).sum()).max().unwrap_or(0).max(1)
        };
        let mut widths: Vec<usize> = (0..self.columns).map(needed).collect();
        while widths.iter().sum::<usize>() > room {
            let Some(widest) = widths.iter_mut().max() else { break };
            // Many steps at once, so that a cell of a million letters does not take a million steps.
            let over = (widest.saturating_sub(room / self.columns) / 4).max(1);
            *widest = widest.saturating_sub(over).max(1);
        }
        widths
    }

    fn row(
        &self,
        cells: &[Vec<Span<'static>>],
        widths: &[usize],
        is_head: bool,
        theme: Theme,
    ) -> Vec<Vec<Span<'static>>> {
        let border = theme.style(Role::Border);
        let wrapped: Vec<Vec<Line<'static>>> = (0..self.columns)
            .map(|column| {
                let mut lines = Vec::new();
                let empty = Vec::new();
                wrap(cells.get(column).unwrap_or(&empty), widths[column], &Margin::default(), &mut lines);
                lines
            })
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        (0..height)
            .map(|at| {
                let mut row: Vec<Span<'static>> = Vec::new();
                for (column, lines) in wrapped.iter().enumerate() {
                    if column > 0 {
                        row.push(Span::styled(theme.pick(" │ ", " | "), border));
                    }
                    let line = lines.get(at).cloned().unwrap_or_default();
                    let blanks = widths[column].saturating_sub(line.width());
                    let head = theme.style(Role::Title);
                    row.extend(
                        line.spans
                            .into_iter()
                            .map(|span| if is_head { span.patch_style(head) } else { span }),
                    );
                    if column + 1 < self.columns {
                        row.push(Span::raw(" ".repeat(blanks)));
                    }
                }
                row
            })
            .collect()
    }

    /// Draws each cell in a separate row, without room for columns.
    fn as_list(&self, theme: Theme) -> Vec<Vec<Span<'static>>> {
        let Some((head, rows)) = self.rows.split_first() else { return Vec::new() };
        let mut out = Vec::new();
        for cells in rows {
            for (name, cell) in head.iter().zip(cells) {
                let mut row: Vec<Span<'static>> =
                    name.iter().cloned().map(|span| span.patch_style(theme.style(Role::Title))).collect();
                row.push(Span::raw(": "));
                row.extend(cell.iter().cloned());
                out.push(row);
            }
        }
        out
    }
}
