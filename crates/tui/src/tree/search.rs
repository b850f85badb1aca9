//! The query: typed letter by letter, looked for step by step.

use session_tree::Session;

use super::TreeSelector;
use crate::input::changed_query;
use crate::keys::Input;

impl TreeSelector {
    /// Takes what changes the query.
    pub(super) fn edit_query(&mut self, session: &Session, input: &Input) {
        if let Some(query) = changed_query(self.query(), input) {
            self.set_query(session, &query);
        }
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
