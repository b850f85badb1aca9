//! A test suite for implementations of [`Journal`], behind the feature `conformance`.
//!
//! ```
//! use session_tree::Result;
//! use session_tree::journal::conformance::{Storage, run};
//! use session_tree::journal::{Journal, MemoryJournal};
//!
//! struct Memory;
//!
//! impl Storage for Memory {
//!     fn create(&mut self, _name: &str) -> Result<Box<dyn Journal>> {
//!         Ok(Box::new(MemoryJournal::default()))
//!     }
//! }
//!
//! run(&mut Memory).unwrap();
//! ```

mod bytes;
mod sessions;
mod sharing;

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{Journal, Locked, NewLine, NewLines, ReadAt, read_range};
use crate::{Clock, EntryId, Error, IdSource, Options, Result, Session, Timestamp};

/// A storage whose journals are tested.
pub trait Storage {
    /// Creates an empty journal with this name.
    fn create(&mut self, name: &str) -> Result<Box<dyn Journal>>;

    /// Opens the journal with this name once more, as another process would. None if journals cannot be shared.
    fn open(&mut self, name: &str) -> Result<Option<Box<dyn Journal>>> {
        let _ = name;
        Ok(None)
    }
}

/// A test that failed.
#[derive(Debug)]
pub struct Failure {
    /// The name of the test.
    pub test: &'static str,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.test, self.reason)
    }
}

impl StdError for Failure {}

/// Runs all tests on journals of a storage. Returns the number of tests that ran: those of shared journals need
/// [`Storage::open`].
///
/// # Errors
///
/// Returns the first test that failed.
pub fn run(storage: &mut dyn Storage) -> Result<usize, Failure> {
    let mut count = 0;
    for (test, function) in bytes::TESTS {
        let journal = storage.create(test).map_err(|error| Failure::of(test, &error))?;
        function(journal).map_err(|error| Failure::of(test, &*error))?;
        count += 1;
    }
    // Once with the optional operations of the storage, once without them: the results must be the same.
    for hides_options in [false, true] {
        let named = |test: &str| {
            format!("{test}{}", if hides_options { ", without optional operations" } else { "" })
        };
        for (test, function) in sessions::TESTS {
            let create = |storage: &mut dyn Storage, name: String| {
                storage.create(&name).map(|journal| hidden(journal, hides_options))
            };
            let journal = create(storage, named(test)).map_err(|error| Failure::of(test, &error))?;
            let other = create(storage, named(&format!("{test}, the other journal")));
            let other = other.map_err(|error| Failure::of(test, &error))?;
            function(journal, other).map_err(|error| Failure::of(test, &*error))?;
            count += 1;
        }
        for (test, function) in sharing::TESTS {
            let first = storage.create(&named(test)).map_err(|error| Failure::of(test, &error))?;
            let mut handles = Handles { storage, name: named(test), hides_options };
            if !handles.can_share(first).map_err(|error| Failure::of(test, &*error))? {
                break;
            }
            function(&mut handles).map_err(|error| Failure::of(test, &*error))?;
            count += 1;
        }
    }
    Ok(count)
}

/// Hides the optional operations of a journal, if they are to be hidden.
fn hidden(journal: Box<dyn Journal>, hides_options: bool) -> Box<dyn Journal> {
    if hides_options { Box::new(Plain(journal)) } else { journal }
}

impl Failure {
    fn of(test: &'static str, error: &dyn StdError) -> Self {
        let mut reason = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            reason.push_str(&format!(": {error}"));
            source = error.source();
        }
        Failure { test, reason }
    }
}

type Outcome<T = ()> = Result<T, Box<dyn StdError>>;

