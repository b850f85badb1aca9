//! How much of a journal a context reads: only what decides, and only once.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::draw::{HEADER, draw};
use crate::error::{ReadOnlyReason, Result};
use crate::journal::{Journal, Locked, MemoryJournal, ReadAt, VerifyCopy, WriteCopy};
use crate::session::Session;

/// Counts what is read from a journal in memory.
#[derive(Debug)]
struct Counted {
    inner: MemoryJournal,
    reads: Arc<AtomicUsize>,
}

impl ReadAt for Counted {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.inner.read_at(position, buffer)
    }
}

impl Journal for Counted {
    fn path(&self) -> Option<&Path> {
        None
    }

    fn lock(&mut self) -> Result<Locked> {
        self.inner.lock()
    }

    fn unlock(&mut self) {
        self.inner.unlock();
    }

    fn append(&mut self, at: u64, lines: &[u8], publish: bool) -> Result<()> {
        self.inner.append(at, lines, publish)
    }

    fn sync(&mut self) -> Result<()> {
        self.inner.sync()
    }

    fn replace(
        &mut self,
        keep_as: &str,
        write: WriteCopy<'_>,
        verify: VerifyCopy<'_>,
    ) -> Result<Option<PathBuf>> {
        self.inner.replace(keep_as, write, verify)
    }

    fn reopened(&self) -> Result<Box<dyn Journal>> {
        self.inner.reopened()
    }

    fn rescue(&mut self, lines: &mut dyn io::Read) -> Result<Option<PathBuf>> {
        self.inner.rescue(lines)
    }
}

/// Loads a drawing; the counter begins after loading.
fn counted(drawing: &str) -> (Session, impl Fn() -> usize) {
    let drawn = draw(drawing);
    let mut bytes = HEADER.as_bytes().to_vec();
    for entry in drawn.entries() {
        bytes.extend_from_slice(entry.unwrap().raw());
        bytes.push(b'\n');
    }
    let reads = Arc::new(AtomicUsize::new(0));
    let journal = Counted { inner: MemoryJournal::from_bytes(bytes), reads: reads.clone() };
    let session = Session::load(Box::new(journal), Some(ReadOnlyReason::Asked)).unwrap();
    reads.store(0, Ordering::Relaxed);
    (session, move || reads.swap(0, Ordering::Relaxed))
}

#[test]
fn a_projection_reads_the_bodies_that_decide_and_no_others() {
    let (session, reads) = counted(
        "u1 user
         a1 assistant
         k1 compaction u1
         u2 user
         e1 edit u2 null
         k2 compaction u2
         b1 summary left
         a2 assistant
         n1 note hi",
    );
    assert_eq!(session.projection(session.leaf()).unwrap().items.len(), 4);
    assert_eq!(reads(), 3, "the last compaction, the edit, the branch summary");
}

#[test]
fn a_second_context_reads_nothing_again() {
    let (session, reads) = counted(
        "t1 level high
         m1 model p m
         u1 user
         a1 assistant
         u2 user",
    );
    session.context_of(Some("a1")).unwrap();
    assert_eq!(reads(), 4, "the level, the model change that an answer overrides, prompt and answer");
    session.build_context().unwrap();
    assert_eq!(reads(), 1, "the prompt that is new");
    session.build_context().unwrap();
    assert_eq!(reads(), 0);
}
