//! Searching in a list of sessions.
//!
//! Works on rows and on text that the caller read; touches no files. Scattered letters are left to the front end.

use super::summary::SessionSummary;
use crate::pattern::Pattern;
use crate::query_error::QueryError;
use crate::time::Timestamp;

/// A query for sessions: words and phrases, all of which must occur, and conditions that a row must meet.
///
/// ```
/// # use session_tree::SessionQuery;
/// let query = SessionQuery::parse(r#"rust "async greeter""#);
/// assert!(query.is_in("An ASYNC   greeter in Rust"));
/// assert!(!query.is_in("a greeter, async, in Rust"));
///
/// let query = SessionQuery::parse(r"rust re:gr(ee|ea)t\w+ in");
/// assert!(query.is_in("An async greeter in Rust"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionQuery {
    words: Vec<String>,
    pattern: Option<Pattern>,
    conditions: Vec<Condition>,
}

/// How well a session fits a query; the better one is the smaller one. Among equals the newer one comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relevance {
    /// All words occur in the name.
    Name,
    /// Some word occurs only in the id, the working directory or the text.
    Elsewhere,
}

/// A condition on a row, independent of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    /// Its working directory holds this, in lower case.
    Cwd(String),
    /// Its last activity is earlier; a time that cannot be read is met by nothing.
    Before(Option<Timestamp>),
    /// Its last activity is not earlier.
    After(Option<Timestamp>),
    HasBranches,
    IsNamed,
}

impl SessionQuery {
    /// Reads a query: words separated by white space, phrases in double quotes. With a quote left open, quotes mean
    /// nothing.
    ///
    /// Some words are conditions: `cwd:part`, `before:` and `after:` with a date (its midnight in UTC) or a time,
    /// which are compared to the last activity, `has:branch` and `is:named`. `re:` takes all that follows as a regular
    /// expression that ignores case; nothing fits one that is empty or cannot be understood.
    pub fn parse(text: &str) -> Self {
        let (text, pattern) = split_pattern(text);
        let mut query =
            Self { words: Vec::new(), pattern: pattern.map(Pattern::parse), conditions: Vec::new() };
        let balanced = text.matches('"').count().is_multiple_of(2);
        let mut is_cwd = false;
        for (number, part) in text.split(|c| balanced && c == '"').enumerate() {
            if number % 2 == 1 {
                query.add_phrase(part, is_cwd);
                continue;
            }
            // `cwd:"with blanks"`
            let plain = part.strip_suffix("cwd:").filter(|rest| balanced && ends_a_word(rest));
            is_cwd = plain.is_some();
            plain.unwrap_or(part).split_whitespace().for_each(|word| query.add_word(word));
        }
        query
    }

    /// Reads a query as [`parse`](SessionQuery::parse) does, for a caller that has all of it.
    ///
    /// # Errors
    ///
    /// Names the first part that no session can meet: a bad date or pattern, an unknown value, or a condition on
    /// entries.
    pub fn parse_strict(text: &str) -> Result<Self, QueryError> {
        let (plain, _) = split_pattern(text);
        let balanced = plain.matches('"').count().is_multiple_of(2);
        let outside = plain.split(|c| balanced && c == '"').step_by(2);
        outside.flat_map(str::split_whitespace).try_for_each(check_word)?;
        let query = Self::parse(text);
        match query.pattern.as_ref().and_then(Pattern::problem) {
            Some(reason) => {
                Err(QueryError::Pattern { part: text[plain.len()..].trim_end().to_owned(), reason })
            }
            None => Ok(query),
        }
    }

    /// Returns true if everything fits.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty() && !self.asks_for_text()
    }

    /// Returns true if the query asks for words or a pattern. If not, rows alone can answer it.
    pub fn asks_for_text(&self) -> bool {
        !self.words.is_empty() || self.pattern.is_some()
    }

    /// Returns how well a session fits, or `None` if it does not.
    ///
    /// `text` is what was said in the session ([`Catalog::text`](crate::Catalog::text)); without it only what the row
    /// holds is searched.
    pub fn matches(&self, row: &SessionSummary, text: Option<&str>) -> Option<Relevance> {
        if !self.conditions.iter().all(|condition| condition.is_met(row)) {
            return None;
        }
        let name = row.name.as_deref().unwrap_or_default();
        let others = [row.id.as_str(), &row.cwd, row.first_message.as_deref().unwrap_or_default()];
        let others = || others.into_iter().chain(text);
        let words = self.find_words(name, others())?;
        let pattern = self.find_pattern(name, others())?;
        Some(words.max(pattern))
    }

    /// Returns true if all words and the pattern occur in one text. Conditions on rows are not asked.
    pub fn is_in(&self, text: &str) -> bool {
        let low = folded(text);
        self.words.iter().all(|word| low.contains(word))
            && self.pattern.as_ref().is_none_or(|pattern| pattern.is_in(text))
    }
}

