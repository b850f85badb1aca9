//! Which result answers which call.
//!
//! Ids are given by model services, and some give one id to several calls of an answer, or none at all. A result
//! goes to the first open call with its id among those of the latest answer that has one.

use std::collections::{HashMap, VecDeque};

/// The calls of a path, oldest first, that wait for their results; `P` says where a call stands.
///
/// Ids need not be unique: a result goes to the first open call with its id among those of the latest answer that has
/// one.
///
/// ```
/// let mut open = session_tree::OpenCalls::default();
/// open.ask([("same".to_owned(), "first"), ("same".to_owned(), "second")]);
/// assert_eq!((open.answer("same"), open.answer("same")), (Some("first"), Some("second")));
/// ```
#[derive(Debug)]
pub struct OpenCalls<P> {
    by_id: HashMap<String, VecDeque<P>>,
}

impl<P> Default for OpenCalls<P> {
    fn default() -> Self {
        Self { by_id: HashMap::new() }
    }
}

impl<P> OpenCalls<P> {
    /// Notes the calls of an answer, in its order. Calls of earlier answers with the same ids wait no longer.
    pub fn ask(&mut self, calls: impl IntoIterator<Item = (String, P)>) {
        let mut asked: HashMap<String, VecDeque<P>> = HashMap::new();
        for (id, place) in calls {
            asked.entry(id).or_default().push_back(place);
        }
        self.by_id.extend(asked);
    }

    /// Returns the call that a result with this id answers; it waits no longer.
    pub fn answer(&mut self, id: &str) -> Option<P> {
        self.by_id.get_mut(id)?.pop_front()
    }

    /// Returns true if there was a call with this id, waiting or not.
    pub fn knows(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }
}
