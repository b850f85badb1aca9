use super::*;

#[test]
fn keys_are_spelled_as_terminals_do() {
    let key = |code, held| spelled(&Event::Key(KeyEvent::new(code, held))).unwrap();
    assert_eq!(key(KeyCode::Char('a'), KeyModifiers::NONE), "a");
    assert_eq!(key(KeyCode::Char('C'), KeyModifiers::CONTROL), "\x03");
    assert_eq!(key(KeyCode::Char('b'), KeyModifiers::ALT), "\x1bb");
    assert_eq!(key(KeyCode::Up, KeyModifiers::NONE), "\x1b[A");
    assert_eq!(key(KeyCode::Left, KeyModifiers::CONTROL), "\x1b[1;5D");
    assert_eq!(key(KeyCode::Enter, KeyModifiers::SHIFT), "\x1b[13;2u");
    assert_eq!(key(KeyCode::PageDown, KeyModifiers::NONE), "\x1b[6~");
    assert_eq!(spelled(&Event::Paste("x".into())).as_deref(), Some("\x1b[200~x\x1b[201~"));
    assert_eq!(spelled(&Event::FocusLost), None);
}
