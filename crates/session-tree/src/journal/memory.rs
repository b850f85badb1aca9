//! A journal in memory, for sessions that are never saved and for bytes from elsewhere.

use std::borrow::Cow;
use std::io;

use super::{Capabilities, Journal, Locked, NewLines, ReadAt, Replaced, VerifyCopy, WriteCopy};
use crate::error::Result;

/// A journal in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryJournal {
    bytes: Vec<u8>,
}

impl MemoryJournal {
    /// Creates a journal that holds these bytes.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// Returns all bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl ReadAt for MemoryJournal {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.as_slice().read_at(position, buffer)
    }
}

impl Journal for MemoryJournal {
    fn name(&self) -> Cow<'_, str> {
        "memory".into()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { exclusive: true, replace: true, ..Capabilities::default() }
    }

    fn exists(&self) -> bool {
        false
    }

    fn lock(&mut self) -> Result<Locked> {
        Ok(Locked { len: self.bytes.len() as u64, loss: None })
    }

    fn unlock(&mut self) {}

    fn append(&mut self, new: &NewLines<'_>) -> Result<()> {
        self.bytes.extend_from_slice(new.bytes);
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn replace(&mut self, _keep_as: &str, write: WriteCopy<'_>, verify: VerifyCopy<'_>) -> Result<Replaced> {
        let mut copy = Vec::new();
        write(&self.bytes.as_slice(), &mut copy)?;
        verify(&copy.as_slice())?;
        self.bytes = copy;
        Ok(Replaced::default())
    }
}

impl ReadAt for &[u8] {
    fn len(&self) -> io::Result<u64> {
        Ok((*self).len() as u64)
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(position).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}
