//! Draws the summary flow. Reads state, writes cells, decides nothing.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::{Stage, SummaryFlow};
use crate::dialog::frame;
use crate::keys::{Action, Keymap};
use crate::layout::take_rows;
use crate::paint::{self, span};
use crate::spinner;
use crate::theme::{Role, Theme};

const KEYS: &[(Action, &str)] = &[
    (Action::SelectConfirm, "choose (or 1-5)"),
    (Action::SelectCancel, "back"),
    (Action::SummaryRemember, "remember"),
    (Action::SummaryLabel, "label"),
];

impl SummaryFlow {
    /// Returns how many rows the flow wants.
    pub fn height(&self) -> u16 {
        match self.stage {
            Stage::Ask | Stage::Focus(_) => 10 + u16::from(self.failure.is_some()),
            Stage::Note(_) | Stage::Label(_) => 3,
            Stage::Run { .. } => 1,
            Stage::Closed => 0,
        }
    }

    /// Draws the flow; `beat` moves the sign that a summary is being made.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, beat: usize, area: Rect, buf: &mut Buffer) {
        match &mut self.stage {
            Stage::Focus(dialog) => dialog.draw(theme, keymap, area, buf),
            Stage::Note(prompt) | Stage::Label(prompt) => prompt.draw(theme, keymap, area, buf),
            Stage::Run { with_model, aborting } => {
                let text = match (with_model, aborting) {
                    (_, true) => "Stopping...".to_owned(),
                    (false, false) => "Moving...".to_owned(),
                    (true, false) => {
                        let key = keymap.name(Action::SelectCancel).unwrap_or_default();
                        format!("Summarizing branch... ({key} to cancel)")
                    }
                };
                paint::wipe(area, buf);
                let line = Line::styled(
                    format!(" {}", spinner::text(theme, beat, &text)),
                    theme.style(Role::Accent),
                );
                paint::line(&line, area, buf);
                paint::finish(theme, area, buf);
            }
            Stage::Ask => self.draw_question(theme, keymap, area, buf),
            Stage::Closed => {}
        }
    }

    fn draw_question(&self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        let title = format!("Leaving branch \"{}\"", self.leaving.branch);
        let mut body = frame(theme, keymap, &title, KEYS, area, buf);
        let mut line = |text: String, role: Role, body: &mut Rect| {
            paint::lines([Line::from(span(&text, theme.style(role)))], take_rows(body, 1), buf);
        };
        line(format!(" {}", self.leaving.figures()), Role::Muted, &mut body);
        if let Some(failure) = &self.failure {
            line(format!(" {} {failure}", theme.pick("✗", "x")), Role::Error, &mut body);
        }
        let options = take_rows(&mut body, self.options.items().len() as u16);
        let (mark, role) = if self.remember { ("[x]", Role::Accent) } else { ("[ ]", Role::Muted) };
        line(format!(" {mark} do the same from now on, without asking"), role, &mut body);
        let (label, role) = match self.label.as_str() {
            "" => ("none", Role::Muted),
            label => (label, Role::Warning),
        };
        line(format!(" label: {label}"), role, &mut body);
        self.options.draw_items(theme, options, buf);
        paint::finish(theme, area, buf);
    }
}
