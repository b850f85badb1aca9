//! The data of a page: what every entry says, how the rows are drawn under every filter, and what ties them together.
//!
//! session -> **rows, bodies, views** -> parts
//!
//! One walk through the outline: each entry is read once, for its row, its body and the figures of the session. Most
//! bytes are output of tools, and these pass as they are.

use std::io::Write;

use session_tree::json::{ValueRef, write_string};
use session_tree::{Body, Entry, FileOps, Kind, Node, Role, Session};
use session_view::{Filter, Outline, OutlineRow, RowStyle, Stats, TurnStats, TurnWalk, is_failure};

use crate::bodies::Bodies;
use crate::card::Card;
use crate::error::{Error, Result};
use crate::page::outline_options;
use crate::parts::Parts;
use crate::rows::{self, Columns};
use crate::text::{Json, Object, push_integer};
use crate::{ExportOptions, Progress, contexts, wire};

/// The part of the page that a script shows.
pub(crate) struct Export<'e> {
    session: &'e Session,
    options: &'e ExportOptions,
    all: &'e Outline,
    parts: Parts<'e>,
    columns: Columns,
    bodies: Bodies,
    figures: Stats,
    /// The entries that two filters ask for, which only their bodies tell.
    failures: Vec<Node>,
    files: Vec<Node>,
    turns: Json,
    links: Json,
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
            turns: Json::new(),
            links: Json::new(),
        }
    }

    /// Returns what the data was written to, for what comes after it.
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

    /// Writes what a turn did that is over.
    fn turn(&mut self, turn: Option<(Node, TurnStats)>) {
        let Some((prompt, stats)) = turn else { return };
        if let Some(at) = self.all.position_of(prompt) {
            rows::turn(&mut self.turns, at, &stats);
        }
    }

    /// Passes a tool result as it stands in the file, if it can be done; gives its call, its tool, and whether it failed.
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

    /// Counts an entry, and notes what filters ask of it.
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

    /// What a row says instead if tools are left out: rows of results repeat the arguments of their calls.
    fn text(&self, entry: &Entry, row: &OutlineRow) -> Option<String> {
        let is_result = self.session.tree().role(row.node) == Some(Role::ToolResult);
        if self.options.tools || !is_result {
            return None;
        }
        let name = entry.message().and_then(|message| message.get("toolName")?.as_str());
        Some(format!("[{}]", name.as_deref().unwrap_or("tool")))
    }

    fn end_columns(&mut self) -> Result<()> {
        if let Some(columns) = self.columns.take() {
            self.parts.write("rows", 0, &columns)?;
        }
        Ok(())
    }

    /// Notes where an entry came from: the branch that was merged or summarised, or the entry that was picked.
    fn link(&mut self, at: usize, row: &OutlineRow, entry: &Entry) -> Result<()> {
        if row.style != RowStyle::Summary {
            return Ok(());
        }
        let source = session_view::source_of(self.session, row.node)?;
        let Some(source) = source.and_then(|source| self.all.position_of(source)) else { return Ok(()) };
        if !self.links.is_empty() {
            self.links.push(b',');
        }
        self.links.push(b'[');
        for number in [at, source] {
            push_integer(&mut self.links, i64::try_from(number).unwrap_or(0));
            self.links.push(b',');
        }
        write_string(&mut self.links, graft(entry));
        self.links.push(b']');
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
            let view = rows::view(self.session, self.all, &filtered, filter);
            self.parts.write_tagged("view", ("name", &filter.name()), &view)?;
        }
        Ok(())
    }

    /// Writes what is known only now.
    pub(crate) fn rest(&mut self, card: &Card) -> Result<()> {
        let mut out = Json::new();
        let mut object = Object::new(&mut out);
        object.text("title", &card.title);
        let leaf = self.session.leaf().and_then(|leaf| self.all.position_of(leaf));
        object.number("leaf", leaf.map_or(-1.0, |leaf| leaf as f64));
        object.text("leafName", &card.leaf_name);
        for (name, list) in [("links", &self.links), ("turns", &self.turns)] {
            let out = object.key(name);
            out.push(b'[');
            out.extend_from_slice(list);
            out.push(b']');
        }
        object.list("labels", self.session.labels(), |out, (node, label)| {
            let at = self.all.position_of(node).map_or(-1, |at| at as i64);
            out.push(b'[');
            push_integer(out, at);
            out.push(b',');
            write_string(out, &label.text);
            out.push(b',');
            push_integer(out, label.set_at.as_millis());
            out.push(b']');
        });
        object.list("branches", &card.tips, |out, tip| tip.write(out, self.all));
        object.list("contexts", contexts::starts(self.session, self.all)?, |out, (end, start)| {
            crate::text::list(out, [end, start], |out, at| push_integer(out, at as i64));
        });
        object.close();
        Ok(self.parts.write("rest", 0, &out)?)
    }
}

/// Returns the number of bytes of all entries.
pub(crate) fn bytes_of(session: &Session) -> u64 {
    session.tree().nodes().map(|node| session.line_len(node)).sum()
}

/// How an entry came from another one, in a word.
fn graft(entry: &Entry) -> &'static str {
    match entry.body() {
        body @ Body::BranchSummary { .. } if body.merge().is_some() => "merge",
        Body::BranchSummary { .. } => "summary",
        _ => "pick",
    }
}
