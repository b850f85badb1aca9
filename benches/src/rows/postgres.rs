//! Sessions in PostgreSQL, on a server that this program starts, with `fsync`. All times are wall time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use session_tree::fs::{Access, RealFs};
use session_tree::journal::FileJournal;
use session_tree::{Message, Options, Session};
use session_tree_postgres::{Address, PostgresJournal, copy_missing, init, sessions};
use testkit::postgres::PostgresServer;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, Statement};

use super::{Bench, NOT_QUICK};
use crate::Failure;
use crate::clock::wall;
use crate::table::Line;

/// The size of an entry.
const ENTRY: usize = 1_900;
const WRITERS: usize = 32;

/// A server with the tables, and a table of bare rows beside them.
struct Database {
    server: PostgresServer,
    address: Address,
    name: String,
}

impl Database {
    fn start() -> Result<Self, Failure> {
        let server = PostgresServer::start_durable();
        let text = server.database();
        let address = Address::parse(&text)?;
        init(&address, "bench", None)?;
        let name = text.trim_start_matches("postgres:///").split('?').next().unwrap_or_default().to_owned();
        server.sql(
            &name,
            "CREATE TABLE bare (id bigserial PRIMARY KEY, line bytea NOT NULL); \
             CREATE TABLE one (id int PRIMARY KEY, content bytea NOT NULL)",
        )?;
        Ok(Self { server, address, name })
    }

    fn create(&self, name: &str) -> Result<Session, Failure> {
        let journal = PostgresJournal::create(&self.address.with_session(name))?;
        let mut session = Options::new().create_journal(journal, "/project")?;
        session.append(message())?;
        Ok(session)
    }

    /// Copies a file into the database.
    fn push(&self, file: &std::path::Path, name: &str) -> Result<Address, Failure> {
        let address = self.address.with_session(name);
        let source = FileJournal::open(Arc::new(RealFs), file, Access::Read)?;
        copy_missing(&source, &mut PostgresJournal::create(&address)?)?;
        self.server.sql(&self.name, "ANALYZE")?;
        Ok(address)
    }

    fn open(&self, address: &Address) -> Result<Session, Failure> {
        Ok(Options::new().open_journal(PostgresJournal::open(address)?)?)
    }

    fn bare(&self) -> Result<Bare, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let parameters = self.server.address("postgres", &self.name);
        let (client, insert, grow) = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&parameters, NoTls).await?;
            tokio::spawn(async move { drop(connection.await) });
            let insert = client.prepare("INSERT INTO bare (line) VALUES ($1)").await?;
            let grow = client.prepare("UPDATE one SET content = content || $1 WHERE id = 1").await?;
            Ok::<_, tokio_postgres::Error>((client, insert, grow))
        })?;
        Ok(Bare { client, runtime, insert, grow })
    }
}

/// A client that inserts bare rows with prepared statements: one round trip and one commit each, on the thread that waits for it.
struct Bare {
    client: Client,
    runtime: Runtime,
    insert: Statement,
    grow: Statement,
}

impl Bare {
    fn insert(&self, line: &[u8]) -> Result<u64, Failure> {
        Ok(self.runtime.block_on(self.client.execute(&self.insert, &[&line]))?)
    }

    fn grow(&self, line: &[u8]) -> Result<u64, Failure> {
        Ok(self.runtime.block_on(self.client.execute(&self.grow, &[&line]))?)
    }
}

fn message() -> Message {
    Message::user("x".repeat(ENTRY - 150))
}

/// Returns the medians of two steps that take turns.
fn medians(
    count: usize,
    mut one: impl FnMut() -> Result<Duration, Failure>,
    mut other: impl FnMut() -> Result<Duration, Failure>,
) -> Result<(Duration, Duration), Failure> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..count {
        first.push(one()?);
        second.push(other()?);
    }
    first.sort_unstable();
    second.sort_unstable();
    Ok((first[count / 2], second[count / 2]))
}

