//! Rows of extensions around the editor: widgets above and below it, another footer, a line of statuses.

use ratatui::text::Line;

/// How many rows an extension may take in one place.
const MOST: usize = 12;

/// Rows of extensions around the editor.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extras {
    /// Above the editor.
    pub above: Vec<Line<'static>>,
    /// Below the editor.
    pub below: Vec<Line<'static>>,
    /// In the place of the footer.
    pub footer: Option<Vec<Line<'static>>>,
    /// Below the footer.
    pub status: Option<Line<'static>>,
}

impl Extras {
    /// Returns how many rows stand above the editor in a terminal of so many rows.
    pub(crate) fn above(&self, rows: u16) -> u16 {
        height(&self.above, rows)
    }

    /// Returns how many rows stand below the editor, without the footer.
    pub(crate) fn below(&self, rows: u16) -> u16 {
        height(&self.below, rows)
    }

    /// Returns how many rows the footer takes, which usually takes `usual`, with the line of statuses.
    pub(crate) fn footer(&self, usual: u16, rows: u16) -> u16 {
        let footer = self.footer.as_ref().map_or(usual, |lines| height(lines, rows));
        footer + u16::from(self.status.is_some())
    }
}

/// A quarter of the screen at most: the conversation comes first.
fn height(lines: &[Line<'static>], rows: u16) -> u16 {
    (lines.len().min(MOST) as u16).min(rows / 4)
}
