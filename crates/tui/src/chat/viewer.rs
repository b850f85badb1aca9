//! The viewer: the whole path in full, scrollable, on the other screen of the terminal.
//!
//! Reads and wraps only what shows: a path of ten thousand entries opens at its end without being read.

use std::collections::HashMap;

use crossterm::event::Event;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::highlight::CodeCache;
use super::item::{Item, ItemStyle, rows};
use crate::keys::{Action, Input, Keymap, Letters, Screen};
use crate::layout::take_bottom;
use crate::paint;
use crate::theme::Role;

/// How many entries are kept as rows.
const MOST_KEPT: usize = 256;

/// A function that returns the items of the entry at a place of the path.
pub type Entries<'a> = &'a dyn Fn(usize) -> Vec<Item>;

/// The whole path in full.
#[derive(Debug)]
pub struct Viewer {
    item_style: ItemStyle,
    /// The number of entries.
    count: usize,
    kept: HashMap<usize, Vec<Line<'static>>>,
    columns: u16,
    /// The place at the top, and how many of its rows are above the screen.
    top: (usize, usize),
    height: usize,
    /// True before the first draw and while the end shows; the end then stays in view when the size changes.
    is_at_end: bool,
}

impl Viewer {
    /// Opens a path of `count` entries at its end.
    pub fn new(item_style: ItemStyle, count: usize) -> Self {
        Viewer {
            item_style: ItemStyle { is_expanded: true, ..item_style },
            count,
            kept: HashMap::new(),
            columns: 0,
            top: (0, 0),
            height: 1,
            is_at_end: true,
        }
    }

    /// Reads a key.
    pub fn input(&self, keymap: &Keymap, event: &Event) -> Option<Input> {
        let actions = [Screen::Help.actions(), vec![Action::ToolsExpand, Action::ThinkingToggle]].concat();
        keymap.input(event, &actions, Letters::Act)
    }

    /// Takes one input. Returns true if the viewer closes.
    pub fn update(&mut self, input: &Input, entries: Entries<'_>) -> bool {
        let page = self.height.saturating_sub(1).max(1);
        match input {
            Input::Action(Action::SelectUp) | Input::Char('k') => self.up(1, entries),
            Input::Action(Action::SelectDown) | Input::Char('j') => self.down(1, entries),
            Input::Action(Action::SelectPageUp) => self.up(page, entries),
            Input::Action(Action::SelectPageDown) | Input::Char(' ') => self.down(page, entries),
            Input::Action(Action::SelectFirst) | Input::Char('g') => self.top = (0, 0),
            Input::Action(Action::SelectLast) | Input::Char('G') => self.go_to_end(entries),
            Input::Action(Action::ThinkingToggle) => self.toggle_folding(),
            Input::Action(Action::SelectCancel | Action::ToolsExpand) | Input::Char('q') => return true,
            Input::Action(_) | Input::Char(_) | Input::Paste(_) => {}
        }
        false
    }

    fn toggle_folding(&mut self) {
        self.item_style.is_expanded = !self.item_style.is_expanded;
        self.kept.clear();
        self.top.1 = 0;
    }

    fn rows(&mut self, at: usize, entries: Entries<'_>) -> &[Line<'static>] {
        if self.kept.len() > MOST_KEPT {
            self.kept.clear();
        }
        let (columns, item_style) = (usize::from(self.columns), &self.item_style);
        self.kept.entry(at).or_insert_with(|| {
            let mut out = Vec::new();
            for item in entries(at) {
                let rows = rows(&item, columns, item_style, &mut CodeCache::default());
                if !rows.is_empty() {
                    out.extend(rows);
                    out.push(Line::default());
                }
            }
            out
        })
    }

    fn down(&mut self, count: usize, entries: Entries<'_>) {
        let mut left = count;
        while left > 0 && self.top.0 < self.count {
            let here = self.rows(self.top.0, entries).len().saturating_sub(self.top.1);
            if left < here {
                self.top.1 += left;
                break;
            }
            left -= here;
            self.top = (self.top.0 + 1, 0);
        }
        self.not_past_end(entries);
    }

    fn up(&mut self, count: usize, entries: Entries<'_>) {
        let mut left = count;
        loop {
            let step = left.min(self.top.1);
            self.top.1 -= step;
            left -= step;
            if left == 0 || self.top.0 == 0 {
                break;
            }
            self.top.0 -= 1;
            self.top.1 = self.rows(self.top.0, entries).len();
        }
    }

    /// Moves up as far as needed for the screen to be full.
    fn not_past_end(&mut self, entries: Entries<'_>) {
        let mut below = 0;
        let mut at = self.top.0;
        while below < self.height + self.top.1 && at < self.count {
            below += self.rows(at, entries).len();
            at += 1;
        }
        let below = below.saturating_sub(self.top.1);
        if below < self.height {
            self.up(self.height - below, entries);
        }
    }

    fn go_to_end(&mut self, entries: Entries<'_>) {
        self.top = (self.count, 0);
        self.up(self.height, entries);
    }

    /// Draws the viewer over the whole screen.
    pub fn draw(&mut self, keymap: &Keymap, entries: Entries<'_>, area: Rect, buf: &mut Buffer) {
        self.fit(area, entries);
        let theme = self.item_style.theme;
        let mut rows: Vec<Line<'static>> = Vec::new();
        let (mut at, mut skipped) = self.top;
        self.is_at_end = true;
        while rows.len() < self.height && at < self.count {
            let room = self.height - rows.len();
            // Only rows that show are copied: an entry may have very many.
            let below = self.rows(at, entries).get(skipped..).unwrap_or_default();
            let is_cut = below.len() > room;
            rows.extend(below.iter().take(room).cloned());
            self.is_at_end &= !is_cut;
            skipped = 0;
            at += 1;
        }
        self.is_at_end &= at == self.count;
        let mut body = area;
        let foot = take_bottom(&mut body, 1);
        paint::rows(&rows, body, buf);
        let keys = [
            (Action::SelectUp, "up"),
            (Action::SelectPageUp, "page up"),
            (Action::SelectFirst, "start"),
            (Action::SelectLast, "end"),
            (Action::ThinkingToggle, "fold"),
            (Action::SelectCancel, "close"),
        ];
        let place = format!("{}/{} ", at.min(self.count), self.count);
        let place = Line::styled(place, theme.style(Role::Dim));
        paint::keys_and_right(theme, keymap, &keys, &place, foot, buf);
        paint::finish(theme, area, buf);
    }

    fn fit(&mut self, area: Rect, entries: Entries<'_>) {
        let height = usize::from(area.height.saturating_sub(1)).max(1);
        let is_same = self.columns == area.width && self.height == height;
        if self.columns != area.width {
            let before = self.kept.get(&self.top.0).map_or(0, Vec::len);
            self.columns = area.width;
            self.kept.clear();
            if self.top.1 > 0 {
                // About the same text stays at the top.
                self.top.1 = self.top.1 * self.rows(self.top.0, entries).len() / before.max(1);
            }
        }
        self.height = height;
        match self.is_at_end && !is_same {
            true => self.go_to_end(entries),
            false => self.not_past_end(entries),
        }
    }
}

#[cfg(test)]
mod tests;
