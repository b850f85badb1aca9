//! The end of an answer, from its `stopReason`.

use crate::json::{Cursor, ValueRef};

/// How a branch ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Ending {
    /// With an answer that did not fail, or with anything that is no answer.
    #[default]
    Fine,
    /// With an answer that failed.
    Error,
    /// With an answer that was aborted.
    Aborted,
}

impl Ending {
    /// Reads the end of an answer.
    pub fn of(answer: ValueRef<'_>) -> Self {
        Self::of_reason(answer.get("stopReason").map(ValueRef::cursor))
    }

    /// Reads a `stopReason`.
    pub fn of_reason(reason: Option<Cursor<'_>>) -> Self {
        let is = |word: &str| reason.is_some_and(|reason| reason.is_str(word));
        match (is("error"), is("aborted")) {
            (true, _) => Ending::Error,
            (_, true) => Ending::Aborted,
            _ => Ending::Fine,
        }
    }
}
