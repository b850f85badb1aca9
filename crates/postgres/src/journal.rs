//! A session in the database as a journal of the engine.

use std::any::Any;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use session_tree::journal::{
    Capabilities, ForkPart, IndexLine, Journal, Locked, NewLine, NewLines, ReadAt, Replaced, TakeIndexLine,
    VerifyCopy, WriteCopy,
};
use session_tree::{EntryId, FileLoss, Result, SessionSummary};
use tokio_postgres::{Row, SimpleQueryMessage, SimpleQueryRow};
use uuid::Uuid;

use crate::address::Address;
use crate::connection::Connection;
use crate::error::Error;
use crate::layout::{Layout, Part, Ranges};
use crate::line::{Line, append_bytes, entry_key};
use crate::spool::SpoolingJournal;
use crate::summary::Facts;
use crate::transaction::{Created, append_and_commit, create, or_roll_back, replace};

/// How long `lock` waits by default.
const LOCK_WAIT: Duration = Duration::from_secs(10);
/// How many bytes a request reads at least when the session is read in order.
const READ_AHEAD: u64 = 4 << 20;
/// Positions that the database can store.
const ALL: Range<u64> = 0..i64::MAX as u64;

/// A session in a PostgreSQL database: one row per line.
///
/// Each journal has its own connection, which is opened again when it was lost.
pub struct PostgresJournal {
    connection: Arc<Connection>,
    address: Address,
    /// The address as a path, without secrets.
    place: PathBuf,
    session: String,
    /// The session in the database; none until its first lines are published.
    stored: Option<Stored>,
    /// The lines of a session that is not published yet.
    unpublished: Vec<u8>,
    unpublished_lines: Vec<Line>,
    is_locked: bool,
    /// The facts that the row of the session held when it was locked.
    facts: Facts,
    lock_wait: Duration,
    /// The bytes that were read last.
    recent: Mutex<Chunk>,
    bytes_read: AtomicU64,
}

/// A session that the database has.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stored {
    id: Uuid,
    layout: Layout,
}

/// Bytes of a session from a position on.
#[derive(Debug, Default)]
struct Chunk {
    start: u64,
    bytes: Vec<u8>,
}

impl Chunk {
    fn range(&self) -> Range<u64> {
        self.start..self.start + self.bytes.len() as u64
    }
}

impl PostgresJournal {
    /// Opens the session of an address.
    ///
    /// # Errors
    ///
    /// Fails if there is no such session, or the database cannot be used.
    pub fn open(address: &Address) -> Result<Self, Error> {
        Self::open_with(address, Arc::new(Connection::new(address.clone())))
    }

    /// Opens the session of an address on a connection that no other journal changes anything on.
    pub(crate) fn open_with(address: &Address, connection: Arc<Connection>) -> Result<Self, Error> {
        let mut journal = Self::new(address, connection)?;
        journal.stored = journal.find(&journal.session)?;
        if journal.stored.is_none() {
            let (database, name) = (journal.connection.database().to_owned(), journal.session.clone());
            return Err(Error::NoSession { database, name });
        }
        Ok(journal)
    }

    /// Prepares a new session with the name of an address. The database has it from its first published line on.
    ///
    /// # Errors
    ///
    /// Fails if a session of this name exists, or the database cannot be used.
    pub fn create(address: &Address) -> Result<Self, Error> {
        Self::create_with(address, Arc::new(Connection::new(address.clone())))
    }

    /// Prepares a new session on a connection.
    pub(crate) fn create_with(address: &Address, connection: Arc<Connection>) -> Result<Self, Error> {
        let journal = Self::new(address, connection)?;
        match journal.find(&journal.session)? {
            None => Ok(journal),
            Some(_) => Err(journal.already_exists()),
        }
    }

