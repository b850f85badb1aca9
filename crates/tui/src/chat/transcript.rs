//! The transcript while it grows: what is done is handed out once, to be printed; what still changes is drawn.
//!
//! ```text
//!   [done][done]            -> take_done, once
//!               [grows][runs]  -> live_rows, again and again
//! ```
//!
//! Rows are made once per width and kept until their item changes. A text that grows beyond the screen hands out the
//! rows that no longer change.

use std::collections::VecDeque;

use ratatui::text::Line;

use super::highlight::CodeCache;
use super::item::{Item, ItemStyle, rows};
use super::markdown::stable_end;

/// How many rows are handed out before the next key is read; a single item may have more.
const MAX_ROWS_AT_ONCE: usize = 2_000;
/// How many rows at the end of a growing item may still change.
const RESTLESS: usize = 2;

/// The name of an item that still changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemId(u64);

/// The items that are not printed yet.
#[derive(Debug)]
pub struct Transcript {
    /// Ordered by id. Parts of one text have the same id; only the last of them grows.
    cells: VecDeque<Cell>,
    item_style: ItemStyle,
    next: u64,
    /// Whether something was printed before, so that the next item stands apart.
    is_begun: bool,
}

#[derive(Debug)]
struct Cell {
    id: ItemId,
    item: Item,
    is_done: bool,
    /// Whether only the one who draws it says that it is done.
    is_held: bool,
    codes: CodeCache,
    /// Rows that were made, and for which width.
    made: Option<(usize, Vec<Line<'static>>)>,
    printed: Printed,
}

/// The printed part of an item.
#[derive(Debug, Clone, Copy, Default)]
struct Printed {
    /// How many rows, as they are made now.
    rows: usize,
    /// How wide rows are; another width makes others.
    columns: usize,
    /// How many letters and digits stand in them: the only thing that is the same at every width.
    letters: usize,
}

impl Transcript {
    /// Makes a transcript of nothing.
    pub fn new(item_style: ItemStyle) -> Self {
        Transcript { cells: VecDeque::new(), item_style, next: 0, is_begun: false }
    }

    /// Returns how items are drawn.
    pub fn item_style(&self) -> &ItemStyle {
        &self.item_style
    }

    /// Changes how items are drawn; what was printed stays.
    pub fn set_item_style(&mut self, item_style: ItemStyle) {
        self.item_style = item_style;
        for cell in &mut self.cells {
            cell.made = None;
            // Its rows may be others now; they are counted again.
            cell.printed.columns = 0;
        }
    }

    /// Adds an item that is done.
    pub fn push(&mut self, item: Item) {
        let id = self.begin(item);
        self.finish(id);
    }

    /// Adds an item that will change.
    pub fn begin(&mut self, item: Item) -> ItemId {
        self.next += 1;
        let id = ItemId(self.next);
        self.cells.push_back(Cell::new(id, item));
        id
    }

    /// Finds an item in logarithmic time: an answer may have very many.
    fn cell(&mut self, id: ItemId) -> Option<&mut Cell> {
        let after = self.cells.partition_point(|cell| cell.id <= id);
        self.cells.get_mut(after.checked_sub(1)?).filter(|cell| cell.id == id)
    }

    /// Changes an item.
    pub fn change(&mut self, id: ItemId, change: impl FnOnce(&mut Item)) {
        if let Some(cell) = self.cell(id) {
            change(&mut cell.item);
            cell.made = None;
        }
    }

    /// Notes that an item is done.
    pub fn finish(&mut self, id: ItemId) {
        if let Some(cell) = self.cell(id) {
            cell.is_done = true;
        }
    }

    /// Keeps an item that is drawn later: only [`finish`](Self::finish) ends it.
    pub fn hold(&mut self, id: ItemId) {
        if let Some(cell) = self.cell(id) {
            cell.is_held = true;
        }
    }

    /// Takes an item away that was not printed.
    pub fn remove(&mut self, id: ItemId) {
        self.cells.retain(|cell| cell.id != id);
    }

    /// Notes that all items are done, but for those that are held.
    pub fn finish_all(&mut self) {
        for cell in self.cells.iter_mut().filter(|cell| !cell.is_held) {
            cell.is_done = true;
        }
    }

    /// Finishes all items, held or not.
    pub fn close(&mut self) {
        self.cells.iter_mut().for_each(|cell| cell.is_done = true);
    }

    /// Returns true if all items are printed.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Returns true if the next [`take_done`](Self::take_done) has rows of a finished item to hand out.
    pub fn has_done(&self) -> bool {
        self.cells.front().is_some_and(|cell| cell.is_done)
    }

