//! The places where the leaf was, for going back and forth as in a browser.
//!
//! In memory only, one per agent: what a file knows of positions is its last one. An append is no move: it goes on from
//! a place, and does not leave it.

use session_tree::EntryId;

/// How many places are remembered.
const MOST: usize = 200;

/// A place of the leaf; `None` is before the first entry.
pub(crate) type Position = Option<EntryId>;

/// The places where the leaf was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    behind: Vec<Position>,
    ahead: Vec<Position>,
}

impl History {
    /// Returns the places behind, the nearest last.
    pub fn behind(&self) -> &[Position] {
        &self.behind
    }

    /// Returns the places ahead, the nearest last.
    pub fn ahead(&self) -> &[Position] {
        &self.ahead
    }

    /// Notes that a place was left for a new one. What was ahead is forgotten.
    pub(crate) fn leave(&mut self, place: Position) {
        self.ahead.clear();
        push(&mut self.behind, place);
    }

    /// Notes that the leaf went back from a place, over `steps` places.
    pub(crate) fn go_back(&mut self, from: Position, steps: usize) {
        self.behind.truncate(self.behind.len().saturating_sub(steps));
        push(&mut self.ahead, from);
    }

    /// Notes that the leaf went forward from a place, over `steps` places.
    pub(crate) fn go_forward(&mut self, from: Position, steps: usize) {
        self.ahead.truncate(self.ahead.len().saturating_sub(steps));
        push(&mut self.behind, from);
    }
}

fn push(places: &mut Vec<Position>, place: Position) {
    if places.len() == MOST {
        places.remove(0);
    }
    places.push(place);
}
