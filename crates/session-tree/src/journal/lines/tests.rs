use super::*;
use crate::journal::MemoryJournal;

fn lines(bytes: &[u8], from: u64) -> Vec<(u64, u64, bool)> {
    let journal = MemoryJournal::from_bytes(bytes.to_vec());
    let mut found = Vec::new();
    each_line(&journal, from, bytes.len() as u64, &mut |at, piece, ended| {
        let len = match piece {
            Piece::Whole(line) => line.len() as u64,
            Piece::Ends { len, .. } => len,
        };
        found.push((at, len, ended));
        Ok(())
    })
    .unwrap();
    found
}

#[test]
fn lines_come_with_their_position_and_whether_they_end() {
    assert_eq!(lines(b"", 0), []);
    assert_eq!(lines(b"\n\na", 0), [(0, 0, true), (1, 0, true), (2, 1, false)]);
    assert_eq!(lines(b"ab\ncd\n", 3), [(3, 2, true)]);
}

#[test]
fn lines_longer_than_the_buffer_keep_their_place() {
    for extra in [0, 1, 5, BUFFER, 3 * BUFFER + 7] {
        let mut bytes = b"first\n".to_vec();
        bytes.extend(vec![b'x'; BUFFER + extra]);
        bytes.extend(b"\nlast\nrest");
        let long = (BUFFER + extra) as u64;
        let expected = [(0, 5, true), (6, long, true), (7 + long, 4, true), (12 + long, 4, false)];
        assert_eq!(lines(&bytes, 0), expected, "{extra}");
    }
}
