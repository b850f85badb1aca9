//! The outline: the tree as rows to show, the same in the terminal, in HTML and for scripts.
//!
//! A side branch of *tree*. Rows are made in two steps: which entries have a row and how they hang together comes
//! from the index alone, so that filters and folds cost no reading (two filters, errors and files, read each entry
//! once); what a row says is read from the journal for the rows that are asked for. An outline holds no session: its methods are given one.

mod call;
mod display;
mod filter;
mod forest;
mod haystack;

mod body_filter;
mod peek;
mod query;
mod row;
mod search;
mod text;
mod turn;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use session_tree::{Entry, Node, Result, Role, Session, Tree};

use crate::node_set::NodeSet;

use body_filter::BodyFilter;
use filter::FilterInput;
use forest::{Forest, Order, RowLayout};

pub use body_filter::is_failure;
pub use display::{OutlineText, outline};
pub use filter::Filter;
pub use query::Query;
pub use row::{Charset, Fold, Level, OutlineRow, RowShape, RowStyle};
pub use search::{Search, SearchProgress};
pub use turn::{TurnStats, TurnWalk};

/// How many bytes a new query looks at before the first hits are shown: enough for a screen of them near the leaf.
const FIRST_LOOK: u64 = 256 << 10;

/// Initial settings of an outline.
#[derive(Debug, Clone, Default)]
pub struct OutlineOptions {
    /// Which entries have a row.
    pub filter: Filter,
    /// The home directory; paths inside it are shown with `~`.
    pub home: Option<String>,
    /// True if a change of the filter unfolds everything, as in pi.
    pub filter_unfolds: bool,
}

/// The effect of a key that folds or jumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldStep {
    /// The entry was folded or unfolded; the selection stays.
    Changed,
    /// The selection goes to this entry.
    Goto(Node),
}

/// The tree of a session as rows.
#[derive(Debug)]
pub struct Outline {
    options: OutlineOptions,
    query: String,
    search: Option<Search>,
    folded: NodeSet,
    /// The entries of turns that were opened; only in the turn view.
    opened: NodeSet,
    order: Order,
    on_path: NodeSet,
    labelled: NodeSet,
    landmarks: NodeSet,
    noted: BodyFilter,
    leaf: Option<Node>,
    forest: Forest,
    /// How far the search had come when the rows were last made.
    shown_at: u64,
    turns: Mutex<HashMap<Node, TurnStats>>,
    /// By entry: the number of prompts on its path; only in the turn view.
    turn_numbers: Vec<u32>,
}

impl Outline {
    /// Makes the outline of a session.
    pub fn new(session: &Session, options: OutlineOptions) -> Self {
        let mut outline = Self {
            options,
            query: String::new(),
            search: None,
            folded: NodeSet::default(),
            opened: NodeSet::default(),
            order: Order::default(),
            on_path: NodeSet::default(),
            labelled: NodeSet::default(),
            landmarks: NodeSet::default(),
            noted: BodyFilter::default(),
            leaf: None,
            forest: Forest::default(),
            shown_at: 0,
            turns: Mutex::default(),
            turn_numbers: Vec::new(),
        };
        outline.refresh(session);
        outline
    }

    /// Follows the session after entries came, labels changed or the leaf moved. Filter, query and folds stay.
    pub fn refresh(&mut self, session: &Session) {
        let tree = session.tree();
        self.leaf = session.leaf();
        self.on_path = NodeSet::with_bound(tree.node_bound());
        for node in self.leaf.into_iter().flat_map(|leaf| tree.ancestors(leaf)) {
            self.on_path.add(node);
        }
        self.labelled = NodeSet::with_bound(tree.node_bound());
        for (node, _) in session.labels() {
            self.labelled.add(node);
        }
        self.order = Order::of(tree, &self.on_path);
        self.turns.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        self.prepare_filter(session);
        self.rebuild(tree);
    }

