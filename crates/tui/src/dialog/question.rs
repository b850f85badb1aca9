//! A question with few answers, below a text or a change to approve. Keys page through what does not fit.

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

/// The most answers that have a number.
const MAX_NUMBERED: usize = 9;
/// The visible rows of the text.
const MAX_ROWS: usize = 10;
/// The visible rows of a change.
const MAX_DIFF_ROWS: usize = 20;
/// The most rows of the text and the change; a note follows if there are more.
const ALL_ROWS: usize = 10_000;
/// The rows that the text keeps on a low screen.
const MIN_ROWS: usize = 2;
/// The rows around the answers: the title and the keys.
const FRAME: usize = 2;
/// The columns before the text.
const INDENT: u16 = 2;

/// A question with few answers.
#[derive(Debug, Clone)]
pub struct Question {
    about: String,
    /// A change to approve, as lines that begin with `+`, `-` or a blank.
    pub(super) diff: String,
    /// The first visible row of the text.
    top: usize,
    /// The number of visible rows, and whether there are more.
    page: usize,
    is_cut: bool,
    list: SelectList,
}

impl Question {
    /// Makes a question. Digits choose an answer; many answers are searched instead.
    pub fn new(title: impl Into<String>, about: impl Into<String>, answers: Vec<Item>) -> Self {
        let list = match answers.len() > MAX_NUMBERED {
            true => SelectList::searchable(title, answers),
            false => SelectList::new(title, answers),
        };
        Question { about: about.into(), diff: String::new(), top: 0, page: MAX_ROWS, is_cut: false, list }
    }

    /// Turns an event of the terminal into an input.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        self.list.input(keymap, event)
    }

    /// Takes one input; returns the number of the answer.
    pub fn update(&mut self, input: &Input) -> Option<Answer<usize>> {
        match input {
            // A paste is no answer.
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

    fn list_height(&self) -> usize {
        usize::from(self.list.height())
    }

    /// Returns the height of the question.
    pub fn height(&self, columns: u16) -> u16 {
        // A change gets more rows than a command.
        let most = if self.diff.is_empty() { MAX_ROWS } else { MAX_DIFF_ROWS };
        (self.about_rows(Theme::plain(), columns).len().min(most) + self.list_height()) as u16
    }

    /// Draws the question.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        let rows = self.about_rows(theme, area.width);
        // One answer shows at least, with the title and the keys.
        let most = usize::from(area.height).saturating_sub(FRAME + 1);
        let free = usize::from(area.height).saturating_sub(self.list_height()).max(MIN_ROWS.min(most));
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

    /// Returns a note about the rows that do not fit, and the key that shows them.
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
