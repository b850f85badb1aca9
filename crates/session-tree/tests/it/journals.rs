//! Every storage passes the conformance suite of journals.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use session_tree::fs::{Access, Fs, RealFs};
use session_tree::journal::conformance::{Storage, run};
use session_tree::journal::{
    Capabilities, FileJournal, ForkPart, IndexLine, Journal, Locked, MemoryJournal, NewLines, ReadAt,
    Replaced, TakeIndexLine, VerifyCopy, WriteCopy,
};
use session_tree::json::Doc;
use session_tree::{EntryId, Extract, Message, Options, Result, Session, line_head};
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
    assert_eq!(count, 41);
}

#[test]
fn the_simulated_disk_passes_the_suite() {
    let fs = SimFs::new();
    fs.put_dir("/d").unwrap();
    assert_eq!(run(&mut Files { fs: Arc::new(fs), directory: "/d".into() }).unwrap(), 41);
}

#[test]
fn memory_passes_the_tests_of_one_handle() {
    assert_eq!(run(&mut Memory).unwrap(), 25);
}

#[test]
fn a_map_of_sixty_lines_passes_the_suite() {
    journal_example::main().unwrap();
    let source = include_str!("../../examples/journal.rs");
    let (_, journal) = source.split_once("/// The lines of a session").unwrap();
    let (journal, _) = journal.split_once("#[derive(Default)]\nstruct Maps").unwrap();
    assert!(journal.lines().count() <= 60, "{}", journal.lines().count());
}

/// Counters of the requests to a database.
#[derive(Debug, Default)]
struct Requests {
    changes: AtomicUsize,
    index: AtomicUsize,
    lines: AtomicUsize,
    paths: AtomicUsize,
    forks: AtomicUsize,
    /// The bytes read at a position.
    bytes: AtomicUsize,
}

impl Requests {
    fn take(counter: &AtomicUsize) -> usize {
        counter.swap(0, Ordering::Relaxed)
    }
}

/// Files with all optional operations, like a database.
struct Database {
    files: Files,
    requests: Arc<Requests>,
}

impl Database {
    fn new() -> Self {
        let fs = SimFs::new();
        fs.put_dir("/d").unwrap();
        Database { files: Files { fs: Arc::new(fs), directory: "/d".into() }, requests: Arc::default() }
    }

    fn journal(&self, journal: Box<dyn Journal>) -> DatabaseJournal {
        DatabaseJournal(journal, self.requests.clone())
    }
}

impl Storage for Database {
    fn create(&mut self, name: &str) -> Result<Box<dyn Journal>> {
        let journal = self.files.create(name)?;
        Ok(Box::new(self.journal(journal)))
    }

    fn open(&mut self, name: &str) -> Result<Option<Box<dyn Journal>>> {
        let journal = self.files.open(name)?;
        Ok(journal.map(|journal| Box::new(self.journal(journal)) as Box<dyn Journal>))
    }
}

#[derive(Debug)]
struct DatabaseJournal(Box<dyn Journal>, Arc<Requests>);

fn read(journal: &dyn Journal, range: Range<u64>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(range.end.saturating_sub(range.start)).unwrap()];
    let count = journal.read_at(range.start, &mut bytes)?;
    bytes.truncate(count);
    Ok(bytes)
}

impl DatabaseJournal {
    fn bytes_from(&self, since: u64) -> io::Result<Vec<u8>> {
        read(&*self.0, since..self.0.len()?)
    }
}

impl ReadAt for DatabaseJournal {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read_at(position, buffer)?;
        self.1.bytes.fetch_add(count, Ordering::Relaxed);
        Ok(count)
    }
}

