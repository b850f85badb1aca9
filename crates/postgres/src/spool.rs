//! A session that continues in a local file while its server is away.
//!
//! New lines go to the spool file, one write and one sync for each append. A thread tries to reach the server, appends the
//! lines that it lacks, and deletes the file. A program that dies leaves the file; [`recover`] does the same with it later.

use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use session_tree::journal::{
    Capabilities, ForkPart, Journal, Locked, NewLine, NewLines, ReadAt, Replaced, TakeIndexLine, VerifyCopy,
    WriteCopy,
};
use session_tree::json::{Cursor, write_string};
use session_tree::{EntryId, FileLoss, Result};

use crate::address::Address;
use crate::connection::Connection;
use crate::error::Error;
use crate::journal::PostgresJournal;

/// How long a lost connection is tried again before the spool file is used.
const PATIENCE: Duration = Duration::from_secs(1);
/// The pause between two attempts to reach the server.
const PAUSE: Duration = Duration::from_millis(500);
/// The size of lines that are kept in memory, so that they can be read while the server is away.
const MOST_KEPT: usize = 128 << 20;
/// The ending of spool files.
const ENDING: &str = "spool";

/// A session in a database that continues in a local file while the server is away.
#[derive(Debug)]
pub(crate) struct SpoolingJournal {
    inner: PostgresJournal,
    directory: PathBuf,
    shared: Arc<Shared>,
    /// The position behind the lines that the engine has.
    known: AtomicU64,
    kept: Mutex<KeptLines>,
}

/// Lines by their ids, and their size.
#[derive(Debug, Default)]
struct KeptLines {
    lines: HashMap<EntryId, Vec<u8>>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The lines that were appended while the server was away.
    spool: Option<Spool>,
    /// True while the engine holds the lock of the spool.
    is_locked: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lines that were appended while the server was away, in memory and in a file.
#[derive(Debug)]
struct Spool {
    /// The position of the first line.
    base: u64,
    bytes: Vec<u8>,
    file: File,
    path: PathBuf,
    outcome: Outcome,
}

/// The state of the lines in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The server has not been reached yet.
    Waiting,
    /// They have the positions that they have here.
    SamePlaces,
    /// Other lines were appended before them.
    OtherPlaces,
    /// The session was deleted.
    Deleted,
}

impl Spool {
    fn end(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    /// Creates the file.
    fn create(directory: &Path, address: &Address, base: u64) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        fs::create_dir_all(directory)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!("{}-{number}.{ENDING}", std::process::id()));
        let mut file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
        file.lock()?;
        let mut header = r#"{"address":"#.to_owned();
        write_string(&mut header, &address.to_string());
        header.push_str(&format!(",\"base\":{base}}}\n"));
        file.write_all(header.as_bytes())?;
        file.sync_all()?;
        File::open(directory)?.sync_all()?;
        Ok(Self { base, bytes: Vec::new(), file, path, outcome: Outcome::Waiting })
    }

    /// Appends lines, which survive a power cut afterwards.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        let written = self.file.write_all(bytes).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            let _ = self.file.set_len(before);
            return Err(error);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

/// Appends spooled lines to the session of an address, unless it has them.
fn push(journal: &mut dyn Journal, base: u64, bytes: &[u8]) -> Result<Outcome> {
    let Some(database) = (&*journal as &dyn Any).downcast_ref::<PostgresJournal>() else {
        return Err(io::Error::from(io::ErrorKind::Unsupported).into());
    };
    let lines = split(bytes, base);
    let ids: Vec<EntryId> = lines.iter().filter_map(|line| line.id.clone()).collect();
    let there = database.present(&ids)?;
    let locked = journal.lock()?;
    let end = base + bytes.len() as u64;
    let missing: Vec<NewLine<'_>> =
        lines.iter().filter(|line| line.id.as_ref().is_none_or(|id| !there.contains(id))).cloned().collect();
    let is_complete = missing.iter().all(|line| line.id.is_none()) && locked.len >= end && !ids.is_empty();
    let outcome = match locked.len == base {
        _ if is_complete => Ok(if locked.len == end { Outcome::SamePlaces } else { Outcome::OtherPlaces }),
        true => journal
            .append(&NewLines { at: base, bytes, lines: &lines, publish: true })
            .map(|()| Outcome::SamePlaces),
        false => {
            let missing: Vec<NewLine<'_>> = missing.into_iter().filter(|line| line.id.is_some()).collect();
            let bytes: Vec<u8> = missing.iter().flat_map(|line| line.bytes).copied().collect();
            let new = NewLines { at: locked.len, bytes: &bytes, lines: &missing, publish: true };
            journal.append(&new).map(|()| Outcome::OtherPlaces)
        }
    };
    journal.unlock();
    outcome
}

