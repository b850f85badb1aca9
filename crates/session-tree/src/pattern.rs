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

    /// Returns the reason why the pattern fits nothing; `None` if it is valid.
    pub(crate) fn problem(&self) -> Option<String> {
        match (&self.engine, self.source.is_empty()) {
            (Some(_), _) => None,
            (None, true) => Some("it is empty".to_owned()),
            (None, false) => Some(engine::reason(&self.source)),
        }
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

    /// There is no value of this type.
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