impl Journal for DatabaseJournal {
    fn name(&self) -> Cow<'_, str> {
        self.0.name()
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.exclusive = true;
        capabilities.changes = true;
        capabilities.index = true;
        capabilities.lines = true;
        capabilities.paths = true;
        capabilities.fork = true;
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
        self.1.changes.fetch_add(1, Ordering::Relaxed);
        self.bytes_from(since).map(Some)
    }

    fn index(&self, since: u64, take: TakeIndexLine<'_>) -> io::Result<()> {
        self.1.index.fetch_add(1, Ordering::Relaxed);
        let mut position = since;
        for line in self.bytes_from(since)?.split_inclusive(|byte| *byte == b'\n') {
            let text = &line[..line.len() - 1];
            take(IndexLine { position, len: text.len() as u64, head: &line_head(text) })?;
            position += line.len() as u64;
        }
        Ok(())
    }

    fn lines(&self, ids: &[EntryId]) -> io::Result<Vec<Vec<u8>>> {
        self.1.lines.fetch_add(1, Ordering::Relaxed);
        let bytes = self.bytes_from(0)?;
        let id_of = |line: &[u8]| {
            let doc = Doc::parse(line).ok()?;
            doc.root().get("id")?.as_str().map(Cow::into_owned)
        };
        let line_of = |id: &EntryId| {
            let mut lines = bytes.split(|byte| *byte == b'\n').rev();
            lines.find(|line| id_of(line).as_deref() == Some(id.as_str())).map(<[u8]>::to_vec)
        };
        ids.iter().map(|id| line_of(id).ok_or_else(|| io::ErrorKind::NotFound.into())).collect()
    }

    fn paths(&self, ids: &[EntryId]) -> io::Result<Vec<u8>> {
        self.1.paths.fetch_add(1, Ordering::Relaxed);
        let bytes = self.bytes_from(0)?;
        let whole = Session::from_bytes(bytes.clone()).map_err(io::Error::other)?;
        let nodes = ids.iter().filter_map(|id| whole.node(id.as_str()).ok());
        let path: HashSet<EntryId> =
            nodes.flat_map(|node| whole.tree().ancestors(node).map(|node| whole.tree().id(node))).collect();
        let is_on_path = |line: &[u8]| {
            let id =
                Doc::parse(line).ok().and_then(|doc| Some(EntryId::from(&*doc.root().get("id")?.as_str()?)));
            id.is_some_and(|id| path.contains(&id))
        };
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let header = lines.next().unwrap_or_default().to_vec();
        Ok(lines.filter(|line| is_on_path(line)).fold(header, |path, line| [&path, line].concat()))
    }

    fn fork(&mut self, at: u64, source: &dyn Journal, parts: &[ForkPart<'_>]) -> Result<bool> {
        self.1.forks.fetch_add(1, Ordering::Relaxed);
        let mut bytes = Vec::new();
        for part in parts {
            match part {
                ForkPart::Shared(range) => bytes.extend(read(source, range.clone())?),
                ForkPart::New(line) => bytes.extend_from_slice(line.bytes),
            }
        }
        self.append(&NewLines { at, bytes: &bytes, lines: &[], publish: true })?;
        Ok(true)
    }
}

#[test]
fn a_storage_with_all_optional_operations_passes_the_suite_and_they_are_used() {
    let mut database = Database::new();
    assert_eq!(run(&mut database).unwrap(), 41);
    let Requests { changes, index, lines, forks, paths, .. } = &*database.requests;
    let counts = [changes, index, lines, forks, paths].map(Requests::take);
    assert!(
        counts[0] > 10 && counts[1] > 10 && counts[2] > 5 && counts[3] == 1 && counts[4] == 5,
        "{counts:?}"
    );
}

#[test]
fn a_session_with_an_index_is_opened_and_read_without_other_bodies() {
    let mut database = Database::new();
    let journal = database.files.create("one").unwrap();
    let mut session = Options::new().create_journal(database.journal(journal), "/project").unwrap();
    let body = "x".repeat(10_000);
    let ids: Vec<EntryId> = (0..50).map(|_| session.append(Message::user(&body)).unwrap()).collect();
    drop(session);
    let Requests { index, lines, forks, bytes, .. } = &*database.requests.clone();
    let open = |database: &mut Database, name: &str| {
        let journal = database.files.open(name).unwrap().unwrap();
        Options::new().open_journal(database.journal(journal)).unwrap()
    };
    for counter in [index, lines, bytes] {
        Requests::take(counter);
    }
    let session = open(&mut database, "one");
    assert_eq!((session.tree().len(), Requests::take(index), Requests::take(lines)), (50, 1, 0));
    assert!(Requests::take(bytes) < 25_000, "only the last line is read");

    assert_eq!(session.entry(&ids[7]).unwrap().id(), &ids[7]);
    assert_eq!((Requests::take(lines), Requests::take(bytes)), (1, 0), "one entry is one request");
    assert_eq!(session.context().unwrap().messages().count(), 50);
    assert_eq!((Requests::take(lines), Requests::take(bytes)), (1, 0), "a path is one request");

    let target = database.files.create("two").unwrap();
    let plan = session.plan_extract(Extract::Path { at: session.node(&ids[20]).unwrap() }).unwrap();
    let target = database.journal(target);
    let fork = session.extract_to_journal(&plan, target, Options::new()).unwrap();
    assert_eq!((fork.tree().len(), Requests::take(forks), Requests::take(index)), (21, 1, 1));
    assert_eq!(open(&mut database, "two").leaf_id(), Some(ids[20].clone()));
}

/// A mistake that an implementation could make.
#[derive(Debug, Clone, Copy)]
enum Mistake {
    /// Carriage returns are removed, as by a text column.
    ChangesBytes,
    /// Only the first line of an append is stored.
    OneLineOnly,
    /// The lock is given to every caller.
    NoLock,
    /// A replacement is announced but not performed.
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