    /// Hands out the rows that no longer change; of what grows, those that do not fit into `room` rows.
    ///
    /// Stops after a few thousand rows, so that a caller stays responsive; the rest follows with the next call.
    pub fn take_done(&mut self, columns: usize, room: usize) -> Vec<Line<'static>> {
        self.split_growing();
        let mut out = Vec::new();
        while out.len() < MAX_ROWS_AT_ONCE
            && let Some(mut cell) = self.cells.pop_front()
        {
            if !cell.is_done {
                self.cells.push_front(cell);
                break;
            }
            let all = cell.rows(columns, &self.item_style).len();
            self.is_begun |= cell.hand_out(all, self.is_begun, &mut out);
        }
        if let Some(cell) = self.cells.front_mut().filter(|cell| !cell.is_done) {
            let rows = cell.rows(columns, &self.item_style).len();
            if rows.saturating_sub(cell.printed.rows) > room.max(4)
                && matches!(cell.item, Item::Text(_) | Item::Thinking(_))
            {
                let stable = rows.saturating_sub(RESTLESS.max(room / 2));
                self.is_begun |= cell.hand_out(stable, self.is_begun, &mut out);
            }
        }
        out
    }

    /// Parts a growing text where its last block begins: what is before it is done.
    fn split_growing(&mut self) {
        for at in 0..self.cells.len() {
            let cell = &mut self.cells[at];
            let Item::Text(text) = &mut cell.item else { continue };
            if cell.is_done || cell.printed.rows > 0 {
                continue;
            }
            let end = stable_end(text);
            if end == 0 {
                continue;
            }
            let before = text[..end].to_owned();
            text.drain(..end);
            cell.made = None;
            cell.codes = CodeCache::default();
            let done = Cell { is_done: true, ..Cell::new(cell.id, Item::Text(before)) };
            self.cells.insert(at, done);
            return;
        }
    }

    /// Returns the last `most` rows of what still changes.
    pub fn live_rows(&mut self, columns: usize, most: usize) -> Vec<Line<'static>> {
        let mut parts: Vec<Vec<Line<'static>>> = Vec::new();
        let mut count = 0;
        // From the end, so that what does not show is not looked at.
        for (nth, cell) in self.cells.iter_mut().enumerate().rev() {
            if count >= most {
                break;
            }
            let rows = cell.rows(columns, &self.item_style).to_vec();
            if rows.is_empty() {
                continue;
            }
            let stands_apart = cell.printed.rows == 0 && (self.is_begun || nth > 0);
            let mut part = if stands_apart { vec![Line::default()] } else { Vec::new() };
            part.extend(rows.into_iter().skip(cell.printed.rows));
            count += part.len();
            parts.push(part);
        }
        let mut out: Vec<Line<'static>> = parts.into_iter().rev().flatten().collect();
        let above = out.len().saturating_sub(most);
        out.drain(..above);
        out
    }
}

impl Cell {
    fn new(id: ItemId, item: Item) -> Self {
        Cell {
            id,
            item,
            is_done: false,
            is_held: false,
            codes: CodeCache::default(),
            made: None,
            printed: Printed::default(),
        }
    }

    fn rows(&mut self, columns: usize, item_style: &ItemStyle) -> &[Line<'static>] {
        self.made = self.made.take().filter(|(made_for, _)| *made_for == columns);
        let (_, rows) = self
            .made
            .get_or_insert_with(|| (columns, rows(&self.item, columns, item_style, &mut self.codes)));
        if self.printed.columns != columns {
            self.printed = self.printed.at(columns, rows);
        }
        rows
    }

    /// Hands out the rows up to `end` that were not printed. Returns false if all were.
    fn hand_out(&mut self, end: usize, is_begun: bool, out: &mut Vec<Line<'static>>) -> bool {
        let Some((_, rows)) = &self.made else { return false };
        let from = self.printed.rows;
        if from >= end.min(rows.len()) {
            return false;
        }
        if from == 0 && is_begun {
            out.push(Line::default());
        }
        let rows = &rows[from..end.min(rows.len())];
        self.printed.rows = end;
        self.printed.letters += rows.iter().map(letters).sum::<usize>();
        out.extend(rows.iter().cloned());
        true
    }
}

impl Printed {
    /// Finds what was printed among rows of another width; showing one twice is better than losing one.
    fn at(self, columns: usize, rows: &[Line<'_>]) -> Self {
        let mut found = Printed { columns, ..Printed::default() };
        for row in rows.iter().take(self.rows) {
            let letters = found.letters + letters(row);
            if letters > self.letters {
                break;
            }
            found = Printed { rows: found.rows + 1, letters, columns };
        }
        found
    }
}

/// Counts letters and digits; bars, marks and blanks are others at every width.
fn letters(row: &Line<'_>) -> usize {
    row.spans.iter().flat_map(|span| span.content.chars()).filter(|c| c.is_alphanumeric()).count()
}

#[cfg(test)]
mod tests;
