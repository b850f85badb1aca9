//! The query: what is typed, what is found, what is highlighted.

use ratatui::style::Modifier;

use super::*;

#[test]
fn typing_narrows_and_backspace_widens() {
    let mut bench = Bench::new(GREETER);
    bench.type_keys("cli go");
    assert_eq!(bench.rows(), "a4");
    assert_eq!(bench.selected(), "a4");
    bench.press(&[Action::DeleteWordBackward]);
    assert_eq!((bench.tree.query(), bench.rows().as_str()), ("cli ", "u1 a1 a4"));
    bench.press(&[
        Action::DeleteBackward,
        Action::DeleteBackward,
        Action::DeleteBackward,
        Action::DeleteBackward,
    ]);
    assert_eq!(bench.tree.query(), "");
    assert_eq!(bench.selected(), "a4");
}

#[test]
fn escape_clears_the_query_first_and_then_closes() {
    let mut bench = Bench::new(GREETER);
    bench.type_keys("flag");
    assert_eq!(bench.act(Action::SelectCancel), None);
    assert_eq!(bench.tree.query(), "");
    assert_eq!(bench.act(Action::SelectCancel), Some(Outcome::Cancel));
}

#[test]
fn single_letter_keys_are_text_while_a_query_is_typed() {
    let mut bench = Bench::new(GREETER);
    bench.type_keys("a[o]?LT b");
    assert_eq!(bench.tree.query(), "a[o]?LT b");
}

#[test]
fn a_paste_is_text_and_triggers_nothing() {
    let mut bench = Bench::new(GREETER);
    let pasted = crossterm::event::Event::Paste("L?\nT\x1b[A".into());
    let input = bench.tree.input(&Keymap::default(), &pasted).unwrap();
    assert_eq!(bench.tree.update(&bench.session, &input), None);
    assert_eq!(bench.tree.query(), "L? T[A");
}

#[test]
fn what_was_found_is_marked_and_counted() {
    let mut bench = Bench::new(GREETER);
    bench.type_keys("flag");
    let buffer = bench.buffer();
    assert_eq!(screen::with_modifier(&buffer, Modifier::UNDERLINED), "flagflag");
    insta::assert_snapshot!(screen::lines(&buffer), @"
     Session Tree  17 entries · 4 branches                          filter: default
     ⌕ flag▏                                                              2 matches
    ────────────────────────────────────────────────────────────────────────────────
      user: Add a --verbose flag
    › assistant: Added the flag.

















      (2/2)
     Enter go · Esc clear the search · Ctrl+B go, no summary
    ");
}

#[test]
fn a_search_that_finds_nothing_keeps_the_place() {
    let mut bench = Bench::new(GREETER);
    bench.select("u2").type_keys("zzz");
    assert_eq!(bench.selected(), "-");
    assert!(bench.shown().contains("No entries found"));
    assert!(bench.shown().contains("0 matches"));
    bench.press(&[Action::SelectCancel]);
    assert_eq!(bench.selected(), "u2");
}

#[test]
fn the_cursor_waits_for_a_search_that_is_not_done() {
    // The engine looks at one mebibyte at once, from the end; what is wanted stands before it.
    let filler: String =
        (0..60).map(|n| format!("f{n}<u assistant {} needle\n", "x".repeat(40_000))).collect();
    let mut bench = Bench::new(&format!("u user needle\n{filler}m<u marker u"));
    bench.type_keys("needle");
    assert!(bench.shown().contains("matches…"), "{}", bench.shown());
    while bench.tree.search_step(&bench.session, 1 << 18) {}
    assert_eq!(bench.selected(), "u");
    assert!(bench.shown().contains("61 matches\n"), "{}", bench.shown());
}

#[test]
fn what_was_found_far_down_shows_in_the_preview() {
    let long = "word ".repeat(600);
    let mut bench = Bench::new(&format!("u user {long} needle {long}")).sized(120, 20);
    bench.type_keys("needle");
    assert_eq!(screen::with_modifier(&bench.buffer(), Modifier::UNDERLINED), "needle");
}
