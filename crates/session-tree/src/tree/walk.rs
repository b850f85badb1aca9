//! Walks over the tree: paths, children, the ordered whole.
//!
//! None recurses: chains of a million entries are normal input.

use super::{Node, Tree};

impl Tree {
    /// Returns the direct children of an entry, in file order.
    #[inline]
    pub fn children(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let links = self.links();
        let row = self.row(node);
        let mut behind = row.map(|row| row + 1).filter(|row| self.columns.is_shown_child(*row, row - 1));
        let mut elsewhere = row.map_or(&[][..], |row| links.elsewhere(row));
        std::iter::from_fn(move || {
            let row = match elsewhere.split_first() {
                Some((child, rest)) if behind.is_none_or(|behind| behind > *child) => {
                    elsewhere = rest;
                    Some(*child)
                }
                Some(_) | None => behind.take(),
            };
            row.map(|row| self.node_of_row(row))
        })
    }

    /// Returns the entries without a parent in file order: roots, orphans and heads of cut circles.
    pub fn roots(&self) -> impl ExactSizeIterator<Item = Node> + '_ {
        self.links().roots.iter().map(|row| self.node_of_row(*row))
    }

    /// Returns true if an entry has more than one child.
    pub fn is_branch_point(&self, node: Node) -> bool {
        self.children(node).nth(1).is_some()
    }

    /// Returns the children of an entry oldest first; equal times keep file order.
    pub fn children_by_time(&self, node: Node) -> Vec<Node> {
        let mut children: Vec<Node> = self.children(node).collect();
        self.sort_by_time(&mut children);
        children
    }

    fn sort_by_time(&self, nodes: &mut [Node]) {
        if !nodes.is_sorted_by_key(|node| self.timestamp(*node)) {
            nodes.sort_by_key(|node| self.timestamp(*node));
        }
    }

    /// Returns an entry and its ancestors, nearest first.
    pub fn ancestors(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        self.ancestor_rows(node).map(|row| self.node_of_row(row))
    }

    fn ancestor_rows(&self, node: Node) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.row(node), |row| self.columns.parent(*row))
    }

    /// Returns the entries from the root to `node`, oldest first.
    pub fn path(&self, node: Node) -> Vec<Node> {
        let mut path: Vec<Node> = self.ancestors(node).collect();
        path.reverse();
        path
    }

    /// Returns true if `ancestor` lies on the path to `node` (an entry lies on its own path).
    pub fn is_on_path(&self, ancestor: Node, node: Node) -> bool {
        self.ancestors(node).any(|at| at == ancestor)
    }

    /// Returns the deepest entry that lies on both paths.
    pub fn common_ancestor(&self, one: Node, other: Node) -> Option<Node> {
        let on_path: hashbrown::HashSet<u32, std::hash::RandomState> = self.ancestor_rows(one).collect();
        let found = self.ancestor_rows(other).find(|row| on_path.contains(row));
        found.map(|row| self.node_of_row(row))
    }

    /// Returns the entries on the path to `old` that are not on the path to `target`, oldest first.
    pub fn abandoned(&self, old: Node, target: Node) -> Vec<Node> {
        let stop = self.common_ancestor(old, target);
        let mut left: Vec<Node> = self.ancestors(old).take_while(|node| Some(*node) != stop).collect();
        left.reverse();
        left
    }

    /// Returns the nearest entry at or above `node` that does not only keep books.
    pub fn nearest_conversational(&self, node: Node) -> Option<Node> {
        self.ancestors(node).find(|node| !self.is_bookkeeping(*node))
    }

    /// Returns all entries in pre-order, children oldest first, roots in file order.
    pub fn ordered(&self) -> Vec<(Node, u32)> {
        let mut rows = Vec::with_capacity(self.len());
        let mut stack: Vec<(Node, u32)> = self.roots().map(|root| (root, 0)).collect();
        stack.reverse();
        let mut children = Vec::new();
        while let Some((mut node, mut depth)) = stack.pop() {
            loop {
                rows.push((node, depth));
                depth += 1;
                let mut below = self.children(node);
                let Some(first) = below.next() else { break };
                let Some(second) = below.next() else {
                    // An only child needs no stack.
                    node = first;
                    continue;
                };
                children.extend([first, second]);
                children.extend(below);
                self.sort_by_time(&mut children);
                stack.extend(children.drain(..).rev().map(|child| (child, depth)));
                break;
            }
        }
        rows
    }

    /// Returns `node` and everything below it, in file order.
    pub fn subtree(&self, node: Node) -> Vec<Node> {
        let mut found = Vec::new();
        let mut stack: Vec<Node> = self.contains(node).then_some(node).into_iter().collect();
        while let Some(node) = stack.pop() {
            found.push(node);
            stack.extend(self.children(node));
        }
        found.sort_unstable();
        found
    }
}
