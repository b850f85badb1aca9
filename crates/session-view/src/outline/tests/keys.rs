//! Selection, folding and jumping: what pi's own tests promise, and what ours adds.

use super::*;

struct Screen {
    session: Session,
    outline: Outline,
    /// The selected entry, remembered through empty lists.
    selected: Option<Node>,
}

impl Screen {
    fn open(session: Session) -> Self {
        let outline = outline(&session, Filter::Default);
        let selected = outline.initial_selection(None);
        Self { session, outline, selected }
    }

    fn filter(&mut self, filter: Filter) {
        self.outline.set_filter(&self.session, filter);
        self.follow();
    }

    fn follow(&mut self) {
        let nearest = self.selected.and_then(|node| self.outline.nearest_visible(node));
        self.selected = nearest.or(self.selected);
    }

    /// The row of the cursor.
    fn at(&self) -> String {
        let shown = self.selected.filter(|node| self.outline.position_of(*node).is_some());
        shown.map_or_else(String::new, |node| self.session.tree().id(node).to_string())
    }

    fn left(&mut self) -> String {
        let step = self.outline.fold_or_up(&self.session, self.selected.unwrap());
        self.take(step)
    }

    fn right(&mut self) -> String {
        let step = self.outline.unfold_or_down(&self.session, self.selected.unwrap());
        self.take(step)
    }

    fn take(&mut self, step: FoldStep) -> String {
        match step {
            FoldStep::Changed => self.follow(),
            FoldStep::Goto(node) => self.selected = Some(node),
        }
        self.at()
    }

    fn down(&mut self) -> String {
        let row = self.outline.position_of(self.selected.unwrap()).unwrap();
        self.selected = self.outline.node((row + 1) % self.outline.len());
        self.at()
    }

    fn is_folded(&self, id: &str) -> bool {
        self.outline.is_folded(self.session.tree().node(id).unwrap())
    }
}

/// `r1-r2-r3-r4`, then a branch `a1..a4` and a branch `b1..b3`; the leaf at `a4`.
fn two_branches() -> Screen {
    let mut draw = Draw::default();
    draw.user("r1", "", "1").assistant("r2", "r1", "2").user("r3", "r2", "3").assistant("r4", "r3", "4");
    draw.user("a1", "r4", "A").assistant("a2", "a1", "A2").user("a3", "a2", "A3").assistant("a4", "a3", "A4");
    draw.user("b1", "r4", "B").assistant("b2", "b1", "B2").user("b3", "b2", "B3");
    Screen::open(draw.session_at("a4"))
}

#[test]
fn a_hidden_leaf_selects_its_nearest_visible_ancestor() {
    for kind in [
        r#""type":"model_change","provider":"p","modelId":"m""#,
        r#""type":"thinking_level_change","thinkingLevel":"high""#,
    ] {
        let mut draw = Draw::default();
        draw.user("u1", "", "1").assistant("a1", "u1", "1").user("u2", "a1", "2").entry("set", "u2", kind);
        let screen = Screen::open(draw.user("u3", "a1", "3").session_at("set"));
        assert_eq!(screen.at(), "u2");
        let rows = all_rows(&screen.outline, &screen.session);
        let marked: Vec<_> = rows.iter().filter(|row| row.leaf_below).map(|row| row.id.as_str()).collect();
        assert_eq!(marked, ["u2"]);
        assert!(rows.iter().all(|row| !row.is_leaf));
    }
}

#[test]
fn switching_to_prompts_selects_the_prompt_of_the_answer_and_stays_there() {
    let mut draw = Draw::default();
    draw.user("u1", "", "1").assistant("a1", "u1", "1").user("u2", "a1", "2");
    let mut screen = Screen::open(draw.user("u3", "a1", "3").session_at("a1"));
    assert_eq!(screen.at(), "a1");
    screen.filter(Filter::UserOnly);
    assert_eq!(screen.at(), "u1");
    screen.filter(Filter::Default);
    assert_eq!(screen.at(), "u1");
}

#[test]
fn an_empty_list_forgets_nothing() {
    let mut screen = two_branches();
    for _ in 0..3 {
        screen.filter(Filter::LabeledOnly);
        assert_eq!((screen.outline.len(), screen.at().as_str()), (0, ""));
        screen.filter(Filter::Default);
        assert_eq!(screen.at(), "a4");
    }
}

