//! Parts of the screen: the first and the last row, rows taken from the top, columns left free.

use ratatui::layout::Rect;

/// Splits an area into a first row, what lies between, and a last row.
pub(crate) fn framed(area: Rect) -> [Rect; 3] {
    let head = Rect { height: area.height.min(1), ..area };
    let foot_height = area.height.saturating_sub(1).min(1);
    let body_height = area.height.saturating_sub(2);
    let body = Rect { y: area.y + head.height, height: body_height, ..area };
    [head, body, Rect { y: body.bottom(), height: foot_height, ..area }]
}

/// Leaves columns free at the left of an area.
pub(crate) fn indented(area: Rect, columns: u16) -> Rect {
    let columns = columns.min(area.width);
    Rect { x: area.x + columns, width: area.width - columns, ..area }
}

/// Takes rows from the top of an area.
pub(crate) fn take_rows(area: &mut Rect, rows: u16) -> Rect {
    let height = rows.min(area.height);
    let taken = Rect { height, ..*area };
    area.y += height;
    area.height -= height;
    taken
}

/// Takes rows from the bottom of an area.
pub(crate) fn take_bottom(area: &mut Rect, rows: u16) -> Rect {
    let height = rows.min(area.height);
    area.height -= height;
    Rect { y: area.bottom(), height, ..*area }
}