/// Splits lines, and reads the ids and parents of their entries. The first line of a session has none.
fn split(bytes: &[u8], base: u64) -> Vec<NewLine<'_>> {
    let mut position = base;
    let line = |bytes| {
        let [id, parent] = match position {
            0 => [None, None],
            _ => Cursor::new(bytes).get_each(["id", "parentId"]),
        };
        position += bytes.len() as u64;
        let text = |value: Option<Cursor<'_>>| Some(EntryId::from(&*value?.as_str()?));
        NewLine { bytes, id: text(id), parent: text(parent) }
    };
    bytes.split_inclusive(|byte| *byte == b'\n').map(line).collect()
}

/// Opens the session of an address, or prepares it if its first lines are in the spool.
fn reach(address: &Address, base: u64) -> Result<PostgresJournal, Error> {
    match PostgresJournal::open(address) {
        Err(Error::NoSession { .. }) if base == 0 => PostgresJournal::create(address),
        journal => journal,
    }
}

/// Appends the lines of spool files that programs left to their sessions in a database, and deletes the files.
///
/// `address` is any address of the database. Files of programs that still run, and of other databases, stay.
pub(crate) fn recover(directory: &Path, address: &Address) -> Result<()> {
    let Ok(files) = fs::read_dir(directory) else { return Ok(()) };
    let database = address.without_session().to_string();
    for path in files.flatten().map(|file| file.path()) {
        if path.extension().is_none_or(|ending| ending != ENDING) {
            continue;
        }
        let Ok(mut file) = OpenOptions::new().read(true).write(true).open(&path) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        // The last line is torn if the program died while it was written. It was not acknowledged.
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1));
        let start = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |feed| feed + 1);
        let (header, lines) = bytes.split_at(start);
        let [place, base] = Cursor::new(header).get_each(["address", "base"]);
        let place = place.and_then(Cursor::as_str).and_then(|place| Address::parse(&place).ok());
        let base = base.and_then(Cursor::as_f64).map(|base| base as u64);
        let (Some(place), Some(base)) = (place, base) else { continue };
        let Some(session) = place.session().filter(|_| place.without_session().to_string() == database)
        else {
            continue;
        };
        if !lines.is_empty() {
            match reach(&address.with_session(session), base) {
                // The file keeps the lines of a session that is gone.
                Err(Error::NoSession { .. }) => continue,
                journal => drop(push(&mut journal?, base, lines)?),
            }
        }
        fs::remove_file(&path)?;
    }
    Ok(())
}

impl SpoolingJournal {
    /// Opens the session of an address. Spool files go to `directory`.
    pub(crate) fn open(address: &Address, directory: &Path) -> Result<Self, Error> {
        let connection = Connection::new(address.clone()).with_patience(PATIENCE);
        Ok(Self::new(PostgresJournal::open_with(address, Arc::new(connection))?, directory))
    }

    /// Prepares a new session.
    pub(crate) fn create(address: &Address, directory: &Path) -> Result<Self, Error> {
        let connection = Connection::new(address.clone()).with_patience(PATIENCE);
        Ok(Self::new(PostgresJournal::create_with(address, Arc::new(connection))?, directory))
    }

    fn new(inner: PostgresJournal, directory: &Path) -> Self {
        Self {
            inner,
            directory: directory.to_path_buf(),
            shared: Arc::default(),
            known: AtomicU64::new(0),
            kept: Mutex::default(),
        }
    }

    /// Returns the journal in the database.
    pub(crate) fn database(&self) -> &PostgresJournal {
        &self.inner
    }

    fn note(&self, end: u64) {
        self.known.fetch_max(end, Ordering::Relaxed);
    }

    /// Returns true while lines of the spool are needed. Ends the spool if the database has them at the same places.
    fn is_away(&self) -> bool {
        let mut state = self.shared.state();
        let is_done = |spool: &Spool| spool.outcome == Outcome::SamePlaces;
        if self.inner.exists() && state.spool.as_ref().is_some_and(is_done) {
            state.spool = None;
        }
        state.spool.is_some()
    }

    /// Begins to spool, and to look for the server. `is_locked` if the engine holds the lock.
    fn begin(&self, is_locked: bool) -> io::Result<()> {
        let mut state = self.shared.state();
        state.is_locked = is_locked;
        if state.spool.is_some() {
            return Ok(());
        }
        let unpublished = self.inner.unpublished();
        let base = if self.inner.exists() { self.known.load(Ordering::Relaxed) } else { 0 };
        let mut spool = Spool::create(&self.directory, self.inner.address(), base)?;
        if !unpublished.is_empty() {
            spool.append(unpublished)?;
        }
        state.spool = Some(spool);
        let (shared, address) = (Arc::clone(&self.shared), self.inner.address().clone());
        thread::Builder::new().name("spool".to_owned()).spawn(move || look_for_server(&shared, &address))?;
        Ok(())
    }

