//! Why an export could not be made.

use std::io;

/// Why an export could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The session could not be read.
    #[error(transparent)]
    Session(#[from] session_tree::Error),
    /// What is exported could not be read.
    #[error("cannot read the session")]
    Read(#[source] io::Error),
    /// The export could not be written. Whatever else goes wrong with a stream here is this: only writing streams.
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
        /// What is wrong with it.
        source: Box<regex::Error>,
    },
}

/// What functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;
