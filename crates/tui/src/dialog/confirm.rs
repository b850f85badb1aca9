//! A question that is answered with yes or no.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Answer, frame};
use crate::keys::{Action, Input, Keymap, Letters};
use crate::layout::indented;
use crate::paint;
use crate::theme::{Role, Theme};
use crate::wrap::short_rows;

const ACTIONS: &[Action] = &[Action::SelectConfirm, Action::SelectCancel];
const KEYS: &[(Action, &str)] = &[(Action::SelectConfirm, "yes (or y)"), (Action::SelectCancel, "no (or n)")];

/// A question that is answered with yes or no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirm {
    /// What is asked.
    pub question: String,
    /// What a person should know before answering.
    pub detail: String,
}

impl Confirm {
    /// Turns an event of the terminal into what the dialog takes.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        keymap.input(event, ACTIONS, Letters::Act)
    }

    /// Takes one input; all other keys are ignored.
    pub fn update(&mut self, input: &Input) -> Option<Answer<()>> {
        match input {
            Input::Action(Action::SelectConfirm) | Input::Char('y' | 'Y') => Some(Answer::Given(())),
            Input::Action(Action::SelectCancel) | Input::Char('n' | 'N') => Some(Answer::Cancelled),
            Input::Action(_) | Input::Char(_) | Input::Paste(_) => None,
        }
    }

    /// Draws the dialog.
    pub fn draw(&self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        let body = frame(theme, keymap, &self.question, KEYS, area, buf);
        let columns = usize::from(body.width.saturating_sub(2));
        let rows = short_rows(&self.detail, theme.style(Role::Text), columns, usize::from(body.height));
        for (row, y) in rows.iter().zip(body.top()..body.bottom()) {
            paint::line(row, indented(Rect { y, height: 1, ..body }, 1), buf);
        }
        paint::finish(theme, area, buf);
    }
}
