//! The rows of the sidebar, and how they are drawn under every filter.
//!
//! outline -> **columns and views** -> parts
//!
//! The page identifies an entry by its position in the outline of all entries. A view lists the rows that a filter shows
//! and their indent. Both come from the outline unchanged.

use serde::Serialize;
use session_tree::{Node, Session};
use session_view::{Filter, Fold, Level, Outline, OutlineRow, RowShape, RowStyle, TurnStats};

use crate::text::head;

/// How many rows one part holds.
const ROWS: usize = 4096;
/// How many characters of a row the sidebar has room for.
const SHOWN: usize = 140;

/// The rows of one part, column by column.
#[derive(Default, Serialize)]
pub(crate) struct Columns {
    id: Vec<String>,
    /// The distance of the parent, 0 for a root.
    up: Vec<usize>,
    /// The time since the row before.
    at: Vec<i64>,
    text: Vec<String>,
    flag: Vec<u8>,
    style: String,
    #[serde(skip)]
    last_time: i64,
}

impl Columns {
    /// Adds a row whose parent is `above` rows before it, 0 for a root.
    pub(crate) fn push(&mut self, row: &OutlineRow, text: &str, above: usize, is_bookkeeping: bool) {
        self.id.push(row.id.as_str().to_owned());
        self.up.push(above);
        let time = row.timestamp.as_millis();
        self.at.push(time.saturating_sub(std::mem::replace(&mut self.last_time, time)));
        let (text, is_whole) = head(text, SHOWN);
        self.text.push(if is_whole { text.to_owned() } else { format!("{text}…") });
        let flags = [row.on_path, row.is_error, is_bookkeeping];
        self.flag.push(flags.iter().rev().fold(0, |bits, flag| bits << 1 | u8::from(*flag)));
        self.style.push(style(row.style));
    }

    /// Returns true if there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// Returns true if a part is full.
    pub(crate) fn is_full(&self) -> bool {
        self.id.len() >= ROWS
    }
}

/// Returns the letter for the style of a row.
fn style(style: RowStyle) -> char {
    match style {
        RowStyle::User => 'u',
        RowStyle::Assistant => 'a',
        RowStyle::Error => 'e',
        RowStyle::Tool => 't',
        RowStyle::Custom => 'c',
        RowStyle::Compaction => 'k',
        RowStyle::Summary => 's',
        RowStyle::Title => 'n',
        RowStyle::Muted => 'm',
    }
}

/// The rows that a filter shows, and how they are drawn.
#[derive(Serialize)]
pub(crate) struct View {
    /// The distances between the positions of the rows; none if all rows are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<i64>>,
    shapes: Vec<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    leaf: Option<usize>,
}

impl View {
    /// Describes the rows of `filtered`.
    pub(crate) fn of(session: &Session, all: &Outline, filtered: &Outline, filter: Filter) -> Self {
        let shapes = || (0..filtered.len()).filter_map(|row| filtered.shape(row));
        let mut last = 0;
        let step = |shape: RowShape| {
            let at = position(all, shape.node).max(0);
            at - std::mem::replace(&mut last, at)
        };
        let rows = (filter != Filter::All).then(|| shapes().map(step).collect());
        let leaf = session.leaf().and_then(|leaf| filtered.nearest_visible(leaf));
        let leaf = leaf.and_then(|leaf| filtered.position_of(leaf));
        View { rows, shapes: shapes().map(|shape| code(&shape)).collect(), leaf }
    }
}

/// Returns the position of an entry in the page, or -1.
pub(crate) fn position(all: &Outline, node: Node) -> i64 {
    all.position_of(node).and_then(|at| i64::try_from(at).ok()).unwrap_or(-1)
}

/// The shape of a row as a number: the indent, then two bits for the connector and one for folding.
fn code(shape: &RowShape) -> i64 {
    let connector = match shape.connector {
        Some(Level::Tee) => 2,
        Some(Level::Corner) => 4,
        Some(Level::Blank | Level::Line) | None => 0,
    };
    let fold = i64::from(shape.fold != Fold::None);
    (i64::try_from(shape.indent).unwrap_or(0) << 3) | connector | fold
}

/// The numbers that the turn view adds to a prompt: its position, then those of its turn.
pub(crate) type TurnNumbers = (usize, usize, usize, usize, u64, f64, u8);

/// Returns the numbers of a turn.
pub(crate) fn turn_numbers(at: usize, turn: &TurnStats) -> TurnNumbers {
    let cost = if turn.cost.is_finite() { turn.cost } else { 0.0 };
    (at, turn.number, turn.replies, turn.tools, turn.tokens, cost, u8::from(turn.failed))
}