    /// Returns the filter.
    pub fn filter(&self) -> Filter {
        self.options.filter
    }

    /// Changes the filter. Folds stay unless the options say otherwise.
    pub fn set_filter(&mut self, session: &Session, filter: Filter) {
        if self.options.filter_unfolds {
            self.folded.clear();
        }
        self.options.filter = filter;
        self.prepare_filter(session);
        self.rebuild(session.tree());
    }

    /// Sets a filter that reads entries (errors or files) and takes the entries that pass from the caller, see [`is_failure`]
    /// and [`FileOps::is_touched_by`](session_tree::FileOps::is_touched_by).
    pub fn set_known_filter(&mut self, session: &Session, filter: Filter, entries: &[Node]) {
        let rows = session.tree().node_bound();
        let mut marks = NodeSet::with_bound(rows);
        for node in entries {
            marks.add(*node);
        }
        self.noted = BodyFilter::known(filter, marks, rows);
        self.set_filter(session, filter);
    }

    /// Returns the query as it was typed.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Changes the query, unfolds everything, and looks for the first hits; more come by
    /// [`search_step`](Outline::search_step).
    pub fn set_query(&mut self, session: &Session, query: &str) -> Result<SearchProgress> {
        if query != self.query {
            self.folded.clear();
        }
        query.clone_into(&mut self.query);
        let parsed = Query::parse(query);
        let search = match self.search.take() {
            _ if parsed.is_empty() => None,
            Some(mut search) => match search.refine(session, parsed) {
                Ok(()) => Some(search),
                Err(parsed) => Some(Search::new(session, parsed)),
            },
            None => Some(Search::new(session, parsed)),
        };
        self.search = search;
        let progress = match &mut self.search {
            Some(search) => search.step(session, FIRST_LOOK)?,
            None => SearchProgress::nothing_to_do(),
        };
        self.show_hits(session.tree(), progress);
        Ok(progress)
    }

    /// Looks at about `bytes` more bytes for hits.
    ///
    /// Rows are rebuilt at the end and whenever the number of searched bytes has doubled, so that a search in many steps does
    /// not spend its time on rows.
    pub fn search_step(&mut self, session: &Session, bytes: u64) -> Result<SearchProgress> {
        let Some(search) = &mut self.search else { return Ok(SearchProgress::nothing_to_do()) };
        let progress = search.step(session, bytes)?;
        if progress.done || progress.scanned >= self.shown_at.saturating_mul(2) {
            self.show_hits(session.tree(), progress);
        }
        Ok(progress)
    }

    /// Looks at some entries before all others, such as those on the screen.
    pub fn search_near(&mut self, session: &Session, nodes: &[Node]) -> Result<SearchProgress> {
        let Some(search) = &mut self.search else { return Ok(SearchProgress::nothing_to_do()) };
        let progress = search.test(session, nodes)?;
        self.show_hits(session.tree(), progress);
        Ok(progress)
    }

    /// Looks at everything that is left.
    pub fn search_all(&mut self, session: &Session) -> Result<SearchProgress> {
        self.search_step(session, u64::MAX)
    }

    fn show_hits(&mut self, tree: &Tree, progress: SearchProgress) {
        self.shown_at = progress.scanned;
        self.rebuild(tree);
    }

    fn prepare_filter(&mut self, session: &Session) {
        let tree = session.tree();
        self.noted.prepare(session, self.options.filter);
        self.landmarks = match self.options.filter {
            Filter::Branches => filter::landmarks(tree, &self.order),
            _ => NodeSet::default(),
        };
        self.turn_numbers = match self.options.filter {
            Filter::Turns => turn::numbers(tree, self.order.nodes(tree)),
            _ => Vec::new(),
        };
    }

