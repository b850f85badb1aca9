//! The data of a page: the content of every entry, the rows under every filter, and the links between entries.
//!
//! session -> **rows, bodies, views** -> parts
//!
//! One walk through the outline: each entry is read once, for its row, its body and the figures of the session. Most
//! bytes are output of tools, and these pass as they are.

use std::io::Write;

use serde::Serialize;
use session_tree::json::ValueRef;
use session_tree::{Body, Entry, FileOps, Inclusion, Kind, Node, Role, Session};
use session_view::{Filter, Outline, OutlineRow, RowStyle, Stats, TurnStats, TurnWalk, is_failure};

use crate::card::Card;
use crate::error::{Error, Result};
use crate::page::outline_options;
use crate::parts::{Bodies, Parts};
use crate::rows::{Columns, TurnNumbers, View, position, turn_numbers};
use crate::{ExportOptions, Progress, wire};

/// The part of the page that a script shows.
pub(crate) struct Export<'e> {
    session: &'e Session,
    options: &'e ExportOptions,
    all: &'e Outline,
    parts: Parts<'e>,
    columns: Columns,
    bodies: Bodies,
    figures: Stats,
    /// The entries that two filters show; they depend on the bodies.
    failures: Vec<Node>,
    files: Vec<Node>,
    turns: Vec<TurnNumbers>,
    /// The sources of merges, summaries and picks: position, position of the source, kind.
    links: Vec<(usize, usize, &'static str)>,
}

/// The part of the data that is known only at the end.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PageData<'r> {
    title: &'r str,
    leaf: i64,
    leaf_name: &'r str,
    links: &'r [(usize, usize, &'static str)],
    turns: &'r [TurnNumbers],
    /// Position, text and time.
    labels: Vec<(i64, &'r str, i64)>,
    /// Position, state and name of each tip, and the position of the entry that it was merged into.
    branches: Vec<(i64, &'static str, &'r str, Option<i64>)>,
    contexts: Vec<(usize, usize)>,
}

impl<'e> Export<'e> {
    /// Begins the data of a page; `all` is the outline of all entries.
    pub(crate) fn new(
        session: &'e Session,
        options: &'e ExportOptions,
        all: &'e Outline,
        out: &'e mut dyn Write,
    ) -> Self {
        Self {
            session,
            options,
            all,
            parts: Parts::new(out, options.packed, bytes_of(session)),
            columns: Columns::default(),
            bodies: Bodies::default(),
            figures: Stats::default(),
            failures: Vec::new(),
            files: Vec::new(),
            turns: Vec::new(),
            links: Vec::new(),
        }
    }

