//! A session in the database as a journal of the engine.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use session_tree::journal::{
    Capabilities, Journal, Locked, NewLine, NewLines, ReadAt, Replaced, VerifyCopy, WriteCopy,
};
use session_tree::{Loss, Result};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::address::Address;
use crate::connection::{Connection, Link};
use crate::error::Error;

/// How long `lock` waits by default.
const LOCK_WAIT: Duration = Duration::from_secs(10);
/// How many bytes a request reads at least when the session is read in order.
const READ_AHEAD: u64 = 4 << 20;

/// A session in a PostgreSQL database: one row per line.
///
/// Each journal has its own connection, which is opened again when it was lost.
pub struct PostgresJournal {
    connection: Connection,
    address: Address,
    session: String,
    /// The row of the session; none until its first lines are published.
    row: Option<Row>,
    /// The lines of a session that is not published yet.
    unpublished: Vec<Line>,
    is_locked: bool,
    lock_wait: Duration,
    /// The bytes that were read last.
    recent: Mutex<Chunk>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    id: Uuid,
    generation: i32,
}

/// A line that is to be inserted.
#[derive(Debug, Clone)]
struct Line {
    position: i64,
    entry: Option<Vec<u8>>,
    parent: Option<Vec<u8>>,
    bytes: Vec<u8>,
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
        let Some(row) = journal.find()? else {
            let (database, name) = (journal.connection.database().to_owned(), journal.session.clone());
            return Err(Error::NoSession { database, name });
        };
        journal.row = Some(row);
        Ok(journal)
    }

    /// Prepares a new session with the name of an address. The database has it from its first published line on.
    ///
    /// # Errors
    ///
    /// Fails if a session of this name exists, or the database cannot be used.
    pub fn create(address: &Address) -> Result<Self, Error> {
        let journal = Self::new(address)?;
        match journal.find()? {
            None => Ok(journal),
            Some(_) => Err(journal.already_exists()),
        }
    }

    fn new(address: &Address) -> Result<Self, Error> {
        let session =
            address.session().ok_or_else(|| Error::Address { reason: "it names no session".to_owned() })?;
        Ok(Self {
            connection: Connection::new(address.clone()),
            session: session.to_owned(),
            address: address.clone(),
            row: None,
            unpublished: Vec::new(),
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

    /// Looks for the row of the session.
    fn find(&self) -> Result<Option<Row>, Error> {
        let name = self.session.clone();
        let row = self.connection.run(true, move |link| {
            let name = name.clone();
            async move { link.client.query_opt(&link.statements.find, &[&name]).await }
        })?;
        Ok(row.map(|row| Row { id: row.get(0), generation: row.get(1) }))
    }

    /// Reads the lines that begin before `end`, from the one that contains `start` on.
    fn read_lines(&self, row: Row, start: u64, end: u64) -> Result<Chunk, Error> {
        let (start, end) = (start as i64, end as i64);
        let rows = self.connection.run(!self.is_locked, move |link| async move {
            link.client.query(&link.statements.read, &[&row.id, &start, &end]).await
        })?;
        let mut chunk = Chunk::default();
        for (number, line) in rows.iter().enumerate() {
            if number == 0 {
                chunk.start = line.get::<_, i64>(0) as u64;
            }
            chunk.bytes.extend_from_slice(line.get(1));
        }
        Ok(chunk)
    }

    fn unpublished_bytes(&self) -> Vec<u8> {
        self.unpublished.iter().flat_map(|line| &line.bytes).copied().collect()
    }

    /// Begins a transaction that holds the row of the session, and returns the state of the row; none if it is gone.
    fn lock_row(&self, id: Uuid) -> Result<Option<(u64, i32)>, Error> {
        let wait = self.lock_wait.as_millis().max(1);
        let statements = format!(
            "BEGIN; SET LOCAL lock_timeout = {wait}; \
             SELECT length, generation FROM offshoot.session WHERE id = '{id}' FOR UPDATE"
        );
        let messages = self.connection.run(true, move |link| {
            let statements = statements.clone();
            async move {
                let result = link.client.simple_query(&statements).await;
                if result.is_err() {
                    let _ = link.client.batch_execute("ROLLBACK").await;
                }
                result
            }
        })?;
        let state = messages.iter().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => {
                Some((row.get(0)?.parse().ok()?, row.get(1)?.parse().ok()?))
            }
            _ => None,
        });
        Ok(state)
    }

    /// Inserts lines and commits, in one round trip.
    fn insert(&self, row: Row, length: u64, lines: Vec<Line>) -> Result<(), Error> {
        let lines = Arc::new(lines);
        self.connection.run(false, move |link| {
            let lines = Arc::clone(&lines);
            async move {
                let insert = insert_lines(&link, row.id, length, &lines);
                futures_util::future::try_join(insert, link.client.batch_execute("COMMIT")).await.map(drop)
            }
        })
    }

    /// Creates the session with all of its lines in one transaction.
    fn publish(&mut self, lines: Vec<Line>, length: u64) -> Result<Row, Error> {
        let (name, lines) = (self.session.clone(), Arc::new(lines));
        let created = self.connection.run(false, move |link| {
            let (name, lines) = (name.clone(), Arc::clone(&lines));
            async move {
                let result = publish_lines(&link, &name, length, &lines).await;
                if result.is_err() {
                    let _ = link.client.batch_execute("ROLLBACK").await;
                }
                match result {
                    Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(None),
                    result => result.map(Some),
                }
            }
        })?;
        let id = created.ok_or_else(|| self.already_exists())?;
        Ok(Row { id, generation: 0 })
    }

    /// Finds out whether lines were committed when the connection was lost, and appends them if not.
    ///
    /// The lock waits for the lost transaction to end, so its outcome is known under it.
    fn append_again(&mut self, row: Row, at: u64, lines: Vec<Line>, lost: Error) -> Result<(), Error> {
        let bytes: Vec<u8> = lines.iter().flat_map(|line| &line.bytes).copied().collect();
        let end = at + bytes.len() as u64;
        let Some((length, _)) = self.lock_row(row.id)? else { return Err(lost) };
        self.is_locked = true;
        if length == at {
            self.is_locked = false;
            return self.insert(row, end, lines);
        }
        let there = self.read_lines(row, at, end)?;
        self.unlock();
        // Another client may have appended in between: then the lines are not there, and the engine reports the error.
        if there.start == at && there.bytes == bytes { Ok(()) } else { Err(lost) }
    }
}

