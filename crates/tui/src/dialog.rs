//! Dialogs: choose from a list, say yes or no, type a line or a text, review what is about to be written.
//!
//! Each is state, update and draw. A dialog fills the area it is given: a rule with its title, its body, its keys.

mod confirm;
mod prompt;
mod review;
mod select;
mod text;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::help::rows;
use crate::keys::{Action, Keymap};
use crate::paint;
use crate::theme::Theme;

pub use confirm::Confirm;
pub use prompt::Prompt;
pub use review::{Review, ReviewKind, ReviewText, Reviewed};
pub use select::{Item, SelectList};
pub use text::{TextDialog, Typed};

/// How a dialog ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    /// The person answered.
    Given(T),
    /// The person went back.
    Cancelled,
}

/// Draws what all dialogs share and returns where the body goes.
fn frame(
    theme: Theme,
    keymap: &Keymap,
    title: &str,
    keys: &[(Action, &str)],
    area: Rect,
    buf: &mut Buffer,
) -> Rect {
    paint::wipe(area, buf);
    let [head, body, foot] = rows(area);
    paint::titled_rule(theme, title, head, buf);
    paint::line(&paint::keys_line(theme, keymap, keys, usize::from(area.width)), foot, buf);
    body
}

/// Takes rows from the top of an area.
pub(crate) fn take_rows(area: &mut Rect, rows: usize) -> Rect {
    let height = area.height.min(u16::try_from(rows).unwrap_or(u16::MAX));
    let taken = Rect { height, ..*area };
    area.y += height;
    area.height -= height;
    taken
}

#[cfg(test)]
mod tests;
