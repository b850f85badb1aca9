//! Rows in columns that fit the terminal: one column gives way, others are left out when it is very narrow.

use super::{Tone, Ui, clean};
use crate::error::CommandError;
use offshoot_tui::width::{cut, pad, width};

/// How far the column that gives way is filled up where no terminal says how wide a line may be. Nothing is cut there.
const NO_TERMINAL: usize = 60;
/// What the column that gives way needs before others are left out for it.
const LEAST: usize = 16;

/// How many rows [`Table::stream`] keeps before it prints them.
const PORTION: usize = 1000;

/// One column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    title: &'static str,
    is_number: bool,
    gives_way: bool,
    /// Columns with a higher number are left out first; zero never is.
    spare: u8,
}

/// One cell: how it is meant, and its text.
pub(crate) type Cell = (Tone, String);

/// Rows to be printed in columns.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    /// The columns that were left out, each counted among those that were there at the time.
    left_out: Vec<usize>,
    /// The widths of the columns, once rows were printed.
    widths: Option<Vec<usize>>,
}

impl Column {
    /// Makes a column of words.
    pub(crate) fn words(title: &'static str) -> Self {
        Column { title, is_number: false, gives_way: false, spare: 0 }
    }

    /// Makes a column of numbers.
    pub(crate) fn numbers(title: &'static str) -> Self {
        Column { is_number: true, ..Column::words(title) }
    }

    /// Makes a column that is cut when the terminal is narrow.
    pub(crate) fn wide(title: &'static str) -> Self {
        Column { gives_way: true, ..Column::words(title) }
    }

    /// Leaves the column out when the terminal is very narrow; a higher number goes first.
    pub(crate) fn spare(self, order: u8) -> Self {
        Column { spare: order, ..self }
    }
}

impl Table {
    /// Starts a table.
    pub(crate) fn new(columns: impl Into<Vec<Column>>) -> Self {
        Table { columns: columns.into(), rows: Vec::new(), left_out: Vec::new(), widths: None }
    }

    /// Adds a row with a cell for every column.
    pub(crate) fn push(&mut self, cells: impl Into<Vec<Cell>>) {
        let mut cells: Vec<Cell> =
            cells.into().into_iter().map(|(tone, text)| (tone, clean(&text).into_owned())).collect();
        for at in &self.left_out {
            if *at < cells.len() {
                cells.remove(*at);
            }
        }
        self.rows.push(cells);
    }

    /// Adds a row to a table that may be long: after every thousand rows they are printed and forgotten. The first
    /// thousand decide how wide the columns are.
    pub(crate) fn stream(&mut self, cells: impl Into<Vec<Cell>>, ui: &mut Ui) -> Result<(), CommandError> {
        self.push(cells);
        if self.rows.len() >= PORTION { self.print_rows(ui) } else { Ok(()) }
    }

    /// Prints the titles, unless all are empty, and the rows.
    pub(crate) fn print(mut self, ui: &mut Ui) -> Result<(), CommandError> {
        if self.widths.is_none() {
            self.leave_out_empty();
        }
        self.print_rows(ui)
    }

    /// Prints the rows and forgets them; the first time also the titles.
    fn print_rows(&mut self, ui: &mut Ui) -> Result<(), CommandError> {
        let cuts = ui.columns().is_some();
        let widths = match self.widths.take() {
            Some(widths) => widths,
            None => {
                let widths = match ui.columns() {
                    Some(columns) => self.fit(columns),
                    None => self.natural_widths(),
                };
                if self.columns.iter().any(|column| !column.title.is_empty()) {
                    let titles = self.columns.iter().map(|c| (Tone::Dim, c.title.to_owned()));
                    self.print_row(&titles.collect::<Vec<Cell>>(), &widths, cuts, ui)?;
                }
                widths
            }
        };
        for row in std::mem::take(&mut self.rows) {
            self.print_row(&row, &widths, cuts, ui)?;
        }
        self.widths = Some(widths);
        Ok(())
    }

    /// Leaves spare columns out that say nothing.
    fn leave_out_empty(&mut self) {
        for at in (0..self.columns.len()).rev() {
            let says_nothing =
                self.rows.iter().all(|row| row.get(at).is_none_or(|(_, text)| text.is_empty()));
            if self.columns[at].spare > 0 && says_nothing {
                self.remove(at);
            }
        }
    }

    fn remove(&mut self, at: usize) {
        self.columns.remove(at);
        self.left_out.push(at);
        for row in self.rows.iter_mut().filter(|row| at < row.len()) {
            row.remove(at);
        }
    }

    /// Decides how wide each column is, and which are left out.
    fn fit(&mut self, room: usize) -> Vec<usize> {
        loop {
            let mut widths: Vec<usize> = (0..self.columns.len()).map(|at| self.natural(at)).collect();
            let gaps = 2 * widths.len().saturating_sub(1);
            let total = widths.iter().sum::<usize>() + gaps;
            let Some(wide) = self.columns.iter().position(|column| column.gives_way) else { return widths };
            let others = total - widths[wide];
            if total <= room {
                return widths;
            }
            let least = widths[wide].min(LEAST);
            if others + least <= room {
                widths[wide] = room - others;
                return widths;
            }
            let spare = self.columns.iter().enumerate().filter(|(_, column)| column.spare > 0);
            match spare.max_by_key(|(_, column)| column.spare) {
                Some((at, _)) => self.remove(at),
                None => {
                    widths[wide] = least;
                    return widths;
                }
            }
        }
    }

    fn natural(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|(_, text)| width(text));
        cells.max().unwrap_or(0).max(width(self.columns[at].title))
    }

    /// The widths where nothing has to fit: one long cell does not push all others away.
    fn natural_widths(&self) -> Vec<usize> {
        let width = |(at, column): (usize, &Column)| {
            let natural = self.natural(at);
            if column.gives_way { natural.min(NO_TERMINAL) } else { natural }
        };
        self.columns.iter().enumerate().map(width).collect()
    }

    fn print_row(
        &self,
        cells: &[Cell],
        widths: &[usize],
        cuts: bool,
        ui: &mut Ui,
    ) -> Result<(), CommandError> {
        let filled = cells.iter().rposition(|(_, text)| !text.is_empty()).map_or(0, |last| last + 1);
        let mut pieces: Vec<(Tone, String)> = Vec::new();
        for (at, (tone, text)) in cells.iter().enumerate().take(filled) {
            let column = self.columns[at];
            let shown = if cuts { cut(text, widths[at]) } else { text.as_str().into() };
            let is_last = at + 1 == filled && !column.is_number;
            let shown = if is_last { shown.into_owned() } else { pad(&shown, widths[at], column.is_number) };
            pieces.extend([(*tone, shown), (Tone::Plain, "  ".to_owned())]);
        }
        pieces.pop();
        let pieces: Vec<(Tone, &str)> = pieces.iter().map(|(tone, text)| (*tone, text.as_str())).collect();
        ui.row(&pieces, usize::MAX)
    }
}
