//! Questions that come while somebody types: they wait for a pause, and keys meant for the editor do not answer them.

use offshoot_tui::crossterm::event::{Event, KeyEventKind};
use offshoot_tui::dialog::{CALM, Unasked};
use offshoot_tui::keys::Action;

use super::front::Front;

impl Front<'_> {
    /// Tells whether a message is being typed just now; a question comes at the next pause.
    pub(super) fn is_being_typed(&self) -> bool {
        !self.chat.editor.is_blank() && self.now().saturating_sub(self.typed_at) < CALM
    }

    /// Tells whether a question waits for a pause, or for the time from which on it takes an answer.
    pub(super) fn waits_for_calm(&self) -> bool {
        let is_early = self.unasked.is_some_and(|unasked| !unasked.is_over(self.now()));
        is_early || self.is_being_typed() && !(self.asked.is_empty() && self.guests.asked.is_empty())
    }

    /// Notes that a question opened by itself.
    pub(super) fn opened_unasked(&mut self) {
        self.unasked = Some(Unasked::new(self.now()));
    }

    /// Tells whether an event comes too early for the view that opened by itself. The way out is always open.
    pub(super) fn is_too_early(&mut self, event: &Event) -> bool {
        let is_key = match event {
            Event::Key(key) => {
                let leaves = self.keymap.action(key, &[Action::SelectCancel]).is_some();
                key.kind != KeyEventKind::Release && !leaves
            }
            Event::Paste(_) => true,
            Event::FocusGained | Event::FocusLost | Event::Mouse(_) | Event::Resize(..) => false,
        };
        let now = self.now();
        is_key && self.unasked.as_mut().is_some_and(|unasked| !unasked.takes_key(now))
    }
}
