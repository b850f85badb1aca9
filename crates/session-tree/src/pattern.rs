//! Patterns: regular expressions that a person typed, for the queries of outlines and of lists of sessions.
//!
//! A base type. A pattern that cannot be understood is no error: it is a pattern that nothing fits, because it is
//! mostly one that is still being typed. Without the feature `patterns` nothing fits any.

use std::ops::Range;

/// A regular expression that ignores case.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    source: String,
    engine: Option<engine::Engine>,
}

/// Two patterns are equal if they were typed alike.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

impl Pattern {
    /// Reads a pattern; an empty one fits nothing.
    pub(crate) fn parse(source: &str) -> Self {
        let engine = if source.is_empty() { None } else { engine::Engine::compile(source) };
        Self { source: source.to_owned(), engine }
    }

    /// Tells whether some part of a text fits.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.engine.as_ref().is_some_and(|engine| engine.is_in(text))
    }

    /// Adds the parts of a text that fit, as byte ranges; empty ones are left out.
    pub(crate) fn find_all(&self, text: &str, found: &mut Vec<Range<usize>>) {
        if let Some(engine) = &self.engine {
            engine.find_all(text, found);
        }
    }
}

#[cfg(feature = "patterns")]
mod engine {
    use std::ops::Range;

    #[derive(Debug, Clone)]
    pub(super) struct Engine(regex::Regex);

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

#[cfg(not(feature = "patterns"))]
mod engine {
    use std::ops::Range;

    /// There is no value of this type.
    #[derive(Debug, Clone)]
    pub(super) enum Engine {}

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