/// A test of one journal, which is empty at first.
type JournalTest = (&'static str, fn(Box<dyn Journal>) -> Outcome);

/// A test of sessions in two journals, which are empty at first.
type SessionTest = (&'static str, fn(Box<dyn Journal>, Box<dyn Journal>) -> Outcome);

/// A test of a journal that has a header and several handles.
type SharedTest = (&'static str, fn(&mut Handles<'_>) -> Outcome);

const HEADER: &[u8] =
    b"{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"cwd\":\"/\"}\n";

/// The handles of one shared journal.
struct Handles<'s> {
    storage: &'s mut dyn Storage,
    name: String,
    hides_options: bool,
}

impl Handles<'_> {
    /// Writes the header; false if the storage cannot open a second handle.
    fn can_share(&mut self, mut first: Box<dyn Journal>) -> Outcome<bool> {
        append(&mut *first, HEADER, None)?;
        Ok(self.storage.open(&self.name)?.is_some())
    }

    fn open(&mut self) -> Outcome<Box<dyn Journal>> {
        let journal =
            self.storage.open(&self.name)?.ok_or("the storage opened this journal before, but not now")?;
        Ok(hidden(journal, self.hides_options))
    }

    fn session(&mut self) -> Outcome<Session> {
        Ok(options().load_journal(self.open()?, None)?)
    }
}

/// A journal without its optional operations.
#[derive(Debug)]
struct Plain(Box<dyn Journal>);

impl ReadAt for Plain {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(position, buffer)
    }
}

impl Journal for Plain {
    fn name(&self) -> Cow<'_, str> {
        self.0.name()
    }

    fn exists(&self) -> bool {
        self.0.exists()
    }

    fn lock(&mut self) -> Result<Locked> {
        self.0.lock()
    }

    fn set_lock_wait(&mut self, limit: Duration) {
        self.0.set_lock_wait(limit);
    }

    fn unlock(&mut self) {
        self.0.unlock();
    }

    fn append(&mut self, new: &NewLines<'_>) -> Result<()> {
        self.0.append(new)
    }

    fn sync(&mut self) -> Result<()> {
        self.0.sync()
    }
}

/// Fails a test with a formatted reason unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($reason:tt)+) => {
        if !$condition {
            return Err(format!($($reason)+).into());
        }
    };
}
use ensure;

/// Takes the lock. A storage may report at once that it is taken, so this tries again.
fn lock(journal: &mut dyn Journal) -> Outcome<Locked> {
    let start = Instant::now();
    loop {
        match journal.lock() {
            Err(Error::Locked { .. }) if start.elapsed() < Duration::from_secs(10) => {
                thread::sleep(Duration::from_millis(1));
            }
            locked => return Ok(locked?),
        }
    }
}

/// Appends whole lines under the lock, as the engine does.
fn append(journal: &mut dyn Journal, bytes: &[u8], id: Option<&str>) -> Outcome {
    let at = lock(journal)?.len;
    let line = |bytes| NewLine { bytes, id: id.map(EntryId::from), parent: None };
    let lines: Vec<NewLine<'_>> = bytes.split_inclusive(|byte| *byte == b'\n').map(line).collect();
    let appended = journal.append(&NewLines { at, bytes, lines: &lines, publish: true });
    journal.unlock();
    Ok(appended?)
}

fn all_bytes(journal: &dyn ReadAt) -> Outcome<Vec<u8>> {
    Ok(read_range(journal, 0, usize::try_from(journal.len()?)?)?)
}

/// A clock that moves one second with each entry, and ids that count.
struct Counter(u32);

/// The next id of the process, so that two sessions never draw the same one.
static NEXT: AtomicU32 = AtomicU32::new(1);

impl Clock for Counter {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_735_700_000_000 + i64::from(self.0))
    }
}

impl IdSource for Counter {
    fn entry_id(&mut self) -> EntryId {
        EntryId::from(format!("{:08x}", NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    fn long_entry_id(&mut self) -> EntryId {
        EntryId::from(format!("{:032x}", NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    fn session_id(&mut self) -> String {
        "s1".into()
    }
}

fn options() -> Options {
    Options::with(Counter(0), Counter(0))
}
