//! The rows of the sidebar, and how they are drawn under every filter.
//!
//! outline -> **columns and views** -> parts
//!
//! An entry is known in the page by its place in the outline of all entries. Columns say what each row says; a view
//! lists the rows that a filter shows and how far each is indented. Both come from the engine's outline as they are.

use session_tree::Session;
use session_tree::json::write_string;
use session_view::{Filter, Fold, Level, Outline, OutlineRow, RowShape, RowStyle, TurnStats};

use crate::text::{Json, Object, head, list, push_integer, push_number};

/// How many rows one part holds.
pub(crate) const ROWS: usize = 4096;
/// How many characters of a row the sidebar has room for.
const SHOWN: usize = 140;

const ON_PATH: i64 = 1;
const IS_ERROR: i64 = 2;
const IS_BOOKKEEPING: i64 = 4;

/// What rows say, column by column.
#[derive(Default)]
pub(crate) struct Columns {
    ids: Json,
    parents: Json,
    times: Json,
    texts: Json,
    flags: Json,
    styles: String,
    rows: usize,
    last_time: i64,
}

impl Columns {
    /// Adds a row; `above` tells how many rows its parent stands before it, 0 for a root.
    pub(crate) fn push(&mut self, row: &OutlineRow, text: &str, above: usize, is_bookkeeping: bool) {
        for column in [&mut self.ids, &mut self.parents, &mut self.times, &mut self.texts, &mut self.flags] {
            if self.rows > 0 {
                column.push(b',');
            }
        }
        self.rows += 1;
        write_string(&mut self.ids, row.id.as_str());
        push_integer(&mut self.parents, i64::try_from(above).unwrap_or(0));
        let time = row.timestamp.as_millis();
        push_integer(&mut self.times, time.saturating_sub(std::mem::replace(&mut self.last_time, time)));
        let (text, is_whole) = head(text, SHOWN);
        match is_whole {
            true => write_string(&mut self.texts, text),
            false => write_string(&mut self.texts, &format!("{text}…")),
        }
        let flag = |set: bool, flag: i64| if set { flag } else { 0 };
        let flags =
            flag(row.on_path, ON_PATH) | flag(row.is_error, IS_ERROR) | flag(is_bookkeeping, IS_BOOKKEEPING);
        push_integer(&mut self.flags, flags);
        self.styles.push(style(row.style));
    }

    /// Tells whether a part is full.
    pub(crate) fn is_full(&self) -> bool {
        self.rows >= ROWS
    }

    /// Gives the rows so far as JSON and begins anew; nothing if there are none.
    pub(crate) fn take(&mut self) -> Option<Json> {
        if self.rows == 0 {
            return None;
        }
        let Self { ids, parents, times, texts, flags, styles, .. } = std::mem::take(self);
        let mut out = Json::with_capacity(ids.len() + texts.len() + times.len() + 256);
        let mut object = Object::new(&mut out);
        let columns = [("id", ids), ("up", parents), ("at", times), ("text", texts), ("flag", flags)];
        for (name, column) in columns {
            let out = object.key(name);
            out.push(b'[');
            out.extend_from_slice(&column);
            out.push(b']');
        }
        object.text("style", &styles);
        object.close();
        Some(out)
    }
}

/// The letter by which the page knows how a row is meant.
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

/// Tells which rows a filter shows, and how they are drawn.
pub(crate) fn view(session: &Session, all: &Outline, filtered: &Outline, filter: Filter) -> Json {
    let shapes = || (0..filtered.len()).filter_map(|row| filtered.shape(row));
    let mut out = Json::with_capacity(filtered.len() * 5 + 64);
    let mut object = Object::new(&mut out);
    if filter != Filter::All {
        let mut last = 0;
        object.list("rows", shapes(), |out, shape| {
            let at = all.position_of(shape.node).and_then(|at| i64::try_from(at).ok()).unwrap_or(0);
            push_integer(out, at - std::mem::replace(&mut last, at));
        });
    }
    object.list("shapes", shapes(), |out, shape| push_integer(out, code(&shape)));
    let leaf = session.leaf().and_then(|leaf| filtered.nearest_visible(leaf));
    if let Some(row) = leaf.and_then(|leaf| filtered.position_of(leaf)) {
        object.number("leaf", row as f64);
    }
    object.close();
    out
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

/// What the turn view adds to a prompt.
pub(crate) fn turn(out: &mut Json, at: usize, turn: &TurnStats) {
    if !out.is_empty() {
        out.push(b',');
    }
    let numbers = [at as f64, turn.number as f64, turn.replies as f64, turn.tools as f64, turn.tokens as f64];
    let failed = if turn.failed { 1.0 } else { 0.0 };
    list(out, numbers.into_iter().chain([turn.cost, failed]), push_number);
}