impl SessionQuery {
    fn add_word(&mut self, word: &str) {
        match Condition::parse(word) {
            Some(condition) => self.conditions.push(condition),
            None => self.words.push(folded(word)),
        }
    }

    fn add_phrase(&mut self, phrase: &str, is_cwd: bool) {
        match folded(phrase) {
            phrase if phrase.is_empty() => {}
            phrase if is_cwd => self.conditions.push(Condition::Cwd(phrase)),
            phrase => self.words.push(phrase),
        }
    }

    fn find_words<'t>(&self, name: &str, others: impl Iterator<Item = &'t str>) -> Option<Relevance> {
        let name = folded(name);
        let missing: Vec<&String> = self.words.iter().filter(|word| !name.contains(*word)).collect();
        if missing.is_empty() {
            return Some(Relevance::Name);
        }
        let others: Vec<String> = others.map(folded).collect();
        let found = missing.into_iter().all(|word| others.iter().any(|other| other.contains(word)));
        found.then_some(Relevance::Elsewhere)
    }

    fn find_pattern<'t>(&self, name: &str, mut others: impl Iterator<Item = &'t str>) -> Option<Relevance> {
        match &self.pattern {
            None => Some(Relevance::Name),
            Some(pattern) if pattern.is_in(name) => Some(Relevance::Name),
            Some(pattern) => others.any(|other| pattern.is_in(other)).then_some(Relevance::Elsewhere),
        }
    }
}

impl Condition {
    /// Reads a condition; a word that only looks like one is a word.
    fn parse(word: &str) -> Option<Self> {
        let (name, value) = word.split_once(':').filter(|(_, value)| !value.is_empty())?;
        match (name, value) {
            ("cwd", part) => Some(Condition::Cwd(folded(part))),
            ("before", time) => Some(Condition::Before(Timestamp::parse(time))),
            ("after", time) => Some(Condition::After(Timestamp::parse(time))),
            ("has", "branch" | "branches") => Some(Condition::HasBranches),
            ("is", "named") => Some(Condition::IsNamed),
            _ => None,
        }
    }

    fn is_met(&self, row: &SessionSummary) -> bool {
        match self {
            Condition::Cwd(part) => folded(&row.cwd).contains(part),
            Condition::Before(time) => time.is_some_and(|time| row.modified < time),
            Condition::After(time) => time.is_some_and(|time| row.modified >= time),
            Condition::HasBranches => row.tip_count > 1,
            Condition::IsNamed => row.name.is_some(),
        }
    }
}

/// The conditions of a query.
const CONDITIONS: [&str; 6] = ["cwd:", "before:", "after:", "has:", "is:", "re:"];

/// Returns an error for a word that looks like a condition but is not valid.
fn check_word(word: &str) -> Result<(), QueryError> {
    let Some((name, _)) = word.split_once(':').filter(|(_, value)| !value.is_empty()) else { return Ok(()) };
    let part = word.to_owned();
    match (name, Condition::parse(word)) {
        (_, Some(Condition::Before(None) | Condition::After(None))) => Err(QueryError::Time { part }),
        ("has", None) => Err(QueryError::Value { part, expected: &["has:branch"] }),
        ("is", None) => Err(QueryError::Value { part, expected: &["is:named"] }),
        ("role" | "tool" | "file" | "label", None) => {
            Err(QueryError::Condition { part, conditions: &CONDITIONS })
        }
        _ => Ok(()),
    }
}

/// Takes the pattern off a query: it begins with the first word that begins with `re:`, outside of quotes.
fn split_pattern(text: &str) -> (&str, Option<&str>) {
    let mut from = 0;
    while let Some(at) = text[from..].find("re:").map(|at| at + from) {
        let (before, after) = text.split_at(at);
        if ends_a_word(before) && before.matches('"').count().is_multiple_of(2) {
            return (before, Some(after["re:".len()..].trim()));
        }
        from = at + 1;
    }
    (text, None)
}

/// Returns true if a word may begin after this text.
fn ends_a_word(text: &str) -> bool {
    text.is_empty() || text.ends_with(char::is_whitespace)
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

#[cfg(test)]
mod tests;
