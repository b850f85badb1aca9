//! What of the selector is on the screen: which rows, how far to the right, which lines of the preview.
//!
//! Made anew before each draw; only the entries of rows that show are read.

use ratatui::layout::Rect;
use ratatui::text::Line;
use session_tree::{Fold, Node, OutlineRow, Session};

use super::{TreeSelector, preview};
use crate::layout::take_rows;
use crate::theme::Theme;
use crate::time::Local;

/// From this width on the preview stands beside the list.
const WIDE: u16 = 100;
/// Rows that are no part of the list: title, query, rule, counter, keys.
const CHROME: u16 = 5;
/// The least rows of a list that makes room for a preview below it.
const LEAST_ROWS: u16 = 5;
/// The most columns of guide lines that stay before the text of the selected row.
const BEFORE_TEXT: usize = 12;

/// What of the selector is on the screen.
#[derive(Debug, Default)]
pub(super) struct View {
    pub(super) areas: Areas,
    /// The number of the first row that shows.
    pub(super) first: usize,
    pub(super) rows: Vec<OutlineRow>,
    /// How many columns are moved out to the left.
    pub(super) pan: usize,
    pub(super) local: Option<Local>,
    /// The preview of an entry in some width.
    pub(super) preview: Option<Preview>,
    pub(super) trouble: Option<String>,
}

/// The lines of the preview of an entry.
#[derive(Debug)]
pub(super) struct Preview {
    node: Node,
    width: u16,
    theme: Theme,
    query: String,
    pub(super) lines: Vec<Line<'static>>,
}

/// Where things are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Areas {
    pub(super) title: Rect,
    pub(super) query: Rect,
    pub(super) rule: Rect,
    pub(super) list: Rect,
    /// The preview with the line that sets it apart, beside the list or below it.
    pub(super) preview: Option<Pane>,
    pub(super) status: Rect,
    pub(super) keys: Rect,
}

/// A pane and where the line is that sets it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pane {
    pub(super) area: Rect,
    pub(super) rule: Rect,
    pub(super) beside: bool,
}

impl View {
    /// Rows of one page.
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

    /// Forgets what was read of entries.
    pub(super) fn forget(&mut self) {
        self.preview = None;
    }
}

impl TreeSelector {
    /// Returns how high the selector wants to be on a terminal with so many rows.
    pub fn height_for(&self, terminal_rows: u16) -> u16 {
        let rows = u16::try_from(self.outline.len()).unwrap_or(u16::MAX);
        let window = (terminal_rows / 2).max(LEAST_ROWS).min(rows.max(LEAST_ROWS));
        (window + CHROME).min(terminal_rows)
    }

    /// Reads what a draw into `area` shows; follows the session if it has changed.
    pub fn prepare(&mut self, session: &Session, theme: Theme, local: Local, area: Rect) {
        self.follow(session);
        self.view.areas = areas(area, self.preview);
        self.view.local = Some(local);
        let height = self.view.page();
        let at = self.position().unwrap_or(0);
        let last = self.outline.len().saturating_sub(height);
        self.view.first = at.saturating_sub(height / 2).min(last);
        let window = self.view.first..self.view.first + height;
        (self.view.rows, self.view.trouble) = match self.outline.rows(session, window) {
            Ok(rows) => (rows, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let selected = self.view.rows.get(at - self.view.first);
        self.view.pan = selected.map_or(0, |row| pan(row, self.view.areas.list.width));
        self.prepare_preview(session, theme);
    }

    fn prepare_preview(&mut self, session: &Session, theme: Theme) {
        let (Some(pane), Some(node), Some(local)) = (self.view.areas.preview, self.selected, self.view.local)
        else {
            return;
        };
        let width = pane.area.width;
        let query = self.query().to_owned();
        let fits = |known: &Preview| {
            known.node == node && known.width == width && known.theme == theme && known.query == query
        };
        if !self.view.preview.as_ref().is_some_and(fits) {
            let (lines, hit) = preview::lines(session, &self.outline, theme, local, node, usize::from(width));
            // What was found shows at once, with some lines before it.
            self.preview_top =
                hit.filter(|hit| *hit >= usize::from(pane.area.height)).map_or(0, |hit| hit - 2);
            self.view.preview = Some(Preview { node, width, theme, query, lines });
        }
        let count = self.view.preview.as_ref().map_or(0, |preview| preview.lines.len());
        self.preview_top = self.preview_top.min(count.saturating_sub(usize::from(pane.area.height)));
    }
}

/// Returns how far to move a view to the right so that enough of the text of the selected row shows.
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

fn areas(area: Rect, preview: Option<bool>) -> Areas {
    // On a small screen the entries matter most.
    let from = |rows: u16| u16::from(area.height >= rows);
    let mut left = area;
    let title = take_rows(&mut left, usize::from(from(6)));
    let query = take_rows(&mut left, 1);
    let rule = take_rows(&mut left, usize::from(from(8)));
    let keys = take_bottom(&mut left, from(5));
    let status = take_bottom(&mut left, from(4));
    let wide = area.width >= WIDE;
    let preview = preview.unwrap_or(wide).then(|| pane(&mut left, wide)).flatten();
    Areas { title, query, rule, list: left, preview, status, keys }
}

/// Takes room for the preview, if there is any.
fn pane(left: &mut Rect, wide: bool) -> Option<Pane> {
    if wide {
        let width = left.width * 2 / 5;
        left.width -= width;
        let rule = Rect { x: left.right(), width: 1, ..*left };
        // A column of air before the line.
        left.width -= 1;
        return Some(Pane { area: Rect { x: rule.x + 2, width: width - 2, ..rule }, rule, beside: true });
    }
    let height = (left.height / 2).min(left.height.saturating_sub(LEAST_ROWS));
    if height < 3 {
        return None;
    }
    let mut area = take_bottom(left, height);
    let rule = take_rows(&mut area, 1);
    let area = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
    Some(Pane { area, rule, beside: false })
}

fn take_bottom(area: &mut Rect, rows: u16) -> Rect {
    let height = rows.min(area.height);
    area.height -= height;
    Rect { y: area.bottom(), height, ..*area }
}
