use super::*;

/// Decodes a text that comes in pieces of `size` bytes.
fn decode(bytes: &[u8], size: usize) -> Vec<String> {
    let mut decoder = Decoder::new(1_000);
    let mut frames = Vec::new();
    for piece in bytes.chunks(size) {
        decoder.feed(piece);
        while let Some(frame) = decoder.next().unwrap() {
            frames.push(frame);
        }
    }
    frames.extend(decoder.flush());
    frames
}

#[test]
fn pieces_may_be_cut_anywhere() {
    let lf = "\u{feff}: hello\ndata: grüße 👩‍👧\n\nevent: x\nid: 7\ndata:{\"a\":1}\ndata: b\n\n\n\ndata\n\nretry: 5\n\n";
    let wanted = ["grüße 👩‍👧", "{\"a\":1}\nb", ""];
    for text in [lf.to_owned(), lf.replace('\n', "\r\n"), lf.replace('\n', "\r")] {
        for size in 1..=text.len() {
            assert_eq!(decode(text.as_bytes(), size), wanted, "pieces of {size} bytes of {text:?}");
        }
    }
}

#[test]
fn a_frame_without_an_empty_line_counts_at_the_end_if_its_line_is_complete() {
    assert_eq!(decode(b"data: a\n\ndata: b\n", 3), ["a", "b"]);
    assert_eq!(decode(b"data: a\n\ndata: b", 3), ["a"]);
}

#[test]
fn bytes_that_are_no_text_become_replacement_characters() {
    assert_eq!(decode(b"data: a\xff\xc3b\n\n", 1), ["a\u{fffd}\u{fffd}b"]);
}

#[test]
fn other_fields_are_passed_over() {
    assert_eq!(decode(b"datax: 1\nevent: y\nnonsense\ndata: 2\n\n", 4), ["2"]);
}

#[test]
fn an_event_that_is_too_large_is_refused_wherever_it_grows() {
    let one_line = format!("data: {}", "x".repeat(2_000));
    let many_lines = "data: xxxxxxxxxx\n".repeat(200);
    for text in [one_line, many_lines] {
        let mut decoder = Decoder::new(1_000);
        decoder.feed(text.as_bytes());
        assert_eq!(decoder.next(), Err(TooLarge));
    }
}

#[test]
fn many_small_events_are_not_one_large_one() {
    let text = "data: xxxxxxxxxx\n\n".repeat(500);
    assert_eq!(decode(text.as_bytes(), 5_000).len(), 500);
}
