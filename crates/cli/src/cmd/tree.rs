//! `offshoot tree`: prints sessions as rows with connectors.

use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use schemars::JsonSchema;
use session_tree::{Entry, Kind, Label, Node, Session};
use session_view::{Charset, Filter, Outline, OutlineOptions, OutlineRow, Query, RowStyle, TurnStats};

use super::path;
use crate::app::App;
use crate::error::CommandError;
use crate::reading::{Sessions, with_dates};
use crate::ui::{Tone, Ui, count, money, tokens};

/// The maximum number of levels drawn before a row. A tree can be as deep as it has entries.
const MAX_LEVELS: usize = 40;

/// The maximum number of threads that make rows.
const MAX_THREADS: usize = 8;

/// The number of rows made at once, so that the first rows of a large session appear immediately.
const PORTION: usize = 500;

/// Show a session as a tree.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    sessions: Sessions,
    /// Which entries to show.
    #[arg(long, short, value_parser = filter_parser(), default_value = "default", value_name = "MODE")]
    filter: Filter,
    /// Show only entries that match: words, `"a phrase"`, `-without`, `role:user`, `tool:bash`, `file:src`, `label:x`,
    /// `before:2025-01-31`, `since:yesterday`, `re:pattern`.
    #[arg(long, short, value_name = "QUERY", allow_hyphen_values = true)]
    search: Option<String>,
    /// Show one row per turn.
    #[arg(long, conflicts_with = "filter")]
    turns: bool,
    /// Show only the starts and tips of branches.
    #[arg(long, conflicts_with_all = ["filter", "turns"])]
    branches: bool,
    /// Show the id of every entry.
    #[arg(long)]
    ids: bool,
    /// Draw connectors with ASCII characters.
    #[arg(long)]
    ascii: bool,
    /// List all entries in the order of the file.
    #[arg(long, conflicts_with_all = ["filter", "search", "turns", "branches", "ids", "ascii", "nested"])]
    flat: bool,
    /// Print JSON with nested children, as pi does.
    #[arg(long, conflicts_with_all = ["filter", "search", "turns", "branches"])]
    nested: bool,
}

impl Args {
    fn filter(&self) -> Filter {
        match (self.turns, self.branches) {
            (true, _) => Filter::Turns,
            (_, true) => Filter::Branches,
            _ => self.filter,
        }
    }
}

/// Returns a parser for the names of the engine's filters.
fn filter_parser() -> impl TypedValueParser<Value = Filter> {
    PossibleValuesParser::new(Filter::ALL.map(Filter::name))
        .map(|name| Filter::from_name(&name).unwrap_or_default())
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let is_json = args.sessions.output.json;
    let search = args.search.as_deref().map(|query| with_dates(query, app));
    search.as_deref().map(Query::parse_strict).transpose()?;
    args.sessions.each(app, &mut |app, session| {
        if args.flat {
            let nodes: Vec<Node> = session.tree().nodes().collect();
            return path::list(session, &nodes, is_json, app);
        }
        if args.nested {
            return app.ui.json_with(|ui| session_view::write_nested(session, &mut |part| ui.raw(part)));
        }
        let options = OutlineOptions { filter: args.filter(), ..OutlineOptions::default() };
        let mut outline = Outline::new(session, options);
        if let Some(query) = &search {
            outline.set_query(session, query)?;
            outline.search_all(session)?;
        }
        if is_json {
            let rows = rows(session, &outline, 0);
            return app.ui.json_list(rows);
        }
        let charset = if args.ascii || app.env.is_ascii { Charset::Ascii } else { Charset::Unicode };
        print(session, &outline, charset, args.ids, &mut app.ui)
    })
}

/// Prints the default tree of a session.
pub(crate) fn print_session(session: &Session, app: &mut App) -> Result<(), CommandError> {
    let outline = Outline::new(session, OutlineOptions::default());
    let charset = if app.env.is_ascii { Charset::Ascii } else { Charset::Unicode };
    print(session, &outline, charset, false, &mut app.ui)
}

/// Prints all rows of an outline. Several threads make rows, which is most of the work.
pub(crate) fn print(
    session: &Session,
    outline: &Outline,
    charset: Charset,
    ids: bool,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let (mut next, mut portion) = (0, PORTION);
    while next < outline.len() {
        let parts: Vec<_> = thread::scope(|scope| {
            let ranges = (0..threads).map(|at| next + at * portion..next + (at + 1) * portion);
            let start = |range: Range<usize>| {
                let mut part = ui.part();
                scope.spawn(move || {
                    print_range(session, outline, range, charset, ids, &mut part).map(|()| part)
                })
            };
            let running: Vec<_> = ranges.map(start).collect();
            running
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        });
        parts.into_iter().try_for_each(|part| ui.append(part?))?;
        next += threads * portion;
        // Later portions are larger.
        portion = 8 * PORTION;
    }
    match outline.is_empty() {
        true => ui.tell("no entries found"),
        false => Ok(()),
    }
}

