//! An open selector follows the session by itself.

use super::*;

const BEFORE: &str = "
    u1 user one
    a1<u1 assistant two
    u2<a1 user three
    a2<u2 assistant four
    u3<a1 user five
";
const AFTER: &str = "
    u1 user one
    a1<u1 assistant two
    u2<a1 user three
    a2<u2 assistant four
    u3<a1 user five
    a3<u3 assistant six
    c1<a3 compaction keep=u3 a summary
";

#[test]
fn an_answer_and_a_compaction_get_their_rows_and_the_mark() {
    let mut bench = Bench::new(BEFORE);
    assert!(bench.shown().contains("user: five ← active"), "{}", bench.shown());
    let shown = bench.append(AFTER);
    assert!(shown.contains("assistant: six"), "{shown}");
    assert!(!shown.contains("user: five ← active"), "{shown}");
    let active: Vec<&str> = shown.lines().filter(|line| line.contains("← active")).collect();
    assert!(matches!(active.as_slice(), [row] if row.contains("[compaction")), "{shown}");
    assert!(shown.contains("7 entries"), "{shown}");
}

#[test]
fn cursor_folds_filter_and_search_stay() {
    let mut bench = Bench::new(BEFORE);
    bench.select("u2").press(&[Action::TreeFold]);
    assert_eq!(bench.rows(), "u1 a1 u3 u2");
    bench.append(AFTER);
    assert_eq!((bench.selected().as_str(), bench.rows().as_str()), ("u2", "u1 a1 u3 a3 c1 u2"));

    let mut bench = Bench::filtered(BEFORE, Filter::UserOnly);
    bench.select("u1");
    bench.append(AFTER);
    assert_eq!((bench.selected().as_str(), bench.rows().as_str()), ("u1", "u1 u3 u2"));

    let mut bench = Bench::new(BEFORE);
    bench.type_keys("assistant");
    bench.select("a2");
    bench.append(AFTER);
    assert!(bench.tree.is_searching(), "the new entries are searched, too");
    while bench.tree.search_step(&bench.session, 1) {}
    assert_eq!((bench.tree.query(), bench.selected().as_str()), ("assistant", "a2"));
    assert_eq!(bench.rows(), "a1 a3 a2");
}

#[test]
fn a_key_acts_on_the_session_of_now() {
    let mut bench = Bench::new(BEFORE);
    bench.session = Session::from_bytes(session_text(AFTER)).unwrap();
    assert_eq!(bench.press(&[Action::SelectDown]).selected(), "a3");
}

#[test]
fn a_label_that_is_being_typed_survives() {
    let mut bench = Bench::new(BEFORE);
    bench.press(&[Action::TreeEditLabel]).type_keys("chec");
    let shown = bench.append(AFTER);
    assert!(shown.contains("chec"), "{shown}");
}
