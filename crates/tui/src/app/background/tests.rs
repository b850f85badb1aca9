use super::*;

#[test]
fn a_colour_is_read_in_all_its_spellings() {
    assert_eq!(background(b"\x1b]11;rgb:ffff/8080/0000\x1b\\\x1b[?62;4c"), Some([255, 128, 0]));
    assert_eq!(background(b"\x1b]11;rgb:f/8/0\x07\x1b[?1;2c"), Some([255, 136, 0]));
    for none in
        [&b"\x1b[?62c"[..], b"\x1b]11;rgb:ff/ff\x07", b"\x1b]11;rgb:fffff/0/0\x07", b"\x1b]11;rgb:x/y/z\x07"]
    {
        assert_eq!(background(none), None, "{}", String::from_utf8_lossy(none));
    }
}

#[test]
fn the_last_answer_ends_the_wait() {
    assert!(!is_whole(b"\x1b]11;rgb:cccc/cccc/cccc\x1b\\"));
    assert!(!is_whole(b"\x1b]11;rgb:cccc/cccc/cccc\x1b\\\x1b[?62;"));
    assert!(is_whole(b"\x1b]11;rgb:0/0/0\x07\x1b[?62;4c"));
}
