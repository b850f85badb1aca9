//! Every storage passes the conformance suite of journals.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use session_tree::Result;
use session_tree::fs::{Access, Fs, RealFs};
use session_tree::journal::conformance::{Storage, run};
use session_tree::journal::{
    Capabilities, FileJournal, Journal, Locked, MemoryJournal, NewLines, ReadAt, Replaced, VerifyCopy,
    WriteCopy,
};
use testkit::sim_fs::SimFs;

#[path = "../../examples/journal.rs"]
mod journal_example;

struct Files {
    fs: Arc<dyn Fs>,
    directory: PathBuf,
}

impl Files {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.jsonl"))
    }
}

impl Storage for Files {
    fn create(&mut self, name: &str) -> Result<Box<dyn Journal>> {
        Ok(Box::new(FileJournal::unsaved(self.fs.clone(), self.path(name))))
    }

    fn open(&mut self, name: &str) -> Result<Option<Box<dyn Journal>>> {
        let journal = FileJournal::open(self.fs.clone(), &self.path(name), Access::Append)?;
        Ok(Some(Box::new(journal)))
    }
}

struct Memory;

impl Storage for Memory {
    fn create(&mut self, _: &str) -> Result<Box<dyn Journal>> {
        Ok(Box::new(MemoryJournal::default()))
    }
}

#[test]
fn files_pass_the_suite() {
    let directory = tempfile::tempdir().unwrap();
    let count = run(&mut Files { fs: Arc::new(RealFs), directory: directory.path().into() }).unwrap();
    assert_eq!(count, 27);
}

#[test]
fn the_simulated_disk_passes_the_suite() {
    let fs = SimFs::new();
    fs.put_dir("/d").unwrap();
    assert_eq!(run(&mut Files { fs: Arc::new(fs), directory: "/d".into() }).unwrap(), 27);
}

#[test]
fn memory_passes_the_tests_of_one_handle() {
    assert_eq!(run(&mut Memory).unwrap(), 13);
}

#[test]
fn a_map_of_sixty_lines_passes_the_suite() {
    journal_example::main().unwrap();
    let source = include_str!("../../examples/journal.rs");
    let (_, journal) = source.split_once("/// The lines of a session").unwrap();
    let (journal, _) = journal.split_once("#[derive(Default)]\nstruct Maps").unwrap();
    assert!(journal.lines().count() <= 60, "{}", journal.lines().count());
}

/// Files that return their changes in one request, as a database would.
struct WithChanges {
    files: Files,
    requests: Arc<AtomicUsize>,
}

impl WithChanges {
    fn wrap(&self, journal: Box<dyn Journal>) -> Box<dyn Journal> {
        Box::new(ChangesJournal(journal, self.requests.clone()))
    }
}

impl Storage for WithChanges {
    fn create(&mut self, name: &str) -> Result<Box<dyn Journal>> {
        let journal = self.files.create(name)?;
        Ok(self.wrap(journal))
    }

    fn open(&mut self, name: &str) -> Result<Option<Box<dyn Journal>>> {
        let journal = self.files.open(name)?;
        Ok(journal.map(|journal| self.wrap(journal)))
    }
}

#[derive(Debug)]
struct ChangesJournal(Box<dyn Journal>, Arc<AtomicUsize>);

impl ReadAt for ChangesJournal {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(position, buffer)
    }
}

impl Journal for ChangesJournal {
    fn name(&self) -> Cow<'_, str> {
        self.0.name()
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.exclusive = true;
        capabilities.changes = true;
        capabilities
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

    fn changes(&self, since: u64) -> io::Result<Option<Vec<u8>>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        let mut bytes = vec![0; usize::try_from(self.0.len()?.saturating_sub(since)).unwrap()];
        let count = self.0.read_at(since, &mut bytes)?;
        bytes.truncate(count);
        Ok(Some(bytes))
    }
}

#[test]
fn a_storage_that_returns_changes_passes_the_suite_and_is_asked_for_them() {
    let fs = SimFs::new();
    fs.put_dir("/d").unwrap();
    let requests = Arc::new(AtomicUsize::new(0));
    let files = Files { fs: Arc::new(fs), directory: "/d".into() };
    assert_eq!(run(&mut WithChanges { files, requests: requests.clone() }).unwrap(), 27);
    assert!(requests.load(Ordering::Relaxed) > 10, "{requests:?}");
}

/// A mistake that an implementation could make.
#[derive(Debug, Clone, Copy)]
enum Mistake {
    /// Carriage returns are removed, as by a text column.
    ChangesBytes,
    /// Only the first line of an append is stored.
    OneLineOnly,
    /// Everybody gets the lock.
    NoLock,
    /// A replacement is announced, but not done.
    NoReplacement,
}

/// A storage with a mistake, on the simulated disk.
struct Broken(Files, Mistake);

impl Storage for Broken {
    fn create(&mut self, name: &str) -> Result<Box<dyn Journal>> {
        Ok(Box::new(BrokenJournal(self.0.create(name)?, self.1)))
    }

    fn open(&mut self, name: &str) -> Result<Option<Box<dyn Journal>>> {
        let journal = self.0.open(name)?;
        Ok(journal.map(|journal| Box::new(BrokenJournal(journal, self.1)) as Box<dyn Journal>))
    }
}

#[derive(Debug)]
struct BrokenJournal(Box<dyn Journal>, Mistake);

impl ReadAt for BrokenJournal {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(position, buffer)
    }
}

impl Journal for BrokenJournal {
    fn name(&self) -> Cow<'_, str> {
        self.0.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn lock(&mut self) -> Result<Locked> {
        let locked = self.0.lock()?;
        if matches!(self.1, Mistake::NoLock) {
            self.0.unlock();
        }
        Ok(locked)
    }

    fn set_lock_wait(&mut self, limit: Duration) {
        self.0.set_lock_wait(limit);
    }

    fn unlock(&mut self) {
        self.0.unlock();
    }

    fn append(&mut self, new: &NewLines<'_>) -> Result<()> {
        let bytes = match self.1 {
            Mistake::ChangesBytes => new.bytes.iter().copied().filter(|byte| *byte != b'\r').collect(),
            Mistake::OneLineOnly => new.lines.first().map_or(Vec::new(), |line| line.bytes.to_vec()),
            Mistake::NoLock | Mistake::NoReplacement => new.bytes.to_vec(),
        };
        self.0.append(&NewLines { bytes: &bytes, ..*new })
    }

    fn sync(&mut self) -> Result<()> {
        self.0.sync()
    }

    fn replace(&mut self, keep_as: &str, write: WriteCopy<'_>, verify: VerifyCopy<'_>) -> Result<Replaced> {
        match self.1 {
            Mistake::NoReplacement => Ok(Replaced::default()),
            _ => self.0.replace(keep_as, write, verify),
        }
    }
}

#[test]
fn the_suite_finds_mistakes() {
    let found = [Mistake::ChangesBytes, Mistake::OneLineOnly, Mistake::NoLock, Mistake::NoReplacement].map(
        |mistake| {
            let fs = SimFs::new();
            fs.put_dir("/d").unwrap();
            let files = Files { fs: Arc::new(fs), directory: "/d".into() };
            run(&mut Broken(files, mistake)).unwrap_err().test
        },
    );
    let expected = [
        "lines of any bytes are kept",
        "an append may have several lines",
        "the lock keeps other handles out",
        "replace changes everything or nothing",
    ];
    assert_eq!(found, expected);
}
