//! Withdrawals: lines that take back an earlier line of their id, as undoing a repair does.
//!
//! The lines of one id are a stack: a withdrawal takes the last one off, and the line below gets the id back.
//! Used while a tree is made from the beginning; for later lines the file is read again (see `Index::catch_up`).

use hashbrown::HashMap;

use super::{Flags, Tree, hash};

/// The lines below the holder of each id; a file may have a million of them.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    /// The copies of a row, the last one on top.
    copies: HashMap<u32, Vec<u32>>,
    /// The previous holder of an id.
    before: HashMap<u32, u32>,
}

impl Stacks {
    fn of(tree: &Tree) -> Self {
        let mut stacks = Self::default();
        tree.exceptions.copies.iter().for_each(|(copy, first)| stacks.note_copy(*copy, *first));
        tree.exceptions.shadowed.iter().for_each(|(old, new)| stacks.note_shadowed(*old, *new));
        stacks
    }

    pub(super) fn note_copy(&mut self, copy: u32, first: u32) {
        self.copies.entry(first).or_default().push(copy);
    }

    pub(super) fn note_shadowed(&mut self, old: u32, new: u32) {
        self.before.insert(new, old);
    }
}

impl Tree {
    /// Returns true if a line from `from` on takes another one back.
    pub(crate) fn has_withdrawals(&self, from: usize) -> bool {
        (from..self.columns.len()).any(|at| self.columns.flags(at as u32) & Flags::WITHDRAWAL != 0)
    }

    /// Returns true if a row was taken back.
    pub(crate) fn is_withdrawn(&self, at: u32) -> bool {
        self.columns.flags(at) & Flags::WITHDRAWN != 0
    }

    /// Takes back the last line before `at` that has its id; returns false if no line has it.
    pub(super) fn take_back(&mut self, at: u32) -> bool {
        let Some(holder) = self.holder(&self.key_at(at)) else { return false };
        self.links_changed = true;
        self.withdraw(at);
        let mut stacks = self.stacks.take().unwrap_or_else(|| Stacks::of(self));
        let copy = stacks.copies.get_mut(&holder).and_then(Vec::pop);
        let before = if copy.is_none() { stacks.before.remove(&holder) } else { None };
        self.stacks = Some(stacks);
        if let Some(copy) = copy {
            self.withdraw(copy);
            self.move_id(at, holder);
            return true;
        }
        self.withdraw(holder);
        match before {
            Some(before) => {
                self.give_back(holder, before);
                self.move_id(at, before);
            }
            None => self.forget(holder),
        }
        true
    }

    /// Ends the withdrawals: withdrawn lines no longer count as copies or as holders.
    pub(super) fn drop_stacks(&mut self) {
        if self.stacks.take().is_some() {
            let columns = &self.columns;
            let stays = |at: u32| columns.flags(at) & Flags::WITHDRAWN == 0;
            self.exceptions.copies.retain(|(copy, _)| stays(*copy));
            self.exceptions.shadowed.retain(|(_, new)| stays(*new));
        }
    }

    fn withdraw(&mut self, at: u32) {
        self.hide(at);
        self.columns.set_flag(at, Flags::WITHDRAWN);
    }

    /// Returns an id back to the row that had it before. A placeholder stays hidden until an entry hangs below it.
    fn give_back(&mut self, holder: u32, before: u32) {
        // Rows that followed the id to `holder` now follow it back.
        self.move_id(holder, before);
        self.columns.clear_flag(before, Flags::LOST_ID);
        let value = hash(&self.hasher, &self.key_at(holder));
        if let Some(slot) = self.by_id.find_mut(value, |row| *row == holder) {
            *slot = before;
        }
        if self.columns.flags(before) & Flags::PLACEHOLDER == 0 {
            self.columns.clear_flag(before, Flags::HIDDEN);
            self.hidden -= 1;
        }
    }

    /// Removes an id that no row holds.
    fn forget(&mut self, holder: u32) {
        let id = self.key_at(holder).into_owned();
        self.forget_id(holder, &id);
        // The next row may have been linked without a lookup of the id.
        let next = holder + 1;
        if (next as usize) < self.columns.len() && self.columns.parent(next) == Some(holder) {
            self.columns.set_parent(next, None);
            self.exceptions.waiting.push((next, id));
        }
    }
}
