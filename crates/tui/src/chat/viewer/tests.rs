use super::*;
use crate::chat::highlight::Plain;
use crate::screen;
use crate::theme::Theme;
use std::cell::RefCell;

/// Ten thousand entries; notes which were asked for.
struct Long(RefCell<Vec<usize>>);

impl Pages for Long {
    fn len(&self) -> usize {
        10_000
    }

    fn items(&self, at: usize) -> Vec<Item> {
        self.0.borrow_mut().push(at);
        vec![Item::Text(format!("message {at}"))]
    }
}

fn shown(viewer: &mut Viewer, pages: &dyn Pages) -> String {
    screen::text(40, 7, |area, buf| viewer.draw(&Keymap::default(), pages, area, buf))
}

#[test]
fn a_long_path_opens_at_its_end_and_reads_only_what_shows() {
    let pages = Long(RefCell::default());
    let mut viewer = Viewer::new(Look::new(Theme::plain()), Plain);
    insta::assert_snapshot!(shown(&mut viewer, &pages), @"
    message 9997

    message 9998

    message 9999

     ↑ up · Esc close           10000/10000
    ");
    viewer.update(&Input::Action(Action::SelectUp), &pages);
    viewer.update(&Input::Action(Action::SelectPageUp), &pages);
    assert!(shown(&mut viewer, &pages).starts_with("message 9994\n"));
    assert!(pages.0.borrow().iter().all(|at| *at >= 9_990));
}

/// Two entries of many rows.
struct Tall;

impl Pages for Tall {
    fn len(&self) -> usize {
        2
    }

    fn items(&self, at: usize) -> Vec<Item> {
        let words: Vec<String> = (0..200).map(|n| format!("word{at}.{n}")).collect();
        vec![Item::Text(words.join(" "))]
    }
}

#[test]
fn a_change_of_size_keeps_the_place() {
    let draw = |viewer: &mut Viewer, columns, rows| {
        screen::text(columns, rows, |area, buf| viewer.draw(&Keymap::default(), &Tall, area, buf))
    };
    let mut viewer = Viewer::new(Look::new(Theme::plain()), Plain);
    for (columns, rows) in [(40, 7), (20, 7), (20, 12), (80, 5), (40, 7)] {
        let shown = draw(&mut viewer, columns, rows);
        assert!(shown.contains("word1.199"), "{columns}x{rows}: {shown}");
    }
    // In the middle of an entry the text at the top stays about the same.
    viewer.update(&Input::Action(Action::SelectPageUp), &Tall);
    viewer.update(&Input::Action(Action::SelectPageUp), &Tall);
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
    let pages = Long(RefCell::default());
    let mut viewer = Viewer::new(Look::new(Theme::plain()), Plain);
    let end = shown(&mut viewer, &pages);
    viewer.update(&Input::Action(Action::SelectPageDown), &pages);
    assert_eq!(shown(&mut viewer, &pages), end);
    viewer.update(&Input::Action(Action::SelectFirst), &pages);
    viewer.update(&Input::Action(Action::SelectUp), &pages);
    assert!(shown(&mut viewer, &pages).starts_with("message 0\n"));
    viewer.update(&Input::Action(Action::SelectLast), &pages);
    assert_eq!(shown(&mut viewer, &pages), end);
    assert!(viewer.update(&Input::Action(Action::SelectCancel), &pages));
}