    fn rebuild(&mut self, tree: &Tree) {
        let before = std::mem::take(&mut self.forest);
        let Self { leaf, labelled, landmarks, noted, .. } = &*self;
        let sight = FilterInput { tree, leaf: *leaf, labelled, landmarks, noted };
        let (filter, opened) = (self.options.filter, &self.opened);
        let shows = |node| {
            sight.shows(filter, node)
                || filter == Filter::Turns && opened.has(node) && sight.shows(Filter::Default, node)
        };
        self.forest = match &self.search {
            None => before.build(tree, &self.order, &self.folded, shows),
            Some(search) => {
                before.build(tree, &self.order, &self.folded, |node| search.is_hit(node) && shows(node))
            }
        };
    }
}

/// Rows.
impl Outline {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.forest.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the entry of a row.
    pub fn node(&self, row: usize) -> Option<Node> {
        self.forest.node(row)
    }

    /// Returns the row of an entry.
    pub fn position_of(&self, node: Node) -> Option<usize> {
        self.forest.row_of(node)
    }

    /// Returns an entry if it has a row, else its nearest ancestor that has one.
    pub fn nearest_visible(&self, node: Node) -> Option<Node> {
        self.forest.nearest(node).and_then(|row| self.forest.node(row))
    }

    /// Returns what to select first: an entry or its nearest visible ancestor, by default the leaf's; else the
    /// last row.
    pub fn initial_selection(&self, wanted: Option<Node>) -> Option<Node> {
        let nearest = wanted.or(self.leaf).and_then(|node| self.nearest_visible(node));
        nearest.or_else(|| self.len().checked_sub(1).and_then(|last| self.node(last)))
    }

    /// Makes rows; only the entries of these rows are read. A range beyond the end is cut.
    pub fn rows(&self, session: &Session, range: Range<usize>) -> Result<Vec<OutlineRow>> {
        self.rows_with_levels(session, range, usize::MAX)
    }

    /// Makes rows as [`rows`](Outline::rows) does, with the last `max_levels` levels of each at the most: the work for a
    /// row is bounded however deep it is. [`OutlineRow::hidden_levels`] is the number of the others.
    pub fn rows_with_levels(
        &self,
        session: &Session,
        range: Range<usize>,
        max_levels: usize,
    ) -> Result<Vec<OutlineRow>> {
        let row = |row| {
            let bare = self.bare_row(session, row)?;
            Ok(bare.map(|bare| OutlineRow { levels: self.levels(row, max_levels), ..bare }))
        };
        (range.start..range.end.min(self.len())).filter_map(|at| row(at).transpose()).collect()
    }

    /// Makes one row without its levels; [`shape`](Outline::shape) has the last one. In a tree that branches at every entry, the
    /// levels of all rows would cost more than everything else.
    pub fn bare_row(&self, session: &Session, row: usize) -> Result<Option<OutlineRow>> {
        let Some(node) = self.node(row) else { return Ok(None) };
        let line = text::line_at(session, node, self.options.home.as_deref())?;
        self.row_with(session, row, node, line).map(Some)
    }

    /// Makes the row of an entry that was read already, without its levels; none if it has no row.
    pub fn bare_row_of(&self, session: &Session, entry: &Entry) -> Result<Option<OutlineRow>> {
        let Some(row) = self.position_of(entry.node()) else { return Ok(None) };
        let line = text::line(session, entry, self.options.home.as_deref())?;
        self.row_with(session, row, entry.node(), line).map(Some)
    }

    /// Makes the row of a tool result that was not decoded, without its levels; none if it has no row.
    pub fn bare_row_of_result(
        &self,
        session: &Session,
        node: Node,
        (call_id, tool, is_error): (&str, &str, bool),
    ) -> Result<Option<OutlineRow>> {
        let Some(row) = self.position_of(node) else { return Ok(None) };
        let home = self.options.home.as_deref();
        let line = text::result_line(session, node, Some(call_id), Some(tool), is_error, home)?;
        self.row_with(session, row, node, line).map(Some)
    }