    /// Runs a request of the database; begins to spool if the server does not answer.
    fn or_spool<T>(&self, result: io::Result<T>) -> io::Result<Option<T>> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::NotConnected => self.begin(false).map(|()| None),
            result => result.map(Some),
        }
    }

    fn keep(&self, id: &EntryId, line: &[u8]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + line.len() < MOST_KEPT {
            kept.bytes += line.len();
            kept.lines.insert(id.clone(), line.strip_suffix(b"\n").unwrap_or(line).to_vec());
        }
    }

    /// Appends lines to the database, or to the spool while the server is away. Returns false if nothing was appended.
    fn append_or_spool(
        &mut self,
        new: &NewLines<'_>,
        append: impl FnOnce(&mut PostgresJournal) -> Result<bool>,
    ) -> Result<bool> {
        if !self.is_away() {
            match append(&mut self.inner) {
                Err(session_tree::Error::Journal { source })
                    if source.kind() == io::ErrorKind::NotConnected
                        && (new.publish || self.inner.exists()) =>
                {
                    // The outcome is unknown. The lines are appended again under their ids, unless they are there.
                    self.note(new.at);
                    self.begin(true)?;
                }
                appended => {
                    if appended? {
                        self.note_appended(new);
                        return Ok(true);
                    }
                    return Ok(false);
                }
            }
        }
        let mut state = self.shared.state();
        let Some(spool) = &mut state.spool else {
            return Err(io::Error::from(io::ErrorKind::NotConnected).into());
        };
        spool.append(new.bytes)?;
        drop(state);
        self.note_appended(new);
        Ok(true)
    }

    /// Notes lines that were appended.
    fn note_appended(&self, new: &NewLines<'_>) {
        self.note(new.at + new.bytes.len() as u64);
        for line in new.lines {
            if let Some(id) = &line.id {
                self.keep(id, line.bytes);
            }
        }
    }
}

/// Tries to reach the server until the lines of the spool are in the database, or the journal is closed.
fn look_for_server(shared: &Shared, address: &Address) {
    loop {
        thread::sleep(PAUSE);
        let Some(base) = shared.state().spool.as_ref().map(|spool| spool.base) else { return };
        let reached = reach(address, base);
        let mut state = shared.state();
        let State { spool: Some(spool), is_locked: false } = &mut *state else { continue };
        let outcome = match reached {
            Ok(_) if spool.bytes.is_empty() => Ok(Outcome::SamePlaces),
            Ok(mut journal) => push(&mut journal, spool.base, &spool.bytes),
            Err(Error::NoSession { .. }) => Ok(Outcome::Deleted),
            Err(error) => Err(error.into()),
        };
        if let Ok(outcome) = outcome {
            spool.outcome = outcome;
            if outcome != Outcome::Deleted {
                let _ = fs::remove_file(&spool.path);
            }
            return;
        }
    }
}

impl ReadAt for SpoolingJournal {
    fn len(&self) -> io::Result<u64> {
        if !self.is_away()
            && let Some(len) = self.or_spool(self.inner.len())?
        {
            return Ok(len);
        }
        let state = self.shared.state();
        Ok(state.spool.as_ref().map_or(0, Spool::end))
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_away() {
            let state = self.shared.state();
            if let Some(spool) = state.spool.as_ref().filter(|spool| position >= spool.base) {
                return spool.bytes.as_slice().read_at(position - spool.base, buffer);
            }
        }
        self.inner.read_at(position, buffer)
    }
}

