//! One line of text, and queries.

use super::*;
use crate::screen;

fn press(line: &mut LineInput, actions: &[Action]) {
    for action in actions {
        assert!(line.update(&Input::Action(*action)), "{action:?}");
    }
}

#[test]
fn one_backspace_takes_one_letter_however_many_parts_it_has() {
    for letter in ["a", "漢", "e\u{301}", "👩\u{200d}👧", "🇩🇪"] {
        let mut line = LineInput::new(&format!("x{letter}"));
        press(&mut line, &[Action::DeleteBackward]);
        assert_eq!(line.text(), "x");
    }
}

#[test]
fn a_query_grows_and_shrinks_by_letters_and_words() {
    let press = |query, action| changed_query(query, &Input::Action(action));
    for letter in ["a", "漢", "e\u{301}", "👩\u{200d}👧", "🇩🇪"] {
        assert_eq!(press(letter, Action::DeleteBackward).as_deref(), Some(""));
    }
    assert_eq!(press("one two ", Action::DeleteWordBackward).as_deref(), Some("one "));
    assert_eq!(press("", Action::DeleteBackward), None);
    assert_eq!(press("a", Action::SelectConfirm), None);
    assert_eq!(changed_query("a", &Input::Char('b')).as_deref(), Some("ab"));
    assert_eq!(changed_query("a", &Input::Paste("\nb\x1b".into())).as_deref(), Some("a b"));
    assert_eq!(changed_query("", &Input::Char(' ')), None);
    assert_eq!(changed_query("a", &Input::Paste("x".repeat(LONGEST_QUERY))), None);
}

#[test]
fn words_and_ends_can_be_reached_and_deleted() {
    let mut line = LineInput::new("one two three");
    press(&mut line, &[Action::CursorWordLeft, Action::DeleteWordBackward]);
    assert_eq!(line.text(), "one three");
    press(&mut line, &[Action::CursorLineStart, Action::DeleteWordForward, Action::DeleteForward]);
    assert_eq!(line.text(), "three");
    press(&mut line, &[Action::CursorRight, Action::DeleteToLineEnd]);
    assert_eq!(line.text(), "t");
    assert!(!line.update(&Input::Action(Action::SelectConfirm)));
}

#[test]
fn pasted_lines_become_one_and_escape_codes_lose_their_teeth() {
    let mut line = LineInput::new("");
    line.update(&Input::Paste("a\r\nb\x1b[2J".into()));
    assert_eq!(line.text(), "a b[2J");
}

#[test]
fn a_long_line_shows_the_place_of_the_cursor() {
    let line = LineInput::new("0123456789abc漢字");
    let shown = screen::text(8, 1, |area, buf| line.draw(Theme::plain(), area, buf));
    assert_eq!(shown, "abc漢字\n");
}
