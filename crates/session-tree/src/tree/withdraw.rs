//! Withdrawals: lines that take an earlier line of their id back, as the undoing of a repair does.
//!
//! The lines of one id are a stack: a withdrawal takes the last one off, and who had the id before has it again.
//! Meant for a tree that is made from the beginning; what came later is read anew (see `Index::catch_up`).

use hashbrown::HashMap;

use super::{Flags, Tree, hash};

/// What lies below the holder of an id in the stack of its lines; a file may have a million of them.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    /// The copies of a row, the last one on top.
    copies: HashMap<u32, Vec<u32>>,
    /// Who had the id before.
    before: HashMap<u32, u32>,
}

impl Stacks {
    fn of(tree: &Tree) -> Self {
        let mut stacks = Self::default();
        tree.copies.iter().for_each(|(copy, first)| stacks.note_copy(*copy, *first));
        tree.shadowed.iter().for_each(|(old, new)| stacks.note_shadowed(*old, *new));
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

    /// Once all lines are known: what was taken back is no copy and shadows nobody.
    pub(super) fn drop_stacks(&mut self) {
        if self.stacks.take().is_some() {
            let columns = &self.columns;
            let stays = |at: u32| columns.flags(at) & Flags::WITHDRAWN == 0;
            self.copies.retain(|(copy, _)| stays(*copy));
            self.shadowed.retain(|(_, new)| stays(*new));
        }
    }

    fn withdraw(&mut self, at: u32) {
        self.hide(at);
        self.columns.set_flag(at, Flags::WITHDRAWN);
    }

    /// Gives an id back to the row that had it before. A placeholder shows itself if somebody hangs below it.
    fn give_back(&mut self, holder: u32, before: u32) {
        // That the id went to `holder` once stays noted: whoever follows it comes back here.
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
