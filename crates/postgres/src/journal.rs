//! A session in the database as a journal of the engine.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use session_tree::journal::{
    Capabilities, ForkPart, IndexLine, Journal, Locked, NewLine, NewLines, ReadAt, Replaced, TakeIndexLine,
    VerifyCopy, WriteCopy,
};
use session_tree::{EntryId, Loss, Result};
use tokio_postgres::SimpleQueryMessage;
use uuid::Uuid;

use crate::address::Address;
use crate::connection::Connection;
use crate::error::Error;
use crate::layout::{Layout, Part, Ranges};
use crate::line::{Line, append_bytes, entry_key};
use crate::transaction::{append_and_commit, create, replace};

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
    connection: Connection,
    address: Address,
    session: String,
    /// The session in the database; none until its first lines are published.
    stored: Option<Stored>,
    /// The lines of a session that is not published yet.
    unpublished: Vec<u8>,
    unpublished_lines: Vec<Line>,
    is_locked: bool,
    lock_wait: Duration,
    /// The bytes that were read last.
    recent: Mutex<Chunk>,
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
        let mut journal = Self::new(address)?;
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
        let journal = Self::new(address)?;
        match journal.find(&journal.session)? {
            None => Ok(journal),
            Some(_) => Err(journal.already_exists()),
        }
    }

    fn new(address: &Address) -> Result<Self, Error> {
        let session = address.required_session()?;
        Ok(Self {
            connection: Connection::new(address.clone()),
            session: session.to_owned(),
            address: address.clone(),
            stored: None,
            unpublished: Vec::new(),
            unpublished_lines: Vec::new(),
            is_locked: false,
            lock_wait: LOCK_WAIT,
            recent: Mutex::default(),
        })
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
        let ranges = Arc::new(Ranges::of(&stored.layout.parts(range.clone())));
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
            append_bytes(row, 1, &mut chunk.bytes);
            // A log has lines before the range if the range begins in a shared part.
            if chunk.range().end <= range.start {
                chunk.bytes.clear();
            }
        }
        Ok(chunk)
    }

    /// Begins a transaction that holds the row of the session. Returns its length and its log; none if it is gone.
    fn lock_row(&self, id: Uuid) -> Result<Option<(u64, Uuid)>, Error> {
        let wait = self.lock_wait.as_millis().max(1);
        let statements: Arc<str> = format!(
            "BEGIN; SET LOCAL lock_timeout = {wait}; \
             SELECT length, log FROM offshoot.session WHERE id = '{id}' FOR UPDATE"
        )
        .into();
        let messages = self.connection.run(true, move |link| {
            let statements = Arc::clone(&statements);
            async move {
                let result = link.client.simple_query(&statements).await;
                if result.is_err() {
                    let _ = link.client.batch_execute("ROLLBACK").await;
                }
                result
            }
        })?;
        let state = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some((row.get(0)?.parse().ok()?, row.get(1)?.parse().ok()?)),
            _ => None,
        });
        Ok(state)
    }

    /// Appends lines under the lock and commits, which ends the lock.
    fn insert(&self, id: Uuid, length: u64, lines: &Arc<Vec<Line>>) -> Result<(), Error> {
        let lines = Arc::clone(lines);
        self.connection.run(false, move |link| {
            let lines = Arc::clone(&lines);
            async move { append_and_commit(&link, id, length, &lines).await }
        })
    }

    /// Creates the session from parts of other logs and new lines.
    fn publish(&mut self, parts: Vec<Part>, lines: Vec<Line>, length: u64) -> Result<(), Error> {
        let content = Arc::new((self.session.clone(), parts.clone(), lines));
        let created = self.connection.run(false, move |link| {
            let content = Arc::clone(&content);
            async move { create(&link, &content.0, &content.1, &content.2, length).await }
        })?;
        let (id, log) = created.ok_or_else(|| self.already_exists())?;
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
        let Some((length, log)) = self.lock_row(stored.id)? else { return Err(lost) };
        if length == new.at && log == stored.layout.log {
            return self.insert(stored.id, end, lines);
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
        self.address.to_string().into()
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.exclusive = true;
        capabilities.replace = true;
        capabilities.changes = true;
        capabilities.index = true;
        capabilities.lines = true;
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
                let path = PathBuf::from(&*self.name());
                return Err(session_tree::Error::Locked { path, waited: begin.elapsed(), holder: None });
            }
            Err(error) => return Err(error.into()),
        };
        let locked = match state {
            None => Locked { len: 0, loss: Some(Loss::Deleted) },
            Some((len, log)) if log == stored.layout.log => Locked { len, loss: None },
            Some((len, _)) => Locked { len, loss: Some(Loss::Replaced) },
        };
        self.is_locked = true;
        Ok(locked)
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
            let all = self.unpublished_lines.iter().cloned().chain(lines).collect();
            return Ok(self.publish(Vec::new(), all, end)?);
        };
        let lines = Arc::new(lines);
        // The commit ends the lock.
        self.is_locked = false;
        match self.insert(stored.id, end, &lines) {
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
        let Some(stored) = self.stored.clone() else {
            (self.unpublished, self.unpublished_lines) = (copy, lines);
            return Ok(Replaced::default());
        };
        let kept = format!("{}.{keep_as}", self.session);
        let content = Arc::new((kept.clone(), lines));
        let length = copy.len() as u64;
        self.is_locked = false;
        let log = self.connection.run(false, move |link| {
            let content = Arc::clone(&content);
            async move { replace(&link, stored.id, &content.0, length, &content.1).await }
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
        rows.iter().try_for_each(|row| take(index_line(row.get(0), row.get(1), row.get(2))))
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
                let content = Arc::new((Ranges::of(&stored.layout.parts(ALL)), keys.clone()));
                let rows = self.connection.run(!self.is_locked, move |link| {
                    let content = Arc::clone(&content);
                    async move {
                        let (Ranges { logs, starts, stops, shifts }, keys) = &*content;
                        link.client.query(&link.statements.lines, &[logs, starts, stops, shifts, keys]).await
                    }
                })?;
                for row in &rows {
                    let mut bytes = Vec::new();
                    append_bytes(row, 1, &mut bytes);
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

    fn fork(&mut self, at: u64, source: &dyn Journal, parts: &[ForkPart<'_>]) -> Result<bool> {
        let name = source.name();
        let database = self.address.without_session().to_string();
        let name = name.strip_prefix(&database).and_then(|name| name.strip_prefix('/'));
        // Other clients know the places of the lines of a session that exists, so only a new one can share lines.
        let (None, Some(name)) = (&self.stored, name) else { return Ok(false) };
        let Some(source) = self.find(name)? else { return Ok(false) };
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
        self.publish(shared, lines, position)?;
        Ok(true)
    }

    fn reopened(&self) -> Result<Option<Box<dyn Journal>>> {
        match self.find(&self.session)? {
            Some(stored) if Some(&stored) != self.stored.as_ref() => {
                let mut journal = Self::new(&self.address)?;
                journal.stored = Some(stored);
                journal.lock_wait = self.lock_wait;
                Ok(Some(Box::new(journal)))
            }
            _ => Ok(None),
        }
    }
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
