//! Help: an overlay that lists the current key bindings of a part of the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::keys::{Action, Group, Input, Keymap, Letters, Screen};
use crate::layout::framed;
use crate::paint;
use crate::theme::{Role, Theme};
use crate::width::{cut, pad, width};

/// Below this width only the first key of an action is named.
const NARROW: usize = 60;

/// The overlay, with the number of its first visible line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Help {
    top: usize,
}

impl Help {
    /// Turns an event of the terminal into an input.
    pub fn input(&self, keymap: &Keymap, event: &crossterm::event::Event) -> Option<Input> {
        keymap.input(event, &Screen::Help.actions(), Letters::Act)
    }

    /// Takes one input; returns true if the overlay closes.
    pub fn update(&mut self, input: &Input) -> bool {
        match input {
            Input::Action(Action::SelectUp) => self.top = self.top.saturating_sub(1),
            Input::Action(Action::SelectPageUp) => self.top = self.top.saturating_sub(10),
            Input::Action(Action::SelectDown) => self.top += 1,
            Input::Action(Action::SelectPageDown) => self.top += 10,
            Input::Action(Action::SelectFirst) => self.top = 0,
            Input::Action(Action::SelectLast) => self.top = usize::MAX,
            Input::Action(_) | Input::Char(_) => return true,
            Input::Paste(_) => {}
        }
        false
    }

    /// Draws the overlay over an area.
    pub fn draw(
        &mut self,
        theme: Theme,
        keymap: &Keymap,
        title: &str,
        groups: &[Group],
        area: Rect,
        buf: &mut Buffer,
    ) {
        paint::wipe(area, buf);
        let [head, body, foot] = framed(area);
        paint::titled_rule(theme, title, head, buf);
        let lines = lines(theme, keymap, groups, usize::from(area.width));
        // Written back, so that the way up begins at the end and not beyond it.
        self.top = self.top.min(lines.len().saturating_sub(usize::from(body.height)));
        let more = lines.len().saturating_sub(self.top + usize::from(body.height));
        paint::lines(lines.into_iter().skip(self.top), body, buf);
        let more = if more > 0 { format!("{more} more below  ") } else { String::new() };
        let keys = [(Action::SelectDown, "scroll"), (Action::SelectCancel, "close")];
        let right = Line::styled(more, theme.style(Role::Dim));
        paint::keys_and_right(theme, keymap, &keys, &right, foot, buf);
        paint::finish(theme, area, buf);
    }
}

/// One line per action that has a key.
fn lines(theme: Theme, keymap: &Keymap, groups: &[Group], columns: usize) -> Vec<Line<'static>> {
    let names = |action: &Action| {
        let first = || keymap.name(*action).unwrap_or_default();
        paint::ascii_arrows(theme, if columns < NARROW { first() } else { keymap.names(*action) })
    };
    let keys = groups.iter().flat_map(|(_, actions)| actions.iter().map(names));
    let longest = keys.map(|keys| width(&keys)).max().unwrap_or(0).min(columns / 3);
    let mut lines = Vec::new();
    let mut last_title = "";
    for (title, actions) in groups {
        let bound: Vec<&Action> = actions.iter().filter(|action| !keymap.keys(**action).is_empty()).collect();
        if !bound.is_empty() && last_title != *title {
            if !lines.is_empty() {
                lines.push(Line::default());
            }
            lines.push(Line::styled(format!("  {title}"), theme.style(Role::Title)));
            last_title = title;
        }
        for action in bound {
            lines.push(Line::from(vec![
                Span::styled(
                    format!("  {}  ", pad(&cut(&names(action), longest), longest, false)),
                    theme.style(Role::Key),
                ),
                Span::styled(action.what(), theme.style(Role::Text)),
            ]));
        }
    }
    lines
}

#[cfg(test)]
mod tests;