impl Journal for SpoolingJournal {
    fn name(&self) -> Cow<'_, str> {
        self.inner.name()
    }

    fn address(&self) -> Option<&Path> {
        Journal::address(&self.inner)
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn notice(&self) -> Option<Cow<'_, str>> {
        match self.shared.state().spool.as_ref()?.outcome {
            Outcome::Waiting => Some("no database: continuing in a local file".into()),
            Outcome::Deleted => Some("the session was deleted from the database".into()),
            Outcome::SamePlaces | Outcome::OtherPlaces => None,
        }
    }

    fn exists(&self) -> bool {
        self.inner.exists() || self.shared.state().spool.is_some()
    }

    fn lock(&mut self) -> Result<Locked> {
        if !self.is_away() {
            match self.inner.lock() {
                Err(session_tree::Error::Journal { source })
                    if source.kind() == io::ErrorKind::NotConnected =>
                {
                    self.begin(true)?;
                }
                locked => return locked,
            }
        }
        let mut state = self.shared.state();
        let Some(spool) = &state.spool else {
            return Err(io::Error::from(io::ErrorKind::NotConnected).into());
        };
        let loss = match spool.outcome {
            Outcome::Waiting => None,
            Outcome::SamePlaces | Outcome::OtherPlaces => Some(FileLoss::Replaced),
            Outcome::Deleted => Some(FileLoss::Deleted),
        };
        let len = spool.end();
        state.is_locked = true;
        Ok(Locked { len, loss })
    }

    fn set_lock_wait(&mut self, limit: Duration) {
        self.inner.set_lock_wait(limit);
    }

    fn unlock(&mut self) {
        self.shared.state().is_locked = false;
        self.inner.unlock();
    }

    fn append(&mut self, new: &NewLines<'_>) -> Result<()> {
        self.append_or_spool(new, |inner| inner.append(new).map(|()| true)).map(drop)
    }

    fn append_unlocked(&mut self, new: &NewLines<'_>) -> Result<bool> {
        if self.is_away() {
            return Ok(false);
        }
        let appended = self.append_or_spool(new, |inner| inner.append_unlocked(new));
        self.shared.state().is_locked = false;
        appended
    }

    fn sync(&mut self) -> Result<()> {
        // A commit is durable, and so is an append to the spool.
        Ok(())
    }

    fn replace(&mut self, keep_as: &str, write: WriteCopy<'_>, verify: VerifyCopy<'_>) -> Result<Replaced> {
        self.inner.replace(keep_as, write, verify)
    }

    fn changes(&self, since: u64) -> io::Result<Option<Vec<u8>>> {
        self.note(since);
        if !self.is_away()
            && let Some(changes) = self.or_spool(self.inner.changes(since))?
        {
            self.note(since + changes.as_ref().map_or(0, Vec::len) as u64);
            return Ok(changes);
        }
        let state = self.shared.state();
        let behind = state.spool.as_ref().map(|spool| {
            let skipped = since.saturating_sub(spool.base) as usize;
            spool.bytes.get(skipped..).unwrap_or_default().to_vec()
        });
        Ok(Some(behind.unwrap_or_default()))
    }

    fn index(&self, since: u64, take: TakeIndexLine<'_>) -> io::Result<()> {
        self.inner.index(since, &mut |line| {
            self.note(line.position + line.len + 1);
            take(line)
        })
    }

    fn lines(&self, ids: &[EntryId]) -> io::Result<Vec<Vec<u8>>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lines) = ids.iter().map(|id| kept.lines.get(id).cloned()).collect() {
            return Ok(lines);
        }
        drop(kept);
        let lines = self.inner.lines(ids)?;
        ids.iter().zip(&lines).for_each(|(id, line)| self.keep(id, line));
        Ok(lines)
    }

    fn paths(&self, ids: &[EntryId]) -> io::Result<Vec<u8>> {
        self.inner.paths(ids)
    }

    fn fork(&mut self, at: u64, source: &dyn Journal, parts: &[ForkPart<'_>]) -> Result<bool> {
        self.inner.fork(at, source, parts)
    }

    fn reopened(&self) -> Result<Option<Box<dyn Journal>>> {
        let outcome = self.shared.state().spool.as_ref().map(|spool| spool.outcome);
        match outcome {
            Some(Outcome::SamePlaces | Outcome::OtherPlaces) => {
                Ok(Some(Box::new(Self::open(self.inner.address(), &self.directory)?)))
            }
            Some(Outcome::Waiting | Outcome::Deleted) => Ok(None),
            None => {
                let reopened = self.inner.reopened()?;
                let is_new = reopened.is_some();
                drop(reopened);
                let open = || Self::open(self.inner.address(), &self.directory);
                Ok(if is_new { Some(Box::new(open()?)) } else { None })
            }
        }
    }

    fn rescue(&self, lines: &mut dyn io::Read) -> Result<Option<PathBuf>> {
        fs::create_dir_all(&self.directory)?;
        let name = self.inner.address().session().unwrap_or("session").replace(['/', '\\'], "_");
        let path = self.directory.join(format!("{name}-{}.jsonl", std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        io::copy(lines, &mut file)?;
        file.sync_all()?;
        Ok(Some(path))
    }
}

impl Drop for SpoolingJournal {
    fn drop(&mut self) {
        // Without a spool the thread ends. The file is closed, so that others can recover its lines.
        let spool = self.shared.state().spool.take();
        if let Some(spool) = spool.filter(|spool| spool.bytes.is_empty()) {
            let _ = fs::remove_file(&spool.path);
        }
    }
}
