//! Rows in columns that fit the terminal: one column is cut, others are left out when the terminal is very narrow.

use super::{Tone, Ui, clean};
use crate::error::CommandError;
use offshoot_tui::width::{cut, pad, width};

/// The largest width to which the wide column is padded without a terminal. Nothing is cut there.
const NO_TERMINAL: usize = 60;
/// The width that the wide column needs before others are left out for it.
const LEAST: usize = 16;
/// The number of rows that are printed together. The first ones decide the widths of the columns.
const PORTION: usize = 1000;

/// One column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    title: &'static str,
    is_number: bool,
    is_wide: bool,
    /// Columns with a higher number are left out first; zero never is.
    spare: u8,
}

/// One cell: its tone and its text.
pub(crate) type Cell = (Tone, String);

/// Rows to be printed in columns.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    /// The width of each column, `None` if it is left out; set with the first printed rows.
    widths: Vec<Option<usize>>,
}

impl Column {
    /// Creates a column of words.
    pub(crate) fn words(title: &'static str) -> Self {
        Column { title, is_number: false, is_wide: false, spare: 0 }
    }

    /// Creates a column of numbers.
    pub(crate) fn numbers(title: &'static str) -> Self {
        Column { is_number: true, ..Column::words(title) }
    }

    /// Creates a column that is cut on a narrow terminal.
    pub(crate) fn wide(title: &'static str) -> Self {
        Column { is_wide: true, ..Column::words(title) }
    }

    /// Omits the column if it is empty or the terminal is very narrow; higher numbers are omitted first.
    pub(crate) fn spare(self, order: u8) -> Self {
        Column { spare: order, ..self }
    }
}

impl Table {
    /// Starts a table.
    pub(crate) fn new(columns: impl Into<Vec<Column>>) -> Self {
        Table { columns: columns.into(), rows: Vec::new(), widths: Vec::new() }
    }

    /// Adds a row with a cell for every column; after every thousand rows they are printed.
    pub(crate) fn push(&mut self, cells: impl Into<Vec<Cell>>, ui: &mut Ui) -> Result<(), CommandError> {
        let cells = cells.into().into_iter().map(|(tone, text)| (tone, clean(&text).into_owned()));
        self.rows.push(cells.collect());
        if self.rows.len() >= PORTION { self.print(ui) } else { Ok(()) }
    }

    /// Prints the remaining rows; the first time also the titles, unless all are empty.
    pub(crate) fn print(&mut self, ui: &mut Ui) -> Result<(), CommandError> {
        if self.widths.is_empty() {
            self.widths = self.fit(ui.columns());
            if self.columns.iter().any(|column| !column.title.is_empty()) {
                let titles: Vec<Cell> =
                    self.columns.iter().map(|c| (Tone::Dim, c.title.to_owned())).collect();
                self.print_row(&titles, ui)?;
            }
        }
        let rows = std::mem::take(&mut self.rows);
        rows.iter().try_for_each(|row| self.print_row(row, ui))
    }

    /// Prints a whole table.
    pub(crate) fn show<const N: usize>(
        columns: [Column; N],
        rows: impl IntoIterator<Item = Result<[Cell; N], CommandError>>,
        ui: &mut Ui,
    ) -> Result<(), CommandError> {
        let mut table = Table::new(columns);
        rows.into_iter().try_for_each(|row| table.push(row?, ui))?;
        table.print(ui)
    }

    /// Decides the width of each column, and which are omitted.
    fn fit(&self, room: Option<usize>) -> Vec<Option<usize>> {
        let natural = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|(_, text)| width(text));
            cells.max().unwrap_or(0)
        };
        let shown = |(at, column): (usize, &Column)| match natural(at) {
            0 if column.spare > 0 => None,
            natural => Some(natural.max(width(column.title))),
        };
        let mut widths: Vec<Option<usize>> = self.columns.iter().enumerate().map(shown).collect();
        let Some(wide) = self.columns.iter().position(|column| column.is_wide) else { return widths };
        let natural = widths[wide].unwrap_or(0);
        let Some(room) = room else {
            widths[wide] = Some(natural.min(NO_TERMINAL));
            return widths;
        };
        loop {
            let others: usize = widths.iter().flatten().map(|width| width + 2).sum::<usize>() - natural - 2;
            let spare = (0..widths.len()).filter(|at| widths[*at].is_some() && self.columns[*at].spare > 0);
            match spare.max_by_key(|at| self.columns[*at].spare) {
                Some(at) if others + natural.min(LEAST) > room => widths[at] = None,
                _ => {
                    widths[wide] = Some(natural.min(room.saturating_sub(others).max(LEAST)));
                    return widths;
                }
            }
        }
    }

    fn print_row(&self, cells: &[Cell], ui: &mut Ui) -> Result<(), CommandError> {
        let shown = cells.iter().zip(&self.columns).zip(&self.widths);
        let mut shown: Vec<_> = shown.filter_map(|(cell, width)| Some((cell, (*width)?))).collect();
        while shown.pop_if(|(((_, text), _), _)| text.is_empty()).is_some() {}
        let mut pieces: Vec<Cell> = Vec::new();
        for (at, (((tone, text), column), width)) in shown.iter().enumerate() {
            let text = if ui.columns().is_some() { cut(text, *width) } else { text.as_str().into() };
            let is_padded = at + 1 < shown.len() || column.is_number;
            let text = if is_padded { pad(&text, *width, column.is_number) } else { text.into_owned() };
            let gap = if at > 0 { "  " } else { "" };
            pieces.extend([(Tone::Plain, gap.to_owned()), (*tone, text)]);
        }
        let pieces: Vec<(Tone, &str)> = pieces.iter().map(|(tone, text)| (*tone, text.as_str())).collect();
        ui.row(&pieces, usize::MAX)
    }
}