pub(super) fn append(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let (database, count) = (Database::start()?, if bench.quick { 100 } else { 1_000 });
    let (mut session, bare, line) = (database.create("small")?, database.bare()?, vec![b'x'; ENTRY]);
    let (ours, insert) =
        medians(count, || wall(|| Ok(session.append(message())?)), || wall(|| bare.insert(&line)))?;
    // Bytes that do not compress.
    let fill = "INSERT INTO one SELECT 1, string_agg(sha256(number::text::bytea), ''::bytea) \
         FROM generate_series(1, 156250) number";
    database.server.sql(&database.name, fill)?;
    let (again, grow) =
        medians(count.min(100), || wall(|| Ok(session.append(message())?)), || wall(|| bare.grow(&line)))?;
    let entries = if bench.quick { 100_000 } else { 1_000_000 };
    let mut large = database.open(&database.push(&bench.files.small(entries)?, "large")?)?;
    let (in_large, in_small) =
        medians(count, || wall(|| Ok(large.append(message())?)), || wall(|| Ok(session.append(message())?)))?;
    Ok(vec![
        Line::cost("append 1.9 KB", ours, ("INSERT", insert), 1.3),
        Line::gain("append 1.9 KB, against one row of 5 MB per session", again, ("UPDATE", grow), 10.0),
        Line::cost(
            if bench.quick { "append to 100k entries" } else { "append to 1M entries" },
            in_large,
            ("small", in_small),
            1.3,
        ),
    ])
}

/// Runs a step of each writer on a thread of its own, and returns the time until all are done.
fn at_once<W: Send>(
    writers: &mut [W],
    step: impl Fn(&mut W) -> Result<(), String> + Sync,
) -> Result<Duration, Failure> {
    let begin = Instant::now();
    thread::scope(|scope| {
        let step = &step;
        let threads: Vec<_> = writers.iter_mut().map(|writer| scope.spawn(move || step(writer))).collect();
        let mut joined = threads.into_iter().map(|thread| thread.join());
        joined.try_for_each(|result| result.unwrap_or_else(|_| Err("a writer panicked".to_owned())))
    })?;
    Ok(begin.elapsed())
}

/// Appends entries one after the other.
fn append_some(session: &mut Session, count: usize) -> Result<(), String> {
    (0..count).try_for_each(|_| session.append(message()).map(drop).map_err(|error| error.to_string()))
}

pub(super) fn writers(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let (database, count) = (Database::start()?, if bench.quick { 20 } else { 100 });
    let mut own = (0..WRITERS)
        .map(|number| database.create(&format!("own {number}")))
        .collect::<Result<Vec<_>, _>>()?;
    let mut bare = (0..WRITERS).map(|_| database.bare()).collect::<Result<Vec<_>, _>>()?;
    let line = vec![b'x'; ENTRY];
    let (ours, inserts) = medians(
        bench.runs,
        || at_once(&mut own, |session| append_some(session, count)),
        || {
            at_once(&mut bare, |bare| {
                let mut inserts = (0..count).map(|_| bare.insert(&line).map(drop));
                inserts.try_for_each(|result| result.map_err(|error| error.to_string()))
            })
        },
    )?;
    drop(database.create("shared")?);
    let shared = database.address.with_session("shared");
    let mut together = (0..WRITERS).map(|_| database.open(&shared)).collect::<Result<Vec<_>, _>>()?;
    let few = count / 10 + 1;
    let time = at_once(&mut together, |session| append_some(session, few))?;
    let found = database.open(&shared)?.tree().len();
    if found != WRITERS * few + 1 {
        return Err(format!("{found} entries instead of {}", WRITERS * few + 1).into());
    }
    Ok(vec![
        Line::cost("32 writers with their own sessions", ours, ("INSERT", inserts), 1.25),
        Line::limit("an append of 32 writers on one session", time / few as u32, Duration::from_secs(10)),
    ])
}

pub(super) fn open(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let (database, file) = (Database::start()?, bench.files.realistic(100_000)?);
    let address = database.push(&file, "large")?;
    let (ours, theirs) = medians(
        bench.runs,
        || wall(|| database.open(&address)),
        || wall(|| Ok(Session::open_read_only(&file)?)),
    )?;
    Ok(vec![Line::cost("open 100k entries", ours, ("file", theirs), 3.0)])
}

