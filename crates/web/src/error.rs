//! The errors of an export.

use std::io;

/// The error of an export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The session could not be read.
    #[error(transparent)]
    Session(#[from] session_tree::Error),
    /// The session file could not be read.
    #[error("cannot read the session")]
    Read(#[source] io::Error),
    /// The export could not be written.
    #[error("cannot write the export")]
    Write(#[from] io::Error),
    /// A row of the outline is not there: a fault of ours.
    #[error("row {at} of the outline is gone")]
    Row {
        /// Its place.
        at: usize,
    },
    /// A pattern to redact is no regular expression.
    #[error("`{pattern}` is no pattern")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The syntax error.
        source: Box<regex::Error>,
    },
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
