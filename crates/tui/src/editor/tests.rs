use super::*;
use crate::screen;

fn typed(text: &str) -> Editor {
    let mut editor = Editor::default();
    for c in text.chars() {
        editor.update(&Input::Char(c));
    }
    editor
}

fn press(editor: &mut Editor, actions: &[Action]) -> bool {
    actions.iter().map(|action| editor.update(&Input::Action(*action))).last().unwrap()
}

#[test]
fn one_backspace_takes_one_letter_however_many_parts_it_has() {
    for letter in ["a", "漢", "e\u{301}", "👩\u{200d}👧", "🇩🇪"] {
        let mut editor = typed("x");
        editor.update(&Input::Paste(letter.to_owned()));
        press(&mut editor, &[Action::DeleteBackward]);
        assert_eq!(editor.text(), "x", "{letter}");
    }
}

#[test]
fn a_backslash_before_enter_makes_a_new_line() {
    let mut editor = typed("one\\");
    assert!(!press(&mut editor, &[Action::Submit]));
    editor.update(&Input::Char('2'));
    assert_eq!(editor.text(), "one\n2");
    assert!(press(&mut editor, &[Action::Submit]));
}

#[test]
fn arrows_at_the_edges_walk_through_the_history_and_back_to_the_draft() {
    let mut editor = Editor::default();
    editor.set_history(vec!["first".into(), "second".into(), "second".into()]);
    editor.set_text("draft");
    press(&mut editor, &[Action::CursorUp]);
    assert_eq!(editor.text(), "second");
    press(&mut editor, &[Action::CursorUp]);
    assert_eq!(editor.text(), "first");
    press(&mut editor, &[Action::CursorUp, Action::CursorDown, Action::CursorDown]);
    assert_eq!(editor.text(), "draft");
}

#[test]
fn what_is_sent_comes_back_from_the_history() {
    let mut editor = typed("hello");
    assert_eq!(editor.take(), "hello");
    assert!(editor.is_blank());
    press(&mut editor, &[Action::CursorUp]);
    assert_eq!(editor.text(), "hello");
}

#[test]
fn a_large_paste_is_a_mark_that_goes_as_a_whole() {
    let paste = "line\n".repeat(40);
    let mut editor = typed("see: ");
    editor.update(&Input::Paste(paste.clone()));
    assert_eq!(editor.shown_text(), "see: [paste #1: 41 lines]");
    assert_eq!(editor.text(), format!("see: {paste}"));
    press(&mut editor, &[Action::DeleteBackward]);
    assert_eq!(editor.text(), "see: ");
}

#[test]
fn pasted_text_never_is_a_key_and_loses_its_control_characters() {
    let mut editor = Editor::default();
    editor.update(&Input::Paste("a\r\nb\x1b[2J\x03".into()));
    assert_eq!(editor.text(), "a\nb[2J");
}

#[test]
fn the_height_follows_the_text_and_the_width() {
    let mut editor = typed("one two three four");
    assert_eq!(editor.height(40), 1);
    assert_eq!(editor.height(10), 2);
    press(&mut editor, &[Action::NewLine]);
    assert_eq!(editor.height(40), 2);
    assert_eq!(Editor::default().height(10), 1);
}

#[test]
fn the_cursor_is_after_the_typed_text() {
    let mut editor = typed("hé漢");
    let area = Rect::new(2, 3, 20, 2);
    let cursor = editor.draw(Theme::plain(), "", area, &mut Buffer::empty(Rect::new(0, 0, 30, 10)));
    assert_eq!(cursor, Position::new(6, 3));
}

#[test]
fn a_text_of_many_lines_shows_as_much_as_fits_with_the_cursor() {
    let mut editor = Editor::default();
    editor.set_text("one\ntwo\nthree\nfour");
    let mut shown = |rows: u16| {
        assert_eq!(editor.height(20), 4);
        screen::text(20, rows, |area, buf| {
            editor.draw(Theme::plain(), "", area, buf);
        })
    };
    assert_eq!(shown(4), "one\ntwo\nthree\nfour\n");
    assert_eq!(shown(2), "three\nfour\n");
    assert_eq!(shown(2), "three\nfour\n");
}