    /// Returns the writer.
    pub(crate) fn into_out(self) -> &'e mut dyn Write {
        self.parts.into_out()
    }

    /// Writes rows and bodies of all entries, in the order of the outline, and counts them as they go by.
    pub(crate) fn entries(&mut self, progress: Progress<'_>) -> Result<&Stats> {
        let mut turns = TurnWalk::new(self.session.tree());
        let total = self.all.len();
        for at in 0..total {
            if at % 256 == 0 {
                progress(at, total);
            }
            self.entry(at, &mut turns)?;
        }
        self.turn(turns.end());
        self.bodies.end(&mut self.parts)?;
        self.end_columns()?;
        progress(total, total);
        Ok(&self.figures)
    }

    fn entry(&mut self, at: usize, turns: &mut TurnWalk) -> Result<()> {
        let gone = || Error::Row { at };
        let node = self.all.node(at).ok_or_else(gone)?;
        let passed = self.passed(node)?;
        let entry = if passed.is_some() { None } else { Some(self.session.entry_at(node)?) };
        let row = match (&passed, &entry) {
            (Some((call, tool, failed)), _) => {
                self.all.bare_row_of_result(self.session, node, (call, tool, *failed))?
            }
            (None, Some(entry)) => self.all.bare_row_of(self.session, entry)?,
            (None, None) => None,
        };
        let row = row.as_ref().ok_or_else(gone)?;
        let entry = entry.as_ref();
        self.turn(turns.pass(self.session.tree(), node, entry));
        self.columns(at, row, entry);
        if let Some(entry) = entry {
            self.link(at, row, entry)?;
            self.note(entry);
            wire::write(self.bodies.next(), entry, self.options);
        }
        if self.columns.is_full() {
            self.end_columns()?;
        }
        Ok(self.bodies.end_if_full(&mut self.parts)?)
    }

    /// Stores the numbers of a completed turn.
    fn turn(&mut self, turn: Option<(Node, TurnStats)>) {
        let Some((prompt, stats)) = turn else { return };
        if let Some(at) = self.all.position_of(prompt) {
            self.turns.push(turn_numbers(at, &stats));
        }
    }

    /// Copies a tool result from the file if that is possible. Returns its call, its tool, and whether it failed.
    fn passed(&mut self, node: Node) -> Result<Option<(String, String, bool)>> {
        if !self.options.tools {
            return Ok(None);
        }
        let Self { session, bodies, figures, failures, files, .. } = self;
        let passed = session.with_plain_result(node, |result| {
            figures.add_plain_result(session, node, &result);
            failures.extend(result.is_error.then_some(node));
            files.extend(FileOps::TOOLS.contains(&result.tool).then_some(node));
            bodies.next().extend_from_slice(result.message);
            (result.call_id.to_owned(), result.tool.to_owned(), result.is_error)
        });
        Ok(passed?)
    }

    /// Counts an entry, and stores it for the filters that show it.
    fn note(&mut self, entry: &Entry) {
        self.figures.add(self.session, entry);
        // Prompts neither fail nor touch files.
        if entry.kind() == Kind::Message && self.session.tree().role(entry.node()) != Some(Role::User) {
            let message = entry.message();
            self.failures
                .extend(message.map(ValueRef::cursor).is_some_and(is_failure).then_some(entry.node()));
            self.files.extend(message.is_some_and(FileOps::is_touched_by).then_some(entry.node()));
        }
    }

    fn columns(&mut self, at: usize, row: &OutlineRow, entry: Option<&Entry>) {
        let tree = self.session.tree();
        let parent = tree.parent(row.node).and_then(|parent| self.all.position_of(parent));
        let above = parent.map_or(0, |parent| at.saturating_sub(parent));
        let text = entry.and_then(|entry| self.text(entry, row));
        let text = text.as_deref().unwrap_or(&row.text);
        self.columns.push(row, text, above, tree.is_bookkeeping(row.node));
    }

    /// Returns another text for a row if tools are left out: rows of results repeat the arguments of their calls.
    fn text(&self, entry: &Entry, row: &OutlineRow) -> Option<String> {
        let is_result = self.session.tree().role(row.node) == Some(Role::ToolResult);
        if self.options.tools || !is_result {
            return None;
        }
        let name = entry.message().and_then(|message| message.get("toolName")?.as_str());
        Some(format!("[{}]", name.as_deref().unwrap_or("tool")))
    }

    fn end_columns(&mut self) -> Result<()> {
        let columns = std::mem::take(&mut self.columns);
        match columns.is_empty() {
            true => Ok(()),
            false => Ok(self.parts.write_json("rows", ("from", &0), &columns)?),
        }
    }

    /// Stores the source of an entry: the branch that was merged or summarised, or the entry that was picked.
    fn link(&mut self, at: usize, row: &OutlineRow, entry: &Entry) -> Result<()> {
        if row.style != RowStyle::Summary {
            return Ok(());
        }
        let source = session_view::source_of(self.session, row.node)?;
        let Some(source) = source.and_then(|source| self.all.position_of(source)) else { return Ok(()) };
        self.links.push((at, source, link_kind(entry)));
        Ok(())
    }

    /// Writes which rows every filter shows.
    pub(crate) fn views(&mut self) -> Result<()> {
        let mut filtered = Outline::new(self.session, outline_options(self.options, Filter::All));
        for filter in Filter::ALL {
            match filter {
                Filter::Errors => filtered.set_known_filter(self.session, filter, &self.failures),
                Filter::Files => filtered.set_known_filter(self.session, filter, &self.files),
                _ => filtered.set_filter(self.session, filter),
            }
            let view = View::of(self.session, self.all, &filtered, filter);
            self.parts.write_json("view", ("name", &filter.name()), &view)?;
        }
        Ok(())
    }

    /// Writes the data that is known only at the end.
    pub(crate) fn rest(&mut self, card: &Card) -> Result<()> {
        let (session, all) = (self.session, self.all);
        let labels = session.labels();
        let branches = card.tips.iter().map(|tip| {
            let into = tip.into.map(|into| position(all, into));
            (position(all, tip.node), tip.state, tip.name.as_str(), into)
        });
        let data = PageData {
            title: &card.title,
            leaf: session.leaf().map_or(-1, |leaf| position(all, leaf)),
            leaf_name: &card.leaf_name,
            links: &self.links,
            turns: &self.turns,
            labels: labels
                .iter()
                .map(|(node, label)| (position(all, *node), label.text.as_str(), label.set_at.as_millis()))
                .collect(),
            branches: branches.collect(),
            contexts: context_starts(session, all)?,
        };
        Ok(self.parts.write_json("rest", ("from", &0), &data)?)
    }
}

/// Returns the number of bytes of all entries.
pub(crate) fn bytes_of(session: &Session) -> u64 {
    session.tree().nodes().map(|node| session.line_len(node)).sum()
}

/// Returns how an entry came from another one, in a word.
fn link_kind(entry: &Entry) -> &'static str {
    match entry.body() {
        body @ Body::BranchSummary { .. } if body.merge().is_some() => "merge",
        Body::BranchSummary { .. } => "summary",
        _ => "pick",
    }
}

/// How many entries of paths are read for all contexts together, newest tips first.
const CONTEXT_BUDGET: usize = 4_000_000;

/// Lists ends of paths whose context does not begin with the first entry, with the entry it begins with.
fn context_starts(session: &Session, all: &Outline) -> Result<Vec<(usize, usize)>> {
    let mut found = Vec::new();
    let mut left = CONTEXT_BUDGET;
    let leaf = session.leaf();
    let tips = session_view::tips_by_activity(session.tree()).into_iter().filter(|tip| Some(*tip) != leaf);
    for end in leaf.into_iter().chain(tips) {
        if left == 0 {
            break;
        }
        let Some(start) = context_start(session, end, &mut left)? else { continue };
        if let (Some(end), Some(start)) = (all.position_of(end), all.position_of(start)) {
            found.push((end, start));
        }
    }
    Ok(found)
}

/// Finds the first entry of a path that is in its context; none if that is where the path begins.
fn context_start(session: &Session, end: Node, left: &mut usize) -> Result<Option<Node>> {
    let projection = session.projection(session.position_of(end)?)?;
    *left = left.saturating_sub(projection.path.len());
    let is_summary =
        |inclusion: Inclusion| matches!(inclusion, Inclusion::Summary | Inclusion::SystemCheckpoint);
    let Some(summary) = projection.items.iter().find(|item| is_summary(item.inclusion)) else {
        return Ok(None);
    };
    let first = projection.items.iter().find(|item| !is_summary(item.inclusion)).unwrap_or(summary);
    Ok(Some(first.source))
}
