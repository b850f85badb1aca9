//! Finds the entries that match a query, block by block, so that a screen can show hits as they are found.
//!
//! Starts at the end of the file, where people mostly are. Reads the journal through one buffer and parses only lines
//! whose raw bytes may hold a term. A longer query searches only the hits of the shorter one.

mod block;
mod matcher;

use std::collections::HashMap;
use std::ops::Range;

use super::query::{Field, Query, looks_like_id};
use crate::node_set::NodeSet;
use session_tree::{Node, Result, Session};

use matcher::{CallTerms, QueryMatcher};

/// A search that goes on step by step.
#[derive(Debug)]
pub struct Search {
    query: Query,
    matcher: QueryMatcher,
    hits: NodeSet,
    hit_count: usize,
    /// How many rows of the tree were known when the search last looked.
    rows: usize,
    /// The work that is left; the last item is searched first, from its end.
    pending: Vec<Work>,
    /// The hits of a shorter query; in narrowed work only these can be hits.
    earlier: NodeSet,
    scanned: u64,
    buffers: Buffers,
}

/// Rows still to be looked at.
#[derive(Debug, Clone)]
struct Work {
    rows: Range<usize>,
    /// True if only the hits of a shorter query have to be searched.
    narrowed: bool,
}

/// Memory that is used again for each block.
#[derive(Debug, Default)]
struct Buffers {
    raw: Vec<u8>,
    /// The raw bytes with ASCII letters in lower case.
    low: Vec<u8>,
    /// By answer: its calls and the terms they hold. Only answers whose results asked.
    calls: HashMap<Node, CallTerms>,
}

/// How far a search has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchProgress {
    /// The bytes of lines looked at so far.
    pub scanned: u64,
    /// The hits found so far.
    pub hits: usize,
    /// The hits found by the last step.
    pub new_hits: usize,
    /// Whether everything was looked at.
    pub done: bool,
}

impl SearchProgress {
    pub(super) fn nothing_to_do() -> Self {
        Self { scanned: 0, hits: 0, new_hits: 0, done: true }
    }
}

impl Search {
    /// Starts a search; nothing is read yet.
    pub fn new(session: &Session, query: Query) -> Self {
        let rows = session.tree().node_bound();
        Self {
            matcher: QueryMatcher::new(session, &query),
            query,
            hits: NodeSet::with_bound(rows),
            hit_count: 0,
            rows,
            pending: vec![Work { rows: 0..rows, narrowed: false }],
            earlier: NodeSet::default(),
            scanned: 0,
            buffers: Buffers::default(),
        }
    }

    /// Returns the query.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Returns true if an entry was found so far.
    pub fn is_hit(&self, node: Node) -> bool {
        self.hits.has(node)
    }

    /// Returns the hits so far, in file order.
    pub fn hits(&self, session: &Session) -> Vec<Node> {
        session.tree().nodes().filter(|node| self.hits.has(*node)).collect()
    }

    /// Returns true if everything was looked at.
    pub fn is_done(&self) -> bool {
        self.pending.is_empty()
    }

    /// Looks at about `bytes` bytes of lines.
    pub fn step(&mut self, session: &Session, bytes: u64) -> Result<SearchProgress> {
        self.notice_new_rows(session);
        let (before, mut left) = (self.hit_count, bytes);
        while left > 0
            && let Some(mut work) = self.pending.pop()
        {
            let start = self.block_start(session, &work, left);
            let block = start..work.rows.end;
            if start > work.rows.start {
                work.rows.end = start;
                self.pending.push(work.clone());
            }
            // Rows that are passed over cost something too.
            let (scanned, rows) = (self.scanned, block.len() as u64);
            self.scan(session, block, work.narrowed)?;
            left = left.saturating_sub(self.scanned - scanned + 32 * rows);
        }
        if self.pending.is_empty() {
            self.buffers = Buffers::default();
        }
        Ok(self.progress(before))
    }

    /// Looks at everything that is left.
    pub fn run(&mut self, session: &Session) -> Result<SearchProgress> {
        let before = self.hit_count;
        self.step(session, u64::MAX)?;
        Ok(self.progress(before))
    }

    /// Looks at some entries first, such as those on the screen.
    pub fn test(&mut self, session: &Session, nodes: &[Node]) -> Result<SearchProgress> {
        let before = self.hit_count;
        self.buffers.calls.clear();
        for node in nodes {
            if !self.hits.has(*node) && self.test_one(session, *node)? {
                self.add_hit(*node);
            }
        }
        Ok(self.progress(before))
    }

    /// Changes the query to one that can only find less, keeping what is known; gives back any other query.
    ///
    /// Entries that were searched already are searched again only if the shorter query had found them.
    pub fn refine(&mut self, session: &Session, query: Query) -> std::result::Result<(), Query> {
        if !query.narrows(&self.query) {
            return Err(query);
        }
        if query == self.query {
            return Ok(());
        }
        self.notice_new_rows(session);
        self.earlier = self.still_possible(session, &query);
        self.pending = self.narrowed_work();
        self.matcher = QueryMatcher::new(session, &query);
        self.query = query;
        self.hits.clear();
        self.hit_count = 0;
        Ok(())
    }

    /// Appended entries are looked at next. With fewer rows than before the file is another one, and nothing is known.
    fn notice_new_rows(&mut self, session: &Session) {
        let rows = session.tree().node_bound();
        if rows < self.rows {
            *self = Self::new(session, std::mem::take(&mut self.query));
        } else if rows > self.rows {
            self.pending.push(Work { rows: self.rows..rows, narrowed: false });
            self.rows = rows;
            self.matcher = QueryMatcher::new(session, &self.query);
        }
    }

    /// Earlier hits, what an earlier query left to be looked at again, and entries that are found by their id.
    fn still_possible(&self, session: &Session, query: &Query) -> NodeSet {
        let mut possible = self.hits.clone();
        for work in self.pending.iter().filter(|work| work.narrowed) {
            let rows = work.rows.clone().filter_map(|row| session.tree().node_at(row));
            rows.filter(|node| self.earlier.has(*node)).for_each(|node| {
                possible.add(node);
            });
        }
        for term in query.terms.iter().filter(|term| term.field == Field::Any && looks_like_id(&term.text)) {
            let tree = session.tree();
            tree.nodes().filter(|node| matcher::has_id(tree, *node, &term.text)).for_each(|node| {
                possible.add(node);
            });
        }
        possible
    }

    /// Returns the work after a refinement: entries that were searched before come first, but only earlier hits among them.
    fn narrowed_work(&self) -> Vec<Work> {
        let mut fresh: Vec<Work> = self.pending.iter().filter(|work| !work.narrowed).cloned().collect();
        fresh.sort_by_key(|work| work.rows.start);
        let mut again = Vec::new();
        let mut from = 0;
        for work in &fresh {
            again.push(Work { rows: from..work.rows.start, narrowed: true });
            from = work.rows.end;
        }
        again.push(Work { rows: from..self.rows, narrowed: true });
        fresh.extend(again.into_iter().filter(|work| !work.rows.is_empty()));
        fresh
    }

    fn add_hit(&mut self, node: Node) {
        self.hit_count += usize::from(self.hits.add(node));
    }

    fn progress(&self, before: usize) -> SearchProgress {
        SearchProgress {
            scanned: self.scanned,
            hits: self.hit_count,
            new_hits: self.hit_count - before,
            done: self.pending.is_empty(),
        }
    }
}
