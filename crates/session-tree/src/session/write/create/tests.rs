use std::io;
use std::path::PathBuf;

use super::*;
use crate::journal::{Locked, MemoryJournal, ReadAt, VerifyCopy, WriteCopy};

/// A journal to which somebody else appends as soon as the lock is free.
#[derive(Debug, Default)]
struct Busy(MemoryJournal);

const THEIRS: &[u8] =
    b"{\"type\":\"custom\",\"id\":\"theirs\",\"parentId\":null,\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"customType\":\"x\"}\n";

impl ReadAt for Busy {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(position, buffer)
    }
}

impl Journal for Busy {
    fn path(&self) -> Option<&Path> {
        None
    }

    fn lock(&mut self) -> Result<Locked> {
        self.0.lock()
    }

    fn unlock(&mut self) {
        self.0.append(0, THEIRS, false).unwrap();
    }

    fn append(&mut self, at: u64, lines: &[u8], publish: bool) -> Result<()> {
        self.0.append(at, lines, publish)
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn replace(
        &mut self,
        keep_as: &str,
        write: WriteCopy<'_>,
        verify: VerifyCopy<'_>,
    ) -> Result<Option<PathBuf>> {
        self.0.replace(keep_as, write, verify)
    }

    fn reopened(&self) -> Result<Box<dyn Journal>> {
        self.0.reopened()
    }

    fn rescue(&self, lines: &mut dyn io::Read) -> Result<Option<PathBuf>> {
        self.0.rescue(lines)
    }
}

#[test]
fn an_entry_that_comes_right_behind_the_header_is_seen() {
    let mut session = Options::new().start(Box::<Busy>::default(), "/project".into()).unwrap();
    let seen = session.catch_up().unwrap();
    assert_eq!(seen.iter().map(|entry| entry.id().as_str()).collect::<Vec<_>>(), ["theirs"]);
    assert_eq!(session.line_number(seen[0].node()), 2);
}