    fn new(address: &Address, connection: Arc<Connection>) -> Result<Self, Error> {
        let session = address.required_session()?;
        Ok(Self {
            connection,
            place: PathBuf::from(address.to_string()),
            session: session.to_owned(),
            address: address.clone(),
            stored: None,
            unpublished: Vec::new(),
            unpublished_lines: Vec::new(),
            is_locked: false,
            facts: Facts::default(),
            lock_wait: LOCK_WAIT,
            recent: Mutex::default(),
            bytes_read: AtomicU64::new(0),
        })
    }

    /// Returns the number of bytes of lines that were read from the database.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Adds the bytes of a row to a text, and counts them.
    fn append_row(&self, row: &Row, first: usize, out: &mut Vec<u8>) {
        let before = out.len();
        append_bytes(row, first, out);
        self.count((out.len() - before) as u64);
    }

    fn count(&self, bytes: u64) {
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the address of the session.
    pub fn address(&self) -> &Address {
        &self.address
    }

    fn already_exists(&self) -> Error {
        Error::SessionExists { database: self.connection.database().to_owned(), name: self.session.clone() }
    }

    fn too_long(&self) -> Error {
        let reason = "a line has more than 2 GiB".to_owned();
        Error::Refused { database: self.connection.database().to_owned(), reason }
    }

    /// Returns the lines of a session that the database does not have yet.
    pub(crate) fn unpublished(&self) -> &[u8] {
        &self.unpublished
    }

    /// Returns those of the ids that the session has.
    pub(crate) fn present(&self, ids: &[EntryId]) -> Result<HashSet<EntryId>, Error> {
        let Some(stored) = &self.stored else { return Ok(HashSet::new()) };
        let rows = self.rows_of(stored, ids)?;
        let found: HashSet<&[u8]> = rows.iter().map(|row| row.get(0)).collect();
        Ok(ids.iter().filter(|id| found.contains(&*entry_key(id))).cloned().collect())
    }

    /// Reads the last line of each entry.
    fn rows_of(&self, stored: &Stored, ids: &[EntryId]) -> Result<Vec<Row>, Error> {
        let keys: Vec<Vec<u8>> = ids.iter().map(entry_key).collect();
        let content = Arc::new((Ranges::of(&stored.layout.parts(ALL)), keys));
        self.connection.run(!self.is_locked, move |link| {
            let content = Arc::clone(&content);
            async move {
                let (Ranges { logs, starts, stops, shifts }, keys) = &*content;
                link.client.query(&link.statements.lines, &[logs, starts, stops, shifts, keys]).await
            }
        })
    }

    /// Looks for a session in the database.
    fn find(&self, name: &str) -> Result<Option<Stored>, Error> {
        let name = Arc::<str>::from(name);
        let found = self.connection.run(true, move |link| {
            let name = Arc::clone(&name);
            async move {
                let Some(row) = link.client.query_opt(&link.statements.find, &[&&*name]).await? else {
                    return Ok(None);
                };
                let id: Uuid = row.get(0);
                let parts = link.client.query(&link.statements.parts, &[&id]).await?;
                Ok(Some((id, row.get(1), parts)))
            }
        })?;
        Ok(found.map(|(id, log, rows)| {
            let part = |row: &tokio_postgres::Row| Part {
                position: row.get::<_, i64>(0) as u64,
                length: row.get::<_, i64>(1) as u64,
                log: row.get(2),
                source_position: row.get::<_, i64>(3) as u64,
            };
            Stored { id, layout: Layout { log, shared: rows.iter().map(part).collect() } }
        }))
    }

    /// Reads the lines that begin before the end of a range, from the one that contains its start on.
    fn read_lines(&self, stored: &Stored, range: Range<u64>) -> Result<Chunk, Error> {
        let ranges = Arc::new(Ranges::of(&stored.layout.parts(range)));
        let rows = self.connection.run(!self.is_locked, move |link| {
            let ranges = Arc::clone(&ranges);
            async move {
                let Ranges { logs, starts, stops, shifts } = &*ranges;
                link.client.query(&link.statements.read, &[logs, starts, stops, shifts]).await
            }
        })?;
        let mut chunk = Chunk::default();
        for row in &rows {
            let position = row.get::<_, i64>(0) as u64;
            if chunk.bytes.is_empty() {
                chunk.start = position;
            }
            self.append_row(row, 1, &mut chunk.bytes);
        }
        Ok(chunk)
    }

    /// Begins a transaction that holds the row of the session. Returns its length, its log and its facts; none if it is gone.
    fn lock_row(&self, id: Uuid) -> Result<Option<(u64, Uuid, Facts)>, Error> {
        let wait = self.lock_wait.as_millis().max(1);
        let statements: Arc<str> = format!(
            "BEGIN; SET LOCAL lock_timeout = {wait}; \
             SELECT length, log, summary, is_counted, tip FROM offshoot.session WHERE id = '{id}' FOR UPDATE"
        )
        .into();
        let messages = self.connection.run(true, move |link| {
            let statements = Arc::clone(&statements);
            async move { or_roll_back(&link, link.client.simple_query(&statements)).await }
        })?;
        let state = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                Some((row.get(0)?.parse().ok()?, row.get(1)?.parse().ok()?, facts_of(row)))
            }
            _ => None,
        });
        Ok(state)
    }

    /// Appends lines under the lock and commits, which ends the lock.
    fn insert(
        &self,
        id: Uuid,
        new: &NewLines<'_>,
        lines: &Arc<Vec<Line>>,
        facts: &Facts,
    ) -> Result<(), Error> {
        let length = new.at + new.bytes.len() as u64;
        let content = Arc::new((Arc::clone(lines), facts.after(new.bytes, lines)));
        self.connection.run(false, move |link| {
            let content = Arc::clone(&content);
            async move { append_and_commit(&link, id, length, &content.0, &content.1).await }
        })
    }

    /// Creates the session from parts of other logs and new lines.
    fn publish(
        &mut self,
        parts: Vec<Part>,
        lines: Vec<Line>,
        length: u64,
        facts: Facts,
    ) -> Result<(), Error> {
        let content = Arc::new((self.session.clone(), parts.clone(), lines, facts));
        let created = self.connection.run(false, move |link| {
            let content = Arc::clone(&content);
            async move {
                let (name, parts, lines, facts) = &*content;
                create(&link, name, parts, lines, length, facts).await
            }
        })?;
        let (id, log) = match created {
            Created::Done { id, log } => (id, log),
            Created::NameTaken => return Err(self.already_exists()),
            Created::SourceGone => {
                let database = self.connection.database().to_owned();
                return Err(Error::Refused { database, reason: "the forked session was deleted".to_owned() });
            }
        };
        self.stored = Some(Stored { id, layout: Layout { log, shared: parts } });
        self.unpublished.clear();
        self.unpublished_lines.clear();
        Ok(())
    }

    /// Finds out whether lines were committed when the connection was lost, and appends them if not.
    ///
    /// The lock waits for the lost transaction to end, so its outcome is known under it.
    fn append_again(
        &mut self,
        stored: &Stored,
        new: &NewLines<'_>,
        lines: &Arc<Vec<Line>>,
        lost: Error,
    ) -> Result<(), Error> {
        let end = new.at + new.bytes.len() as u64;
        let Some((length, log, facts)) = self.lock_row(stored.id)? else { return Err(lost) };
        if length == new.at && log == stored.layout.log {
            return self.insert(stored.id, new, lines, &facts);
        }
        self.is_locked = true;
        let there = self.read_lines(stored, new.at..end);
        self.unlock();
        let there = there?;
        // Another client may have appended in between: then the lines are not there, and the engine reports the error.
        if there.start == new.at && there.bytes == new.bytes { Ok(()) } else { Err(lost) }
    }

    fn to_lines(&self, at: u64, new: &[NewLine<'_>]) -> Result<Vec<Line>, Error> {
        let mut position = at;
        let line = |line: &NewLine<'_>| {
            let start = position;
            position += line.bytes.len() as u64;
            Line::new(start, line)
        };
        new.iter().map(line).collect::<Option<_>>().ok_or_else(|| self.too_long())
    }
}

