//! The page: head, the readable part, the parts with everything, and the script that shows them.
//!
//! session -> **page** -> any writer

use std::io::{self, Write};

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use session_tree::json::write_string;
use session_tree::{
    Body as Said, Entry, Figures, Filter, Node, Outline, OutlineOptions, OutlineRow, Role, RowStyle, Session,
};
use sha2::{Digest, Sha256};

use crate::card::{self, Card};
use crate::error::Result;
use crate::markdown::Token;
use crate::parts::Parts;
use crate::readable::{self, Item, Piece};
use crate::rows::{self, Columns};
use crate::text::{Object, push_integer};
use crate::{ExportOptions, Progress, contexts, wire};

const STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../assets/js/data.js"),
    include_str!("../assets/js/dom.js"),
    include_str!("../assets/js/code.js"),
    include_str!("../assets/js/entry.js"),
    include_str!("../assets/js/transcript.js"),
    include_str!("../assets/js/tree.js"),
    include_str!("../assets/js/search.js"),
    include_str!("../assets/js/main.js"),
    "})();\n",
);
/// How many bytes of entries one part holds at the most, unless a single one has more.
const PART: usize = 384 * 1024;
/// How many entries one part holds at the most.
const PART_ENTRIES: usize = 512;

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// How many entries the page holds.
    pub entries: usize,
    /// How many branches.
    pub branches: usize,
}

/// Writes a session as one HTML page that needs nothing but itself.
///
/// ```
/// use offshoot_web::{ExportOptions, write_html};
/// use session_tree::Options;
///
/// let mut session = Options::new().in_memory("/project")?;
/// session.append_user_text("Say <b>hello</b>")?;
/// let mut page = Vec::new();
/// write_html(&session, &ExportOptions::default(), &mut page, &mut |_, _| {})?;
/// assert!(String::from_utf8(page)?.contains("Say &#60;b&#62;hello"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_html(
    session: &Session,
    options: &ExportOptions,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<Exported> {
    let all = Outline::new(session, outline_options(options, Filter::All));
    let theme = options.theme.name();
    render(&Head { policy: policy(), style: STYLE, theme, title: &card::title(session)? }, out)?;
    let mut export = Export::new(session, options, &all, out);
    let card = Card::of(session, &export.entries(progress)?)?;
    export.views()?;
    export.rest(&card)?;
    let out = export.parts.into_out();
    let readable = readable::last_part(session, options)?;
    render(&Body { card: &card, entries: all.len(), skipped: readable.skipped }, out)?;
    for item in &readable.items {
        render(&Row { item }, out)?;
    }
    render(&Tail { script: SCRIPT }, out)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(Exported { entries: all.len(), branches: card.branches.len() + card.more_branches })
}

#[derive(Template)]
#[template(path = "head.html")]
struct Head<'p> {
    policy: String,
    style: &'static str,
    theme: &'static str,
    title: &'p str,
}

#[derive(Template)]
#[template(path = "body.html")]
struct Body<'p> {
    card: &'p Card,
    entries: usize,
    skipped: usize,
}

#[derive(Template)]
#[template(path = "item.html")]
struct Row<'p> {
    item: &'p Item,
}

#[derive(Template)]
#[template(path = "tail.html")]
struct Tail {
    script: &'static str,
}

fn render(template: &impl Template, out: &mut dyn Write) -> Result<()> {
    Ok(Template::write_into(template, &mut &mut *out)?)
}

fn outline_options(options: &ExportOptions, filter: Filter) -> OutlineOptions {
    OutlineOptions { filter, home: options.home.clone(), ..OutlineOptions::default() }
}

/// What the page may do: run our script, use our style, show images that are part of it. Nothing else.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE),
    )
}

/// The part of the page that a script shows.
struct Export<'e> {
    session: &'e Session,
    options: &'e ExportOptions,
    all: &'e Outline,
    parts: Parts<'e>,
    columns: Columns,
    /// The entries of the next part, and how many these are.
    bodies: String,
    count: usize,
    /// How many entries stand in the parts before.
    done: usize,
    turns: String,
    links: String,
}

impl<'e> Export<'e> {
    fn new(
        session: &'e Session,
        options: &'e ExportOptions,
        all: &'e Outline,
        out: &'e mut dyn Write,
    ) -> Self {
        let bytes = session.tree().nodes().map(|node| session.line_len(node)).sum();
        Self {
            session,
            options,
            all,
            parts: Parts::new(out, options.packing, bytes),
            columns: Columns::default(),
            bodies: String::with_capacity(2 * PART),
            count: 0,
            done: 0,
            turns: String::new(),
            links: String::new(),
        }
    }