pub(super) fn context(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let work = "context at the leaf of 1M entries";
    if bench.quick {
        return Ok(vec![Line::skipped(work, NOT_QUICK)]);
    }
    let database = Database::start()?;
    let address = database.push(&bench.files.bushy(1_000_000)?, "million")?;
    let whole = Options::new().open_journal_path(PostgresJournal::open(&address)?)?;
    let path: usize = whole.tree().nodes().map(|node| whole.line_len(node) as usize + 1).sum();
    let journal = PostgresJournal::open(&address)?;
    let ids: Vec<_> = whole.leaf_id().into_iter().collect();
    let read = session_tree::journal::Journal::paths(&journal, &ids)?.len();
    if journal.bytes_read() > (read + path) as u64 {
        return Err(format!("{} bytes were read for a path of {path}", journal.bytes_read()).into());
    }
    let (ours, _) = medians(
        bench.runs,
        || {
            let journal = PostgresJournal::open(&address)?;
            wall(|| Ok(Options::new().open_journal_path(journal)?.context()?))
        },
        || Ok(Duration::ZERO),
    )?;
    Ok(vec![Line::limit(work, ours, Duration::from_millis(50))])
}

pub(super) fn list(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let database = Database::start()?;
    drop(database.create("first")?);
    let copies = "INSERT INTO offshoot.session (tenant, name, length, summary, is_counted) \
         SELECT tenant, name || number, length, summary, is_counted FROM offshoot.session, generate_series(2, 10000) number";
    database.server.sql(&database.name, copies)?;
    let (ours, _) = medians(
        bench.runs,
        || {
            wall(|| match sessions(&database.address)?.len() {
                10_000 => Ok(()),
                count => Err(format!("{count} sessions").into()),
            })
        },
        || Ok(Duration::ZERO),
    )?;
    Ok(vec![Line::limit("list 10,000 sessions, with the connection", ours, Duration::from_millis(100))])
}

pub(super) fn follow(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let (database, count) = (Database::start()?, if bench.quick { 20 } else { 200 });
    let mut writer = database.create("followed")?;
    let others = (1..WRITERS).map(|number| database.create(&format!("other {number}")));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    let mut follower = database.open(&database.address.with_session("followed"))?;
    let (is_over, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
    let mut threads = Vec::new();
    for mut other in others {
        let is_over = Arc::clone(&is_over);
        threads.push(thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) && other.append(message()).is_ok() {}
        }));
    }
    let times = Arc::clone(&sent);
    threads.push(thread::spawn(move || {
        for _ in 0..count {
            if let (Ok(id), Ok(mut times)) = (writer.append(message()), times.lock()) {
                times.push((id, Instant::now()));
            }
        }
    }));
    let (mut delays, begin) = (Vec::new(), Instant::now());
    let mut seen = Vec::new();
    while seen.len() < count && begin.elapsed() < Duration::from_secs(120) {
        let now = follower.poll()?;
        let at = Instant::now();
        seen.extend(now.into_iter().map(|entry| (entry.id().clone(), at)));
        // The pause of `offshoot follow`.
        thread::sleep(Duration::from_millis(100));
    }
    is_over.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().map_err(|_| "a writer panicked")?;
    }
    let sent = sent.lock().map_err(|_| "a writer panicked")?;
    for (id, at) in seen {
        let sent = sent.iter().find(|(sent, _)| *sent == id).ok_or("an entry that no writer sent")?;
        delays.push(at.saturating_duration_since(sent.1));
    }
    if delays.len() != count {
        return Err(format!("{} of {count} entries were followed", delays.len()).into());
    }
    delays.sort_unstable();
    let slowest = delays[delays.len() * 99 / 100];
    Ok(vec![Line::limit("from commit to follower, p99 with 32 writers", slowest, Duration::from_millis(250))])
}
