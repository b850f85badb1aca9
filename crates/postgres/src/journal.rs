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

use futures_util::future::try_join;
use session_tree::journal::{
    Capabilities, ForkPart, Journal, Locked, NewLine, NewLines, ReadAt, Replaced, TakeIndexLine, VerifyCopy,
    WriteCopy,
};
use session_tree::{EntryId, FileLoss, Result};
use tokio_postgres::{Row, SimpleQueryMessage};
use uuid::Uuid;

use crate::address::{Address, PoolMode};
use crate::connection::Connection;
use crate::error::Error;
use crate::heads::{heads, index_line};
use crate::layout::{Layout, Part, Ranges};
use crate::line::{Line, append_bytes, entry_key};
use crate::spool::SpoolingJournal;
use crate::statements::{FIND, LENGTH, LINES, LOOSE_HEADS, PACKS, PARTS, PATHS, Parameters, READ};
use crate::summary::Facts;
use crate::transaction::{Created, Growth, create, or_roll_back, pack, replace};

/// How long `lock` waits by default.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(10);
/// How many bytes a request reads at least when the session is read in order.
const READ_AHEAD: u64 = 4 << 20;
/// How many lines a pack has at least.
const PACK_LINES: u64 = 256;
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
    /// The facts that the row of the session held when they were last read or written, and the length that they belong to.
    facts: Facts,
    facts_at: u64,
    /// The number of lines whose heads are in no pack, as far as this journal has seen them.
    loose: AtomicU64,
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
        let Some(found) = journal.find(&journal.session)? else {
            let (database, name) = (journal.connection.database().to_owned(), journal.session.clone());
            return Err(Error::NoSession { database, name });
        };
        journal.set_stored(found);
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
            facts_at: 0,
            loose: AtomicU64::new(0),
            lock_wait: LOCK_WAIT,
            recent: Mutex::default(),
            bytes_read: AtomicU64::new(0),
        })
    }

    fn set_stored(&mut self, (stored, length, facts): (Stored, u64, Facts)) {
        self.stored = Some(stored);
        (self.facts_at, self.facts) = (length, facts);
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
        self.refused("a line has more than 2 GiB")
    }

    fn refused(&self, reason: &str) -> Error {
        Error::Refused { database: self.connection.database().to_owned(), reason: reason.to_owned() }
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
        let keys: &Vec<Vec<u8>> = &ids.iter().map(entry_key).collect();
        let ranges = &Ranges::of(&stored.layout.parts(ALL));
        self.connection.run(!self.is_locked, |link| async move {
            let Ranges { logs, starts, stops, shifts } = ranges;
            link.query(&LINES, &[logs, starts, stops, shifts, keys]).await
        })
    }

    /// Looks for a session in the database. Returns also its length and its facts.
    fn find(&self, name: &str) -> Result<Option<(Stored, u64, Facts)>, Error> {
        let (session, parts) = self.connection.run(true, |link| async move {
            let (session, parts) = (link.ready(&FIND).await?, link.ready(&PARTS).await?);
            // Both are sent at once.
            try_join(session.query(&[&name]), parts.query(&[&name])).await
        })?;
        let Some(row) = session.first() else { return Ok(None) };
        let id: Uuid = row.get(0);
        let part = |row: &Row| Part {
            position: row.get::<_, i64>(0) as u64,
            length: row.get::<_, i64>(1) as u64,
            log: row.get(2),
            source_position: row.get::<_, i64>(3) as u64,
        };
        // A session of this name may have been replaced by another one in between.
        let parts = parts.iter().filter(|part| part.get::<_, Uuid>(4) == id);
        let stored = Stored { id, layout: Layout { log: row.get(1), shared: parts.map(part).collect() } };
        Ok(Some((stored, row.get::<_, i64>(2) as u64, Facts::of_row(row, 3))))
    }

    /// Reads the lines that begin before the end of a range, from the one that contains its start on.
    fn read_lines(&self, stored: &Stored, range: Range<u64>) -> Result<Chunk, Error> {
        let ranges = &Ranges::of(&stored.layout.parts(range));
        let rows = self.connection.run(!self.is_locked, |link| async move {
            let Ranges { logs, starts, stops, shifts } = ranges;
            link.query(&READ, &[logs, starts, stops, shifts]).await
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
        let statements = &format!(
            "BEGIN; SET LOCAL lock_timeout = {wait}; \
             SELECT length, log, summary, is_counted, tip FROM offshoot.session WHERE id = '{id}' FOR UPDATE"
        );
        let messages = self.connection.run(true, |link| async move {
            or_roll_back(&link, link.client.simple_query(statements)).await
        })?;
        let state = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                Some((row.get(0)?.parse().ok()?, row.get(1)?.parse().ok()?, Facts::of_text(row)))
            }
            _ => None,
        });
        Ok(state)
    }

    /// Appends lines and commits, under the lock or without it. Returns false if the session does not have the length and the
    /// facts that this journal knows: nothing was appended.
    fn insert(
        &mut self,
        stored: &Stored,
        new: &NewLines<'_>,
        lines: &[Line],
        is_locked: bool,
    ) -> Result<bool, Error> {
        let (to, facts) = (new.at + new.bytes.len() as u64, self.facts.after(new.bytes, lines));
        let growth = Growth {
            session: stored.id,
            log: stored.layout.log,
            from: new.at,
            to,
            lines,
            facts: &facts,
            was_counted: self.facts.is_counted,
        };
        let appended = self.connection.run(false, |link| async move {
            match is_locked {
                true => growth.append_and_commit(&link).await,
                false => growth.append_alone(&link).await,
            }
        })?;
        if appended {
            (self.facts_at, self.facts) = (to, facts);
            self.note_loose(lines.len());
        }
        Ok(appended)
    }

    /// Counts lines whose heads are in no pack, and packs them when there are enough.
    fn note_loose(&self, count: usize) {
        let loose = self.loose.fetch_add(count as u64, Ordering::Relaxed) + count as u64;
        let Some(stored) = self.stored.as_ref().filter(|_| loose >= PACK_LINES) else { return };
        self.loose.store(0, Ordering::Relaxed);
        let log = stored.layout.log;
        // The lines are there in any case. After a failure they go into the next pack.
        let _ = self
            .connection
            .run(false, |link| async move { or_roll_back(&link, pack(&link, log, PACK_LINES as i64)).await });
    }

    /// Creates the session from parts of other logs and new lines.
    fn publish(&mut self, parts: Vec<Part>, lines: &[Line], length: u64, facts: Facts) -> Result<(), Error> {
        let (count, name) = (lines.len(), &self.session);
        let (new_parts, new_facts) = (&parts, &facts);
        let created = self.connection.run(false, |link| async move {
            create(&link, name, new_parts, lines, length, new_facts).await
        })?;
        let (id, log) = match created {
            Created::Done { id, log } => (id, log),
            Created::NameTaken => return Err(self.already_exists()),
            Created::SourceGone => return Err(self.refused("the forked session was deleted")),
        };
        self.stored = Some(Stored { id, layout: Layout { log, shared: parts } });
        self.unpublished.clear();
        self.unpublished_lines.clear();
        (self.facts_at, self.facts) = (length, facts);
        self.note_loose(count);
        Ok(())
    }

    /// Finds out whether lines were committed when the connection was lost, and appends them if not. Returns false if other
    /// lines took their place.
    ///
    /// The lock waits for the lost transaction to end, so its outcome is known under it.
    fn append_again(
        &mut self,
        stored: &Stored,
        new: &NewLines<'_>,
        lines: &[Line],
        lost: Error,
    ) -> Result<bool, Error> {
        let end = new.at + new.bytes.len() as u64;
        let Some((length, log, facts)) = self.lock_row(stored.id)? else { return Err(lost) };
        (self.facts_at, self.facts) = (length, facts);
        if length == new.at && log == stored.layout.log {
            return self.insert(stored, new, lines, true);
        }
        self.is_locked = true;
        let there = self.read_lines(stored, new.at..end);
        self.unlock();
        let there = there?;
        Ok(there.start == new.at && there.bytes == new.bytes)
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
        let row = self
            .connection
            .run(!self.is_locked, move |link| async move { link.query_opt(&LENGTH, &[&id]).await })?;
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
        // Behind a pooler, only a lock limits the time to wait for other clients.
        capabilities.unlocked = self.address.pool == PoolMode::Session;
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
        (self.facts_at, self.facts) = (len, facts);
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
            return Ok(self.publish(Vec::new(), &all, end, facts)?);
        };
        // The commit ends the lock.
        self.is_locked = false;
        let appended = match self.insert(&stored, new, &lines, true) {
            Err(lost) if lost.is_connection() => self.append_again(&stored, new, &lines, lost),
            appended => appended,
        };
        match appended? {
            true => Ok(()),
            false => Err(self.refused("other lines took the place of these").into()),
        }
    }

    fn append_unlocked(&mut self, new: &NewLines<'_>) -> Result<bool> {
        // The statement waits for other clients as long as a lock does by default.
        let can_wait = self.capabilities().unlocked && self.lock_wait == LOCK_WAIT;
        let Some(stored) = self.stored.clone().filter(|_| can_wait && self.facts_at == new.at) else {
            return Ok(false);
        };
        let lines = self.to_lines(new.at, new.lines)?;
        if lines.iter().any(|line| !line.blobs.is_empty()) {
            return Ok(false);
        }
        match self.insert(&stored, new, &lines, false) {
            Err(lost) if lost.is_connection() => Ok(self.append_again(&stored, new, &lines, lost)?),
            // The lock is taken with the same limit, and reports who waits for it.
            Err(Error::Locked) => Ok(false),
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
            self.publish(Vec::new(), &lines, length, facts)?;
            return Ok(Replaced::default());
        };
        let kept = format!("{}.{keep_as}", self.session);
        self.is_locked = false;
        let (kept_name, new_lines, new_facts) = (&kept, &lines, &facts);
        let log = self.connection.run(false, |link| async move {
            replace(&link, stored.id, kept_name, length, new_lines, new_facts).await
        })?;
        let stored = Stored { id: stored.id, layout: Layout { log, shared: Vec::new() } };
        self.set_stored((stored, length, facts));
        self.note_loose(lines.len());
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
        let ranges = &Ranges::of(&stored.layout.parts(since..ALL.end));
        let (loose, packs) = self.connection.run(!self.is_locked, |link| async move {
            let Ranges { logs, starts, stops, shifts } = ranges;
            let (loose, packs) = (link.ready(&LOOSE_HEADS).await?, link.ready(&PACKS).await?);
            let parameters: Parameters<'_> = &[logs, starts, stops, shifts];
            // In this order: lines that are packed in between are then in both answers.
            try_join(loose.query(parameters), packs.query(parameters)).await
        })?;
        self.loose.store(loose.len() as u64, Ordering::Relaxed);
        for head in heads(&loose, &packs) {
            self.count(head.head.len() as u64);
            take(head)?;
        }
        Ok(())
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
        let keys: &Vec<Vec<u8>> = &ids.iter().map(entry_key).collect();
        let ranges = &Ranges::of(&stored.layout.parts(ALL));
        let rows = self.connection.run(!self.is_locked, |link| async move {
            let Ranges { logs, starts, stops, shifts } = ranges;
            link.query(&PATHS, &[logs, starts, stops, shifts, keys]).await
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
        self.publish(shared, &lines, position, Facts::default())?;
        Ok(true)
    }

    fn reopened(&self) -> Result<Option<Box<dyn Journal>>> {
        match self.find(&self.session)? {
            Some(found) if Some(&found.0) != self.stored.as_ref() => {
                let mut journal = Self::new(&self.address, Arc::new(Connection::new(self.address.clone())))?;
                journal.set_stored(found);
                journal.lock_wait = self.lock_wait;
                Ok(Some(Box::new(journal)))
            }
            _ => Ok(None),
        }
    }
}

impl Drop for PostgresJournal {
    fn drop(&mut self) {
        self.unlock();
    }
}
