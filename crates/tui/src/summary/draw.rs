//! Draws the summary flow. Reads state, writes cells, decides nothing.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{GROUPS, Stage, SummaryFlow};
use crate::keys::{Action, Keymap};
use crate::layout::{framed, take_rows};
use crate::paint::{self, span};
use crate::spinner;
use crate::theme::{Role, Theme};

const KEYS: &[(Action, &str)] = &[
    (Action::SelectConfirm, "choose (or 1-5)"),
    (Action::SelectCancel, "back"),
    (Action::SummaryRemember, "remember"),
    (Action::SummaryLabel, "label"),
    (Action::Help, "keys"),
];

const LABEL_KEYS: &[(Action, &str)] = &[(Action::SelectConfirm, "keep"), (Action::SelectCancel, "no label")];

impl SummaryFlow {
    /// Returns how many rows the flow wants.
    pub fn height(&self) -> u16 {
        match self.stage {
            Stage::Ask | Stage::Label | Stage::Focus(_) => 10 + u16::from(self.trouble.is_some()),
            Stage::Note(_) => 3,
            Stage::Help(_) => 12,
            Stage::Run { .. } => 1,
            Stage::Closed => 0,
        }
    }

    /// Draws the flow; `beat` moves the sign that a summary is being made.
    pub fn draw(&mut self, theme: Theme, keymap: &Keymap, beat: usize, area: Rect, buf: &mut Buffer) {
        match &mut self.stage {
            Stage::Focus(dialog) => dialog.draw(theme, keymap, area, buf),
            Stage::Note(prompt) => prompt.draw(theme, keymap, area, buf),
            Stage::Help(help) => help.draw(theme, keymap, "Keys", GROUPS, area, buf),
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
            Stage::Ask | Stage::Label => self.draw_question(theme, keymap, area, buf),
            Stage::Closed => {}
        }
    }

    fn draw_question(&self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        paint::wipe(area, buf);
        let [head, mut body, foot] = framed(area);
        let columns = usize::from(area.width);
        paint::titled_rule(theme, &format!("Leaving branch \"{}\"", self.leaving.branch), head, buf);
        let figures = Line::from(span(&format!(" {}", self.leaving.figures()), theme.style(Role::Muted)));
        paint::line(&paint::shorten(figures, columns), take_rows(&mut body, 1), buf);
        if let Some(trouble) = &self.trouble {
            let text = format!(" {} {trouble}", theme.pick("✗", "x"));
            let line = Line::from(span(&text, theme.style(Role::Error)));
            paint::line(&paint::shorten(line, columns), take_rows(&mut body, 1), buf);
        }
        let options = take_rows(&mut body, self.options.items().len());
        self.options.draw_items(theme, options, buf);
        self.draw_remember(theme, take_rows(&mut body, 1), buf);
        self.draw_label(theme, take_rows(&mut body, 1), buf);
        let keys = if matches!(self.stage, Stage::Label) { LABEL_KEYS } else { KEYS };
        paint::line(&paint::keys_line(theme, keymap, keys, columns), foot, buf);
        paint::finish(theme, area, buf);
    }

    fn draw_remember(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        let (mark, role) = if self.remember { ("[x]", Role::Accent) } else { ("[ ]", Role::Muted) };
        let text = format!(" {mark} do the same from now on, without asking");
        let line = paint::shorten(Line::styled(text, theme.style(role)), usize::from(area.width));
        paint::line(&line, area, buf);
    }

    fn draw_label(&self, theme: Theme, area: Rect, buf: &mut Buffer) {
        let ask = " label: ";
        let typing = matches!(self.stage, Stage::Label);
        let role = if typing { Role::Warning } else { Role::Muted };
        paint::line(&Line::styled(ask, theme.style(role)), area, buf);
        let taken = (ask.len() as u16).min(area.width);
        let rest = Rect { x: area.x + taken, width: area.width - taken, ..area };
        match (typing, self.label.text()) {
            (true, _) => self.label.draw(theme, rest, buf),
            (false, "") => paint::line(&Line::styled("none", theme.style(Role::Dim)), rest, buf),
            (false, label) => paint::line(
                &Line::from(vec![Span::raw(""), span(label, theme.style(Role::Warning))]),
                rest,
                buf,
            ),
        }
    }
}
