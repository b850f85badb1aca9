//! `offshoot sessions`: lists the sessions of a project, or of all projects.

mod threads;

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Serialize;
use session_tree::{Catalog, Listing, SessionQuery, SessionSummary};
use session_view::{Outline, OutlineOptions, Query};

use self::threads::threaded;
use crate::app::App;
use crate::error::{CommandError, chain};
use crate::reading::with_dates;
use crate::ui::{Column, Progress, Table, Tone, age, bytes, count, one_line, thousands};

/// The minimum length of a shown id: shorter prefixes look alike and soon become ambiguous.
const SHORTEST_ID: usize = 8;

/// List sessions.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// List only sessions that match: words, `"a phrase"`, `cwd:part`, `file:src`, `label:x`, `tool:bash`,
    /// `since:yesterday`, `before:2025-01-31`, `has:branch`, `is:named`, `re:pattern`.
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// List the sessions of all projects.
    #[arg(long, short)]
    all: bool,
    /// The order; threaded by default, and best match first with a query.
    #[arg(long, short, value_enum, value_name = "ORDER")]
    sort: Option<Sort>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Sort {
    /// Latest activity first.
    Recent,
    /// Forks below the session they were made from.
    Threaded,
}

/// A session of the list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    #[serde(flatten)]
    session: SessionSummary,
    /// True if it is in pi's directory, which was not requested.
    is_pi: bool,
    /// The connector before the title.
    #[serde(skip)]
    connector: String,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let cwd = app.env.cwd()?;
    let (all, rows) = find(&args.query.join(" "), args.all, args.sort, app)?;
    if all == 0 && !args.json {
        report_empty(args, &cwd, app)?;
    }
    if rows.is_empty() && all > 0 {
        app.ui.tell(&format!("none of {} matches", count(all, "session")))?;
    }
    match args.json {
        true => app.ui.json_list(rows.iter().map(Ok)),
        false => print(&rows, args.all, app),
    }
}

/// Returns the number of all sessions, and those that match.
pub(crate) fn find(
    query: &str,
    all_projects: bool,
    sort: Option<Sort>,
    app: &mut App,
) -> Result<(usize, Vec<Row>), CommandError> {
    let search = Search::parse(&with_dates(query, app))?;
    let cwd = app.env.cwd()?;
    let (mut all, mut found) = (0, Vec::new());
    for (catalog, is_pi) in [(Some(app.catalog()?), false), (app.pi_catalog(), true)] {
        let Some(catalog) = catalog else { continue };
        let sessions = read(list(&catalog, &cwd, all_projects), app)?;
        all += sessions.len();
        found.extend(
            search.find(&catalog, sessions, app).into_iter().map(|(fit, session)| (fit, session, is_pi)),
        );
    }
    found.sort_by_key(|(fit, session, _)| (*fit, std::cmp::Reverse(session.modified)));
    let rows = found.into_iter().map(|(_, session, is_pi)| Row { session, is_pi, connector: String::new() });
    let mut rows: Vec<Row> = rows.collect();
    match sort {
        None if !search.is_empty() => {}
        None | Some(Sort::Threaded) => rows = threaded(rows),
        Some(Sort::Recent) => rows.sort_by_key(|row| std::cmp::Reverse(row.session.modified)),
    }
    Ok((all, rows))
}

fn list(catalog: &Catalog, cwd: &str, all: bool) -> Listing {
    if all { catalog.list_all() } else { catalog.list(cwd) }
}

fn read(listing: Listing, app: &mut App) -> Result<Vec<SessionSummary>, CommandError> {
    for problem in listing.problems() {
        app.ui.tell(&format!("warning: {}", chain(problem)))?;
    }
    let mut progress = Progress::new("reading", 0);
    Ok(listing.complete(&mut |step| {
        progress.set(step.done, step.total);
        ControlFlow::Continue(())
    }))
}

/// A query: conditions on sessions, and conditions on entries, each of which some entry must meet.
struct Search {
    query: SessionQuery,
    entries: Vec<String>,
}

impl Search {
    fn parse(text: &str) -> Result<Self, CommandError> {
        let is_of_entries = |word: &&str| {
            ["file:", "label:", "tool:", "role:"].iter().any(|name| word.starts_with(name) && word != name)
        };
        let pattern = if text.starts_with("re:") { Some(0) } else { text.find(" re:") };
        let (plain, pattern) = text.split_at(pattern.unwrap_or(text.len()));
        let (entries, others): (Vec<&str>, Vec<&str>) = plain.split_whitespace().partition(is_of_entries);
        entries.iter().try_for_each(|condition| Query::parse_strict(condition).map(drop))?;
        let query = SessionQuery::parse_strict(&format!("{} {pattern}", others.join(" ")))?;
        Ok(Search { query, entries: entries.into_iter().map(str::to_owned).collect() })
    }

