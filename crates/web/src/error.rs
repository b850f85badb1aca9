//! Why an export could not be made.

use std::io;

/// Why an export could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The session could not be read.
    #[error(transparent)]
    Session(#[from] session_tree::Error),
    /// The export could not be written.
    #[error("cannot write the export")]
    Write(#[from] io::Error),
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
