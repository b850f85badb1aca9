use super::*;
use crate::screen;
use crate::theme::Theme;
use std::cell::RefCell;

const LONG: usize = 10_000;

/// The items of a long path.
fn long(at: usize) -> Vec<Item> {
    vec![Item::Text(format!("message {at}"))]
}

fn shown(viewer: &mut Viewer, entries: Entries<'_>) -> String {
    screen::text(40, 7, |area, buf| viewer.draw(&Keymap::default(), entries, area, buf))
}

#[test]
fn a_long_path_opens_at_its_end_and_reads_only_what_shows() {
    let read = RefCell::new(Vec::new());
    let entries = |at| {
        read.borrow_mut().push(at);
        long(at)
    };
    let mut viewer = Viewer::new(ItemStyle::new(Theme::plain()), LONG);
    insta::assert_snapshot!(shown(&mut viewer, &entries), @"
    message 9997

    message 9998

    message 9999

     ↑ up · Esc close           10000/10000
    ");
    viewer.update(&Input::Action(Action::SelectUp), &entries);
    viewer.update(&Input::Action(Action::SelectPageUp), &entries);
    assert!(shown(&mut viewer, &entries).starts_with("message 9994\n"));
    assert!(read.borrow().iter().all(|at| *at >= 9_990));
}

/// The items of a path of entries with many rows.
fn tall(at: usize) -> Vec<Item> {
    let words: Vec<String> = (0..200).map(|n| format!("word{at}.{n}")).collect();
    vec![Item::Text(words.join(" "))]
}

#[test]
fn a_change_of_size_keeps_the_place() {
    let draw = |viewer: &mut Viewer, columns, rows| {
        screen::text(columns, rows, |area, buf| viewer.draw(&Keymap::default(), &tall, area, buf))
    };
    let mut viewer = Viewer::new(ItemStyle::new(Theme::plain()), 2);
    for (columns, rows) in [(40, 7), (20, 7), (20, 12), (80, 5), (40, 7)] {
        let shown = draw(&mut viewer, columns, rows);
        assert!(shown.contains("word1.199"), "{columns}x{rows}: {shown}");
    }
    // In the middle of an entry the text at the top stays about the same.
    viewer.update(&Input::Action(Action::SelectPageUp), &tall);
    viewer.update(&Input::Action(Action::SelectPageUp), &tall);
    let number = |shown: &str| -> usize {
        shown.split_once("word1.").unwrap().1.split(' ').next().unwrap().trim().parse().unwrap()
    };
    let before = number(&draw(&mut viewer, 40, 7));
    for (columns, rows) in [(20, 7), (80, 7), (40, 9)] {
        let after = number(&draw(&mut viewer, columns, rows));
        assert!(before.abs_diff(after) < 20, "{columns}x{rows}: {before} became {after}");
    }
}

#[test]
fn both_ends_hold() {
    let mut viewer = Viewer::new(ItemStyle::new(Theme::plain()), LONG);
    let end = shown(&mut viewer, &long);
    viewer.update(&Input::Action(Action::SelectPageDown), &long);
    assert_eq!(shown(&mut viewer, &long), end);
    viewer.update(&Input::Action(Action::SelectFirst), &long);
    viewer.update(&Input::Action(Action::SelectUp), &long);
    assert!(shown(&mut viewer, &long).starts_with("message 0\n"));
    viewer.update(&Input::Action(Action::SelectLast), &long);
    assert_eq!(shown(&mut viewer, &long), end);
    assert!(viewer.update(&Input::Action(Action::SelectCancel), &long));
}