impl fmt::Debug for PostgresJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (address, stored) = (&self.address, &self.stored);
        f.debug_struct("PostgresJournal")
            .field("address", address)
            .field("stored", stored)
            .finish_non_exhaustive()
    }
}

impl ReadAt for PostgresJournal {
    fn len(&self) -> io::Result<u64> {
        let Some(stored) = &self.stored else { return Ok(self.unpublished.len() as u64) };
        let (id, log) = (stored.id, stored.layout.log);
        let row = self.connection.run(!self.is_locked, move |link| async move {
            link.client.query_opt(&link.statements.length, &[&id]).await
        })?;
        Ok(row.filter(|row| row.get::<_, Uuid>(1) == log).map_or(0, |row| row.get::<_, i64>(0) as u64))
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(stored) = &self.stored else { return self.unpublished.as_slice().read_at(position, buffer) };
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if !recent.range().contains(&position) {
            let is_in_order = position == recent.range().end;
            let wanted = if is_in_order { READ_AHEAD.max(buffer.len() as u64) } else { buffer.len() as u64 };
            let read = self.read_lines(stored, position..position.saturating_add(wanted).min(ALL.end))?;
            if !read.range().contains(&position) {
                return Ok(0);
            }
            *recent = read;
        }
        recent.bytes.as_slice().read_at(position - recent.start, buffer)
    }
}

