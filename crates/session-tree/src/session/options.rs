//! How a session is opened.

use super::Session;

/// How a session is opened or made: which file system, clock and ids it uses, and how careful it is.
#[derive(Debug, Default)]
pub struct Options {
    /// How many bytes of decoded lines are kept.
    pub(crate) cache_bytes: Option<usize>,
}

impl Options {
    pub(crate) fn configure(&self, session: &Session) {
        if let Some(bytes) = self.cache_bytes {
            session.docs().set_limit(bytes);
        }
    }
}
