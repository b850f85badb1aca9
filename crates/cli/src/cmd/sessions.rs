//! `offshoot sessions`: the sessions of a project, or of all, as a list.

mod search;
mod short_ids;
mod threads;

use std::ops::ControlFlow;

use serde::Serialize;
use session_tree::{Catalog, Listing, SessionQuery, SessionSummary};

use self::short_ids::ShortIds;
use self::threads::Threads;
use crate::app::App;
use crate::error::{CommandError, chain};
use crate::ui::{Column, Progress, Table, Tone, age, bytes, count, one_line, thousands};

/// Arguments of `offshoot sessions`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// List only sessions that fit: words, `"a phrase"`, `cwd:part`, `before:2025-01-31`, `after:2025-01-01`,
    /// `has:branch`, `is:named`, `re:pattern`.
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// List the sessions of all projects.
    #[arg(long, short)]
    all: bool,
    /// The order; threaded if not given, and best fit first with a query.
    #[arg(long, short, value_enum, value_name = "ORDER")]
    sort: Option<Sort>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// How a list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    /// Latest activity first.
    Recent,
    /// Forks below the session they were made from.
    Threaded,
    /// By name or first prompt.
    Name,
    /// Largest file first.
    Size,
}

/// A session of the list, and what is drawn before its title.
#[derive(Debug)]
struct Row {
    session: SessionSummary,
    connector: String,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let text = args.query.join(" ");
    let query = SessionQuery::parse_strict(&text)?;
    let catalog = app.catalog()?;
    let cwd = app.cwd()?;
    let listing = list(&catalog, &cwd, args.all);
    for problem in listing.problems() {
        app.ui.tell(&format!("warning: {}", chain(problem)))?;
    }
    let mut progress = Progress::new("reading", 0);
    let sessions = listing.complete(&mut |step| {
        progress.set(step.done, step.total);
        ControlFlow::Continue(())
    });
    drop(progress);
    if sessions.is_empty() && !args.json {
        tell_empty(args, &cwd, app)?;
    }
    let all = sessions.len();
    let found = search::find(&catalog, sessions, &query, &text);
    let rows = sorted(args.sort, found, text.trim().is_empty());
    if rows.is_empty() && all > 0 {
        app.ui.tell(&format!("none of {} fits", count(all, "session")))?;
    }
    match args.json {
        true => print_json(rows, app),
        false => print(&rows, args.all, app),
    }
}

fn list(catalog: &Catalog, cwd: &str, all: bool) -> Listing {
    if all { catalog.list_all() } else { catalog.list(cwd) }
}

/// A list without rows says nothing; tells where sessions are.
fn tell_empty(args: &Args, cwd: &str, app: &mut App) -> Result<(), CommandError> {
    match args.all {
        true => app.ui.tell("no sessions yet")?,
        false => app.ui.tell(&format!("no sessions of {cwd} yet"))?,
    }
    let has_any = |catalog: Catalog| list(&catalog, cwd, args.all).quick().next().is_some();
    if app.pi_catalog().is_some_and(has_any) {
        return app.ui.tell("hint: pi has some: `offshoot sessions --pi` lists them");
    }
    let is_elsewhere = !args.all && app.catalog()?.list_all().quick().next().is_some();
    match is_elsewhere {
        true => app.ui.tell("hint: other projects have some: `offshoot sessions --all` lists them"),
        false => Ok(()),
    }
}

/// Brings sessions, which come best fit and then latest activity first, into the order that was asked for.
fn sorted(sort: Option<Sort>, mut sessions: Vec<SessionSummary>, is_everything: bool) -> Vec<Row> {
    match sort {
        None if !is_everything => {}
        None | Some(Sort::Threaded) => return Threads::of(sessions),
        Some(Sort::Recent) => sessions.sort_by_key(|row| std::cmp::Reverse(row.modified)),
        Some(Sort::Name) => sessions.sort_by_cached_key(|row| title(row).to_lowercase()),
        Some(Sort::Size) => sessions.sort_by_key(|row| std::cmp::Reverse(row.size)),
    }
    sessions.into_iter().map(|session| Row { session, connector: String::new() }).collect()
}

/// What to call a session, in one line. A file that is none has only its own name.
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
    let ids = ShortIds::of(rows.iter().map(|row| row.session.id.as_str()));
    let mut table = Table::new([
        Column::words("id"),
        Column::wide("title"),
        Column::words("project").spare(2),
        Column::numbers("messages"),
        Column::numbers("branches").spare(3),
        Column::numbers("size").spare(4),
        Column::words("age"),
        Column::words("").spare(1),
    ]);
    let now = app.now();
    for row in rows {
        let session = &row.session;
        let damage = session.damage.as_ref().map(ToString::to_string);
        let sign = if damage.is_some() { "⚠ " } else { "" };
        let note =
            damage.unwrap_or_else(|| if session.is_sub_agent { "sub-agent".into() } else { String::new() });
        let number = |number| if session.is_session() { thousands(number) } else { String::new() };
        table.push([
            (Tone::Dim, ids.short(&session.id).to_owned()),
            (tone(session), format!("{}{sign}{}", row.connector, title(session))),
            (Tone::Dim, if all { session.cwd.clone() } else { String::new() }),
            (Tone::Plain, number(session.message_count)),
            (Tone::Plain, number(session.tip_count)),
            (Tone::Plain, bytes(session.size)),
            (Tone::Dim, age(now, session.modified)),
            (Tone::Bad, note),
        ]);
    }
    table.print(&mut app.ui)
}

fn tone(session: &SessionSummary) -> Tone {
    match session.name {
        _ if !session.is_session() => Tone::Bad,
        Some(_) => Tone::Notice,
        None => Tone::Plain,
    }
}

/// One session of `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonSession {
    path: String,
    id: String,
    cwd: String,
    name: Option<String>,
    first_message: Option<String>,
    parent_session: Option<String>,
    created: Option<String>,
    modified: String,
    message_count: u64,
    entry_count: u64,
    branch_count: u64,
    size: u64,
    damage: Option<String>,
    is_sub_agent: bool,
}

fn print_json(rows: Vec<Row>, app: &mut App) -> Result<(), CommandError> {
    let rows: Vec<JsonSession> = rows.into_iter().map(|row| as_json(row.session)).collect();
    app.ui.json(&rows)
}

fn as_json(session: SessionSummary) -> JsonSession {
    JsonSession {
        path: session.path.display().to_string(),
        created: session.created.map(|time| time.to_string()),
        modified: session.modified.to_string(),
        damage: session.damage.map(|damage| damage.to_string()),
        id: session.id,
        cwd: session.cwd,
        name: session.name,
        first_message: session.first_message,
        parent_session: session.parent_session,
        message_count: session.message_count,
        entry_count: session.entry_count,
        branch_count: session.tip_count,
        size: session.size,
        is_sub_agent: session.is_sub_agent,
    }
}
