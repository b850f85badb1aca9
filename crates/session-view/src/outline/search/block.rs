//! Searches a block of lines: reads them in long stretches and decides for each entry whether it is a hit.

use std::ops::Range;

use super::super::haystack::Line;
use super::matcher::CallTerms;
use super::{Search, Work};
use session_tree::json::Cursor;
use session_tree::{Kind, Node, RawLines, Result, Role, Session, Tree};

/// How many rows are looked at in one go if they are short, or not to be read.
const BLOCK_ROWS: usize = 8 * 1024;
/// How many bytes of lines are searched in one go: they stay in the processor's cache.
const BLOCK: u64 = 512 * 1024;
/// How far a block is stretched so that results stand in one block with their calls.
const STRETCH: usize = 256;

impl Search {
    /// Finds where the block begins that ends with the work's last row.
    pub(super) fn block_start(&self, session: &Session, work: &Work, budget: u64) -> usize {
        let tree = session.tree();
        let (mut start, mut bytes) = (work.rows.end, 0);
        while start > work.rows.start && bytes < BLOCK.min(budget) && work.rows.end - start < BLOCK_ROWS {
            start -= 1;
            let node = tree.node_at(start);
            bytes += node
                .filter(|node| !work.narrowed || self.earlier.has(*node))
                .map_or(0, |node| session.line_len(node));
        }
        let mut stretch = STRETCH;
        while start > work.rows.start
            && stretch > 0
            && tree.node_at(start).and_then(|node| tree.role(node)) == Some(Role::ToolResult)
        {
            start -= 1;
            stretch -= 1;
        }
        start
    }

    /// Looks at the lines of a block.
    pub(super) fn scan(&mut self, session: &Session, rows: Range<usize>, narrowed: bool) -> Result<()> {
        self.buffers.calls.clear();
        let wanted = self.wanted(session.tree(), rows, narrowed);
        if self.matcher.needs_no_reading() {
            let tree = session.tree();
            let is_hit = |node: &Node| self.matcher.accepts(self.matcher.held_by_index(tree, *node));
            let found: Vec<Node> = wanted.into_iter().filter(is_hit).collect();
            found.into_iter().for_each(|node| self.add_hit(node));
            return Ok(());
        }
        let mut raw = std::mem::take(&mut self.buffers.raw);
        let read =
            session.read_raw_lines(&wanted, &mut raw, |lines| self.scan_lines(session, lines, narrowed));
        self.buffers.raw = raw;
        read
    }

