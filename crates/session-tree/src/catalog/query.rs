//! Searching in a list of sessions.
//!
//! Works on rows and on text that the caller read; touches no files. Scattered letters and patterns are left to the
//! front end.

use super::summary::SessionSummary;

/// What a person searches for: words and phrases, all of which must occur.
///
/// ```
/// # use session_tree::SessionQuery;
/// let query = SessionQuery::parse(r#"rust "async greeter""#);
/// assert!(query.is_in("An ASYNC   greeter in Rust"));
/// assert!(!query.is_in("a greeter, async, in Rust"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionQuery {
    words: Vec<String>,
}

/// How well a session fits a query; the better one is the smaller one. Among equals the newer one comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relevance {
    /// All words occur in the name.
    Name,
    /// Some word occurs only in the id, the working directory or the text.
    Elsewhere,
}

impl SessionQuery {
    /// Reads a query: words separated by white space, phrases in double quotes. With a quote left open, quotes mean
    /// nothing.
    pub fn parse(text: &str) -> Self {
        let balanced = text.matches('"').count().is_multiple_of(2);
        let mut words = Vec::new();
        for (number, part) in text.split(|c| balanced && c == '"').enumerate() {
            if number % 2 == 1 {
                words.push(folded(part));
            } else {
                words.extend(part.split_whitespace().map(folded));
            }
        }
        words.retain(|word| !word.is_empty());
        Self { words }
    }

    /// Tells whether everything fits.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Tells how well a session fits, or `None` if it does not.
    ///
    /// `text` is what was said in the session ([`Catalog::text`](crate::Catalog::text)); without it only what the row
    /// holds is searched.
    pub fn matches(&self, row: &SessionSummary, text: Option<&str>) -> Option<Relevance> {
        let name = folded(row.name.as_deref().unwrap_or_default());
        let missing: Vec<&String> = self.words.iter().filter(|word| !name.contains(*word)).collect();
        if missing.is_empty() {
            return Some(Relevance::Name);
        }
        let row_texts = [row.id.as_str(), &row.cwd, row.first_message.as_deref().unwrap_or_default()];
        let others: Vec<String> = row_texts.into_iter().chain(text).map(folded).collect();
        let found = missing.into_iter().all(|word| others.iter().any(|other| other.contains(word)));
        found.then_some(Relevance::Elsewhere)
    }

    /// Tells whether all words occur in one text.
    pub fn is_in(&self, text: &str) -> bool {
        let text = folded(text);
        self.words.iter().all(|word| text.contains(word))
    }
}

/// Folds case, and runs of white space into one blank.
fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    out
}