    fn is_empty(&self) -> bool {
        self.query.is_empty() && self.entries.is_empty()
    }

    /// Returns the matching sessions with their relevance.
    fn find(
        &self,
        catalog: &Catalog,
        sessions: Vec<SessionSummary>,
        app: &App,
    ) -> Vec<(Option<session_tree::Relevance>, SessionSummary)> {
        if self.is_empty() {
            return sessions.into_iter().map(|session| (None, session)).collect();
        }
        let (mut progress, total) = (Progress::new("searching", sessions.len()), sessions.len());
        let mut found = Vec::new();
        for (at, session) in sessions.into_iter().enumerate() {
            // Reads the text only if the row alone does not match.
            let by_text = || {
                let text = self.query.asks_for_text().then(|| catalog.text(&session.path).ok()).flatten()?;
                self.query.matches(&session, Some(&text))
            };
            let fit = self.query.matches(&session, None).or_else(by_text);
            if fit.is_some() && self.has_entries(&session, app) {
                found.push((fit, session));
            }
            progress.set(at + 1, total);
        }
        found
    }

    fn has_entries(&self, session: &SessionSummary, app: &App) -> bool {
        if self.entries.is_empty() {
            return true;
        }
        let Ok(session) = app.options().open_read_only(&session.path) else { return false };
        self.entries.iter().all(|condition| {
            let mut outline = Outline::new(&session, OutlineOptions::default());
            let searched = outline.set_query(&session, condition).and_then(|_| outline.search_all(&session));
            searched.is_ok() && !outline.is_empty()
        })
    }
}

/// Explains an empty list.
fn report_empty(args: &Args, cwd: &str, app: &mut App) -> Result<(), CommandError> {
    match args.all {
        true => app.ui.tell("no sessions yet")?,
        false => app.ui.tell(&format!("no sessions of {cwd} yet"))?,
    }
    let is_elsewhere =
        !args.all && app.catalogs()?.any(|catalog| catalog.list_all().quick().next().is_some());
    match is_elsewhere {
        true => app.ui.tell("hint: other projects have some: `offshoot sessions --all` lists them"),
        false => Ok(()),
    }
}

/// Returns the title of a session in one line; a file that is no session has only its name.
fn title(session: &SessionSummary) -> String {
    if !session.is_session() {
        return session.path.file_name().unwrap_or_default().display().to_string();
    }
    one_line(session.title())
}

fn print(rows: &[Row], all: bool, app: &mut App) -> Result<(), CommandError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut ids: Vec<&str> = rows.iter().map(|row| row.session.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let columns = [
        Column::words("id"),
        Column::wide("title"),
        Column::words("project").spare(2),
        Column::numbers("messages"),
        Column::numbers("branches").spare(3),
        Column::numbers("size").spare(4),
        Column::words("age"),
        Column::words("").spare(1),
    ];
    let now = app.env.now();
    let cells = |row: &Row| {
        let session = &row.session;
        let damage = session.damage.as_ref().map(ToString::to_string);
        let sign = if damage.is_some() { "⚠ " } else { "" };
        let note = match damage {
            Some(damage) => (Tone::Bad, damage),
            None if session.is_sub_agent => (Tone::Notice, "sub-agent".to_owned()),
            None => (Tone::Dim, if row.is_pi { "pi".to_owned() } else { String::new() }),
        };
        let tone = match session.name {
            _ if !session.is_session() => Tone::Bad,
            Some(_) => Tone::Notice,
            None => Tone::Plain,
        };
        let number = |number| if session.is_session() { thousands(number) } else { String::new() };
        Ok([
            (Tone::Dim, short(&session.id, &ids).to_owned()),
            (tone, format!("{}{sign}{}", row.connector, title(session))),
            (Tone::Dim, if all { session.cwd.clone() } else { String::new() }),
            (Tone::Plain, number(session.message_count)),
            (Tone::Plain, number(session.tip_count)),
            (Tone::Plain, bytes(session.size)),
            (Tone::Dim, age(now, session.modified)),
            note,
        ])
    };
    Table::show(columns, rows.iter().map(cells), &mut app.ui)
}

/// Returns the shortest prefix of an id that no other id of a sorted list has.
fn short<'s>(id: &'s str, sorted: &[&str]) -> &'s str {
    let at = sorted.partition_point(|other| *other < id);
    let neighbours = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| sorted.get(at));
    let shared = neighbours.map(|other| id.chars().zip(other.chars()).take_while(|(a, b)| a == b).count());
    let length = (shared.max().unwrap_or(0) + 1).max(SHORTEST_ID);
    id.char_indices().nth(length).map_or(id, |(end, _)| &id[..end])
}
