//! The conformance vectors of the selector, numbered as in its specification.

use super::*;

const FORK: &str = "
    u1 user one
    a1<u1 assistant two
    u2<a1 user three
    a2<u2 assistant four
    A1<a2 user head A
    A2<A1 assistant A2
    A3<A2 user A3
    A4<A3 assistant end A
    B1<a2 user head B
    B2<B1 assistant B2
    B3<B2 user end B
    m<A4 marker A4
";

#[test]
fn v1_a_leaf_without_a_row_selects_its_nearest_visible_ancestor() {
    for settings in ["model p/m", "thinking high"] {
        let bench = Bench::new(&format!(
            "u1 user a
             a1<u1 assistant b
             u2<a1 user c
             u3<a1 user d
             x<u2 {settings}"
        ));
        assert_eq!(bench.selected(), "u2", "{settings}");
    }
}

#[test]
fn v2_a_filter_moves_the_cursor_to_an_ancestor_and_back_keeps_it_there() {
    let mut bench = Bench::new(FORK);
    assert_eq!(bench.selected(), "A4");
    bench.press(&[Action::TreeFilterUser]);
    assert_eq!(bench.selected(), "A3");
    bench.press(&[Action::TreeFilterDefault]);
    assert_eq!(bench.selected(), "A3");
}

#[test]
fn v3_nothing_to_select_is_remembered_through() {
    let mut bench = Bench::new(FORK);
    for _ in 0..3 {
        bench.press(&[Action::TreeFilterLabeled]);
        assert_eq!(bench.selected(), "-");
        bench.press(&[Action::TreeFilterLabeled]);
        assert_eq!(bench.selected(), "A4");
    }
}

#[test]
fn v4_folding_and_jumping_between_segments() {
    let mut bench = Bench::new(FORK);
    assert_eq!(bench.press(&[Action::TreeFold]).selected(), "A1");
    bench.press(&[Action::TreeFold]);
    assert_eq!((bench.selected().as_str(), bench.rows().as_str()), ("A1", "u1 a1 u2 a2 A1 B1 B2 B3"));
    assert_eq!(bench.press(&[Action::SelectDown]).selected(), "B1");
    assert_eq!(bench.press(&[Action::SelectUp, Action::TreeUnfold]).selected(), "A1");
    assert_eq!(bench.rows(), "u1 a1 u2 a2 A1 A2 A3 A4 B1 B2 B3");
    assert_eq!(bench.press(&[Action::TreeUnfold]).selected(), "A4");
}

#[test]
fn v5_a_fold_inside_a_folded_root_survives() {
    let mut bench = Bench::new(FORK);
    bench.press(&[Action::TreeFold, Action::TreeFold, Action::TreeFold]);
    assert_eq!(bench.selected(), "u1");
    bench.press(&[Action::TreeFold]);
    assert_eq!(bench.rows(), "u1");
    bench.press(&[Action::TreeUnfold, Action::TreeUnfold]);
    assert_eq!((bench.selected().as_str(), bench.rows().as_str()), ("A1", "u1 a1 u2 a2 A1 B1 B2 B3"));
}

#[test]
fn v6_two_roots_fold_one_by_one() {
    let mut bench = Bench::new(
        "p1 user one
         p2<p1 assistant two
         q1 user three
         q2<q1 assistant four
         m<p2 marker p2",
    );
    assert_eq!(bench.selected(), "p2");
    assert_eq!(bench.press(&[Action::TreeFold]).selected(), "p1");
    assert_eq!(bench.press(&[Action::TreeFold]).rows(), "p1 q1 q2");
    assert_eq!(bench.press(&[Action::SelectDown]).selected(), "q1");
    assert_eq!(bench.press(&[Action::TreeUnfold]).selected(), "q2");
    assert_eq!(bench.rows(), "p1 q1 q2");
}

#[test]
fn v7_a_fold_hides_what_hangs_below_hidden_entries() {
    let mut bench = Bench::new(
        "u user go
         c<u call bash
         r<c tool bash files
         a<r assistant done",
    );
    assert_eq!(bench.rows(), "u r a");
    bench.press(&[Action::TreeFold, Action::TreeFold]);
    assert_eq!((bench.selected().as_str(), bench.rows().as_str()), ("u", "u"));
}

#[test]
fn v8_typing_unfolds_and_in_pi_mode_a_filter_does_too() {
    let options = TreeOptions { filter_unfolds: true, ..TreeOptions::default() };
    let mut pi = Bench::with(FORK, options);
    pi.press(&[Action::TreeFold, Action::TreeFold, Action::TreeFilterAll, Action::TreeFilterAll]);
    assert_eq!(pi.rows(), "u1 a1 u2 a2 A1 A2 A3 A4 B1 B2 B3");
    let mut ours = Bench::new(FORK);
    ours.press(&[Action::TreeFold, Action::TreeFold, Action::TreeFilterUser, Action::TreeFilterUser]);
    assert_eq!(ours.rows(), "u1 a1 u2 a2 A1 B1 B2 B3");
    ours.type_keys("e").press(&[Action::DeleteBackward]);
    assert_eq!(ours.rows(), "u1 a1 u2 a2 A1 A2 A3 A4 B1 B2 B3");
}

#[test]
fn v9_alt_arrows_equal_ctrl_arrows() {
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
    let bench = Bench::new(FORK);
    for code in [KeyCode::Left, KeyCode::Right] {
        let input =
            |modifiers| bench.tree.input(&Keymap::default(), &Event::Key(KeyEvent::new(code, modifiers)));
        assert_eq!(input(KeyModifiers::ALT), input(KeyModifiers::CONTROL));
        assert!(matches!(
            input(KeyModifiers::ALT),
            Some(Input::Action(Action::TreeFold | Action::TreeUnfold))
        ));
    }
}

#[test]
fn v10_a_leaf_that_only_calls_tools_has_a_row() {
    let mut bench = Bench::new(
        "u user go
         c<u call bash",
    );
    assert_eq!((bench.rows().as_str(), bench.selected().as_str()), ("u c", "c"));
    assert!(bench.shown().contains("assistant: (no content) ← active"), "{}", bench.shown());
}
