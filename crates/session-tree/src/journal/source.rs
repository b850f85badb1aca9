//! Other views of a journal: as a stream, and with an end that is already in memory.

use std::io::{self, BufReader, Read, Write};
use std::ops::Range;

use super::ReadAt;

/// The number of bytes that are copied at once.
const MAX_BUFFER: usize = 1 << 20;

/// Reads a part of a journal as a stream. A journal that ends earlier is an error.
pub(crate) struct Reader<'j, R: ReadAt + ?Sized> {
    source: &'j R,
    left: Range<u64>,
}

impl<'j, R: ReadAt + ?Sized> Reader<'j, R> {
    pub(crate) fn new(source: &'j R, part: Range<u64>) -> Self {
        Reader { source, left: part }
    }
}

impl<R: ReadAt + ?Sized> Read for Reader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.left.end.saturating_sub(self.left.start)).unwrap_or(usize::MAX);
        let room = buffer.len().min(left);
        let read = self.source.read_at(self.left.start, &mut buffer[..room])?;
        if read == 0 && room > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left.start += read as u64;
        Ok(read)
    }
}

/// Copies a part of a journal.
pub(crate) fn copy_range(source: &dyn ReadAt, part: Range<u64>, out: &mut dyn Write) -> io::Result<()> {
    let len = usize::try_from(part.end.saturating_sub(part.start)).unwrap_or(usize::MAX);
    let reader = Reader::new(source, part);
    io::copy(&mut BufReader::with_capacity(len.min(MAX_BUFFER), reader), out).map(drop)
}

/// Returns the checksum of the first `end` bytes of a journal.
pub(crate) fn checksum(source: &dyn ReadAt, end: u64) -> io::Result<u32> {
    let mut summing = ChecksumWriter { out: &mut io::sink(), sum: 0 };
    copy_range(source, 0..end, &mut summing)?;
    Ok(summing.sum)
}

/// Computes the checksum of the bytes that are written through it.
pub(crate) struct ChecksumWriter<'o> {
    pub(crate) out: &'o mut dyn Write,
    pub(crate) sum: u32,
}

impl Write for ChecksumWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum = crc32c::crc32c_append(self.sum, &bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A journal whose end is already in memory.
pub(crate) struct Overlay<'j> {
    pub(crate) base: &'j dyn ReadAt,
    /// The position of the bytes in memory.
    pub(crate) from: u64,
    pub(crate) bytes: &'j [u8],
}

impl ReadAt for Overlay<'_> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.from + self.bytes.len() as u64)
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match position.checked_sub(self.from) {
            Some(at) => self.bytes.read_at(at, buffer),
            None => {
                let room = usize::try_from(self.from - position).unwrap_or(usize::MAX).min(buffer.len());
                self.base.read_at(position, &mut buffer[..room])
            }
        }
    }
}
