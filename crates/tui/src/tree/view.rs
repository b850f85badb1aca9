//! The visible part of the selector: which rows, how far to the right, which lines of the preview.
//!
//! Made again before each draw; only the entries of visible rows are read.

use ratatui::layout::Rect;
use ratatui::text::Line;
use session_tree::{Node, Session};
use session_view::{Fold, OutlineRow};

use super::{Mode, TreeSelector, preview};
use crate::layout::{take_bottom, take_rows};
use crate::theme::Theme;
use crate::time::Local;

/// From this width on the preview is beside the list.
const WIDE: u16 = 100;
/// The rows around the list: title, query, rule, counter, keys.
const CHROME: u16 = 5;
/// The smallest list that makes room for a preview below it.
const MIN_ROWS: u16 = 5;
/// The most columns of guide lines that stay before the text of the selected row.
const BEFORE_TEXT: usize = 12;

/// The visible part of the selector.
#[derive(Debug, Default)]
pub(super) struct View {
    pub(super) areas: Areas,
    /// The number of the first visible row.
    pub(super) first: usize,
    pub(super) rows: Vec<OutlineRow>,
    /// The reason why the rows cannot be read.
    pub(super) error: Option<String>,
    /// The number of columns that are scrolled out to the left.
    pub(super) pan: usize,
    pub(super) local: Option<Local>,
    pub(super) preview: Option<Preview>,
}

/// The lines of the preview of an entry in some width.
#[derive(Debug)]
pub(super) struct Preview {
    node: Node,
    width: u16,
    theme: Theme,
    query: String,
    pub(super) lines: Vec<Line<'static>>,
}

/// The parts of the screen.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Areas {
    pub(super) title: Rect,
    pub(super) query: Rect,
    pub(super) rule: Rect,
    pub(super) list: Rect,
    /// The preview, beside the list or below it.
    pub(super) preview: Option<Pane>,
    /// The counter and the keys, or the line for a label.
    pub(super) foot: Rect,
}

/// A pane and the line that separates it from the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pane {
    pub(super) area: Rect,
    pub(super) rule: Rect,
    pub(super) beside: bool,
}

impl View {
    /// Returns the rows of one page.
    pub(super) fn page(&self) -> usize {
        usize::from(self.areas.list.height).max(1)
    }

    pub(super) fn preview_page(&self) -> usize {
        self.areas.preview.map_or(1, |pane| usize::from(pane.area.height.saturating_sub(1)).max(1))
    }

    pub(super) fn shows_preview(&self) -> bool {
        self.areas.preview.is_some()
    }

    pub(super) fn has_room_for_preview(&self) -> bool {
        let Areas { list, query, .. } = self.areas;
        pane(&mut list.clone(), query.width >= WIDE).is_some()
    }
}

impl TreeSelector {
    /// Returns the height of the selector on a terminal with so many rows.
    pub fn height_for(&self, terminal_rows: u16) -> u16 {
        let rows = u16::try_from(self.outline.len()).unwrap_or(u16::MAX);
        let window = (terminal_rows / 2).max(MIN_ROWS).min(rows.max(MIN_ROWS));
        (window + CHROME).min(terminal_rows)
    }

    /// Reads what a draw into `area` shows; follows the session if it has changed.
    pub fn prepare(&mut self, session: &Session, theme: Theme, local: Local, area: Rect) {
        self.follow(session);
        self.view.areas = self.areas(area);
        self.view.local = Some(local);
        let height = self.view.page();
        let at = self.position().unwrap_or(0);
        let last = self.outline.len().saturating_sub(height);
        self.view.first = at.saturating_sub(height / 2).min(last);
        let window = self.view.first..self.view.first + height;
        let rows = self.outline.rows(session, window);
        self.view.error = rows.as_ref().err().map(ToString::to_string);
        self.view.rows = rows.unwrap_or_default();
        let selected = self.view.rows.get(at - self.view.first);
        self.view.pan = selected.map_or(0, |row| pan(row, self.view.areas.list.width));
        self.prepare_preview(session, theme);
    }

    fn prepare_preview(&mut self, session: &Session, theme: Theme) {
        let (Some(pane), Some(node), Some(local)) = (self.view.areas.preview, self.selected, self.view.local)
        else {
            return;
        };
        let (width, height) = (pane.area.width, usize::from(pane.area.height));
        let query = self.query().to_owned();
        let fits = |known: &Preview| {
            known.node == node && known.width == width && known.theme == theme && known.query == query
        };
        if !self.view.preview.as_ref().is_some_and(fits) {
            let (lines, hit) = preview::lines(session, &self.outline, theme, local, node, usize::from(width));
            // The first hit is visible, with some lines before it.
            self.preview_top = hit.filter(|hit| *hit >= height).map_or(0, |hit| hit - 2);
            self.view.preview = Some(Preview { node, width, theme, query, lines });
        }
        let count = self.view.preview.as_ref().map_or(0, |preview| preview.lines.len());
        self.preview_top = self.preview_top.min(count.saturating_sub(height));
    }

    /// Divides the screen. On a small one the entries matter most.
    fn areas(&self, area: Rect) -> Areas {
        let from = |rows: u16| u16::from(area.height >= rows);
        let mut left = area;
        let title = take_rows(&mut left, from(6));
        let query = take_rows(&mut left, 1);
        let rule = take_rows(&mut left, from(8));
        let foot = if matches!(self.mode, Mode::Label(..)) { 3 } else { from(4) + from(5) };
        let foot = take_bottom(&mut left, foot);
        let wide = area.width >= WIDE;
        let preview = self.preview.unwrap_or(wide).then(|| pane(&mut left, wide)).flatten();
        Areas { title, query, rule, list: left, preview, foot }
    }
}

/// Returns how far to scroll to the right so that enough of the text of the selected row is visible.
fn pan(row: &OutlineRow, columns: u16) -> usize {
    let columns = usize::from(columns).saturating_sub(2);
    let mark = if row.fold == Fold::Folded && !row.has_connector() { 2 } else { 0 };
    let before = row.levels.len() * 3 + mark;
    let least = (columns / 3).clamp(4, 20);
    if before + least <= columns {
        return 0;
    }
    before - before.min(BEFORE_TEXT.min(columns.saturating_sub(least)))
}

/// Takes room for the preview, if there is any.
fn pane(left: &mut Rect, wide: bool) -> Option<Pane> {
    if wide {
        let width = left.width * 2 / 5;
        left.width -= width;
        let rule = Rect { x: left.right(), width: 1, ..*left };
        // An empty column before the line.
        left.width -= 1;
        return Some(Pane { area: Rect { x: rule.x + 2, width: width - 2, ..rule }, rule, beside: true });
    }
    let height = (left.height / 2).min(left.height.saturating_sub(MIN_ROWS));
    if height < 3 {
        return None;
    }
    let mut area = take_bottom(left, height);
    let rule = take_rows(&mut area, 1);
    let area = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
    Some(Pane { area, rule, beside: false })
}
