use std::borrow::Cow;
use std::io;

use super::*;
use crate::journal::{Locked, MemoryJournal, ReadAt};

/// A journal to which another writer appends as soon as the lock is free.
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
    fn name(&self) -> Cow<'_, str> {
        "busy".into()
    }

    fn lock(&mut self) -> Result<Locked> {
        self.0.lock()
    }

    fn unlock(&mut self) {
        self.0.append(&NewLines { at: 0, bytes: THEIRS, lines: &[], publish: false }).unwrap();
    }

    fn append(&mut self, new: &NewLines<'_>) -> Result<()> {
        self.0.append(new)
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }
}

#[test]
fn an_entry_that_comes_right_behind_the_header_is_seen() {
    let mut session = Options::new().create_journal(Busy::default(), "/project").unwrap();
    let seen = session.catch_up().unwrap();
    assert_eq!(seen.iter().map(|entry| entry.id().as_str()).collect::<Vec<_>>(), ["theirs"]);
    assert_eq!(session.line_number(seen[0].node()), 2);
}
