//! Which sessions fit a query: exactly by the engine's rules, else by scattered letters of name and folder.

use session_tree::{Relevance, SessionQuery, SessionSummary};

/// A query and the words that may be scattered.
#[derive(Debug)]
pub(super) struct Finder {
    query: SessionQuery,
    /// Words without quotes, patterns or conditions, in lower case.
    words: Vec<String>,
}

impl Default for Finder {
    fn default() -> Self {
        Self::new("")
    }
}

impl Finder {
    pub(super) fn new(text: &str) -> Self {
        let is_plain = !text.contains(['"', ':']);
        let words = text.to_lowercase().split_whitespace().map(str::to_owned).collect();
        Self { query: SessionQuery::parse(text), words: if is_plain { words } else { Vec::new() } }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.query.is_empty()
    }

    pub(super) fn asks_for_text(&self) -> bool {
        self.query.asks_for_text()
    }

    /// Tells how well a session fits by exact words.
    pub(super) fn fits(&self, row: &SessionSummary, text: Option<&str>) -> Option<Relevance> {
        self.query.matches(row, text)
    }

    /// Tells whether the letters of all words occur in order in the name, or in the folder.
    pub(super) fn is_scattered(&self, row: &SessionSummary) -> bool {
        let name = row.name.as_deref().unwrap_or_default().to_lowercase();
        let cwd = row.cwd.to_lowercase();
        let found = |word: &String| is_scattered(word, &name) || is_scattered(word, &cwd);
        !self.words.is_empty() && self.words.iter().all(found)
    }
}

fn is_scattered(word: &str, text: &str) -> bool {
    let mut letters = text.chars();
    word.chars().all(|wanted| letters.any(|letter| letter == wanted))
}
