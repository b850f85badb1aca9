//! One line to be typed.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::{Answer, frame};
use crate::input::LineInput;
use crate::keys::{Action, Input, Keymap, Letters, Screen};
use crate::layout::indented;
use crate::paint;
use crate::theme::{Role, Theme};

const KEYS: &[(Action, &str)] = &[(Action::SelectConfirm, "save"), (Action::SelectCancel, "back")];

/// One line to be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What is asked for.
    pub title: String,
    line: LineInput,
}

impl Prompt {
    /// Asks for a line, starting with a text.
    pub fn new(title: impl Into<String>, text: &str) -> Self {
        Self { title: title.into(), line: LineInput::new(text) }
    }

    /// Returns what was typed so far.
    pub fn text(&self) -> &str {
        self.line.text()
    }

    /// Turns an event of the terminal into what the dialog takes.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        keymap.input(event, &Screen::Line.actions(), Letters::Type)
    }

    /// Takes one input; the answer is trimmed and may be empty.
    pub fn update(&mut self, input: &Input) -> Option<Answer<String>> {
        match input {
            Input::Action(Action::SelectConfirm) => Some(Answer::Given(self.text().trim().to_owned())),
            Input::Action(Action::SelectCancel) => Some(Answer::Cancelled),
            input => {
                self.line.update(input);
                None
            }
        }
    }

    /// Draws the dialog.
    pub fn draw(&self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        let body = frame(theme, keymap, &self.title, KEYS, area, buf);
        let row = Rect { height: body.height.min(1), ..body };
        paint::line(&Line::styled(theme.pick(" › ", " > "), theme.style(Role::Accent)), row, buf);
        self.line.draw(theme, indented(row, 3), buf);
        paint::finish(theme, area, buf);
    }
}