    fn row_with(&self, session: &Session, row: usize, node: Node, line: text::Line) -> Result<OutlineRow> {
        let tree = session.tree();
        let query = self.search.as_ref().map(Search::query);
        let look = self.forest.look(row);
        let at_leaf = self.leaf.is_some_and(|leaf| self.forest.nearest(leaf) == Some(row));
        let is_leaf = self.leaf == Some(node);
        Ok(OutlineRow {
            node,
            id: tree.id(node),
            parent_id: tree.parent(node).map(|parent| tree.id(parent)),
            type_name: match tree.kind(node).name() {
                Some(name) => name.into(),
                None => session.entry_at(node)?.type_name().into_owned().into(),
            },
            role: tree.role(node),
            depth: self.order.depth(node),
            indent: look.levels,
            levels: Vec::new(),
            fold: self.fold_of(look, node),
            on_path: self.on_path.has(node),
            is_leaf,
            leaf_below: at_leaf && !is_leaf,
            label: session.label(node).cloned(),
            timestamp: tree.timestamp(node),
            hits: query.map_or_else(Vec::new, |query| query.highlights(&line.text)),
            text: line.text,
            style: line.style,
            is_error: line.is_error,
            turn: self.turn_of(session, node)?,
        })
    }

    /// Returns how a row is drawn, without reading its entry. The lines of the levels before its connector are those of the
    /// connectors above it.
    pub fn shape(&self, row: usize) -> Option<RowShape> {
        let node = self.forest.node(row)?;
        let look = self.forest.look(row);
        let (indent, connector) = (look.levels, look.connector);
        Some(RowShape { node, indent, connector, fold: self.fold_of(look, node) })
    }

    fn levels(&self, row: usize, max: usize) -> Vec<Level> {
        let look = self.forest.look(row);
        let first = look.levels.saturating_sub(max);
        let mut levels = vec![Level::Blank; look.levels - first];
        self.forest.gutters(row, first, |level, goes_on| {
            if let (true, Some(slot)) = (goes_on, levels.get_mut(level - first)) {
                *slot = Level::Line;
            }
        });
        if let (Some(connector), Some(last)) = (look.connector, levels.last_mut()) {
            *last = connector;
        }
        levels
    }

    fn fold_of(&self, look: RowLayout, node: Node) -> Fold {
        match (self.folded.has(node), look.is_foldable) {
            (true, _) => Fold::Folded,
            (false, true) => Fold::Open,
            (false, false) => Fold::None,
        }
    }

    fn turn_of(&self, session: &Session, node: Node) -> Result<Option<TurnStats>> {
        if self.options.filter != Filter::Turns {
            return Ok(None);
        }
        self.turn_stats(session, node)
    }

    /// Returns the statistics of the turn of a prompt; `None` for other entries. The number is set in the turn view only.
    pub fn turn_stats(&self, session: &Session, node: Node) -> Result<Option<TurnStats>> {
        if session.tree().role(node) != Some(Role::User) {
            return Ok(None);
        }
        // The number depends on the filter, so it is not cached.
        let number = self.turn_numbers.get(node.index()).map_or(0, |number| *number as usize);
        let known = || self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stats) = known().get(&node) {
            return Ok(Some(TurnStats { number, ..*stats }));
        }
        let stats = turn::stats(session, node, &self.on_path)?;
        known().insert(node, stats);
        Ok(Some(TurnStats { number, ..stats }))
    }
}

/// Turns that are opened in the turn view.
impl Outline {
    /// Shows the entries of the turn of a prompt in the turn view; returns true if that changed anything.
    pub fn open_turn(&mut self, session: &Session, prompt: Node) -> bool {
        self.change_turn(session, prompt, NodeSet::add)
    }

