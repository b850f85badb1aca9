//! A journal in memory: for sessions that are never saved, and for bytes that came from elsewhere.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Journal, Locked, ReadAt, VerifyCopy, WriteCopy};
use crate::error::{Error, Result};

/// A journal in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryJournal {
    bytes: Vec<u8>,
}

impl MemoryJournal {
    /// Makes a journal of bytes that are already there.
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
    fn path(&self) -> Option<&Path> {
        None
    }

    fn lock(&mut self) -> Result<Locked> {
        Ok(Locked { len: self.bytes.len() as u64, loss: None })
    }

    fn unlock(&mut self) {}

    fn append(&mut self, _at: u64, lines: &[u8], _publish: bool) -> Result<()> {
        self.bytes.extend_from_slice(lines);
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn replace(
        &mut self,
        _keep_as: &str,
        write: WriteCopy<'_>,
        verify: VerifyCopy<'_>,
    ) -> Result<Option<PathBuf>> {
        let mut copy = Vec::new();
        write(&mut copy).map_err(|source: io::Error| Error::Io {
            action: "copy",
            path: "memory".into(),
            source,
        })?;
        verify(&copy.as_slice())?;
        self.bytes = copy;
        Ok(None)
    }

    fn reopened(&self) -> Result<Box<dyn Journal>> {
        Ok(Box::new(self.clone()))
    }

    fn rescue(&self, _lines: &mut dyn Read) -> Result<Option<PathBuf>> {
        Ok(None)
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
