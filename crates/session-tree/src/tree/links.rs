//! Child links, made from the parent links when they are first needed, and the cutting of circles.
//!
//! Children are never stored in a file: two records of one relation can only drift apart. Nearly every entry stands
//! right behind its parent, which needs no record; only the others have one, so that a million
//! entries in a row need no memory for it.

use hashbrown::HashMap;

use super::{Columns, Flags};

/// The children that do not stand right behind their parent, and the roots; both in file order.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// One bit per entry: some of its children are in `elsewhere`.
    recorded: Vec<u64>,
    elsewhere: HashMap<u32, Vec<u32>>,
    pub(crate) roots: Vec<u32>,
}

impl Links {
    pub(crate) fn of(columns: &Columns) -> Self {
        let mut links = Links { recorded: vec![0; columns.len() / 64 + 1], ..Links::default() };
        for at in 0..columns.len() as u32 {
            if columns.flags(at) & Flags::HIDDEN == 0 {
                links.push(at, columns.parent(at));
            }
        }
        links
    }

    /// Adds the entry that was just added to the columns.
    pub(crate) fn push(&mut self, at: u32, parent: Option<u32>) {
        let Some(parent) = parent else {
            self.roots.push(at);
            return;
        };
        if at.checked_sub(1) == Some(parent) {
            return;
        }
        self.elsewhere.entry(parent).or_default().push(at);
        let word = parent as usize / 64;
        if word >= self.recorded.len() {
            self.recorded.resize(word + 1, 0);
        }
        self.recorded[word] |= 1 << (parent % 64);
    }

    /// Returns the children of an entry that do not stand right behind it.
    pub(crate) fn elsewhere(&self, at: u32) -> &[u32] {
        let is_recorded = self.recorded.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 != 0);
        if is_recorded { self.elsewhere.get(&at).map_or(&[], Vec::as_slice) } else { &[] }
    }
}

/// Makes the first entry (in file order) of every circle of parents a root; gives those entries.
pub(crate) fn cut_circles(columns: &mut Columns) -> Vec<u32> {
    // 0: not seen, otherwise the number of the walk that saw it.
    let mut seen = vec![0_u32; columns.len()];
    let mut cut = Vec::new();
    for start in 0..columns.len() as u32 {
        let walk = start + 1;
        let mut at = start;
        while seen[at as usize] == 0 {
            seen[at as usize] = walk;
            match columns.parent(at) {
                Some(parent) => at = parent,
                None => break,
            }
        }
        // With a parent, a walk only ends on its own trail where it came around, or on that of an earlier one.
        if columns.parent(at).is_some() && seen[at as usize] == walk {
            let head = first_of_circle(columns, at);
            columns.set_parent(head, None);
            cut.push(head);
        }
    }
    cut.sort_unstable();
    cut
}

fn first_of_circle(columns: &Columns, at: u32) -> u32 {
    let (mut head, mut walker) = (at, columns.parent(at));
    while let Some(next) = walker.filter(|next| *next != at) {
        head = head.min(next);
        walker = columns.parent(next);
    }
    head
}
