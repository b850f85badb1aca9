//! A storage of one's own: a journal over a map, checked by the conformance suite.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use session_tree::journal::conformance::{Failure, Storage, run};
use session_tree::journal::{Journal, Locked, NewLines, ReadAt};
use session_tree::{Error, Result};

/// The lines of a session by position, and whether a handle has locked them.
type Lines = Arc<Mutex<(BTreeMap<u64, Vec<u8>>, bool)>>;
#[derive(Debug)]
struct MapJournal(Lines, bool);

impl MapJournal {
    fn lines(&self) -> MutexGuard<'_, (BTreeMap<u64, Vec<u8>>, bool)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
impl ReadAt for MapJournal {
    fn len(&self) -> io::Result<u64> {
        Ok(self.lines().0.last_key_value().map_or(0, |(position, line)| position + line.len() as u64))
    }
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let lines = self.lines();
        let Some((start, line)) = lines.0.range(..=position).next_back() else { return Ok(0) };
        io::Read::read(&mut line.get((position - start) as usize..).unwrap_or_default(), buffer)
    }
}
impl Journal for MapJournal {
    fn name(&self) -> Cow<'_, str> {
        "map".into()
    }
    fn lock(&mut self) -> Result<Locked> {
        if std::mem::replace(&mut self.lines().1, true) {
            return Err(Error::Locked { path: "map".into(), waited: Duration::ZERO, holder: None });
        }
        self.1 = true;
        Ok(Locked { len: self.len()?, loss: None })
    }
    fn unlock(&mut self) {
        if std::mem::take(&mut self.1) {
            self.lines().1 = false;
        }
    }
    fn append(&mut self, new: &NewLines<'_>) -> Result<()> {
        let mut position = new.at;
        for line in new.lines {
            self.lines().0.insert(position, line.bytes.to_vec());
            position += line.bytes.len() as u64;
        }
        Ok(())
    }
    fn sync(&mut self) -> Result<()> {
        Ok(())
    }
}
impl Drop for MapJournal {
    fn drop(&mut self) {
        self.unlock();
    }
}

#[derive(Default)]
struct Maps(HashMap<String, Lines>);

impl Storage for Maps {
    fn create(&mut self, name: &str) -> Result<Box<dyn Journal>> {
        Ok(Box::new(MapJournal(self.0.entry(name.into()).or_default().clone(), false)))
    }
    fn open(&mut self, name: &str) -> Result<Option<Box<dyn Journal>>> {
        self.create(name).map(Some)
    }
}

pub(crate) fn main() -> Result<(), Failure> {
    let count = run(&mut Maps::default())?;
    assert!(count > 15, "journals in a map are shared, so all tests run");
    Ok(())
}
