//! A key that does not show itself.

use std::fmt;

use serde::Deserialize;

/// A key of a service. Its `Debug` prints dots, and it has no `Display`.
///
/// The values of headers in settings are secrets too: who puts a key there need not know that it could be seen.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Takes a key; white space around it is not part of it.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// Returns the key itself, for the header that carries it and the file that keeps it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Tells whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a text without the key, in case a service repeats what it was sent.
    pub(crate) fn scrub(&self, text: &str) -> String {
        if self.0.len() < SHORTEST { text.to_owned() } else { text.replace(&self.0, DOTS) }
    }
}

const DOTS: &str = "•••";
/// What is shorter is no key but a word, such as those that local servers are given.
const SHORTEST: usize = 8;

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(DOTS)
    }
}

#[cfg(test)]
mod tests;
