//! A question with few answers below what it is about: whether a tool may run, what to do with a message.
//!
//! All of the text and of the change to approve can be reached: a row says how much does not fit, and keys page through it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Answer, Item, SelectList};
use crate::clean::clean_lines;
use crate::keys::{Action, Input, Keymap};
use crate::layout::indented;
use crate::numbers::count;
use crate::paint;
use crate::theme::{Role, Theme};
use crate::wrap::{Margin, short_rows, wrap};

/// How many rows of what it is about show at a time.
const MOST_ROWS: usize = 10;
/// How many rows of a change show at a time.
const MOST_DIFF_ROWS: usize = 20;
/// How many rows there are at the most; the last one says if there are more.
const ALL_ROWS: usize = 10_000;
/// How many rows what it is about keeps on a low screen.
const FEWEST_ROWS: usize = 2;
/// The rows around the answers: the title and the keys.
const FRAME: usize = 2;
/// The columns before what it is about.
const INDENT: u16 = 2;

/// A question with few answers.
#[derive(Debug, Clone)]
pub struct Question {
    about: String,
    /// A change to approve, as lines that begin with `+`, `-` or a blank.
    diff: String,
    /// The first row of what it is about that shows.
    top: usize,
    /// How many rows of it show, and whether that is not all.
    page: usize,
    is_cut: bool,
    list: SelectList,
}

impl Question {
    /// Makes a question; digits choose an answer.
    pub fn new(title: impl Into<String>, about: impl Into<String>, answers: Vec<Item>) -> Self {
        let list = SelectList::new(title, answers);
        Question { about: about.into(), diff: String::new(), top: 0, page: MOST_ROWS, is_cut: false, list }
    }

    /// Shows a change below what the question is about.
    #[must_use]
    pub fn with_diff(mut self, diff: impl Into<String>) -> Self {
        self.diff = diff.into();
        self
    }

    /// Turns an event of the terminal into what the question takes.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        self.list.input(keymap, event)
    }

    /// Takes one input; gives the number of the answer.
    pub fn update(&mut self, input: &Input) -> Option<Answer<usize>> {
        match input {
            // What is pasted answers nothing.
            Input::Paste(_) => None,
            Input::Action(Action::SelectPageUp) if self.is_cut => {
                self.top = self.top.saturating_sub(self.page);
                None
            }
            Input::Action(Action::SelectPageDown) if self.is_cut => {
                self.top += self.page;
                None
            }
            Input::Action(_) | Input::Char(_) => self.list.update(input),
        }
    }

    fn about_rows(&self, theme: Theme, columns: u16) -> Vec<Line<'static>> {
        let columns = usize::from(columns).saturating_sub(INDENT.into()).max(4);
        let mut rows = match self.about.is_empty() {
            true => Vec::new(),
            false => short_rows(&self.about, theme.style(Role::Text), columns, ALL_ROWS),
        };
        for line in clean_lines(&self.diff).filter(|_| !self.diff.is_empty()) {
            if rows.len() >= ALL_ROWS {
                let note = "… the rest of the change is too long to be shown";
                rows.push(Line::styled(note, theme.style(Role::Warning)));
                break;
            }
            let style = theme.style(Role::of_diff(&line));
            wrap(&[Span::styled(line.into_owned(), style)], columns, &Margin::default(), &mut rows);
        }
        rows
    }

    /// How many rows show at a time: a change gets more than a command.
    fn most_rows(&self) -> usize {
        if self.diff.is_empty() { MOST_ROWS } else { MOST_DIFF_ROWS }
    }

    fn list_height(&self) -> usize {
        self.list.items().len() + FRAME
    }

    /// Returns how many rows the question wants.
    pub fn height(&self, columns: u16) -> u16 {
        (self.about_rows(Theme::plain(), columns).len().min(self.most_rows()) + self.list_height()) as u16
    }

    /// Draws the question.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        let rows = self.about_rows(theme, area.width);
        // One answer shows at least, with the title and the keys.
        let most = usize::from(area.height).saturating_sub(FRAME + 1);
        let free = usize::from(area.height).saturating_sub(self.list_height()).max(FEWEST_ROWS.min(most));
        let about = Rect { height: rows.len().min(free) as u16, ..area };
        self.draw_about(theme, keymap, &rows, about, buf);
        let list = Rect { y: about.bottom(), height: area.height - about.height, ..area };
        self.list.draw(theme, keymap, list, buf);
    }

    fn draw_about(
        &mut self,
        theme: Theme,
        keymap: &Keymap,
        rows: &[Line<'static>],
        area: Rect,
        buf: &mut Buffer,
    ) {
        let height = usize::from(area.height);
        self.is_cut = rows.len() > height;
        self.page = height.saturating_sub(usize::from(self.is_cut));
        self.top = self.top.min(rows.len() - self.page.min(rows.len()));
        let shown = rows.iter().skip(self.top).take(self.page);
        for (line, row) in shown.zip(area.rows()) {
            paint::line(line, indented(row, INDENT), buf);
        }
        if self.is_cut
            && let Some(row) = area.rows().next_back()
        {
            let line = Line::styled(self.missing(keymap, rows.len()), theme.style(Role::Warning));
            paint::line(&line, row, buf);
        }
        paint::finish(theme, area, buf);
    }

    /// Says how much does not show, and how to get there.
    fn missing(&self, keymap: &Keymap, rows: usize) -> String {
        let below = rows - self.top - self.page;
        let (rows, place, action) = match below {
            0 => (self.top, "above", Action::SelectPageUp),
            _ => (below, "below", Action::SelectPageDown),
        };
        let key = keymap.name(action).map(|key| format!(" · {key}")).unwrap_or_default();
        format!("  … {} {place}{key}", count(rows, "more row"))
    }
}

#[cfg(test)]
mod tests;