impl Journal for PostgresJournal {
    fn name(&self) -> Cow<'_, str> {
        self.place.to_string_lossy()
    }

    fn address(&self) -> Option<&Path> {
        Some(&self.place)
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.exclusive = true;
        capabilities.replace = true;
        capabilities.changes = true;
        capabilities.index = true;
        capabilities.lines = true;
        capabilities.paths = true;
        capabilities.fork = true;
        capabilities
    }

    fn exists(&self) -> bool {
        self.stored.is_some()
    }

    fn lock(&mut self) -> Result<Locked> {
        let Some(stored) = &self.stored else { return Ok(Locked { len: self.len()?, loss: None }) };
        let begin = Instant::now();
        let state = match self.lock_row(stored.id) {
            Ok(state) => state,
            Err(Error::Locked) => {
                let path = self.place.clone();
                return Err(session_tree::Error::Locked { path, waited: begin.elapsed(), holder: None });
            }
            Err(error) => return Err(error.into()),
        };
        let log = stored.layout.log;
        self.is_locked = true;
        let Some((len, found, facts)) = state else {
            return Ok(Locked { len: 0, loss: Some(FileLoss::Deleted) });
        };
        self.facts = facts;
        Ok(Locked { len, loss: (found != log).then_some(FileLoss::Replaced) })
    }

    fn set_lock_wait(&mut self, limit: Duration) {
        self.lock_wait = limit;
    }

    fn unlock(&mut self) {
        if std::mem::take(&mut self.is_locked) {
            let rolled_back =
                self.connection.run(false, |link| async move { link.client.batch_execute("ROLLBACK").await });
            if rolled_back.is_err() {
                self.connection.close();
            }
        }
    }

    fn append(&mut self, new: &NewLines<'_>) -> Result<()> {
        let lines = self.to_lines(new.at, new.lines)?;
        let end = new.at + new.bytes.len() as u64;
        let Some(stored) = self.stored.clone() else {
            if !new.publish {
                self.unpublished.extend_from_slice(new.bytes);
                self.unpublished_lines.extend(lines);
                return Ok(());
            }
            let all: Vec<Line> = self.unpublished_lines.iter().cloned().chain(lines).collect();
            let facts = Facts::of(&[&self.unpublished, new.bytes].concat(), &all);
            return Ok(self.publish(Vec::new(), all, end, facts)?);
        };
        let lines = Arc::new(lines);
        // The commit ends the lock.
        self.is_locked = false;
        match self.insert(stored.id, new, &lines, &self.facts) {
            Err(lost) if lost.is_connection() => Ok(self.append_again(&stored, new, &lines, lost)?),
            appended => Ok(appended?),
        }
    }

    fn sync(&mut self) -> Result<()> {
        // A commit is durable.
        Ok(())
    }

    fn replace(&mut self, keep_as: &str, write: WriteCopy<'_>, verify: VerifyCopy<'_>) -> Result<Replaced> {
        let mut copy = Vec::new();
        write(&*self, &mut copy)?;
        verify(&copy.as_slice())?;
        let lines = Line::all_of(&copy).ok_or_else(|| self.too_long())?;
        let (length, facts) = (copy.len() as u64, Facts::of(&copy, &lines));
        let Some(stored) = self.stored.clone() else {
            self.publish(Vec::new(), lines, length, facts)?;
            return Ok(Replaced::default());
        };
        let kept = format!("{}.{keep_as}", self.session);
        let content = Arc::new((kept.clone(), lines, facts));
        self.is_locked = false;
        let log = self.connection.run(false, move |link| {
            let content = Arc::clone(&content);
            async move { replace(&link, stored.id, &content.0, length, &content.1, &content.2).await }
        })?;
        self.stored = Some(Stored { id: stored.id, layout: Layout { log, shared: Vec::new() } });
        *self.recent.get_mut().unwrap_or_else(PoisonError::into_inner) = Chunk::default();
        let place = PathBuf::from(self.address.with_session(kept).to_string());
        Ok(Replaced { kept: Some(place), old: None })
    }

    fn changes(&self, since: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(stored) = &self.stored else {
            return Ok(Some(self.unpublished.get(since as usize..).unwrap_or_default().to_vec()));
        };
        let chunk = self.read_lines(stored, since..since.saturating_add(READ_AHEAD).min(ALL.end))?;
        let skipped = since.saturating_sub(chunk.start) as usize;
        Ok(Some(chunk.bytes.get(skipped..).unwrap_or_default().to_vec()))
    }

    fn index(&self, since: u64, take: TakeIndexLine<'_>) -> io::Result<()> {
        let Some(stored) = &self.stored else {
            return self.unpublished_lines.iter().filter(|line| line.position as u64 >= since).try_for_each(
                |line| {
                    let head = line.head.as_deref().unwrap_or(&line.bytes);
                    take(index_line(line.position, line.length, head))
                },
            );
        };
        let ranges = Arc::new(Ranges::of(&stored.layout.parts(since..ALL.end)));
        let rows = self.connection.run(!self.is_locked, move |link| {
            let ranges = Arc::clone(&ranges);
            async move {
                let Ranges { logs, starts, stops, shifts } = &*ranges;
                link.client.query(&link.statements.index, &[logs, starts, stops, shifts]).await
            }
        })?;
        rows.iter().try_for_each(|row| {
            let head: &[u8] = row.get(2);
            self.count(head.len() as u64);
            take(index_line(row.get(0), row.get(1), head))
        })
    }

    fn lines(&self, ids: &[EntryId]) -> io::Result<Vec<Vec<u8>>> {
        let keys: Vec<Vec<u8>> = ids.iter().map(entry_key).collect();
        let mut found: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
        match &self.stored {
            None => {
                for line in &self.unpublished_lines {
                    let range = line.position as usize..(line.position + i64::from(line.length)) as usize;
                    if let (Some(entry), Some(bytes)) = (&line.entry, self.unpublished.get(range)) {
                        found.insert(entry.clone(), bytes.to_vec());
                    }
                }
            }
            Some(stored) => {
                for row in &self.rows_of(stored, ids)? {
                    let mut bytes = Vec::new();
                    self.append_row(row, 1, &mut bytes);
                    found.insert(row.get(0), bytes);
                }
            }
        }
        let line = |key: &Vec<u8>| {
            let line = found.get(key).ok_or(io::ErrorKind::NotFound)?;
            Ok(line.strip_suffix(b"\n").unwrap_or(line).to_vec())
        };
        keys.iter().map(line).collect()
    }

    fn paths(&self, ids: &[EntryId]) -> io::Result<Vec<u8>> {
        let Some(stored) = &self.stored else { return Ok(self.unpublished.clone()) };
        let keys: Vec<Vec<u8>> = ids.iter().map(entry_key).collect();
        let content = Arc::new((Ranges::of(&stored.layout.parts(ALL)), keys));
        let rows = self.connection.run(!self.is_locked, move |link| {
            let content = Arc::clone(&content);
            async move {
                let (Ranges { logs, starts, stops, shifts }, keys) = &*content;
                link.client.query(&link.statements.paths, &[logs, starts, stops, shifts, keys]).await
            }
        })?;
        let mut bytes = Vec::new();
        rows.iter().for_each(|row| self.append_row(row, 0, &mut bytes));
        Ok(bytes)
    }

    fn fork(&mut self, at: u64, source: &dyn Journal, parts: &[ForkPart<'_>]) -> Result<bool> {
        let any = source as &dyn Any;
        let spooling = || any.downcast_ref::<SpoolingJournal>().map(SpoolingJournal::database);
        let source = any.downcast_ref::<PostgresJournal>().or_else(spooling);
        let source = source.filter(|source| source.connection.database() == self.connection.database());
        // Other clients know the places of the lines of a session that exists, so only a new one can share lines.
        let (None, Some(source)) = (&self.stored, source.and_then(|source| source.stored.as_ref())) else {
            return Ok(false);
        };
        let (mut position, mut shared, mut lines) = (at, Vec::new(), self.unpublished_lines.clone());
        for part in parts {
            match part {
                ForkPart::Shared(range) => {
                    let offset =
                        |part: Part| Part { position: position + (part.position - range.start), ..part };
                    shared.extend(source.layout.parts(range.clone()).into_iter().map(offset));
                    position += range.end - range.start;
                }
                ForkPart::New(line) => {
                    lines.push(Line::new(position, line).ok_or_else(|| self.too_long())?);
                    position += line.bytes.len() as u64;
                }
            }
        }
        self.publish(shared, lines, position, Facts::default())?;
        Ok(true)
    }

    fn reopened(&self) -> Result<Option<Box<dyn Journal>>> {
        match self.find(&self.session)? {
            Some(stored) if Some(&stored) != self.stored.as_ref() => {
                let mut journal = Self::new(&self.address, Arc::new(Connection::new(self.address.clone())))?;
                journal.stored = Some(stored);
                journal.lock_wait = self.lock_wait;
                Ok(Some(Box::new(journal)))
            }
            _ => Ok(None),
        }
    }
}

/// Reads the facts of a row in the text format.
fn facts_of(row: &SimpleQueryRow) -> Facts {
    let bytes = |column: usize| row.get(column).and_then(|text| hex(text.strip_prefix("\\x")?));
    let summary = bytes(2).and_then(|bytes| SessionSummary::decode(&bytes));
    Facts { summary, is_counted: row.get(3) == Some("t"), tip: bytes(4) }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    text.as_bytes().chunks(2).map(|pair| Some(16 * digit(pair[0])? + digit(*pair.get(1)?)?)).collect()
}

fn index_line(position: i64, length: i32, head: &[u8]) -> IndexLine<'_> {
    let head = head.strip_suffix(b"\n").unwrap_or(head);
    IndexLine { position: position as u64, len: length as u64 - 1, head }
}

impl Drop for PostgresJournal {
    fn drop(&mut self) {
        self.unlock();
    }
}
