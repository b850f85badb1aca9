//! The visible forest: which entries have a row, who hangs below whom, how far each is indented.
//!
//! A visible entry hangs below its nearest visible ancestor, so hidden entries never cause drift. Everything is a
//! flat vector by row or by entry: a million entries cost a few passes over numbers, and nothing recurses.

use super::marks::Marks;
use crate::tree::{Node, Tree};

/// No row.
pub(super) const NONE: u32 = u32::MAX;

/// All entries in the order in which they are drawn: the active branch first, then oldest first.
#[derive(Debug, Default)]
pub(super) struct Order {
    nodes: Vec<u32>,
    depth: Vec<u32>,
}

impl Order {
    pub(super) fn of(tree: &Tree, active: &Marks) -> Self {
        let mut order =
            Order { nodes: Vec::with_capacity(tree.len()), depth: Vec::with_capacity(tree.len()) };
        let mut siblings: Vec<Node> = tree.roots().collect();
        active_first(&mut siblings, active);
        let mut stack: Vec<(Node, u32)> = siblings.drain(..).rev().map(|root| (root, 0)).collect();
        while let Some((mut node, mut depth)) = stack.pop() {
            // A chain of only children needs no stack.
            loop {
                order.nodes.push(node.0);
                order.depth.push(depth);
                depth += 1;
                let mut children = tree.children(node);
                let Some(first) = children.next() else { break };
                let Some(second) = children.next() else {
                    node = first;
                    continue;
                };
                siblings.extend([first, second]);
                siblings.extend(children);
                if !siblings.is_sorted_by_key(|node| tree.timestamp(*node)) {
                    siblings.sort_by_key(|node| tree.timestamp(*node));
                }
                active_first(&mut siblings, active);
                stack.extend(siblings.drain(..).rev().map(|child| (child, depth)));
                break;
            }
        }
        order
    }

    /// Returns the entries in drawing order.
    pub(super) fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + '_ {
        self.nodes.iter().copied().map(Node)
    }
}

fn active_first(siblings: &mut [Node], active: &Marks) {
    if let Some(at) = siblings.iter().position(|node| active.has(*node)) {
        siblings[..=at].rotate_right(1);
    }
}

/// The rows and how they hang together.
#[derive(Debug, Default)]
pub(super) struct Forest {
    rows: Vec<Row>,
    /// By entry: its row, or that of its nearest visible ancestor.
    nearest: Vec<u32>,
    several_roots: bool,
}

/// A row: numbers of rows where nothing else is said.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// The entry.
    node: u32,
    /// How many ancestors the entry has in the tree.
    depth: u32,
    /// The nearest visible ancestor.
    parent: u32,
    /// The next and the previous row with the same parent.
    next: u32,
    prev: u32,
    /// The number of visible children.
    children: u32,
    /// The indent, before roots are shifted to the left.
    indent: u32,
    /// The nearest row at or above it that is drawn with a connector; while rows are made, the last child.
    head: u32,
}

impl Forest {
    /// Makes a row for every entry that `shows` accepts and that is not below a folded one.
    ///
    /// Takes the memory of the forest before: fresh memory would cost more than all the rest.
    pub(super) fn build(
        mut self,
        tree: &Tree,
        order: &Order,
        folded: &Marks,
        shows: impl Fn(Node) -> bool,
    ) -> Self {
        self.clear(tree.row_count(), order.nodes.len());
        let mut forest = self;
        let any_fold = !folded.is_empty();
        let mut last_root = NONE;
        let mut fold = None;
        for (&at, &depth) in order.nodes.iter().zip(&order.depth) {
            if let Some((fold_depth, row)) = fold {
                if depth > fold_depth {
                    forest.nearest[at as usize] = row;
                    continue;
                }
                fold = None;
            }
            let node = Node(at);
            let above = tree.parent(node).map_or(NONE, |parent| forest.nearest[parent.0 as usize]);
            if !shows(node) {
                forest.nearest[at as usize] = above;
                continue;
            }
            let row = forest.push(at, depth, above, &mut last_root);
            if any_fold && folded.has(node) {
                fold = Some((depth, row));
            }
        }
        forest.indent_rows();
        forest
    }

    fn clear(&mut self, entries: usize, most_rows: usize) {
        self.rows.clear();
        self.rows.reserve(most_rows);
        self.nearest.clear();
        self.nearest.resize(entries, NONE);
        self.several_roots = false;
    }

