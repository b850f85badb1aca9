//! Child links, made from the parent links when somebody first asks, and the cutting of circles.
//!
//! Children are never stored in a file: two records of one relation can only drift apart.

use super::{Columns, Flags};

const NONE: u32 = u32::MAX;

/// First child, last child and next sibling of every entry, in file order.
#[derive(Debug, Default)]
pub(crate) struct Links {
    first: Vec<u32>,
    last: Vec<u32>,
    next: Vec<u32>,
    pub(crate) roots: Vec<u32>,
}

impl Links {
    pub(crate) fn of(columns: &Columns) -> Self {
        let count = columns.len();
        let mut links = Links {
            first: vec![NONE; count],
            last: vec![NONE; count],
            next: vec![NONE; count],
            roots: Vec::new(),
        };
        for at in 0..count as u32 {
            if columns.flags(at) & Flags::HIDDEN == 0 {
                links.attach(at, columns.parent(at));
            }
        }
        links
    }

    /// Adds the entry that was just added to the columns.
    pub(crate) fn push(&mut self, at: u32, parent: Option<u32>) {
        self.first.push(NONE);
        self.last.push(NONE);
        self.next.push(NONE);
        self.attach(at, parent);
    }

    fn attach(&mut self, at: u32, parent: Option<u32>) {
        let Some(parent) = parent else {
            self.roots.push(at);
            return;
        };
        let last = std::mem::replace(&mut self.last[parent as usize], at);
        if last == NONE {
            self.first[parent as usize] = at;
        } else {
            self.next[last as usize] = at;
        }
    }

    pub(crate) fn first(&self, at: u32) -> Option<u32> {
        some(self.first[at as usize])
    }

    pub(crate) fn next(&self, at: u32) -> Option<u32> {
        some(self.next[at as usize])
    }
}

fn some(at: u32) -> Option<u32> {
    (at != NONE).then_some(at)
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
        if columns.parent(at).is_some() && seen[at as usize] == walk && on_circle(columns, at) {
            let head = first_of_circle(columns, at);
            columns.set_parent(head, None);
            cut.push(head);
        }
    }
    cut.sort_unstable();
    cut
}

fn on_circle(columns: &Columns, at: u32) -> bool {
    let mut walker = at;
    for _ in 0..=columns.len() {
        match columns.parent(walker) {
            Some(parent) if parent == at => return true,
            Some(parent) => walker = parent,
            None => return false,
        }
    }
    false
}

fn first_of_circle(columns: &Columns, at: u32) -> u32 {
    let (mut head, mut walker) = (at, columns.parent(at));
    while let Some(next) = walker.filter(|next| *next != at) {
        head = head.min(next);
        walker = columns.parent(next);
    }
    head
}
