#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use super::{Frame, KINDS, Kind};

#[test]
fn a_frame_is_read_as_it_was_written() {
    for kind in KINDS {
        let frame = Frame { extension: 7, is_ok: false, ..Frame::new(kind, 1 << 40, "näme", "tëxt") };
        let mut bytes = Vec::new();
        frame.write(&mut bytes).unwrap();
        let mut rest = bytes.as_slice();
        assert_eq!(Frame::read(&mut rest).unwrap(), Some(frame));
        assert_eq!(Frame::read(&mut rest).unwrap(), None);
        assert_eq!(
            Frame::read(&mut &bytes[..bytes.len() - 1]).unwrap(),
            None,
            "a frame that was cut is the end"
        );
    }
}

#[test]
fn letters_of_kinds_are_different() {
    let mut letters = KINDS.map(|kind| kind as u8).to_vec();
    letters.sort_unstable();
    letters.dedup();
    assert_eq!(letters.len(), KINDS.len());
}

#[test]
fn what_is_no_frame_is_an_error() {
    let mut bytes = Vec::new();
    Frame::new(Kind::Ready, 0, "a", "b").write(&mut bytes).unwrap();
    for (at, byte) in [(16, b'?'), (18, 200), (3, 0xff), (22 - 2, 0xff)] {
        let mut bad = bytes.clone();
        bad[at] = byte;
        assert!(Frame::read(&mut bad.as_slice()).is_err(), "byte {at}");
    }
    assert!(Frame::read(&mut b"Segmentation fault (core dumped)".as_slice()).is_err());
}
