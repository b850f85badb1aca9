//! Regular expressions in queries.
//!
//! A base type. An invalid pattern is no error: it matches nothing, because it is usually one that is still being typed.

use std::ops::Range;

use regex::{Regex, RegexBuilder};

/// A regular expression that ignores case.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    /// The reason why the pattern is invalid, instead of a compiled pattern.
    regex: Result<Regex, String>,
}

/// Patterns are compared by their source.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

impl Pattern {
    /// Reads a pattern; an empty one matches nothing.
    pub fn parse(source: &str) -> Self {
        let regex = match source {
            "" => Err("it is empty".to_owned()),
            source => RegexBuilder::new(source).case_insensitive(true).build().map_err(|error| {
                let text = error.to_string();
                let last = text.lines().last().unwrap_or_default().trim();
                last.strip_prefix("error: ").unwrap_or(last).to_owned()
            }),
        };
        Self { source: source.to_owned(), regex }
    }

    /// Returns the reason why the pattern is invalid; `None` if it is valid.
    pub fn problem(&self) -> Option<String> {
        self.regex.as_ref().err().cloned()
    }

    /// Returns true if the pattern matches a part of a text.
    pub fn is_in(&self, text: &str) -> bool {
        self.regex.as_ref().is_ok_and(|regex| regex.is_match(text))
    }

    /// Adds the byte ranges of all matches in a text to `found`, except for empty ones.
    pub fn find_all(&self, text: &str, found: &mut Vec<Range<usize>>) {
        let matches = self.regex.iter().flat_map(|regex| regex.find_iter(text));
        found.extend(matches.map(|part| part.range()).filter(|range| !range.is_empty()));
    }
}
