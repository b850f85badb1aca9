//! Queries.

use super::*;

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
    assert_eq!(changed_query("a", &Input::Paste("x".repeat(MAX_QUERY))), None);
}
