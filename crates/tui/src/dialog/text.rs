//! A text of many lines to be typed.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::frame;
use crate::editor::Editor;
use crate::keys::{Action, Input, Keymap, Letters, Screen};
use crate::paint;
use crate::theme::Theme;

const KEYS: &[(Action, &str)] = &[
    (Action::Submit, "done"),
    (Action::NewLine, "new line"),
    (Action::ExternalEditor, "external editor"),
    (Action::SelectCancel, "back"),
];

/// A text of many lines to be typed.
#[derive(Debug)]
pub struct TextDialog {
    /// The title.
    pub title: String,
    hint: String,
    /// Boxed: dialogs are parts of enums with small variants.
    editor: Box<Editor>,
}

/// The answer to a text dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// Done; the text may be empty.
    Done(String),
    /// Continue in an external editor.
    External(String),
    /// Went back; the text so far.
    Cancelled(String),
}

impl TextDialog {
    /// Asks for a text, starting with one; `hint` is visible while the text is empty.
    pub fn new(title: impl Into<String>, hint: impl Into<String>, text: &str) -> Self {
        let mut editor = Box::<Editor>::default();
        editor.set_text(text);
        Self { title: title.into(), hint: hint.into(), editor }
    }

    /// Returns the text so far.
    pub fn text(&self) -> String {
        self.editor.text()
    }

    /// Replaces the text, for instance by one from an external editor.
    pub fn set_text(&mut self, text: &str) {
        self.editor.set_text(text);
    }

    /// Turns an event of the terminal into an input.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        let mut actions = vec![Action::SelectCancel, Action::ExternalEditor];
        actions.extend(Screen::Editor.actions());
        keymap.input(event, &actions, Letters::Type)
    }

    /// Takes one input.
    pub fn update(&mut self, input: &Input) -> Option<Typed> {
        match input {
            Input::Action(Action::SelectCancel) => Some(Typed::Cancelled(self.text())),
            Input::Action(Action::ExternalEditor) => Some(Typed::External(self.text())),
            input => self.editor.update(input).then(|| Typed::Done(self.text())),
        }
    }

    /// Draws the dialog.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        let body = frame(theme, keymap, &self.title, KEYS, area, buf);
        self.draw_text(theme, body, buf);
        paint::finish(theme, area, buf);
    }

    /// Draws only the text and its cursor.
    pub(super) fn draw_text(&mut self, theme: Theme, area: Rect, buf: &mut Buffer) {
        let inner = Rect { x: area.x + area.width.min(1), width: area.width.saturating_sub(2), ..area };
        if inner.is_empty() {
            return;
        }
        let cursor = self.editor.draw(theme, &self.hint, inner, buf);
        let style = ratatui::style::Style::new().add_modifier(Modifier::REVERSED);
        buf.set_style(Rect::new(cursor.x, cursor.y, 1, 1).intersection(inner), style);
    }
}
