//! The visible forest: which entries have a row, who hangs below whom, how far each is indented.
//!
//! A visible entry hangs below its nearest visible ancestor, so hidden entries never cause drift. Sessions are mostly
//! long chains, and so is all that is kept here: of entries in **runs**, of rows in **segments**. Memory is what a
//! million entries cost; nothing recurses.

use std::ops::Range;

use super::row::Level;
use crate::node_set::NodeSet;
use session_tree::{Node, Tree};

/// No row, no segment.
const NONE: u32 = u32::MAX;

/// All entries in the order in which they are drawn: the active branch first, then oldest first.
#[derive(Debug, Default)]
pub(super) struct Order {
    runs: Vec<Run>,
    /// The numbers of the runs in file order.
    by_node: Vec<u32>,
    len: usize,
}

/// Entries that stand one behind the other in the file, each the child of the one before it.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: u32,
    len: u32,
    /// How many ancestors the first one has.
    depth: u32,
}

impl Run {
    fn nodes(self) -> Range<u32> {
        self.first..self.first + self.len
    }
}

impl Order {
    pub(super) fn of(tree: &Tree, active: &NodeSet) -> Self {
        let mut order = Order::default();
        let mut siblings: Vec<Node> = tree.roots().collect();
        active_first(&mut siblings, active);
        let mut stack: Vec<(Node, u32)> = siblings.drain(..).rev().map(|root| (root, 0)).collect();
        while let Some((mut node, mut depth)) = stack.pop() {
            // A chain of only children needs no stack.
            loop {
                order.push(node.index() as u32, depth);
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
        order.by_node.extend(0..order.runs.len() as u32);
        order.by_node.sort_unstable_by_key(|run| order.runs[*run as usize].first);
        order
    }

    /// An entry that is one deeper than the one before it in this order is its child.
    fn push(&mut self, node: u32, depth: u32) {
        self.len += 1;
        match self.runs.last_mut() {
            Some(run) if run.first + run.len == node && run.depth + run.len == depth => run.len += 1,
            _ => self.runs.push(Run { first: node, len: 1, depth }),
        }
    }

    /// Returns the entries in drawing order.
    pub(super) fn nodes<'o>(&'o self, tree: &'o Tree) -> impl DoubleEndedIterator<Item = Node> + 'o {
        self.runs.iter().flat_map(|run| run.nodes()).filter_map(|index| tree.node_at(index as usize))
    }

    /// Returns how many ancestors an entry has in the tree.
    pub(super) fn depth(&self, node: Node) -> u32 {
        let index = node.index() as u32;
        let behind = self.by_node.partition_point(|run| self.runs[*run as usize].first <= index);
        let run = behind.checked_sub(1).map(|at| self.runs[self.by_node[at] as usize]);
        run.filter(|run| run.nodes().contains(&index)).map_or(0, |run| run.depth + (index - run.first))
    }
}

fn active_first(siblings: &mut [Node], active: &NodeSet) {
    if let Some(at) = siblings.iter().position(|node| active.has(*node)) {
        siblings[..=at].rotate_right(1);
    }
}

/// The rows and how they hang together.
#[derive(Debug, Default)]
pub(super) struct Forest {
    /// By row: its entry.
    nodes: Vec<Node>,
    /// By entry: its row, or that of its nearest visible ancestor.
    nearest: Vec<u32>,
    /// In the order of their rows.
    segments: Vec<Segment>,
    /// The rows that are roots or have siblings before them, each with its parent.
    later: Vec<(u32, u32)>,
    several_roots: bool,
}

/// How a row is drawn.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowLayout {
    /// How many levels are drawn before it.
    pub(super) levels: usize,
    /// The last of them, if it is drawn with a connector.
    pub(super) connector: Option<Level>,
    /// Roots and heads of branches can be folded if anything hangs below them.
    pub(super) is_foldable: bool,
}

/// Rows one below the other, each the only child of the one before it. Starts at a root or below a branch point, and
/// ends where the next one starts.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// The first row.
    first: u32,
    /// The segment that ends at the parent of the first row.
    above: u32,
    /// The segments beside it, with the same parent.
    next: u32,
    prev: u32,
    /// How many segments hang below its last row.
    children: u32,
    /// The indent of the first row, before roots are shifted to the left.
    indent: u32,
}

