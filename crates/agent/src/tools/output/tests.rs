use super::*;

fn tail(text: &[u8]) -> Tail {
    let mut tail = Tail::default();
    for chunk in text.chunks(1_000) {
        tail.push(chunk);
        tail.trim();
    }
    tail
}

#[test]
fn a_short_text_is_its_own_tail() {
    let capped = tail(b"one\ntwo").capped();
    assert_eq!((capped.text.as_str(), capped.cut_by, capped.total_lines), ("one\ntwo", None, 2));
}

#[test]
fn of_many_short_lines_the_last_ones_stay() {
    let text: String = (1..=5_000).map(|n| format!("{n}\n")).collect();
    let capped = tail(text.as_bytes()).capped();
    assert!(capped.text.starts_with("3001\n") && capped.text.ends_with("5000\n"));
    assert_eq!((capped.cut_by, capped.lines, capped.total_lines), (Some(CutBy::Lines), 2_000, 5_000));
}

#[test]
fn exactly_as_many_lines_as_fit_are_not_cut() {
    let text = "x\n".repeat(MAX_LINES);
    assert_eq!(tail(text.as_bytes()).capped().cut_by, None);
    let capped = tail(format!("{text}y").as_bytes()).capped();
    assert_eq!((capped.cut_by, capped.lines), (Some(CutBy::Lines), MAX_LINES));
    assert!(capped.text.ends_with("x\ny"));
}

#[test]
fn of_long_lines_only_whole_ones_stay() {
    let text: String = (100..300).map(|n| format!("{n}{}\n", "x".repeat(996))).collect();
    let capped = tail(text.as_bytes()).capped();
    assert_eq!((capped.cut_by, capped.lines, capped.is_partial), (Some(CutBy::Bytes), 51, false));
    assert!(capped.text.starts_with("249x") && capped.text.len() <= MAX_BYTES);
}

#[test]
fn a_line_that_is_too_long_alone_is_cut_between_characters() {
    let text = "é".repeat(100_000);
    let mut odd = text.clone().into_bytes();
    odd.push(b'x');
    for bytes in [text.as_bytes(), &odd] {
        let capped = tail(bytes).capped();
        assert!(capped.is_partial && capped.text.len() <= MAX_BYTES);
        assert!(!capped.text.contains('\u{fffd}'), "no half character at the cut");
    }
}

#[test]
fn memory_stays_small_whatever_comes() {
    let mut tail = Tail::default();
    for _ in 0..1_000 {
        tail.push(&[b'x'; 10_000]);
        tail.trim();
    }
    assert!(tail.held().len() <= 3 * MAX_BYTES + 10_000);
    assert_eq!(tail.capped().total_bytes, 10_000_000);
}

#[test]
fn the_head_of_a_text_has_whole_lines() {
    let mut head = Head::default();
    assert!(head.is_empty());
    (100..300).for_each(|n| head.push(&format!("{n}{}\n", "x".repeat(996))));
    // After a line that does not fit, shorter lines are left out too.
    head.push("short\n");
    let capped = head.into_capped();
    assert_eq!((capped.lines, capped.total_lines, capped.cut_by), (51, 201, Some(CutBy::Bytes)));
    assert!(!capped.text.contains("short"));
    assert_eq!(capped.total_bytes, 200_006);
}

#[test]
fn sizes_are_written_for_people() {
    assert_eq!(
        [0, 1_023, 1_024, 1_536, 5 << 20].map(size),
        ["0 bytes", "1023 bytes", "1.0 KB", "1.5 KB", "5.0 MB"]
    );
}

#[test]
fn notes_stand_apart_from_the_text() {
    let noted = |text: &str| {
        let mut text = text.to_owned();
        add_note(&mut text, "n");
        text
    };
    assert_eq!([noted(""), noted("a"), noted("a\n")], ["[n]", "a\n\n[n]", "a\n\n[n]"]);
}