    /// The rows of a block that have to be looked at, in file order.
    fn wanted(&self, tree: &Tree, rows: Range<usize>, narrowed: bool) -> Vec<Node> {
        let start = rows.start;
        let shown = rows.filter_map(|row| tree.node_at(row));
        let picky = self.matcher.asks_the_index();
        if !narrowed && !picky {
            return shown.collect();
        }
        let possible = |node: &Node| {
            (!narrowed || self.earlier.has(*node))
                && (!picky || self.matcher.may_accept(self.matcher.held_by_index(tree, *node)))
        };
        let mut wanted: Vec<Node> = shown.filter(possible).collect();
        // A result may be a hit by its call, and its answer need not have been one.
        let results = wanted.iter().filter(|node| tree.role(**node) == Some(Role::ToolResult));
        let answers: Vec<Node> = results
            .filter_map(|node| tree.answer_above(*node))
            .filter(|node| node.index() >= start)
            .collect();
        wanted.extend(answers);
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    fn scan_lines(&mut self, session: &Session, lines: RawLines<'_>, narrowed: bool) -> Result<()> {
        let mut low = std::mem::take(&mut self.buffers.low);
        low.clear();
        low.extend(lines.bytes().iter().map(u8::to_ascii_lowercase));
        let near = Near { lines: Some(lines), low: &low };
        for node in lines.nodes() {
            let Some(line) = near.line(session.tree(), *node) else { continue };
            self.scanned += line.raw.len() as u64;
            let is_hit = self.is_match(session, *node, &line, &near)?;
            if is_hit && (!narrowed || self.earlier.has(*node)) {
                self.add_hit(*node);
            }
        }
        self.buffers.low = low;
        Ok(())
    }

    /// Returns true if one entry is a hit.
    pub(super) fn test_one(&mut self, session: &Session, node: Node) -> Result<bool> {
        let raw = raw_line(session, node)?;
        let low = raw.to_ascii_lowercase();
        let tree = session.tree();
        let line = Line { raw: &raw, low: &low, kind: tree.kind(node), role: tree.role(node) };
        self.is_match(session, node, &line, &Near::default())
    }

    /// Returns true if an entry with this line is a hit. `near` holds lines that need not be read again.
    fn is_match(&mut self, session: &Session, node: Node, line: &Line<'_>, near: &Near<'_>) -> Result<bool> {
        let mut held = self.matcher.held_by_index(session.tree(), node);
        if session.tree().is_placeholder(node) {
            return Ok(self.matcher.accepts(held));
        }
        // The row of a compaction shows tokens, which are in no text.
        if self.query.reads_rows() || line.kind == Kind::Compaction {
            held |= self.matcher.held_by_row(session, node)?;
        }
        if !self.matcher.may_accept(held) {
            return Ok(false);
        }
        let possible = self.matcher.possible_in(line, !held);
        // A result is shown by its call, so it is found by it too. Most results that are hits are so by themselves:
        // their calls need not be parsed.
        let is_result = line.role == Some(Role::ToolResult);
        let asks_call_first =
            is_result && (self.matcher.negates() || !self.matcher.includes_required(held | possible));
        if asks_call_first {
            held |= self.held_by_call(session, node, line, near)?;
        }
        if !self.matcher.may_accept(held) || !self.matcher.includes_required(held | possible) {
            return Ok(false);
        }
        held |= self.matcher.held_by_line(line, possible & !held);
        if is_result && !asks_call_first && !self.matcher.accepts(held) {
            held |= self.held_by_call(session, node, line, near)?;
        }
        Ok(self.matcher.accepts(held))
    }

    /// Returns the terms that the call behind a tool result holds.
    ///
    /// Ids of calls repeat, in a session and even in an answer: the call is the first one with the id of the result in
    /// the answer above it, the same that a row shows.
    fn held_by_call(
        &mut self,
        session: &Session,
        result: Node,
        line: &Line<'_>,
        near: &Near<'_>,
    ) -> Result<u64> {
        let Some(answer) = session.tree().answer_above(result) else { return Ok(0) };
        if !self.buffers.calls.contains_key(&answer) {
            let calls = self.calls_of(session, answer, near)?;
            self.buffers.calls.insert(answer, calls);
        }
        let Some(calls) = self.buffers.calls.get(&answer).filter(|calls| !calls.is_empty()) else {
            return Ok(0);
        };
        let Some(id) = call_id(line) else { return Ok(0) };
        Ok(calls.iter().find(|(call, _)| *call == id).map_or(0, |(_, held)| *held))
    }

    fn calls_of(&self, session: &Session, answer: Node, near: &Near<'_>) -> Result<CallTerms> {
        let tree = session.tree();
        if let Some(line) = near.line(tree, answer) {
            return Ok(self.matcher.held_by_calls(&line));
        }
        let raw = raw_line(session, answer)?;
        let low = raw.to_ascii_lowercase();
        let line = Line { raw: &raw, low: &low, kind: tree.kind(answer), role: tree.role(answer) };
        Ok(self.matcher.held_by_calls(&line))
    }
}

/// Lines that were read together.
#[derive(Debug, Default)]
struct Near<'b> {
    lines: Option<RawLines<'b>>,
    /// Their bytes with ASCII letters in lower case.
    low: &'b [u8],
}

impl<'b> Near<'b> {
    /// Returns the line of an entry if it was read.
    fn line(&self, tree: &Tree, node: Node) -> Option<Line<'b>> {
        let lines = self.lines?;
        let range = lines.range(node)?;
        let (raw, low) = (lines.bytes().get(range.clone())?, self.low.get(range)?);
        Some(Line { raw, low, kind: tree.kind(node), role: tree.role(node) })
    }
}

/// Returns the id of the call that a result answers.
fn call_id(line: &Line<'_>) -> Option<String> {
    Some(Cursor::new(line.raw).at(&["message", "toolCallId"])?.as_str()?.into_owned())
}

fn raw_line(session: &Session, node: Node) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    session.read_raw_lines(&[node], &mut buffer, |_| Ok(()))?;
    Ok(buffer)
}
