//! Dialogs: choose from a list, type a line or a text, review a change before it is written.
//!
//! Each is state, update and draw. A dialog fills the area it is given: a rule with its title, its body, its keys.

mod approval;
mod prompt;
mod question;
mod review;
mod select;
mod text;
mod answer_delay;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::keys::{Action, Keymap};
use crate::layout::framed;
use crate::paint;
use crate::theme::Theme;

pub use answer_delay::{AnswerDelay, CALM};
pub use approval::{Approval, Decided};
pub use prompt::Prompt;
pub use question::Question;
pub use review::{Review, ReviewKind, ReviewText, Reviewed};
pub use select::{Item, SelectList};
pub use text::{TextDialog, Typed};

/// How a dialog ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    /// The user answered.
    Given(T),
    /// The user cancelled.
    Cancelled,
}

/// Draws the title and the keys of a dialog; returns the area of its body.
pub(crate) fn frame(
    theme: Theme,
    keymap: &Keymap,
    title: &str,
    keys: &[(Action, &str)],
    area: Rect,
    buf: &mut Buffer,
) -> Rect {
    paint::wipe(area, buf);
    let [head, body, foot] = framed(area);
    paint::titled_rule(theme, title, head, buf);
    paint::line(&paint::keys_line(theme, keymap, keys, usize::from(area.width)), foot, buf);
    body
}

#[cfg(test)]
mod tests;
