//! An answer within a size limit: rows until it is full, and the arguments that continue it.

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::arguments::Page;

/// The size of an answer if the caller does not say otherwise.
const DEFAULT_BYTES: usize = 4096;
/// The largest answer.
const MAX_BYTES: usize = 256 << 10;
/// The smallest answer: one short row and the way to continue.
const MIN_BYTES: usize = 512;
/// The most rows if the caller does not say otherwise.
const DEFAULT_ROWS: usize = 20;
/// The most rows.
const MAX_ROWS: usize = 1000;
/// The bytes that braces, `next` and a remark need.
const RESERVED: usize = 160;

/// The most bytes of an answer.
pub(super) fn budget(max_bytes: Option<usize>) -> usize {
    max_bytes.unwrap_or(DEFAULT_BYTES).clamp(MIN_BYTES, MAX_BYTES)
}

/// An answer that is being written.
pub(super) struct Answer {
    fields: Map<String, Json>,
    name: &'static str,
    rows: Vec<Json>,
    left: usize,
    page: Page,
    /// The rows so far, skipped or not.
    seen: usize,
    is_full: bool,
}

impl Answer {
    /// Starts an answer whose rows are in the field `name`.
    pub(super) fn new(name: &'static str, page: Page) -> Self {
        let left = budget(page.max_bytes) - RESERVED;
        Answer { fields: Map::new(), name, rows: Vec::new(), left, page, seen: 0, is_full: false }
    }

    /// Adds a field besides the rows.
    pub(super) fn field(&mut self, name: &str, value: impl Into<Json>) {
        let value = value.into();
        self.left = self.left.saturating_sub(name.len() + value.to_string().len() + 4);
        self.fields.insert(name.to_owned(), value);
    }

    /// Returns the number of bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Returns true if no further row fits.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns true if the next row was in the answer before, so that it need not be made.
    pub(super) fn skips(&mut self) -> bool {
        let skips = self.seen < self.page.skip;
        self.seen += usize::from(skips);
        skips
    }

    /// Adds a row, unless the answer is full. A first row that does not fit is a row without its text.
    pub(super) fn push(&mut self, row: &impl Serialize) {
        let limit = self.page.limit.unwrap_or(DEFAULT_ROWS).clamp(1, MAX_ROWS);
        let mut row = serde_json::to_value(row).unwrap_or_default();
        let mut size = row.to_string().len() + 1;
        if size > self.left && self.rows.is_empty() {
            if let Some(row) = row.as_object_mut() {
                row.insert("text".to_owned(), json!("(too long for this answer)"));
            }
            size = row.to_string().len() + 1;
        }
        if self.is_full || self.rows.len() == limit || size > self.left {
            self.is_full = true;
            return;
        }
        self.left -= size;
        self.seen += 1;
        self.rows.push(row);
    }

    /// Ends the answer; if it is full, `next` skips the rows that it has.
    pub(super) fn finish(self) -> String {
        let next = self.is_full.then(|| json!({"skip": self.seen}));
        self.finish_with(next)
    }

    /// Ends the answer with the arguments that continue it.
    pub(super) fn finish_with(self, next: Option<Json>) -> String {
        let Answer { mut fields, name, rows, .. } = self;
        fields.insert(name.to_owned(), Json::Array(rows));
        if let Some(next) = next {
            fields.insert("next".to_owned(), next);
        }
        Json::Object(fields).to_string()
    }
}
