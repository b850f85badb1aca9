//! Questions that open by themselves: keys for the previous view must not answer them.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::keys::{Action, Keymap};
use crate::layout::framed;
use crate::paint;
use crate::theme::{Role, Theme};

/// The pause without keys after which a question takes answers.
pub const CALM: Duration = Duration::from_millis(500);

/// The time in which a question that opened by itself takes no answer. Each early key restarts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerDelay {
    calm_since: Duration,
}

impl AnswerDelay {
    /// Starts when the question opens; times have any common origin.
    pub fn new(now: Duration) -> Self {
        Self { calm_since: now }
    }

    /// Returns true if keys answer the question.
    pub fn is_over(self, now: Duration) -> bool {
        now.saturating_sub(self.calm_since) >= CALM
    }

    /// Returns true if a key that comes now answers the question.
    pub fn takes_key(&mut self, now: Duration) -> bool {
        let is_over = self.is_over(now);
        if !is_over {
            self.calm_since = now;
        }
        is_over
    }

    /// Covers the keys of a question: only cancel works already.
    pub fn draw(self, theme: Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        let [.., foot] = framed(area);
        paint::wipe(foot, buf);
        let right = Line::styled("keys answer in a moment ", theme.style(Role::Dim));
        paint::keys_and_right(theme, keymap, &[(Action::SelectCancel, "back")], &right, foot, buf);
        paint::finish(theme, foot, buf);
    }
}

#[cfg(test)]
mod tests;