fn print_range(
    session: &Session,
    outline: &Outline,
    range: Range<usize>,
    charset: Charset,
    ids: bool,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    // On a terminal at least half of the line is left for the text.
    let levels = ui.columns().map_or(MAX_LEVELS, |columns| (columns / 6).clamp(1, MAX_LEVELS));
    for row in outline.rows_with_levels(session, range, levels)? {
        let here = match row.is_leaf || (row.leaf_below && is_nearest_to_leaf(session, &row)) {
            true => LeafMark::At,
            false if row.leaf_below => LeafMark::Below,
            false => LeafMark::Elsewhere,
        };
        print_row(&row, here, charset, ids, ui)?;
    }
    Ok(())
}

/// Returns all rows of an outline, with the given number of levels before each.
fn rows<'s>(
    session: &'s Session,
    outline: &'s Outline,
    max_levels: usize,
) -> impl Iterator<Item = Result<OutlineRow, CommandError>> + 's {
    (0..outline.len()).step_by(PORTION).flat_map(move |start| {
        let end = (start + PORTION).min(outline.len());
        match outline.rows_with_levels(session, start..end, max_levels) {
            Ok(rows) => rows.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error.into())],
        }
    })
}

/// Returns true if the leaf is below a row with only hidden bookkeeping entries or the rest of a turn in between.
fn is_nearest_to_leaf(session: &Session, row: &OutlineRow) -> bool {
    let tree = session.tree();
    let says_nothing = |node| tree.is_bookkeeping(node) || tree.kind(node) == Kind::ContextEdit;
    let mut between = session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf));
    row.turn.is_some() || between.by_ref().take_while(|node| *node != row.node).all(says_nothing)
}

/// The position of the leaf relative to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeafMark {
    At,
    /// Below it, in hidden entries.
    Below,
    Elsewhere,
}

fn print_row(
    row: &OutlineRow,
    here: LeafMark,
    charset: Charset,
    ids: bool,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let (dot, failed, arrow, dots) = match charset {
        Charset::Unicode => ("• ", " ✗", " ←", "…"),
        Charset::Ascii => ("* ", " x", " <-", "..."),
    };
    let here = match here {
        LeafMark::At => format!("{arrow} active"),
        LeafMark::Below => format!("{arrow} active is below"),
        LeafMark::Elsewhere => String::new(),
    };
    let turn = row.turn.as_ref().map_or_else(String::new, turn_figures);
    let id = if ids { format!("{:8} ", row.id.as_str()) } else { String::new() };
    let label = row.label.as_ref().map_or_else(String::new, |label| format!("[{}] ", label.text));
    let prefix = match row.hidden_levels() {
        0 => row.prefix(charset),
        hidden => format!("{dots}{hidden} {}", row.prefix(charset)),
    };
    let pieces = [
        (Tone::Dim, id.as_str()),
        (Tone::Dim, &prefix),
        (Tone::Accent, if row.on_path { dot } else { "" }),
        (Tone::Notice, &label),
        (tone(row.style), &row.text),
        (Tone::Bad, if row.is_error || row.turn.is_some_and(|turn| turn.failed) { failed } else { "" }),
        (Tone::Dim, &turn),
        (Tone::Accent, &here),
    ];
    ui.row(&pieces, 4)
}

/// Formats the statistics of a turn.
fn turn_figures(turn: &TurnStats) -> String {
    let mut parts = Vec::new();
    if turn.tools > 0 {
        parts.push(count(turn.tools, "tool"));
    }
    if turn.tokens > 0 {
        parts.push(format!("{} tokens", tokens(turn.tokens)));
    }
    if turn.cost > 0.0 {
        parts.push(money(turn.cost));
    }
    if turn.compacted.is_some() {
        parts.push("compacted".to_owned());
    }
    if parts.is_empty() { String::new() } else { format!("  ({})", parts.join(", ")) }
}

/// Returns the tone of a row's style.
pub(crate) fn tone(style: RowStyle) -> Tone {
    match style {
        RowStyle::User => Tone::Accent,
        RowStyle::Assistant => Tone::Good,
        RowStyle::Error => Tone::Bad,
        RowStyle::Summary | RowStyle::Compaction => Tone::Notice,
        RowStyle::Tool | RowStyle::Muted => Tone::Dim,
        RowStyle::Custom | RowStyle::Title => Tone::Plain,
    }
}

/// The JSON of an entry with `--nested`, as in pi.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used: `write_nested` needs no recursion")]
pub(super) struct NestedEntry {
    entry: Entry,
    #[schemars(flatten)]
    label: Option<Label>,
    children: Vec<NestedEntry>,
}
