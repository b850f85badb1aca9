//! A question with few answers below what it is about: whether a tool may run, what to do with a message.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::dialog::{Answer, Item, SelectList};
use crate::keys::{Input, Keymap};
use crate::paint;
use crate::theme::{Role, Theme};

/// How many rows of what it is about show.
const MOST_ROWS: usize = 10;
/// The rows around the answers: the title and the keys.
const FRAME: usize = 2;

/// A question with few answers.
#[derive(Debug, Clone)]
pub struct Question {
    about: String,
    list: SelectList,
}

impl Question {
    /// Makes a question; digits choose an answer.
    pub fn new(title: impl Into<String>, about: impl Into<String>, answers: Vec<Item>) -> Self {
        Question { about: about.into(), list: SelectList::new(title, answers) }
    }

    /// Turns an event of the terminal into what the question takes.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        self.list.input(keymap, event)
    }

    /// Takes one input; gives the number of the answer.
    pub fn update(&mut self, input: &Input) -> Option<Answer<usize>> {
        // What is pasted answers nothing.
        if matches!(input, Input::Paste(_)) { None } else { self.list.update(input) }
    }

    fn about_rows(&self, columns: u16) -> Vec<String> {
        if self.about.is_empty() {
            return Vec::new();
        }
        paint::wrap(&self.about, usize::from(columns).saturating_sub(2).max(4), MOST_ROWS)
    }

    fn list_height(&self) -> usize {
        self.list.items().len() + FRAME
    }

    /// Returns how many rows the question wants.
    pub fn height(&self, columns: u16) -> u16 {
        (self.about_rows(columns).len() + self.list_height()) as u16
    }

    /// Draws the question.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        let list = (self.list_height() as u16).min(area.height);
        let about = Rect { height: area.height - list, ..area };
        for (text, row) in self.about_rows(area.width).into_iter().zip(about.rows()) {
            paint::line(&Line::styled(format!("  {text}"), theme.style(Role::Text)), row, buf);
        }
        self.list.draw(theme, keymap, Rect { y: about.bottom(), height: list, ..area }, buf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen;

    fn question() -> Question {
        let answers = vec![
            Item::new("Yes", "this time"),
            Item::new("Always", "bash(cargo *) in this session"),
            Item::new("No", "tell the model"),
        ];
        Question::new("May bash run this?", "cargo build --release", answers)
    }

    #[test]
    fn a_permission_shows_what_would_happen() {
        for (columns, rows) in screen::SIZES {
            let mut question = question();
            let height = question.height(columns).min(rows);
            let shown = screen::text(columns, height, |area, buf| {
                question.draw(Theme::dark(), &Keymap::default(), area, buf);
            });
            insta::assert_snapshot!(format!("permission_{columns}x{rows}"), shown);
        }
    }

    #[test]
    fn a_digit_answers_and_a_paste_does_not() {
        assert_eq!(question().update(&Input::Char('2')), Some(Answer::Given(1)));
        assert_eq!(question().update(&Input::Paste("1".into())), None);
    }
}
