//! Pops: the new leaf, the abandoned entries and the written lines.

use session_tree::{Error, NewBranchSummary, PopPlan, push_label};

use crate::support::two_branches::{Live, ids};

const FOUR: &str = "
    u1 user one
    a2<u1 assistant two
    u3<a2 user three
    a4<u3 assistant four
";

fn summary(text: &str) -> NewBranchSummary {
    NewBranchSummary { summary: text.into(), ..NewBranchSummary::default() }
}

/// Labels the leaf like a push.
fn push(live: &mut Live, name: &str) {
    let leaf = live.session.leaf_id().unwrap();
    live.session.append_label_change(leaf.as_str(), Some(&push_label(name))).unwrap();
}

fn new_leaf(plan: &PopPlan) -> Option<String> {
    plan.new_leaf().map(ToString::to_string)
}

#[test]
fn a_pop_takes_back_the_last_prompt_and_leaves_a_summary_of_it() {
    let mut live = Live::draw(FOUR);
    let plan = live.session.plan_pop(None).unwrap();
    assert_eq!(new_leaf(&plan).as_deref(), Some("a2"));
    assert_eq!(plan.prompt(), Some("three"));
    assert_eq!(ids(&live.session, plan.abandoned()), ["u3", "a4"]);
    assert!(plan.navigation.can_summarize);
    let done = live.session.apply_pop(&plan, &summary("tried three")).unwrap();
    let written = live.json(&done.summary_entry.unwrap());
    assert_eq!((&written["parentId"], &written["fromId"]), (&"a2".into(), &"a4".into()));
    let said = live.llm();
    assert_eq!(said.len(), 3);
    assert!(said[2].contains("<summary>\ntried three</summary>"), "{}", said[2]);
}

#[test]
fn a_prompt_without_an_answer_is_taken_back_too() {
    let mut live = Live::draw("u1 user one\na2<u1 assistant two\nu3<a2 user three");
    let plan = live.session.plan_pop(None).unwrap();
    assert_eq!((new_leaf(&plan).as_deref(), plan.prompt()), (Some("a2"), Some("three")));
    assert_eq!(ids(&live.session, plan.abandoned()), ["u3"]);
    live.session.apply_pop(&plan, &summary("nothing came of it")).unwrap();
    assert_eq!(live.llm().len(), 3);
}

#[test]
fn a_pop_to_an_entry_follows_the_rules_of_selection() {
    let live = Live::draw(FOUR);
    let to_root = live.session.plan_pop(Some(live.node("u1"))).unwrap();
    assert_eq!((to_root.new_leaf(), to_root.prompt()), (None, Some("one")));
    assert_eq!(to_root.abandoned().len(), 4);
    let to_answer = live.session.plan_pop(Some(live.node("a2"))).unwrap();
    assert_eq!((new_leaf(&to_answer).as_deref(), to_answer.prompt()), (Some("a2"), None));
    assert!(live.session.plan_pop(Some(live.node("a4"))).unwrap().navigation.is_noop);
}

#[test]
fn pops_return_to_pushes_from_the_inside_out_and_then_turn_by_turn() {
    let mut live = Live::at(FOUR, "a2");
    push(&mut live, "outer");
    live.say("work");
    push(&mut live, "inner");
    live.say("detail");

    let inner = live.session.plan_pop(None).unwrap();
    assert_eq!((inner.push.as_deref(), inner.prompt()), (Some("inner"), None));
    assert_eq!(inner.abandoned().len(), 2, "the label and the detail");
    let back = live.session.apply_pop(&inner, &summary("did the detail")).unwrap();
    let outer = live.session.plan_pop(None).unwrap();
    assert_eq!((outer.push.as_deref(), new_leaf(&outer).as_deref()), (Some("outer"), Some("a2")));
    live.session.apply_pop(&outer, &summary("did the work")).unwrap();
    let next = live.session.plan_pop(None).unwrap();
    assert_eq!((next.push, next.navigation.editor_text.as_deref()), (None, Some("one")));

    // Work after a return does not belong to the push.
    live.session.branch(back.summary_entry.unwrap().as_str()).unwrap();
    live.say("more work");
    assert_eq!(live.session.plan_pop(None).unwrap().push.as_deref(), Some("outer"));
}

#[test]
fn a_push_with_nothing_after_it_is_not_where_a_pop_goes() {
    let mut live = Live::draw(FOUR);
    push(&mut live, "here");
    let plan = live.session.plan_pop(None).unwrap();
    assert_eq!((plan.push.as_deref(), plan.prompt()), (None, Some("three")));
}

#[test]
fn without_a_prompt_there_is_nothing_to_pop_and_a_stale_plan_is_refused() {
    let mut empty = Live::draw("m model prov/mod");
    assert!(matches!(empty.session.plan_pop(None), Err(Error::NothingToPop)));
    empty.session.reset_leaf();
    assert!(matches!(empty.session.plan_pop(None), Err(Error::NothingToPop)));

    let mut live = Live::draw(FOUR);
    let plan = live.session.plan_pop(None).unwrap();
    live.say("more");
    let refused = live.session.apply_pop(&plan, &summary("late"));
    assert!(matches!(refused, Err(Error::StalePlan)), "{refused:?}");
}
