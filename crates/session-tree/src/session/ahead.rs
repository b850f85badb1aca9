//! Read-ahead: reading lines in file order takes one system call for many of them.
//!
//! Only bytes of whole lines are kept; they never change in an append-only file.

use std::io;

use crate::journal::{ReadAt, read_into, read_range};

/// The largest distance between two reads that count as sequential.
const STEP: u64 = 16 << 10;

/// The bytes around the last read.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead {
    start: u64,
    bytes: Vec<u8>,
    /// The position after the last read.
    at: u64,
}

impl ReadAhead {
    /// The number of bytes that are read ahead.
    pub(crate) const WINDOW: usize = 64 << 10;

    /// Returns true if a read at `position` continues the previous one, or lies inside it.
    pub(super) fn is_near(&self, position: u64) -> bool {
        position.wrapping_sub(self.at) < STEP || self.held(position, 1).is_some()
    }

    /// Calls `take` with the bytes of a range. `end` is the position after the last whole line.
    pub(crate) fn read<T>(
        &mut self,
        source: &dyn ReadAt,
        (position, len): (u64, usize),
        end: u64,
        take: impl FnOnce(&[u8]) -> T,
    ) -> io::Result<T> {
        let walks = position.wrapping_sub(self.at) < STEP;
        self.at = position + len as u64;
        if self.held(position, len).is_none() {
            if !walks || len > Self::WINDOW || self.at > end {
                return read_range(source, position, len).map(|bytes| take(&bytes));
            }
            self.fill(source, position, (end - position).min(Self::WINDOW as u64) as usize)?;
        }
        self.held(position, len).map(take).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Reads a window, reusing the buffer.
    fn fill(&mut self, source: &dyn ReadAt, position: u64, len: usize) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.resize(len, 0);
        read_into(source, position, &mut bytes)?;
        (self.start, self.bytes) = (position, bytes);
        Ok(())
    }

    fn held(&self, position: u64, len: usize) -> Option<&[u8]> {
        let from = usize::try_from(position.checked_sub(self.start)?).ok()?;
        self.bytes.get(from..from.checked_add(len)?)
    }
}

#[cfg(test)]
mod tests;
