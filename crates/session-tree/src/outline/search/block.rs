//! Looking at a block of lines: reading them in long stretches, and handing each to the judge.

use std::ops::Range;

use super::super::call::answer_above;
use super::super::haystack::Line;
use super::super::stretch::{BLOCK, each_stretch, range_in};
use super::{Search, Work};
use crate::error::Result;
use crate::json::Doc;
use crate::kind::Role;
use crate::session::Session;
use crate::tree::{Node, Tree};

/// How many rows are looked at in one go if they are short, or not to be read.
const BLOCK_ROWS: usize = 8 * 1024;
/// How far a block is stretched so that results stand in one block with their calls.
const STRETCH: usize = 256;

impl Search {
    /// Finds where the block begins that ends with the work's last row.
    pub(super) fn block_start(&self, session: &Session, work: &Work, budget: u64) -> usize {
        let tree = session.tree();
        let (mut start, mut bytes) = (work.rows.end, 0);
        while start > work.rows.start && bytes < BLOCK.min(budget) && work.rows.end - start < BLOCK_ROWS {
            start -= 1;
            let node = Node(start as u32);
            if !work.narrowed || self.earlier.has(node) {
                bytes += u64::from(tree.place(node).1);
            }
        }
        let mut stretch = STRETCH;
        while start > work.rows.start
            && stretch > 0
            && tree.role(Node(start as u32)) == Some(Role::ToolResult)
        {
            start -= 1;
            stretch -= 1;
        }
        start
    }

    /// Looks at the lines of a block.
    pub(super) fn scan(&mut self, session: &Session, rows: Range<usize>, narrowed: bool) -> Result<()> {
        self.buffers.calls.clear();
        self.buffers.undecoded.clear();
        self.buffers.looked_at = rows.start as u32..rows.end as u32;
        let wanted = self.wanted(session.tree(), rows, narrowed);
        if self.judge.needs_no_reading() {
            let tree = session.tree();
            let is_hit = |node: &Node| self.judge.accepts(self.judge.held_by_index(tree, *node));
            let found: Vec<Node> = wanted.into_iter().filter(is_hit).collect();
            found.into_iter().for_each(|node| self.add_hit(node));
            return Ok(());
        }
        let mut raw = std::mem::take(&mut self.buffers.raw);
        let read = each_stretch(session, &wanted, &mut raw, &mut |nodes, start, raw| {
            self.scan_stretch(session, nodes, (start, raw), narrowed)
        });
        self.buffers.raw = raw;
        read
    }