impl Forest {
    /// Makes a row for every entry that `shows` accepts and that is not below a folded one.
    ///
    /// Takes the memory of the forest before: fresh memory would cost more than all the rest.
    pub(super) fn build(
        mut self,
        tree: &Tree,
        order: &Order,
        folded: &NodeSet,
        shows: impl Fn(Node) -> bool,
    ) -> Self {
        self.clear(tree.node_bound(), order.len);
        let any_fold = !folded.is_empty();
        let mut fold = None;
        for run in &order.runs {
            if let Some((depth, row)) = fold {
                if run.depth > depth {
                    self.hide(run.nodes(), row);
                    continue;
                }
                fold = None;
            }
            let parent = tree.node_at(run.first as usize).and_then(|first| tree.parent(first));
            let mut nearest = parent.map_or(NONE, |parent| self.nearest[parent.index()]);
            for at in run.nodes() {
                let Some(node) = tree.node_at(at as usize) else { continue };
                let is_shown = shows(node);
                if is_shown {
                    nearest = self.push(node, nearest);
                }
                self.nearest[at as usize] = nearest;
                if any_fold && is_shown && folded.has(node) {
                    self.hide(at + 1..run.nodes().end, nearest);
                    fold = Some((run.depth + (at - run.first), nearest));
                    break;
                }
            }
        }
        self.make_segments();
        self
    }

    fn clear(&mut self, entries: usize, max_rows: usize) {
        self.nodes.clear();
        self.nodes.reserve(max_rows);
        self.nearest.clear();
        self.nearest.resize(entries, NONE);
        self.segments.clear();
        self.later.clear();
    }

    /// Entries without rows, below a row.
    fn hide(&mut self, nodes: Range<u32>, row: u32) {
        self.nearest[nodes.start as usize..nodes.end as usize].fill(row);
    }

    fn push(&mut self, node: Node, above: u32) -> u32 {
        let row = self.nodes.len() as u32;
        self.nodes.push(node);
        // Rows stand in pre-order: the first child is the next row.
        if above == NONE || above + 1 != row {
            self.later.push((row, above));
        }
        row
    }

    /// A segment starts at every root and at every child of a row that has several.
    fn make_segments(&mut self) {
        let later = std::mem::take(&mut self.later);
        let parents = later.iter().map(|(_, parent)| *parent).filter(|parent| *parent != NONE);
        let mut branch_points: Vec<u32> = parents.collect();
        self.several_roots = later.len() > branch_points.len() + 1;
        branch_points.sort_unstable();
        branch_points.dedup();
        let mut branch_points = branch_points.into_iter().peekable();
        let mut family = Family::default();
        for (row, parent) in &later {
            while let Some(point) = branch_points.next_if(|point| point < row) {
                self.start_segment(point + 1, point, &mut family);
            }
            self.start_segment(*row, *parent, &mut family);
        }
        self.later = later;
    }

    fn start_segment(&mut self, first: u32, parent: u32, family: &mut Family) {
        let number = self.segments.len() as u32;
        let mut segment = Segment { first, above: NONE, next: NONE, prev: NONE, children: 0, indent: 0 };
        if parent == NONE {
            segment.prev = family.add_root(number);
            segment.indent = u32::from(self.several_roots);
        } else {
            (segment.above, segment.prev) = family.add_child(number, first, parent);
            let above = &mut self.segments[segment.above as usize];
            above.children += 1;
            segment.indent = above.indent_at(parent) + 1;
        }
        if segment.prev != NONE {
            self.segments[segment.prev as usize].next = number;
        }
        self.segments.push(segment);
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, row: usize) -> Option<Node> {
        self.nodes.get(row).copied()
    }

    /// Returns the row of an entry, or of its nearest visible ancestor.
    pub(super) fn nearest(&self, node: Node) -> Option<usize> {
        self.nearest.get(node.index()).filter(|row| **row != NONE).map(|row| *row as usize)
    }

    pub(super) fn row_of(&self, node: Node) -> Option<usize> {
        self.nearest(node).filter(|row| self.nodes[*row] == node)
    }

    pub(super) fn parent(&self, row: usize) -> Option<usize> {
        let at = self.at(row)?;
        if row > at.first() { Some(row - 1) } else { self.segment(at.segment.above).map(|above| above.end) }
    }

    pub(super) fn next_sibling(&self, row: usize) -> Option<usize> {
        self.beside(row, |segment| segment.next)
    }

