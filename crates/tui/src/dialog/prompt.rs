//! One line to type.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::{Answer, TextDialog, frame};
use crate::input::one_line;
use crate::keys::{Action, Input, Keymap, Letters, Screen};
use crate::layout::indented;
use crate::paint;
use crate::theme::{Role, Theme};

const KEYS: &[(Action, &str)] = &[(Action::SelectConfirm, "save"), (Action::SelectCancel, "back")];

/// The longest text; a label or a name is not longer.
const MAX_BYTES: usize = 4096;

/// One line to type.
#[derive(Debug)]
pub struct Prompt {
    dialog: TextDialog,
}

impl Prompt {
    /// Asks for a line, starting with a text.
    pub fn new(title: impl Into<String>, text: &str) -> Self {
        Self { dialog: TextDialog::new(title, "", &one_line(text)) }
    }

    /// Returns the text so far.
    pub fn text(&self) -> String {
        self.dialog.text()
    }

    /// Turns an event of the terminal into an input.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        keymap.input(event, &Screen::Line.actions(), Letters::Type)
    }

    /// Takes one input; the answer is trimmed and may be empty.
    pub fn update(&mut self, input: &Input) -> Option<Answer<String>> {
        match input {
            Input::Action(Action::SelectConfirm) => {
                return Some(Answer::Given(self.text().trim().to_owned()));
            }
            Input::Action(Action::SelectCancel) => return Some(Answer::Cancelled),
            Input::Paste(text) if self.text().len() + text.len() <= MAX_BYTES => {
                one_line(text).chars().for_each(|c| drop(self.dialog.update(&Input::Char(c))));
            }
            Input::Paste(_) => {}
            Input::Char(_) | Input::Action(_) => drop(self.dialog.update(input)),
        }
        None
    }

    /// Draws the dialog.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        let body = frame(theme, keymap, &self.dialog.title, KEYS, area, buf);
        let row = Rect { height: body.height.min(1), ..body };
        paint::line(&Line::styled(theme.pick(" › ", " > "), theme.style(Role::Accent)), row, buf);
        self.dialog.draw_text(theme, indented(row, 2), buf);
        paint::finish(theme, area, buf);
    }
}
