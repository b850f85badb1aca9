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

use super::highlight::{CodeCache, Languages};
use super::item::{Item, Look, rows};
use super::markdown::stable_end;

/// How many rows at the end of a growing item may still change.
const RESTLESS: usize = 2;

/// The name of an item that still changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemId(u64);

/// What happened and was not printed yet.
#[derive(Debug)]
pub struct Transcript {
    cells: VecDeque<Cell>,
    look: Look,
    languages: Box<dyn Languages>,
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
    /// How many rows were printed already.
    printed: usize,
    /// Whether the item goes on with the one before it, which was the same text.
    goes_on: bool,
}

impl Transcript {
    /// Makes a transcript of nothing.
    pub fn new(look: Look, languages: impl Languages + 'static) -> Self {
        Transcript { cells: VecDeque::new(), look, languages: Box::new(languages), next: 0, is_begun: false }
    }

    /// Returns how items are drawn.
    pub fn look(&self) -> &Look {
        &self.look
    }

    /// Changes how items are drawn; what was printed stays.
    pub fn set_look(&mut self, look: Look) {
        self.look = look;
        for cell in &mut self.cells {
            cell.made = None;
        }
    }

    /// Adds an item that is done.
    pub fn push(&mut self, item: Item) {
        let id = self.begin(item);
        self.finish(id);
    }

    /// Adds an item that will change.
    pub fn begin(&mut self, item: Item) -> ItemId {
        let id = ItemId(self.next);
        self.next += 1;
        self.cells.push_back(Cell {
            id,
            item,
            is_done: false,
            is_held: false,
            codes: CodeCache::default(),
            made: None,
            printed: 0,
            goes_on: false,
        });
        id
    }

    /// Changes an item.
    pub fn change(&mut self, id: ItemId, change: impl FnOnce(&mut Item)) {
        if let Some(cell) = self.cells.iter_mut().find(|cell| cell.id == id) {
            change(&mut cell.item);
            cell.made = None;
        }
    }

    /// Notes that an item is done.
    pub fn finish(&mut self, id: ItemId) {
        if let Some(cell) = self.cells.iter_mut().find(|cell| cell.id == id) {
            cell.is_done = true;
        }
    }

    /// Keeps an item that somebody draws later: only [`finish`](Self::finish) ends it.
    pub fn hold(&mut self, id: ItemId) {
        if let Some(cell) = self.cells.iter_mut().find(|cell| cell.id == id) {
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

    /// Notes that nothing changes any more, held or not.
    pub fn close(&mut self) {
        self.cells.iter_mut().for_each(|cell| cell.is_done = true);
    }

    /// Tells whether nothing waits to be printed.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Hands out the rows that no longer change; of what grows, those that do not fit into `room` rows.
    pub fn take_done(&mut self, columns: usize, room: usize) -> Vec<Line<'static>> {
        self.split_growing();
        let mut out = Vec::new();
        while let Some(mut cell) = self.cells.pop_front() {
            if !cell.is_done {
                self.cells.push_front(cell);
                break;
            }
            let all = cell.rows(columns, &self.look, &*self.languages).len();
            self.is_begun |= cell.hand_out(all, self.is_begun, &mut out);
        }
        if let Some(cell) = self.cells.front_mut() {
            let rows = cell.rows(columns, &self.look, &*self.languages).len();
            if rows.saturating_sub(cell.printed) > room.max(4)
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
            if cell.is_done || cell.printed > 0 {
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
            let goes_on = std::mem::replace(&mut cell.goes_on, true);
            let id = ItemId(self.next);
            self.next += 1;
            let done = Cell {
                id,
                item: Item::Text(before),
                is_done: true,
                is_held: false,
                codes: CodeCache::default(),
                made: None,
                printed: 0,
                goes_on,
            };
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
            let rows = cell.rows(columns, &self.look, &*self.languages);
            if rows.is_empty() {
                continue;
            }
            let mut part: Vec<Line<'static>> = Vec::new();
            if cell.printed == 0 && (self.is_begun || nth > 0) {
                part.push(Line::default());
            }
            let printed = cell.printed;
            part.extend(cell.rows(columns, &self.look, &*self.languages).iter().skip(printed).cloned());
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
    fn rows(&mut self, columns: usize, look: &Look, languages: &dyn Languages) -> &[Line<'static>] {
        if self.made.as_ref().is_some_and(|(made_for, _)| *made_for != columns) {
            // Rows that were printed had another width; showing one twice is better than losing one.
            let made_for = self.made.as_ref().map_or(columns, |(made_for, _)| *made_for);
            self.printed = self.printed.min(self.printed * made_for / columns.max(1));
            self.made = None;
        }
        let (_, rows) = self
            .made
            .get_or_insert_with(|| (columns, rows(&self.item, columns, look, languages, &mut self.codes)));
        rows
    }

    /// Hands out the rows up to `end` that were not printed; tells whether there were any.
    fn hand_out(&mut self, end: usize, is_begun: bool, out: &mut Vec<Line<'static>>) -> bool {
        let Some((_, rows)) = &self.made else { return false };
        let from = self.printed;
        if from >= end.min(rows.len()) {
            return false;
        }
        if from == 0 && is_begun {
            out.push(Line::default());
        }
        out.extend(rows[from..end.min(rows.len())].iter().cloned());
        self.printed = end;
        true
    }
}

#[cfg(test)]
mod tests;
