//! The type of keys, which never prints them.

use std::fmt;

use serde::Deserialize;

/// A key of a service. Its `Debug` prints dots, and it has no `Display`.
///
/// The values of headers in settings are secrets too, because they may hold keys.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Makes a secret from a key; white space around it is removed.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// Returns the key itself, for the header that carries it and the file that keeps it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns true if there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a text without the key, in case a service repeats what it was sent.
    pub(crate) fn scrub(&self, text: &str) -> String {
        if self.0.len() < SHORTEST { text.to_owned() } else { text.replace(&self.0, DOTS) }
    }
}

const DOTS: &str = "•••";
/// A shorter value is a word, such as the keys of local servers.
const SHORTEST: usize = 8;

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(DOTS)
    }
}

#[cfg(test)]
mod tests;