async fn insert_lines(
    link: &Link,
    session: Uuid,
    length: u64,
    lines: &[Line],
) -> Result<u64, tokio_postgres::Error> {
    let length = length as i64;
    let positions: Vec<i64> = lines.iter().map(|line| line.position).collect();
    let entries: Vec<Option<&[u8]>> = lines.iter().map(|line| line.entry.as_deref()).collect();
    let parents: Vec<Option<&[u8]>> = lines.iter().map(|line| line.parent.as_deref()).collect();
    let bytes: Vec<&[u8]> = lines.iter().map(|line| line.bytes.as_slice()).collect();
    let parameters: [&(dyn ToSql + Sync); 6] = [&session, &length, &positions, &entries, &parents, &bytes];
    link.client.execute(&link.statements.append, &parameters).await
}

async fn publish_lines(
    link: &Link,
    name: &str,
    length: u64,
    lines: &[Line],
) -> Result<Uuid, tokio_postgres::Error> {
    link.client.batch_execute("BEGIN").await?;
    let id: Uuid = link.client.query_one(&link.statements.create, &[&name]).await?.get(0);
    insert_lines(link, id, length, lines).await?;
    link.client.batch_execute("COMMIT").await?;
    Ok(id)
}

fn to_lines(at: u64, new: &[NewLine<'_>]) -> Vec<Line> {
    let mut position = at as i64;
    let line = |line: &NewLine<'_>| {
        let start = position;
        position += line.bytes.len() as i64;
        let bytes = |id: &session_tree::EntryId| id.as_str().as_bytes().to_vec();
        Line {
            position: start,
            entry: line.id.as_ref().map(bytes),
            parent: line.parent.as_ref().map(bytes),
            bytes: line.bytes.to_vec(),
        }
    };
    new.iter().map(line).collect()
}

impl fmt::Debug for PostgresJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresJournal")
            .field("address", &self.address)
            .field("row", &self.row)
            .finish_non_exhaustive()
    }
}

impl ReadAt for PostgresJournal {
    fn len(&self) -> io::Result<u64> {
        let Some(row) = self.row else { return Ok(self.unpublished_bytes().len() as u64) };
        let state = self.connection.run(!self.is_locked, move |link| async move {
            link.client.query_opt(&link.statements.length, &[&row.id]).await
        })?;
        Ok(state
            .filter(|state| state.get::<_, i32>(1) == row.generation)
            .map_or(0, |state| state.get::<_, i64>(0) as u64))
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(row) = self.row else {
            return self.unpublished_bytes().as_slice().read_at(position, buffer);
        };
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if !recent.range().contains(&position) {
            let is_in_order = position == recent.range().end;
            let wanted = if is_in_order { READ_AHEAD.max(buffer.len() as u64) } else { buffer.len() as u64 };
            let read =
                self.read_lines(row, position, position.saturating_add(wanted).min(i64::MAX as u64))?;
            if !read.range().contains(&position) {
                return Ok(0);
            }
            *recent = read;
        }
        let start = (position - recent.start) as usize;
        recent.bytes[start..].as_ref().read_at(0, buffer)
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
        capabilities
    }

