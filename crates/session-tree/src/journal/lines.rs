//! Reading lines from a journal through one small buffer.

use std::io;
use std::ops::ControlFlow;

use memchr::memchr;

use super::ReadAt;

/// Fits into the processor's cache, and needs few system calls.
const BUFFER: usize = 256 * 1024;
/// The bytes kept from the two ends of a line that does not fit into the buffer.
const HEAD: usize = 64 * 1024;
const TAIL: usize = 4 * 1024;

/// A line, or both ends of a very long one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece<'b> {
    Whole(&'b [u8]),
    Ends { head: &'b [u8], tail: &'b [u8], len: u64 },
}

/// A function that receives the position of a line, its bytes without line feed, and whether a line feed follows.
type TakeLine<'t> = &'t mut dyn FnMut(u64, Piece<'_>, bool) -> io::Result<ControlFlow<()>>;

/// Calls `take` with the position of every line in a range, its bytes without line feed, and whether a line feed follows.
pub(crate) fn each_line(
    source: &dyn ReadAt,
    from: u64,
    to: u64,
    take: &mut dyn FnMut(u64, Piece<'_>, bool) -> io::Result<()>,
) -> io::Result<()> {
    each_line_while(source, from, to, &|_| true, &mut |position, piece, ended| {
        take(position, piece, ended).map(ControlFlow::Continue)
    })
}

/// Works as [`each_line`] until `take` breaks; nothing after that line is read.
///
/// While a line longer than the buffer is skipped, `goes_on` is called with the position reached; `false` ends the
/// reading.
pub(crate) fn each_line_while(
    source: &dyn ReadAt,
    from: u64,
    to: u64,
    goes_on: &dyn Fn(u64) -> bool,
    take: TakeLine<'_>,
) -> io::Result<()> {
    let mut reader = Reader { source, at: from, to, buffer: vec![0; buffer_size(to.saturating_sub(from))] };
    let (mut start, mut filled) = (0, 0);
    loop {
        let mut searched = start;
        while let Some(length) = memchr(b'\n', &reader.buffer[searched..filled]) {
            let end = searched + length;
            let position = reader.at - (filled - start) as u64;
            if take(position, Piece::Whole(&reader.buffer[start..end]), true)?.is_break() {
                return Ok(());
            }
            start = end + 1;
            searched = start;
        }
        if start > 0 {
            reader.buffer.copy_within(start..filled, 0);
            filled -= start;
            start = 0;
        }
        if filled == reader.buffer.len() {
            if reader.long_line(filled, goes_on, take)?.is_break() {
                return Ok(());
            }
            filled = 0;
            continue;
        }
        let read = reader.fill(filled)?;
        if read == 0 {
            if filled > 0 {
                // The last line: its answer has no effect.
                let _ = take(reader.at - filled as u64, Piece::Whole(&reader.buffer[..filled]), false)?;
            }
            return Ok(());
        }
        // Only the new part can contain a line feed, but searching all of a partial line is cheap enough.
        filled += read;
    }
}

fn buffer_size(span: u64) -> usize {
    usize::try_from(span).map_or(BUFFER, |span| (span + 1).min(BUFFER))
}

struct Reader<'s> {
    source: &'s dyn ReadAt,
    /// The position after the bytes that were read.
    at: u64,
    to: u64,
    buffer: Vec<u8>,
}

impl Reader<'_> {
    fn fill(&mut self, from: usize) -> io::Result<usize> {
        let left = usize::try_from(self.to - self.at).unwrap_or(usize::MAX);
        let room = (self.buffer.len() - from).min(left);
        if room == 0 {
            return Ok(0);
        }
        loop {
            match self.source.read_at(self.at, &mut self.buffer[from..from + room]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(read) => {
                    self.at += read as u64;
                    return Ok(read);
                }
            }
        }
    }

    /// Reads the rest of a line that fills the buffer, and keeps its two ends.
    fn long_line(
        &mut self,
        filled: usize,
        goes_on: &dyn Fn(u64) -> bool,
        take: TakeLine<'_>,
    ) -> io::Result<ControlFlow<()>> {
        let start = self.at - filled as u64;
        let head = self.buffer[..HEAD.min(filled)].to_vec();
        let mut tail = self.buffer[filled.saturating_sub(TAIL)..filled].to_vec();
        loop {
            let read = self.fill(0)?;
            let feed = memchr(b'\n', &self.buffer[..read]);
            let part = &self.buffer[..feed.unwrap_or(read)];
            tail.extend_from_slice(&part[part.len().saturating_sub(TAIL)..]);
            tail.drain(..tail.len().saturating_sub(TAIL));
            if feed.is_some() || read == 0 {
                let end = self.at - (read - part.len()) as u64;
                self.at = end + u64::from(feed.is_some());
                return take(
                    start,
                    Piece::Ends { head: &head, tail: &tail, len: end - start },
                    feed.is_some(),
                );
            }
            if !goes_on(self.at) {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
}

/// Reads exactly `len` bytes at a position.
pub(crate) fn read_range(source: &dyn ReadAt, position: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    read_into(source, position, &mut bytes)?;
    Ok(bytes)
}

/// Fills a buffer with the bytes at a position.
pub(crate) fn read_into(source: &dyn ReadAt, position: u64, bytes: &mut [u8]) -> io::Result<()> {
    let is_full = read_up_to(source, position, bytes)? == bytes.len();
    if is_full { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Fills a buffer with the bytes at a position, as far as there are any. Returns how many there are.
pub(crate) fn read_up_to(source: &dyn ReadAt, position: u64, bytes: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match source.read_at(position + filled as u64, &mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests;
