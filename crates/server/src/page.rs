//! Pages of a list, for all protocols.

use crate::failure::{Failure, FailureKind};

/// A page of a list.
#[derive(Debug)]
pub(crate) struct Page<T> {
    pub(crate) rows: Vec<T>,
    /// The cursor of the next page; none for the last page.
    pub(crate) next: Option<String>,
    /// The rows of all pages.
    pub(crate) total: usize,
}

impl<T> Page<T> {
    /// Returns the page at a cursor, or the first one.
    pub(crate) fn of(rows: Vec<T>, cursor: Option<&str>, limit: usize) -> Result<Self, Failure> {
        let start = cursor
            .map_or(Ok(0), str::parse::<usize>)
            .map_err(|_| Failure::of(FailureKind::BadInput, "`cursor` is not one that was returned"))?;
        let (total, end) = (rows.len(), start.saturating_add(limit));
        let next = (end < total).then(|| end.to_string());
        Ok(Page { rows: rows.into_iter().skip(start).take(limit).collect(), next, total })
    }
}