    fn exists(&self) -> bool {
        self.row.is_some()
    }

    fn lock(&mut self) -> Result<Locked> {
        let Some(row) = self.row else { return Ok(Locked { len: self.len()?, loss: None }) };
        let begin = Instant::now();
        let state = match self.lock_row(row.id) {
            Ok(state) => state,
            Err(Error::Locked) => {
                let path = PathBuf::from(&*self.name());
                return Err(session_tree::Error::Locked { path, waited: begin.elapsed(), holder: None });
            }
            Err(error) => return Err(error.into()),
        };
        self.is_locked = true;
        Ok(match state {
            None => Locked { len: 0, loss: Some(Loss::Deleted) },
            Some((len, generation)) if generation == row.generation => Locked { len, loss: None },
            Some((len, _)) => Locked { len, loss: Some(Loss::Replaced) },
        })
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
        let lines = to_lines(new.at, new.lines);
        let end = new.at + new.bytes.len() as u64;
        let Some(row) = self.row else {
            if !new.publish {
                self.unpublished.extend(lines);
                return Ok(());
            }
            let all: Vec<Line> = self.unpublished.iter().cloned().chain(lines).collect();
            self.row = Some(self.publish(all, end)?);
            self.unpublished.clear();
            return Ok(());
        };
        // The commit ends the lock.
        self.is_locked = false;
        match self.insert(row, end, lines.clone()) {
            Err(lost) if lost.is_connection() => Ok(self.append_again(row, new.at, lines, lost)?),
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
        let Some(row) = self.row else {
            self.unpublished = whole_lines(&copy);
            return Ok(Replaced::default());
        };
        let kept = format!("{}{keep_as}", self.session);
        let (lines, length, kept_name) = (Arc::new(whole_lines(&copy)), copy.len() as u64, kept.clone());
        self.is_locked = false;
        self.connection.run(false, move |link| {
            let (lines, kept) = (Arc::clone(&lines), kept_name.clone());
            async move {
                let result = replace_lines(&link, row.id, &kept, length, &lines).await;
                if result.is_err() {
                    let _ = link.client.batch_execute("ROLLBACK").await;
                }
                result
            }
        })?;
        self.row = Some(Row { generation: row.generation + 1, ..row });
        *self.recent.get_mut().unwrap_or_else(PoisonError::into_inner) = Chunk::default();
        let place = PathBuf::from(self.address.with_session(kept).to_string());
        Ok(Replaced { kept: Some(place), old: None })
    }

    fn changes(&self, since: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(row) = self.row else {
            return Ok(Some(self.unpublished_bytes().split_off(since as usize)));
        };
        let chunk = self.read_lines(row, since, since.saturating_add(READ_AHEAD))?;
        let skipped = since.saturating_sub(chunk.start) as usize;
        Ok(Some(chunk.bytes.get(skipped..).unwrap_or_default().to_vec()))
    }

    fn reopened(&self) -> Result<Option<Box<dyn Journal>>> {
        match self.find()? {
            Some(row) if Some(row) != self.row => {
                let mut journal = Self::new(&self.address)?;
                journal.row = Some(row);
                journal.lock_wait = self.lock_wait;
                Ok(Some(Box::new(journal)))
            }
            _ => Ok(None),
        }
    }
}

/// Splits bytes into lines without ids, from position 0 on.
fn whole_lines(bytes: &[u8]) -> Vec<Line> {
    let new: Vec<NewLine<'_>> = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(|bytes| NewLine { bytes, id: None, parent: None })
        .collect();
    to_lines(0, &new)
}

/// Moves the lines of a session to a new one named `kept`, and inserts others in their place.
async fn replace_lines(
    link: &Link,
    session: Uuid,
    kept: &str,
    length: u64,
    lines: &[Line],
) -> Result<(), tokio_postgres::Error> {
    let client = &link.client;
    let keep = "INSERT INTO offshoot.session (name, length) SELECT $2, length FROM offshoot.session WHERE id = $1 RETURNING id";
    let kept: Uuid = client.query_one(keep, &[&session, &kept]).await?.get(0);
    client.execute("UPDATE offshoot.line SET session = $2 WHERE session = $1", &[&session, &kept]).await?;
    let replaced = "UPDATE offshoot.session SET generation = generation + 1 WHERE id = $1";
    client.execute(replaced, &[&session]).await?;
    insert_lines(link, session, length, lines).await?;
    client.batch_execute("COMMIT").await
}

impl Drop for PostgresJournal {
    fn drop(&mut self) {
        self.unlock();
    }
}