    /// Hides the entries of the turn that an entry is part of, and returns its prompt; none if nothing was open.
    pub fn close_turn(&mut self, session: &Session, node: Node) -> Option<Node> {
        let prompt = turn::prompt_of(session.tree(), node)?;
        self.change_turn(session, prompt, NodeSet::remove).then_some(prompt)
    }

    fn change_turn(
        &mut self,
        session: &Session,
        prompt: Node,
        change: fn(&mut NodeSet, Node) -> bool,
    ) -> bool {
        let tree = session.tree();
        if self.options.filter != Filter::Turns || tree.role(prompt) != Some(Role::User) {
            return false;
        }
        let entries = turn::entries(tree, prompt);
        let changed = entries.into_iter().fold(false, |any, node| change(&mut self.opened, node) | any);
        if changed {
            self.rebuild(tree);
        }
        changed
    }
}

/// Folds and jumps.
impl Outline {
    /// Returns true if an entry has a row that can be folded.
    pub fn is_foldable(&self, node: Node) -> bool {
        self.position_of(node).is_some_and(|row| self.forest.look(row).is_foldable)
    }

    /// Returns true if an entry is folded.
    pub fn is_folded(&self, node: Node) -> bool {
        self.folded.has(node)
    }

    /// Folds everything below an entry away; returns true if that changed anything. Folds below it are kept.
    pub fn fold(&mut self, session: &Session, node: Node) -> bool {
        let folds = self.is_foldable(node) && self.folded.add(node);
        if folds {
            self.rebuild(session.tree());
        }
        folds
    }

    /// Unfolds an entry; returns true if that changed anything.
    pub fn unfold(&mut self, session: &Session, node: Node) -> bool {
        let unfolds = self.folded.remove(node);
        if unfolds {
            self.rebuild(session.tree());
        }
        unfolds
    }

    /// Folds an open entry, unfolds a folded one; returns true if that changed anything.
    pub fn toggle_fold(&mut self, session: &Session, node: Node) -> bool {
        self.unfold(session, node) || self.fold(session, node)
    }

    /// Folds an entry that can be folded; else returns the start of the segment above.
    pub fn fold_or_up(&mut self, session: &Session, node: Node) -> FoldStep {
        if self.fold(session, node) {
            return FoldStep::Changed;
        }
        self.jump(node, |row| self.forest.segment_above(row))
    }

    /// Unfolds a folded entry; else returns the start of the next segment below, or the end of this one.
    pub fn unfold_or_down(&mut self, session: &Session, node: Node) -> FoldStep {
        if self.unfold(session, node) {
            return FoldStep::Changed;
        }
        self.jump(node, |row| self.forest.segment_below(row))
    }

    fn jump(&self, node: Node, to: impl Fn(usize) -> usize) -> FoldStep {
        let row = self.position_of(node).map(to);
        FoldStep::Goto(row.and_then(|row| self.forest.node(row)).unwrap_or(node))
    }

    /// Returns the next branch at the nearest branch point at or above an entry.
    pub fn next_sibling(&self, node: Node) -> Option<Node> {
        self.sibling(node, |row| self.forest.next_sibling(row))
    }

    /// Returns the previous branch at the nearest branch point at or above an entry.
    pub fn previous_sibling(&self, node: Node) -> Option<Node> {
        self.sibling(node, |row| self.forest.previous_sibling(row))
    }

    fn sibling(&self, node: Node, beside: impl Fn(usize) -> Option<usize>) -> Option<Node> {
        let mut row = self.position_of(node);
        while let Some(at) = row {
            if let Some(found) = beside(at) {
                return self.forest.node(found);
            }
            row = self.forest.parent(at);
        }
        None
    }
}

/// Finds where a pick, a merge or a branch summary came from, if that is an entry of this session.
pub fn source_of(session: &Session, node: Node) -> Result<Option<Node>> {
    let entry = session.entry_at(node)?;
    Ok(text::source(&entry).and_then(|id| session.tree().node(&id)))
}

#[cfg(test)]
mod tests;
