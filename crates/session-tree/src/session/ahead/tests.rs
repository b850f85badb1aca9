use std::cell::Cell;

use super::*;

struct Counting(Vec<u8>, Cell<usize>);

impl ReadAt for Counting {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.1.set(self.1.get() + 1);
        let from = &self.0[position as usize..];
        let len = from.len().min(buffer.len());
        buffer[..len].copy_from_slice(&from[..len]);
        Ok(len)
    }
}

fn source() -> Counting {
    Counting((0..200_000_u32).map(|byte| (byte % 251) as u8).collect(), Cell::new(0))
}

fn reads_right(ahead: &mut ReadAhead, source: &Counting, position: usize, len: usize, end: u64) {
    let read = ahead.read(source, (position as u64, len), end, <[u8]>::to_vec).unwrap();
    assert_eq!(read, source.0[position..position + len]);
}

#[test]
fn a_walk_takes_few_reads_and_gives_the_bytes_of_each_piece() {
    let (mut ahead, source) = (ReadAhead::default(), source());
    for position in (0..199_900).step_by(100) {
        reads_right(&mut ahead, &source, position, 90, 200_000);
    }
    assert_eq!(source.1.get(), 4);
}

#[test]
fn jumps_and_long_pieces_read_no_more_than_is_asked_for() {
    let (mut ahead, source) = (ReadAhead::default(), source());
    for position in [190_000, 100_000, 10_000] {
        reads_right(&mut ahead, &source, position, 50, 200_000);
    }
    reads_right(&mut ahead, &source, 11_000, ReadAhead::WINDOW + 1, 200_000);
    assert!(ahead.bytes.is_empty());
}

#[test]
fn bytes_after_the_last_whole_line_are_read_again_each_time() {
    let (mut ahead, mut source) = (ReadAhead::default(), source());
    reads_right(&mut ahead, &source, 0, 50, 100);
    assert_eq!(ahead.bytes.len(), 100);
    reads_right(&mut ahead, &source, 100, 50, 100);
    source.0[100] = 0;
    reads_right(&mut ahead, &source, 100, 50, 200_000);
}
