//! Moving, paging, filters, turns, and what is wanted with an entry.

use super::*;

#[test]
fn up_and_down_go_around_the_ends_and_pages_stop_there() {
    let mut bench = Bench::new(GREETER);
    bench.press(&[Action::SelectFirst]);
    assert_eq!(bench.selected(), "u1");
    assert_eq!(bench.press(&[Action::SelectUp]).selected(), "a3");
    assert_eq!(bench.press(&[Action::SelectDown]).selected(), "u1");
    assert_eq!(bench.press(&[Action::SelectPageUp]).selected(), "u1");
    assert_eq!(bench.press(&[Action::SelectPageDown, Action::CursorRight]).selected(), "a3");
    assert_eq!(bench.press(&[Action::SelectFirst, Action::SelectLast]).selected(), "a3");
}

#[test]
fn brackets_go_from_branch_to_branch() {
    let mut bench = Bench::new(GREETER);
    assert_eq!(bench.press(&[Action::TreeSiblingNext]).selected(), "u6");
    assert_eq!(bench.press(&[Action::TreeSiblingPrevious]).selected(), "u5");
    assert_eq!(bench.select("s1").press(&[Action::TreeSiblingNext]).selected(), "u2");
}

#[test]
fn a_filter_key_pressed_twice_goes_back_to_the_default() {
    let mut bench = Bench::new(GREETER);
    let default = bench.rows();
    for (key, first_rows) in [
        (Action::TreeFilterUser, "u1 u4 u5 u6 u2 u3"),
        (Action::TreeFilterLabeled, "a1"),
        (Action::TreeFilterTurns, "u1 a1 u4 u5 u6 u2 u3"),
        (Action::TreeFilterBranches, "a1 a4 a5 a6 a2 a3"),
    ] {
        assert_eq!(bench.press(&[key]).rows(), first_rows, "{key:?}");
        assert_eq!(bench.press(&[key]).rows(), default, "{key:?}");
    }
    bench.press(&[Action::TreeFilterAll]);
    assert_eq!(bench.tree.outline.len(), bench.session.tree().len());
    bench.press(&[Action::TreeFilterNext]);
    assert_eq!(bench.tree.filter(), Filter::Turns);
    bench.press(&[Action::TreeFilterPrevious, Action::TreeFilterPrevious]);
    assert_eq!(bench.tree.filter(), Filter::LabeledOnly);
}

#[test]
fn a_turn_opens_to_the_right_and_closes_to_the_left() {
    let mut bench = Bench::filtered(GREETER, Filter::Turns);
    assert_eq!(bench.rows(), "u1 a1 u4 u5 u6 u2 u3");
    bench.select("u5").press(&[Action::CursorRight]);
    assert_eq!((bench.rows().as_str(), bench.selected().as_str()), ("u1 a1 u4 u5 a5 u6 u2 u3", "u5"));
    bench.press(&[Action::SelectDown, Action::CursorLeft]);
    assert_eq!((bench.rows().as_str(), bench.selected().as_str()), ("u1 a1 u4 u5 u6 u2 u3", "u5"));
}

#[test]
fn keys_say_what_is_wanted_with_the_entry_under_the_cursor() {
    let mut bench = Bench::new(GREETER);
    bench.select("u2");
    let id = || "u2".parse_id();
    assert_eq!(bench.act(Action::SelectConfirm), Some(Outcome::Select(id())));
    assert_eq!(bench.act(Action::TreeBranchHere), Some(Outcome::BranchHere(id())));
    assert_eq!(bench.act(Action::TreeMerge), Some(Outcome::Merge(id())));
    assert_eq!(bench.act(Action::TreeExport), Some(Outcome::Export(id())));
    assert_eq!(bench.act(Action::TreeFork), Some(Outcome::Fork(id())));
    assert_eq!(bench.act(Action::TreeCopyId), Some(Outcome::CopyId(id())));
    assert_eq!(bench.act(Action::MessageCopy), Some(Outcome::CopyText(id())));
    assert_eq!(bench.act(Action::TreePick), Some(Outcome::Pick(id())));
    assert_eq!(bench.act(Action::SelectCancel), Some(Outcome::Cancel));
}

#[test]
fn nothing_is_wanted_where_nothing_is_selected() {
    let mut bench = Bench::filtered("u user hi", Filter::LabeledOnly);
    for action in [Action::SelectConfirm, Action::TreeBranchHere, Action::TreePick, Action::TreeEditLabel] {
        assert_eq!(bench.act(action), None, "{action:?}");
    }
    bench.press(&[Action::SelectUp, Action::SelectPageDown, Action::TreeFold, Action::TreeSource]);
    assert!(bench.shown().contains("No entries found"));
    assert!(bench.shown().contains("(0/0) [labeled]"), "{}", bench.shown());
}

#[test]
fn the_source_of_a_summary_can_be_visited() {
    let mut bench = Bench::new(GREETER);
    assert_eq!(bench.select("s1").press(&[Action::TreeSource]).selected(), "a3");
    bench.press(&[Action::TreeSource]);
    assert!(bench.shown().contains("was not picked"), "{}", bench.shown());
}

#[test]
fn an_empty_session_has_no_selector() {
    let session = Session::from_bytes(session_text("")).unwrap();
    assert!(TreeSelector::open(&session, TreeOptions::default()).is_none());
}

#[test]
fn opened_again_everything_is_as_it_was() {
    let mut bench = Bench::new(GREETER);
    bench.press(&[Action::TreeFilterUser, Action::TreeLabelTimes]);
    bench.select("u4").press(&[Action::TreeFold]);
    let before = bench.shown();
    assert_eq!(bench.act(Action::SelectConfirm), Some(Outcome::Select("u4".parse_id())));
    bench.tree.reopen(&bench.session, None);
    assert_eq!(bench.shown(), before);
}

#[test]
fn a_search_survives_a_move() {
    let mut bench = Bench::new(GREETER);
    bench.type_keys("cli").select("a4");
    assert_eq!(bench.act(Action::TreeBranchHere), Some(Outcome::BranchHere("a4".parse_id())));
    bench.session = Session::from_bytes(session_text(&GREETER.replace("m1<a5", "m1<a4"))).unwrap();
    bench.tree.reopen(&bench.session, bench.session.leaf());
    let shown = bench.shown();
    assert_eq!(
        (bench.tree.query(), bench.rows().as_str(), bench.selected().as_str()),
        ("cli", "u1 a1 a4", "a4")
    );
    assert!(shown.contains("Creating Go CLI... ← active"), "{shown}");
}

#[test]
fn entries_that_come_while_it_is_open_get_rows() {
    let mut bench = Bench::new("u user hi");
    let text = session_text("u user hi\na<u assistant hello");
    bench.session = Session::from_bytes(text).unwrap();
    bench.tree.refresh(&bench.session);
    assert_eq!((bench.rows().as_str(), bench.selected().as_str()), ("u a", "u"));
}

/// Spells an id in a test.
trait ParseId {
    fn parse_id(self) -> session_tree::EntryId;
}

impl ParseId for &str {
    fn parse_id(self) -> session_tree::EntryId {
        let session = Session::from_bytes(session_text(GREETER)).unwrap();
        session.tree().id(session.tree().node(self).unwrap())
    }
}
