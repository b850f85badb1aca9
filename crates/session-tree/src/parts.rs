//! Files made of checksummed parts: a magic, a table, then the parts.
//!
//! Below the sidecar. Parts are read through one small buffer straight into what they become, because fresh memory
//! for a second copy would cost more than reading. All numbers are little-endian.

use std::path::Path;

use crate::fs::{Access, Fs, FsFile};
use crate::journal::{OpenFile, read_into};

/// A multiple of the size of every number.
const BUFFER: usize = 256 * 1024;

/// The parts of an open file, each of which is checked when it is read.
pub(crate) struct Parts {
    file: Box<dyn FsFile>,
    /// When the file last changed: see [`Meta::changed`](crate::fs::Meta::changed).
    pub(crate) changed: i64,
    /// Where each part begins, how long it is, and its CRC-32C.
    table: Vec<(u64, u64, u32)>,
}

impl Parts {
    /// Opens a file of `count` parts; `None` if it is none, or not of the length its table says.
    pub(crate) fn open(fs: &dyn Fs, path: &Path, magic: &[u8; 8], count: usize) -> Option<Self> {
        let file = fs.open(path, Access::Read).ok()?;
        let meta = file.metadata().ok().filter(|meta| meta.is_file)?;
        let head = read(&*file, 0, 12 + count * 12)?;
        let rest = head.strip_prefix(magic)?;
        let (sum, rows) = rest.split_first_chunk::<4>()?;
        if crc32c::crc32c(rows) != u32::from_le_bytes(*sum) {
            return None;
        }
        let mut at = head.len() as u64;
        let mut table = Vec::with_capacity(count);
        for row in rows.chunks_exact(12) {
            let length = u64::from_le_bytes(row[..8].try_into().ok()?);
            table.push((at, length, u32::from_le_bytes(row[8..].try_into().ok()?)));
            at = at.checked_add(length)?;
        }
        (at == meta.len).then_some(Self { file, changed: meta.changed, table })
    }

    /// Reads a part as it is.
    pub(crate) fn bytes(&self, part: usize) -> Option<Vec<u8>> {
        let (at, length, sum) = *self.table.get(part)?;
        let bytes = read(&*self.file, at, usize::try_from(length).ok()?)?;
        (crc32c::crc32c(&bytes) == sum).then_some(bytes)
    }

    /// Reads a part as numbers, leaving some room behind them: a column that has to grow is copied whole.
    pub(crate) fn numbers<T, const N: usize>(&self, part: usize, number: fn([u8; N]) -> T) -> Option<Vec<T>> {
        let (at, length, sum) = *self.table.get(part)?;
        let length = usize::try_from(length).ok()?;
        let count = length / N;
        let mut found = Vec::with_capacity(count + count / 16 + 1024);
        let mut buffer = vec![0; BUFFER.min(length)];
        let (mut done, mut running) = (0, 0);
        while done < length {
            let want = (length - done).min(BUFFER);
            fill(&*self.file, at + done as u64, &mut buffer[..want])?;
            running = crc32c::crc32c_append(running, &buffer[..want]);
            found.extend(buffer[..want].as_chunks::<N>().0.iter().map(|chunk| number(*chunk)));
            done += want;
        }
        (running == sum && length % N == 0).then_some(found)
    }
}

/// Puts parts into one file.
pub(crate) fn join(magic: &[u8; 8], parts: &[Vec<u8>]) -> Vec<u8> {
    let mut table = Vec::with_capacity(parts.len() * 12);
    for part in parts {
        table.extend_from_slice(&(part.len() as u64).to_le_bytes());
        table.extend_from_slice(&crc32c::crc32c(part).to_le_bytes());
    }
    let mut out = Vec::with_capacity(12 + table.len() + parts.iter().map(Vec::len).sum::<usize>());
    out.extend_from_slice(magic);
    out.extend_from_slice(&crc32c::crc32c(&table).to_le_bytes());
    out.extend_from_slice(&table);
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out
}

fn read(file: &dyn FsFile, at: u64, length: usize) -> Option<Vec<u8>> {
    // A damaged table may ask for more than there is.
    let room = file.end().ok()?.saturating_sub(at);
    if length as u64 > room {
        return None;
    }
    let mut bytes = vec![0; length];
    fill(file, at, &mut bytes)?;
    Some(bytes)
}

fn fill(file: &dyn FsFile, at: u64, buffer: &mut [u8]) -> Option<()> {
    read_into(&OpenFile(file), at, buffer).ok()
}