    fn push(&mut self, at: u32, depth: u32, above: u32, last_root: &mut u32) -> u32 {
        let row = self.rows.len() as u32;
        let before = match self.rows.get_mut(above as usize) {
            None => std::mem::replace(last_root, row),
            Some(parent) => {
                parent.children += 1;
                std::mem::replace(&mut parent.head, row)
            }
        };
        if before != NONE {
            self.rows[before as usize].next = row;
            self.several_roots |= above == NONE;
        }
        self.rows.push(Row {
            node: at,
            depth,
            parent: above,
            next: NONE,
            prev: before,
            children: 0,
            indent: 0,
            head: NONE,
        });
        self.nearest[at as usize] = row;
        row
    }

    fn indent_rows(&mut self) {
        for row in 0..self.rows.len() {
            let above = self.rows[row].parent;
            if above == NONE {
                self.rows[row].indent = u32::from(self.several_roots);
                self.rows[row].head = NONE;
                continue;
            }
            let parent = self.rows[above as usize];
            let branches = parent.children > 1;
            let first_of_branch = parent.indent > 0 && self.starts_segment(above);
            self.rows[row].indent = parent.indent + u32::from(branches || first_of_branch);
            self.rows[row].head = if branches { row as u32 } else { parent.head };
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn node(&self, row: usize) -> Option<Node> {
        self.rows.get(row).map(|row| Node(row.node))
    }

    pub(super) fn depth(&self, row: usize) -> u32 {
        self.rows.get(row).map_or(0, |row| row.depth)
    }

    /// Returns the row of an entry, or of its nearest visible ancestor.
    pub(super) fn nearest(&self, node: Node) -> Option<usize> {
        self.nearest.get(node.0 as usize).filter(|row| **row != NONE).map(|row| *row as usize)
    }

    pub(super) fn row_of(&self, node: Node) -> Option<usize> {
        self.nearest(node).filter(|row| self.rows[*row].node == node.0)
    }

    pub(super) fn parent(&self, row: usize) -> Option<usize> {
        self.link(row, |row| row.parent)
    }

    pub(super) fn next_sibling(&self, row: usize) -> Option<usize> {
        self.link(row, |row| row.next)
    }

    pub(super) fn previous_sibling(&self, row: usize) -> Option<usize> {
        self.link(row, |row| row.prev)
    }

    pub(super) fn child_count(&self, row: usize) -> usize {
        self.rows.get(row).map_or(0, |row| row.children as usize)
    }

    /// Tells whether a row has siblings: several roots count as siblings.
    fn starts_segment(&self, row: u32) -> bool {
        match self.rows[row as usize].parent {
            NONE => self.several_roots,
            above => self.rows[above as usize].children > 1,
        }
    }

    /// Tells whether a row is drawn with a connector.
    pub(super) fn has_connector(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(|at| at.head == row as u32)
    }

    /// Returns how many levels are drawn before a row.
    pub(super) fn levels(&self, row: usize) -> usize {
        let indent = self.rows.get(row).map_or(0, |row| row.indent);
        indent.saturating_sub(u32::from(self.several_roots)) as usize
    }

    /// Calls `take` for every ancestor that draws a line past this row: its level, and whether siblings follow it.
    pub(super) fn gutters(&self, row: usize, mut take: impl FnMut(usize, bool)) {
        let mut above = self.parent(row);
        while let Some(head) = above.and_then(|row| self.link(row, |row| row.head)) {
            take(self.levels(head).saturating_sub(1), self.rows[head].next != NONE);
            above = self.parent(head);
        }
    }

    /// Roots and heads of branches can be folded if anything hangs below them.
    pub(super) fn is_foldable(&self, row: usize) -> bool {
        self.child_count(row) > 0 && (self.parent(row).is_none() || self.has_connector(row))
    }

    /// Returns the nearest start of a segment above a row, or the root.
    pub(super) fn segment_above(&self, row: usize) -> usize {
        let Some(parent) = self.parent(row) else { return row };
        self.link(parent, |row| row.head).unwrap_or_else(|| self.root_of(parent))
    }

    fn root_of(&self, row: usize) -> usize {
        let mut at = row;
        while let Some(parent) = self.parent(at) {
            at = parent;
        }
        at
    }

    /// Follows only children down to the next branch point and gives its first child, or the end of the chain.
    pub(super) fn segment_below(&self, row: usize) -> usize {
        let mut at = row;
        loop {
            match self.child_count(at) {
                0 => return at,
                // Rows stand in pre-order: the first child is the next row.
                1 => at += 1,
                _ => return at + 1,
            }
        }
    }

    fn link(&self, row: usize, to: impl Fn(&Row) -> u32) -> Option<usize> {
        self.rows.get(row).map(to).filter(|row| *row != NONE).map(|row| row as usize)
    }
}