    /// Writes rows and bodies of all entries, in the order of the outline, and counts them as they go by: each is
    /// decoded once for all of it.
    fn entries(&mut self, progress: Progress<'_>) -> Result<Figures> {
        let turns = Outline::new(self.session, outline_options(self.options, Filter::Turns));
        let (session, total) = (self.session, self.all.len());
        let mut failed = None;
        let written = (0..total).map_while(|at| {
            if at % 256 == 0 {
                progress(at, total);
            }
            self.entry(at, &turns).map_err(|error| failed = Some(error)).ok()
        });
        let figures = session.figures(written)?;
        if let Some(error) = failed {
            return Err(error);
        }
        self.end_bodies()?;
        self.end_columns()?;
        progress(total, total);
        Ok(figures)
    }

    fn entry(&mut self, at: usize, turns: &Outline) -> Result<Node> {
        let row = self.all.bare_row(self.session, at)?;
        let Some(row) = row.as_ref() else { return Err(io::Error::other("a row is gone").into()) };
        // Reads the answers that come next, and they stay decoded until it is their turn.
        if let Some(turn) = turns.position_of(row.node) {
            let row = turns.bare_row(self.session, turn)?;
            row.iter().for_each(|row| rows::turn(&mut self.turns, at, row));
        }
        let entry = self.session.entry_at(row.node)?;
        self.columns(at, row, &entry);
        self.link(at, row, &entry)?;
        self.bodies.push(if self.count == 0 { '[' } else { ',' });
        wire::write(&mut self.bodies, &entry, self.options);
        self.count += 1;
        if self.columns.is_full() {
            self.end_columns()?;
        }
        if self.bodies.len() > PART || self.count >= PART_ENTRIES {
            self.end_bodies()?;
        }
        Ok(row.node)
    }

    fn columns(&mut self, at: usize, row: &OutlineRow, entry: &Entry) {
        let tree = self.session.tree();
        let parent = tree.parent(row.node).and_then(|parent| self.all.position_of(parent));
        let above = parent.map_or(0, |parent| at.saturating_sub(parent));
        let text = self.text(entry, row);
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

    fn end_bodies(&mut self) -> Result<()> {
        if self.count > 0 {
            self.bodies.push(']');
            self.parts.write("entries", self.done, &self.bodies)?;
            self.bodies.clear();
            // A single huge entry must not be paid for until the end.
            self.bodies.shrink_to(2 * PART);
            self.done += std::mem::take(&mut self.count);
        }
        Ok(())
    }

    /// Notes where an entry came from: the branch that was merged or summarised, or the entry that was picked.
    fn link(&mut self, at: usize, row: &OutlineRow, entry: &Entry) -> Result<()> {
        if row.style != RowStyle::Summary {
            return Ok(());
        }
        let source = self.session.source_of(row.node)?;
        let Some(source) = source.and_then(|source| self.all.position_of(source)) else { return Ok(()) };
        if !self.links.is_empty() {
            self.links.push(',');
        }
        self.links.push('[');
        for number in [at, source] {
            push_integer(&mut self.links, i64::try_from(number).unwrap_or(0));
            self.links.push(',');
        }
        write_string(&mut self.links, graft(entry));
        self.links.push(']');
        Ok(())
    }

    fn views(&mut self) -> Result<()> {
        let mut filtered = Outline::new(self.session, outline_options(self.options, Filter::All));
        // Two filters read all entries once more.
        let filters = if self.parts.is_hurried { &Filter::CYCLE[..] } else { &Filter::ALL[..] };
        for &filter in filters {
            filtered.set_filter(self.session, filter);
            let view = rows::view(self.session, self.all, &filtered, filter);
            self.parts.write("view", 0, &view)?;
        }
        Ok(())
    }

    /// Writes what is known only now.
    fn rest(&mut self, card: &Card) -> Result<()> {
        let mut out = String::new();
        let mut object = Object::new(&mut out);
        object.text("title", &card.title);
        let leaf = self.session.leaf().and_then(|leaf| self.all.position_of(leaf));
        object.number("leaf", leaf.map_or(-1.0, |leaf| leaf as f64));
        for (name, list) in [("links", &self.links), ("turns", &self.turns)] {
            let out = object.key(name);
            out.push('[');
            out.push_str(list);
            out.push(']');
        }
        object.list("labels", self.session.labels(), |out, (node, label)| {
            let at = self.all.position_of(node).map_or(-1, |at| at as i64);
            out.push('[');
            push_integer(out, at);
            out.push(',');
            write_string(out, &label.text);
            out.push(',');
            push_integer(out, label.set_at.as_millis());
            out.push(']');
        });
        object.list("branches", &card.tips, |out, tip| tip.write(out, self.all));
        object.list("contexts", contexts::starts(self.session, self.all)?, |out, (end, start)| {
            crate::text::list(out, [end, start], |out, at| push_integer(out, at as i64));
        });
        object.close();
        Ok(self.parts.write("rest", 0, &out)?)
    }
}

/// How an entry came from another one, in a word.
fn graft(entry: &Entry) -> &'static str {
    match entry.body() {
        Said::BranchSummary { details, .. } => match details.and_then(|details| details.get("merge")) {
            Some(merge) if !merge.is_null() => "merge",
            _ => "summary",
        },
        _ => "pick",
    }
}
