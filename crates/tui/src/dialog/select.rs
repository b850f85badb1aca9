//! A list to choose from; a long one can be searched.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::{Answer, frame};
use crate::input::{changed_query, has_words, stepped};
use crate::keys::{Action, Input, Keymap, Letters, Screen};
use crate::layout::take_rows;
use crate::paint::{self, span};
use crate::theme::{Role, Theme};
use crate::width::{cut, pad, width};

const KEYS: &[(Action, &str)] =
    &[(Action::SelectConfirm, "choose"), (Action::SelectCancel, "back"), (Action::SelectDown, "move")];

/// One thing to choose.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Item {
    /// The text.
    pub text: String,
    /// A short explanation.
    pub detail: String,
}

/// A list to choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectList {
    /// The title.
    pub title: String,
    items: Vec<Item>,
    /// The items that the query lets through.
    shown: Vec<usize>,
    cursor: usize,
    /// The query; a list without one is not searchable, and digits choose.
    query: Option<String>,
    page: usize,
    /// The keys in the last row, and what they do.
    pub(crate) keys: &'static [(Action, &'static str)],
}

impl Item {
    /// Makes an item.
    pub fn new(text: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { text: text.into(), detail: detail.into() }
    }
}

impl SelectList {
    /// Makes a short list, whose items have numbers that choose them.
    pub fn new(title: impl Into<String>, items: Vec<Item>) -> Self {
        let shown = (0..items.len()).collect();
        Self { title: title.into(), items, shown, cursor: 0, query: None, page: 10, keys: KEYS }
    }

    /// Makes a list that is searched by typing.
    pub fn searchable(title: impl Into<String>, items: Vec<Item>) -> Self {
        Self { query: Some(String::new()), ..Self::new(title, items) }
    }

    /// Puts the cursor on an item.
    #[must_use]
    pub fn starting_at(mut self, item: usize) -> Self {
        self.cursor = self.shown.iter().position(|shown| *shown == item).unwrap_or(0);
        self
    }

    /// Returns the items.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Returns the number of the item under the cursor.
    pub fn selected(&self) -> Option<usize> {
        self.shown.get(self.cursor).copied()
    }

    /// Turns an event of the terminal into an input.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        let letters = if self.query.is_some() { Letters::Type } else { Letters::Act };
        keymap.input(event, &Screen::List.actions(), letters)
    }

    /// Takes one input; the answer is the number of an item.
    pub fn update(&mut self, input: &Input) -> Option<Answer<usize>> {
        let last = self.shown.len().saturating_sub(1);
        match input {
            Input::Action(Action::SelectConfirm) => return self.selected().map(Answer::Given),
            Input::Action(Action::SelectCancel) => return self.cancel(),
            Input::Char(c) if self.query.is_none() => return self.choose_number(*c),
            Input::Action(action) => match stepped(*action, self.cursor, last, self.page) {
                Some(to) => self.cursor = to,
                None => self.search(input),
            },
            Input::Char(_) | Input::Paste(_) => self.search(input),
        }
        None
    }

    /// Clears the query; without one closes the list.
    fn cancel(&mut self) -> Option<Answer<usize>> {
        match &mut self.query {
            Some(query) if !query.is_empty() => {
                query.clear();
                self.filter();
                None
            }
            _ => Some(Answer::Cancelled),
        }
    }

    fn choose_number(&mut self, c: char) -> Option<Answer<usize>> {
        let number = (c.to_digit(10)? as usize).checked_sub(1).filter(|number| *number < self.items.len())?;
        self.cursor = number;
        Some(Answer::Given(number))
    }

    fn search(&mut self, input: &Input) {
        if let Some(query) = self.query.as_deref().and_then(|query| changed_query(query, input)) {
            self.query = Some(query);
            self.filter();
        }
    }

    fn filter(&mut self) {
        let kept = self.selected();
        let query = self.query.clone().unwrap_or_default();
        let fits = |item: &Item| has_words(&format!("{} {}", item.text, item.detail), &query);
        self.shown = (0..self.items.len()).filter(|at| fits(&self.items[*at])).collect();
        self.cursor = self.shown.iter().position(|at| Some(*at) == kept).unwrap_or(0);
    }

    /// Returns the height of the list.
    pub fn height(&self) -> u16 {
        let search = usize::from(self.query.is_some());
        u16::try_from(self.items.len().max(1) + 2 + search).unwrap_or(u16::MAX)
    }

    /// Draws the list.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        let mut body = frame(theme, keymap, &self.title, self.keys, area, buf);
        if let Some(query) = &self.query {
            paint::line(&paint::query(theme, query, "type to search"), take_rows(&mut body, 1), buf);
        }
        self.page = usize::from(body.height).max(1);
        self.draw_items(theme, body, buf);
        paint::finish(theme, area, buf);
    }

    /// Draws only the items.
    pub(crate) fn draw_items(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        if self.shown.is_empty() {
            paint::line(&Line::styled("  nothing found", theme.style(Role::Muted)), area, buf);
            return;
        }
        let longest = self.items.iter().map(|item| width(&item.text)).max().unwrap_or(0);
        let longest = longest.min(usize::from(area.width) * 3 / 5);
        paint::list(theme, self.shown.len(), self.cursor, area, buf, |at, is_here| {
            self.line(theme, self.shown[at], is_here, longest)
        });
    }

    fn line(&self, theme: Theme, item: usize, here: bool, longest: usize) -> Line<'static> {
        let number = if self.query.is_none() { format!("{} ", item + 1) } else { String::new() };
        let Item { text, detail } = &self.items[item];
        let text = crate::clean::clean(text);
        let bold = if here { Modifier::BOLD } else { Modifier::empty() };
        Line::from(vec![
            paint::cursor(theme, here),
            Span::styled(number, theme.style(Role::Dim)),
            Span::styled(pad(&cut(&text, longest), longest, false), Style::new().add_modifier(bold)),
            span(&format!("  {detail}"), theme.style(Role::Muted)),
        ])
    }
}