    /// The rows of a block that have to be looked at, in file order.
    fn wanted(&self, tree: &Tree, rows: Range<usize>, narrowed: bool) -> Vec<Node> {
        let start = rows.start as u32;
        let shown = rows.filter_map(|row| tree.shown(row));
        let picky = self.judge.asks_the_index();
        if !narrowed && !picky {
            return shown.collect();
        }
        let possible = |node: &Node| {
            (!narrowed || self.earlier.has(*node))
                && (!picky || self.judge.may_accept(self.judge.held_by_index(tree, *node)))
        };
        let mut wanted: Vec<Node> = shown.filter(possible).collect();
        // A result may be a hit by its call, and its answer need not have been one.
        let results = wanted.iter().filter(|node| tree.role(**node) == Some(Role::ToolResult));
        let answers: Vec<Node> =
            results.filter_map(|node| answer_above(tree, *node)).filter(|node| node.0 >= start).collect();
        wanted.extend(answers);
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// Looks at lines that stand near each other, in bytes that begin at `start`.
    fn scan_stretch(
        &mut self,
        session: &Session,
        nodes: &[Node],
        (start, raw): (u64, &[u8]),
        narrowed: bool,
    ) -> Result<()> {
        let tree = session.tree();
        let mut low = std::mem::take(&mut self.buffers.low);
        low.clear();
        low.extend_from_slice(raw);
        low.make_ascii_lowercase();
        for node in nodes {
            let range = range_in(tree, *node, start);
            self.scanned += range.len() as u64;
            let line = Line {
                raw: &raw[range.clone()],
                low: &low[range],
                kind: tree.kind(*node),
                role: tree.role(*node),
            };
            let is_hit = self.judge_line(session, *node, &line, (start, raw))?;
            if is_hit && (!narrowed || self.earlier.has(*node)) {
                self.add_hit(*node);
            }
        }
        self.buffers.low = low;
        Ok(())
    }

    /// Looks at one entry on its own.
    pub(super) fn test_one(&mut self, session: &Session, node: Node) -> Result<bool> {
        let raw = session.line_at(node)?;
        let low = raw.to_ascii_lowercase();
        let tree = session.tree();
        let line = Line { raw: &raw, low: &low, kind: tree.kind(node), role: tree.role(node) };
        self.judge_line(session, node, &line, (0, &[]))
    }

    /// `near`: bytes of the journal that are at hand, and where they begin.
    fn judge_line(
        &mut self,
        session: &Session,
        node: Node,
        line: &Line<'_>,
        near: (u64, &[u8]),
    ) -> Result<bool> {
        let tree = session.tree();
        let mut known = self.judge.held_by_index(tree, node);
        if tree.is_placeholder(node) {
            return Ok(self.judge.accepts(known));
        }
        let held = match line.role {
            Some(Role::Assistant) if self.judge.negates() => {
                self.judge.held_by_answer(line, known, &mut self.buffers.calls)
            }
            Some(Role::Assistant) => {
                let held = self.judge.held_by_line(line, known);
                if held.is_some() || self.judge.finds_any(line) {
                    self.buffers.undecoded.insert(node.0);
                }
                held
            }
            _ if !self.judge.may_accept(known) => None,
            Some(Role::ToolResult) => {
                // Most results that are hits are so by themselves; their calls need not be decoded then.
                let own = self.judge.held_by_line(line, known);
                if !self.judge.negates() && own.is_some_and(|own| self.judge.accepts(own)) {
                    return Ok(true);
                }
                let by_call = self.held_by_call(session, node, line, near)?;
                if by_call & !known == 0 {
                    return Ok(own.is_some_and(|own| self.judge.accepts(own)));
                }
                known |= by_call;
                self.judge.held_by_line(line, known)
            }
            _ => self.judge.held_by_line(line, known),
        };
        Ok(held.is_some_and(|held| self.judge.accepts(held)))
    }

    /// What the call behind a tool result holds: a result is shown by its call, so it is found by it too.
    fn held_by_call(
        &mut self,
        session: &Session,
        result: Node,
        line: &Line<'_>,
        near: (u64, &[u8]),
    ) -> Result<u64> {
        let Some(answer) = answer_above(session.tree(), result) else { return Ok(0) };
        if self.buffers.looked_at.contains(&answer.0) && answer < result {
            if self.buffers.undecoded.remove(&answer.0) {
                let (position, len) = session.tree().place(answer);
                let kind = session.tree().kind(answer);
                let at = position.checked_sub(near.0).and_then(|at| usize::try_from(at).ok());
                match at.and_then(|at| near.1.get(at..at + len as usize)) {
                    Some(raw) => self.judge.held_by_calls(raw, kind, &mut self.buffers.calls),
                    None => {
                        self.judge.held_by_calls(&session.line_at(answer)?, kind, &mut self.buffers.calls);
                    }
                }
            }
            if self.buffers.calls.is_empty() {
                return Ok(0);
            }
            let id = call_id(line);
            return Ok(id.and_then(|id| self.buffers.calls.get(&id).copied()).unwrap_or(0));
        }
        let raw = session.line_at(answer)?;
        let low = raw.to_ascii_lowercase();
        let tree = session.tree();
        let above = Line { raw: &raw, low: &low, kind: tree.kind(answer), role: tree.role(answer) };
        let mut calls = std::collections::HashMap::new();
        self.judge.held_by_answer(&above, 0, &mut calls);
        Ok(call_id(line).and_then(|id| calls.get(&id).copied()).unwrap_or(0))
    }
}

/// Reads which call a result answers, from where pi writes it, else from the decoded line.
fn call_id(line: &Line<'_>) -> Option<String> {
    const KEY: &[u8] = b"\"toolCallId\":\"";
    let head = &line.raw[..line.raw.len().min(1024)];
    if let Some(at) = memchr::memmem::find(head, KEY) {
        let value = &head[at + KEY.len()..];
        if let Some(end) = memchr::memchr2(b'"', b'\\', value).filter(|end| value[*end] == b'"') {
            return std::str::from_utf8(&value[..end]).ok().map(str::to_owned);
        }
    }
    let doc = Doc::parse(line.raw).ok()?;
    let id = super::super::call::message(&doc)?.get("toolCallId")?.as_str()?;
    Some(id.into_owned())
}
