//! Regular expressions in queries.
//!
//! A base type. An invalid pattern is no error: it matches nothing, because it is usually one that is still being typed.
//! Without the feature `patterns` no pattern matches anything.

use std::ops::Range;

/// A regular expression that ignores case.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    engine: Option<engine::Engine>,
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
        let engine = if source.is_empty() { None } else { engine::Engine::compile(source) };
        Self { source: source.to_owned(), engine }
    }

    /// Returns the reason why the pattern is invalid; `None` if it is valid.
    pub fn problem(&self) -> Option<String> {
        match (&self.engine, self.source.is_empty()) {
            (Some(_), _) => None,
            (None, true) => Some("it is empty".to_owned()),
            (None, false) => Some(engine::reason(&self.source)),
        }
    }

    /// Returns true if the pattern matches a part of a text.
    pub fn is_in(&self, text: &str) -> bool {
        self.engine.as_ref().is_some_and(|engine| engine.is_in(text))
    }

    /// Adds the byte ranges of all matches in a text to `found`, except for empty ones.
    pub fn find_all(&self, text: &str, found: &mut Vec<Range<usize>>) {
        if let Some(engine) = &self.engine {
            engine.find_all(text, found);
        }
    }
}

#[cfg(feature = "catalog")]
mod engine {
    use std::ops::Range;

    #[derive(Debug, Clone)]
    pub(super) struct Engine(regex::Regex);

    /// Returns the reason why a pattern cannot be compiled, on one line.
    pub(super) fn reason(source: &str) -> String {
        let Err(error) = regex::RegexBuilder::new(source).case_insensitive(true).build() else {
            return String::new();
        };
        let text = error.to_string();
        let last = text.lines().last().unwrap_or_default().trim();
        last.strip_prefix("error: ").unwrap_or(last).to_owned()
    }

    impl Engine {
        pub(super) fn compile(source: &str) -> Option<Self> {
            regex::RegexBuilder::new(source).case_insensitive(true).build().ok().map(Self)
        }

        pub(super) fn is_in(&self, text: &str) -> bool {
            self.0.is_match(text)
        }

        pub(super) fn find_all(&self, text: &str, found: &mut Vec<Range<usize>>) {
            found.extend(self.0.find_iter(text).map(|part| part.range()).filter(|range| !range.is_empty()));
        }
    }
}

#[cfg(not(feature = "catalog"))]
mod engine {
    use std::ops::Range;

    /// Has no values.
    #[derive(Debug, Clone)]
    pub(super) enum Engine {}

    /// Returns the reason why a pattern cannot be compiled.
    pub(super) fn reason(_source: &str) -> String {
        "regular expressions are not part of this build".to_owned()
    }

    impl Engine {
        pub(super) fn compile(_source: &str) -> Option<Self> {
            None
        }

        pub(super) fn is_in(&self, _text: &str) -> bool {
            match *self {}
        }

        pub(super) fn find_all(&self, _text: &str, _found: &mut Vec<Range<usize>>) {
            match *self {}
        }
    }
}
