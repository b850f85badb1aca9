//! The query: typed letter by letter, looked for step by step.

use session_tree::Session;
use unicode_segmentation::UnicodeSegmentation;

use super::TreeSelector;
use crate::input::one_line;

/// The longest query that is taken.
const LONGEST: usize = 1000;

impl TreeSelector {
    pub(super) fn type_text(&mut self, session: &Session, text: &str) {
        let text = one_line(text);
        let query = [self.query(), text.as_str()].concat();
        if query.len() <= LONGEST && !query.trim().is_empty() {
            self.set_query(session, &query);
        }
    }

    pub(super) fn delete_letter(&mut self, session: &Session) {
        let shorter =
            self.query().grapheme_indices(true).next_back().map(|(at, _)| self.query()[..at].to_owned());
        if let Some(query) = shorter {
            self.set_query(session, &query);
        }
    }

    pub(super) fn delete_word(&mut self, session: &Session) {
        let kept = self.query().trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let query = self.query()[..kept].to_owned();
        self.set_query(session, &query);
    }

    pub(super) fn set_query(&mut self, session: &Session, query: &str) {
        match self.outline.set_query(session, query) {
            Ok(progress) => self.search = Some(progress).filter(|_| !query.trim().is_empty()),
            Err(error) => {
                self.search = None;
                self.set_notice(error.to_string());
            }
        }
        self.settle();
    }

    /// Tells whether there is more to look at for hits.
    pub fn is_searching(&self) -> bool {
        self.search.is_some_and(|progress| !progress.done)
    }

    /// Looks at about `bytes` more bytes for hits; tells whether there is more to look at.
    ///
    /// To be called while nothing else is to be done, so that a key never waits for a search.
    pub fn search_step(&mut self, session: &Session, bytes: u64) -> bool {
        if !self.is_searching() {
            return false;
        }
        self.continue_search(session, bytes);
        self.settle();
        self.is_searching()
    }

    pub(super) fn continue_search(&mut self, session: &Session, bytes: u64) {
        match self.outline.search_step(session, bytes) {
            Ok(progress) => self.search = Some(progress),
            Err(error) => {
                self.search = None;
                self.set_notice(error.to_string());
            }
        }
    }
}
