//! The error of a query that is read strictly: which part is wrong, and what was expected there.
//!
//! A base type. Queries that are still being typed are read leniently and never fail.

/// Why a query cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The regular expression is not valid.
    #[error("`{part}` is not a regular expression: {reason}")]
    Pattern {
        /// The part of the query, as it was typed.
        part: String,
        /// The reason, in the words of the regular expression engine.
        reason: String,
    },
    /// The date or time cannot be read.
    #[error("`{part}` has no valid date; expected for example 2025-01-31 or 2025-01-31T12:00:00Z")]
    Time {
        /// The part of the query, as it was typed.
        part: String,
    },
    /// The condition does not take this value.
    #[error("`{part}` has an unknown value; expected one of: {}", expected.join(", "))]
    Value {
        /// The part of the query, as it was typed.
        part: String,
        /// The values that the condition takes.
        expected: &'static [&'static str],
    },
    /// The condition belongs to another kind of search.
    #[error("`{part}` is not a condition of this search; it has: {}", conditions.join(", "))]
    Condition {
        /// The part of the query, as it was typed.
        part: String,
        /// The conditions of this search.
        conditions: &'static [&'static str],
    },
}