#[test]
fn left_goes_to_the_head_of_the_branch_and_folds_it_right_undoes_both() {
    let mut screen = two_branches();
    assert_eq!(screen.left(), "a1");
    assert_eq!(screen.left(), "a1");
    assert!(screen.is_folded("a1"));
    assert_eq!(screen.down(), "b1");
    screen.selected = screen.session.tree().node("a1");
    assert_eq!(screen.right(), "a1");
    assert!(!screen.is_folded("a1"));
    assert_eq!(screen.right(), "a4");
}

#[test]
fn an_inner_fold_survives_an_outer_one() {
    let mut screen = two_branches();
    screen.left();
    screen.left();
    assert_eq!(screen.left(), "r1");
    screen.left();
    assert_eq!(ids(&screen.outline, &screen.session), ["r1"]);
    screen.right();
    assert_eq!(screen.right(), "a1");
    assert!(screen.is_folded("a1"));
}

#[test]
fn each_root_folds_on_its_own() {
    let mut draw = Draw::default();
    draw.user("p1", "", "1").assistant("p2", "p1", "2").user("q1", "", "3").assistant("q2", "q1", "4");
    let mut screen = Screen::open(draw.session_at("p2"));
    assert_eq!(screen.left(), "p1");
    screen.left();
    assert_eq!(screen.down(), "q1");
    assert_eq!(screen.right(), "q2");
    assert!(screen.is_folded("p1"));
}

#[test]
fn a_fold_hides_also_what_hangs_below_hidden_entries() {
    let mut draw = Draw::default();
    draw.user("u1", "", "1").call("c1", "u1", "bash", r#"{"command":"ls"}"#).result("t1", "c1", "bash", "x");
    let mut screen = Screen::open(draw.assistant("a1", "t1", "done").session());
    let root = screen.session.tree().node("u1").unwrap();
    assert!(screen.outline.fold(&screen.session, root));
    assert_eq!(ids(&screen.outline, &screen.session), ["u1"]);
}

#[test]
fn folds_outlive_a_filter_unless_pi_is_asked_for_and_never_a_query() {
    let mut screen = two_branches();
    let (head, session) = (screen.session.tree().node("a1").unwrap(), &screen.session);
    screen.outline.fold(session, head);
    screen.outline.set_filter(session, Filter::UserOnly);
    assert!(screen.outline.is_folded(head));
    screen.outline.set_query(session, "A3").unwrap();
    assert!(!screen.outline.is_folded(head));

    let options = OutlineOptions { filter_unfolds: true, ..OutlineOptions::default() };
    let mut pi = Outline::new(session, options);
    pi.fold(session, head);
    pi.set_filter(session, Filter::All);
    assert!(!pi.is_folded(head));
}

#[test]
fn an_answer_that_only_calls_tools_shows_at_the_leaf_alone() {
    let mut draw = Draw::default();
    draw.user("u1", "", "1").call("c1", "u1", "bash", r#"{"command":"ls"}"#);
    let at_leaf = draw.session();
    assert_eq!(ids(&outline(&at_leaf, Filter::Default), &at_leaf), ["u1", "c1"]);
    let row = all_rows(&outline(&at_leaf, Filter::Default), &at_leaf).pop().unwrap();
    assert_eq!((row.text.as_str(), row.is_leaf), ("assistant: (no content)", true));
    let later = draw.result("t1", "c1", "bash", "x").session();
    assert_eq!(ids(&outline(&later, Filter::Default), &later), ["u1", "t1"]);
    assert_eq!(ids(&outline(&later, Filter::UserOnly), &later), ["u1"]);
}

#[test]
fn brackets_go_from_branch_to_branch() {
    let screen = two_branches();
    let node = |id: &str| screen.session.tree().node(id);
    let next = |id: &str| screen.outline.next_sibling(node(id).unwrap());
    let previous = |id: &str| screen.outline.previous_sibling(node(id).unwrap());
    assert_eq!((next("a1"), previous("b1")), (node("b1"), node("a1")));
    assert_eq!((next("a4"), previous("b3")), (node("b1"), node("a1")));
    assert_eq!((next("b1"), previous("a1"), next("r2")), (None, None, None));
}
