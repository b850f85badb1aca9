//! Keys as terminals send them and as files spell them.

use super::*;

fn sent(code: KeyCode, modifiers: KeyModifiers) -> Option<Chord> {
    Chord::of(&KeyEvent::new(code, modifiers))
}

#[test]
fn a_chord_is_the_same_however_the_terminal_spells_it() {
    let capital = Chord::parse("shift+l");
    assert_eq!(sent(KeyCode::Char('L'), KeyModifiers::SHIFT), capital);
    assert_eq!(sent(KeyCode::Char('L'), KeyModifiers::NONE), capital);
    assert_eq!(sent(KeyCode::Char('l'), KeyModifiers::SHIFT), capital);
    assert_eq!(sent(KeyCode::BackTab, KeyModifiers::NONE), Chord::parse("shift+tab"));
    assert_eq!(sent(KeyCode::Char('?'), KeyModifiers::SHIFT), Chord::parse("?"));
    let ctrl_o = KeyModifiers::CONTROL | KeyModifiers::SHIFT;
    assert_eq!(sent(KeyCode::Char('O'), ctrl_o), Chord::parse("shift+ctrl+o"));
}

#[test]
fn what_is_shown_can_be_read_by_a_person() {
    let shown = |text: &str| Chord::parse(text).map(|chord| chord.to_string());
    assert_eq!(shown("ctrl+left").as_deref(), Some("Ctrl+←"));
    assert_eq!(shown("shift+alt+o").as_deref(), Some("Alt+Shift+O"));
    assert_eq!(shown("escape").as_deref(), Some("Esc"));
    assert_eq!(shown("f2").as_deref(), Some("F2"));
    assert_eq!(shown("ctrl++").as_deref(), Some("Ctrl++"));
    assert_eq!(shown("]").as_deref(), Some("]"));
}

#[test]
fn nonsense_is_no_chord() {
    for text in ["", "ctrl+", "hyper+x", "ctrl+banana", "f0", "f99", "\u{7}"] {
        assert_eq!(Chord::parse(text), None, "{text:?}");
    }
}

#[test]
fn only_plain_and_shifted_characters_are_typed() {
    let typed = |code, modifiers| typed(&KeyEvent::new(code, modifiers));
    for c in ['ẞ', 'İ', 'L', 'ǅ', '\u{212a}', '\u{2126}', '\u{212b}', 'ß', '?', '漢', ' '] {
        assert_eq!(typed(KeyCode::Char(c), KeyModifiers::SHIFT), Some(c));
    }
    for c in ['ß', 'é', 'l', 'L', 'ẞ', 'ı', 'ſ'] {
        assert_eq!(typed(KeyCode::Char(c), KeyModifiers::NONE), Some(c));
    }
    assert_eq!(typed(KeyCode::Char('l'), KeyModifiers::SHIFT), Some('L'));
    assert_eq!(typed(KeyCode::Char('l'), KeyModifiers::CONTROL), None);
    assert_eq!(typed(KeyCode::Enter, KeyModifiers::NONE), None);
}
