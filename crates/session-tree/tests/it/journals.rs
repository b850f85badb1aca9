//! Every storage passes the conformance suite of journals.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
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
    assert_eq!(count, 19);
}

#[test]
fn the_simulated_disk_passes_the_suite() {
    let fs = SimFs::new();
    fs.put_dir("/d").unwrap();
    assert_eq!(run(&mut Files { fs: Arc::new(fs), directory: "/d".into() }).unwrap(), 19);
}

#[test]
fn memory_passes_the_tests_of_one_handle() {
    assert_eq!(run(&mut Memory).unwrap(), 12);
}

#[test]
fn a_map_of_sixty_lines_passes_the_suite() {
    journal_example::main().unwrap();
    let source = include_str!("../../examples/journal.rs");
    let (_, journal) = source.split_once("/// The lines of a session").unwrap();
    let (journal, _) = journal.split_once("#[derive(Default)]\nstruct Maps").unwrap();
    assert!(journal.lines().count() <= 60, "{}", journal.lines().count());
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