    pub(super) fn previous_sibling(&self, row: usize) -> Option<usize> {
        self.beside(row, |segment| segment.prev)
    }

    fn beside(&self, row: usize, to: impl Fn(&Segment) -> u32) -> Option<usize> {
        let at = self.at(row).filter(|at| at.first() == row)?;
        self.segments.get(to(at.segment) as usize).map(|beside| beside.first as usize)
    }

    /// Tells how a row is drawn.
    pub(super) fn look(&self, row: usize) -> RowLayout {
        let Some(at) = self.at(row) else { return RowLayout::default() };
        let is_first = at.first() == row;
        let has_connector = is_first && at.segment.above != NONE;
        let level = if at.segment.next == NONE { Level::Corner } else { Level::Tee };
        let indent = at.segment.indent_at(row as u32);
        RowLayout {
            levels: indent.saturating_sub(u32::from(self.several_roots)) as usize,
            connector: has_connector.then_some(level),
            is_foldable: is_first && (at.end > row || at.segment.children > 0),
        }
    }

    /// Calls `take` for every ancestor that draws a line past this row on the level `first` or a later one: its level,
    /// and whether siblings follow it.
    pub(super) fn gutters(&self, row: usize, first: usize, mut take: impl FnMut(usize, bool)) {
        let Some(at) = self.at(row) else { return };
        let mut above = if row > at.first() { Some(at) } else { self.segment(at.segment.above) };
        // Roots are drawn without lines.
        while let Some(at) = above.filter(|at| at.segment.above != NONE) {
            let level = at.segment.indent.saturating_sub(u32::from(self.several_roots) + 1);
            // Levels only get smaller on the way up.
            if (level as usize) < first {
                return;
            }
            take(level as usize, at.segment.next != NONE);
            above = self.segment(at.segment.above);
        }
    }

    /// Returns the nearest start of a segment above a row, or the root.
    pub(super) fn segment_above(&self, row: usize) -> usize {
        self.parent(row).and_then(|parent| self.at(parent)).map_or(row, |at| at.first())
    }

    /// Follows only children down to the next branch point and gives its first child, or the end of the chain.
    pub(super) fn segment_below(&self, row: usize) -> usize {
        self.at(row).map_or(row, |at| at.end + usize::from(at.segment.children > 0))
    }

    /// Finds the segment of a row.
    fn at(&self, row: usize) -> Option<SegmentRef<'_>> {
        let behind = self.segments.partition_point(|segment| segment.first as usize <= row);
        self.segment(behind.checked_sub(1)? as u32).filter(|at| row <= at.end)
    }

    fn segment(&self, number: u32) -> Option<SegmentRef<'_>> {
        let segment = self.segments.get(number as usize)?;
        let next =
            self.segments.get(number as usize + 1).map_or(self.nodes.len(), |next| next.first as usize);
        Some(SegmentRef { segment, end: next - 1 })
    }
}

impl Segment {
    /// The first row below a branch point is one step before those that follow it.
    fn indent_at(&self, row: u32) -> u32 {
        self.indent + u32::from(self.indent > 0 && row > self.first)
    }
}

/// A segment and its last row.
struct SegmentRef<'f> {
    segment: &'f Segment,
    end: usize,
}

impl SegmentRef<'_> {
    fn first(&self) -> usize {
        self.segment.first as usize
    }
}

/// The branch points whose children are being added.
#[derive(Default)]
struct Family {
    last_root: Option<u32>,
    /// The branch points that may get more children, the deepest last.
    open: Vec<BranchPoint>,
}

struct BranchPoint {
    row: u32,
    /// The segment that ends here.
    segment: u32,
    last_child: u32,
}

impl Family {
    /// Returns the root before it.
    fn add_root(&mut self, number: u32) -> u32 {
        self.open.clear();
        self.last_root.replace(number).unwrap_or(NONE)
    }

    /// Returns the segment above, and the child before it.
    fn add_child(&mut self, number: u32, first: u32, parent: u32) -> (u32, u32) {
        if parent + 1 == first {
            self.open.push(BranchPoint { row: parent, segment: number - 1, last_child: number });
            return (number - 1, NONE);
        }
        // Rows stand in pre-order: what is deeper has all its children.
        while self.open.pop_if(|point| point.row != parent).is_some() {}
        self.open
            .last_mut()
            .map_or((NONE, NONE), |point| (point.segment, std::mem::replace(&mut point.last_child, number)))
    }
}
