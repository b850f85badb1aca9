//! Withdrawals: lines that take an earlier line of their id back, as the undoing of a repair does.
//!
//! The lines of one id are a stack: a withdrawal takes the last one off, and who had the id before has it again.
//! Meant for a tree that is made from the beginning; what came later is read anew (see `Index::catch_up`).

use super::{Flags, Tree, hash};

impl Tree {
    /// Tells whether a line from `from` on takes another one back.
    pub(crate) fn has_withdrawals(&self, from: usize) -> bool {
        (from..self.columns.len()).any(|at| self.columns.flags(at as u32) & Flags::WITHDRAWAL != 0)
    }

    /// Tells whether a row was taken back.
    pub(crate) fn is_withdrawn(&self, at: u32) -> bool {
        self.columns.flags(at) & Flags::WITHDRAWN != 0
    }

    /// Takes back the last line before `at` that has its id; tells whether there is one.
    pub(super) fn take_back(&mut self, at: u32) -> bool {
        let Some(holder) = self.holder(&self.key_at(at)) else { return false };
        self.unsettled = true;
        self.withdraw(at);
        let copy = self.copies.iter().rposition(|(_, first)| *first == holder);
        if let Some(copy) = copy {
            let (copy, _) = self.copies.remove(copy);
            self.withdraw(copy);
            self.moved.push((at, holder));
            return true;
        }
        self.withdraw(holder);
        match self.shadowed.iter().rposition(|(_, new)| *new == holder) {
            Some(place) => {
                let (before, _) = self.shadowed.remove(place);
                self.give_back(holder, before);
                self.moved.push((at, before));
            }
            None => self.forget(holder),
        }
        true
    }

    fn withdraw(&mut self, at: u32) {
        self.hide(at);
        self.columns.set_flag(at, Flags::WITHDRAWN);
    }

    /// Gives an id back to the row that had it before. A placeholder shows itself if somebody hangs below it.
    fn give_back(&mut self, holder: u32, before: u32) {
        self.moved.retain(|pair| *pair != (before, holder));
        self.moved.push((holder, before));
        let value = hash(&self.hasher, &self.key_at(holder));
        if let Some(slot) = self.by_id.find_mut(value, |row| *row == holder) {
            *slot = before;
        }
        if self.columns.flags(before) & Flags::PLACEHOLDER == 0 {
            self.columns.clear_flag(before, Flags::HIDDEN);
            self.hidden -= 1;
        }
    }

    /// Makes an id one that nobody has.
    fn forget(&mut self, holder: u32) {
        let id = self.key_at(holder).into_owned();
        if let Ok(slot) = self.by_id.find_entry(hash(&self.hasher, &id), |row| *row == holder) {
            slot.remove();
        }
        // Whoever came right behind was linked without asking for the id.
        let next = holder + 1;
        if (next as usize) < self.columns.len() && self.columns.parent(next) == Some(holder) {
            self.columns.set_parent(next, None);
            self.waiting.push((next, id));
        }
    }
}
