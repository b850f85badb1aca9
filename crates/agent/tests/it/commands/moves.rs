//! Commands that move the leaf: switch, branch-here, pop, undo, back and forward.

use offshoot_agent::agent::{NavigationResult, SummaryRequest};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{Applied, CancelledBy, MoveRequest, PopRequest};
use serde_json::json;
use session_tree::{Error, Session};

use super::{Desk, options, refusing};
use crate::support::{Reply, refused};

/// Two branches below `b`; the leaf is at the end of the second.
const TWO: &str = "
    a user Build a CLI
    b<a assistant ok
    c<b user Use Node
    d<c assistant node it is
    e<b user Use Go
    f<e assistant go it is
";

fn to(target: &str) -> MoveRequest {
    MoveRequest { target: target.into(), ..MoveRequest::default() }
}

async fn switch(desk: &mut Desk, request: &MoveRequest) -> NavigationResult {
    let planned = desk.agent.plan_switch(request).unwrap();
    desk.agent.go(planned, &Cancel::new()).await.unwrap().done().unwrap()
}

async fn back(desk: &mut Desk) -> Option<String> {
    let planned = desk.agent.plan_back().unwrap();
    desk.agent.go(planned, &Cancel::new()).await.unwrap();
    desk.leaf()
}

async fn forward(desk: &mut Desk) -> Option<String> {
    let planned = desk.agent.plan_forward().unwrap();
    desk.agent.go(planned, &Cancel::new()).await.unwrap();
    desk.leaf()
}

#[tokio::test]
async fn switching_goes_to_the_newest_end_below_or_exactly_there_and_writes_nothing() {
    let mut desk = Desk::draw(TWO, vec![]);
    let result = switch(&mut desk, &to("c")).await;
    assert_eq!((desk.leaf().as_deref(), result.editor_text), (Some("d"), None));
    let exact = MoveRequest { exact: true, ..to("c") };
    let result = switch(&mut desk, &exact).await;
    assert_eq!((desk.leaf().as_deref(), result.editor_text), (Some("c"), None));
    switch(&mut desk, &to("-")).await;
    assert_eq!(desk.leaf().as_deref(), Some("d"));
    let expected = ["session_before_tree", "session_tree", "session_tree_end"].repeat(3);
    assert_eq!(desk.events(), expected);
    assert_eq!(desk.appended(TWO), [json!(null); 0]);
}

#[tokio::test]
async fn switching_with_a_summary_leaves_it_at_the_end_of_the_other_branch() {
    let mut desk = Desk::draw(TWO, vec![Reply::Text("## Goal\nGo")]);
    let result = switch(&mut desk, &MoveRequest { summary: SummaryRequest::Standard, ..to("c") }).await;
    assert_eq!(result.summary_entry.map(|id| id.to_string()), desk.leaf());
    let [entry] = &desk.appended(TWO)[..] else { panic!("one entry") };
    assert_eq!((&entry["parentId"], &entry["fromId"]), (&json!("d"), &json!("f")));
    let asked = desk.model.asked(0).remove(0);
    assert!(
        asked.starts_with(
            "user: <conversation>\n[User]: Use Go\n\n[Assistant]: go it is\n</conversation>\n\n"
        ),
        "{asked}"
    );
}

#[tokio::test]
async fn branching_here_takes_a_prompt_back_unless_the_entry_itself_is_meant() {
    let mut desk = Desk::draw(TWO, vec![]);
    let request = MoveRequest { target: "c".into(), ..MoveRequest::default() };
    let planned = desk.agent.plan_branch_here(&request).unwrap();
    let result = desk.agent.go(planned, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!((desk.leaf().as_deref(), result.editor_text.as_deref()), (Some("b"), Some("Use Node")));
    let planned = desk.agent.plan_branch_here(&MoveRequest { exact: true, ..request }).unwrap();
    let result = desk.agent.go(planned, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!((desk.leaf().as_deref(), result.editor_text), (Some("c"), None));
}

#[tokio::test]
async fn a_pop_takes_the_last_prompt_back_and_tells_of_all_that_it_brought() {
    let mut desk = Desk::draw(TWO, vec![Reply::Text("## Goal\nGo")]);
    let pop = desk.agent.plan_pop(&PopRequest::default()).unwrap();
    let popped = desk.agent.go(pop.movement, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(popped.editor_text.as_deref(), Some("Use Go"));
    let [entry] = &desk.appended(TWO)[..] else { panic!("one entry") };
    assert_eq!((&entry["type"], &entry["parentId"]), (&json!("branch_summary"), &json!("b")));
    let asked = desk.model.asked(0).remove(0);
    assert!(asked.contains("[User]: Use Go\n\n[Assistant]: go it is"), "{asked}");
    assert_eq!(desk.context().len(), 3);
}

#[tokio::test]
async fn a_pop_with_own_words_asks_no_model_and_gives_the_prompt() {
    let mut desk = Desk::draw(TWO, vec![]);
    let request = PopRequest { note: Some("slow".into()), ..PopRequest::default() };
    let pop = desk.agent.plan_pop(&request).unwrap();
    let popped = desk.agent.go(pop.movement, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(popped.editor_text.as_deref(), Some("Use Go"));
    assert!(desk.model.requests().is_empty());
    assert_eq!(desk.appended(TWO)[0]["summary"], "slow");
}

#[tokio::test]
async fn a_pop_goes_back_to_the_innermost_push() {
    let mut desk = Desk::at(TWO, "b", vec![Reply::Text("hm"), Reply::Text("done"), Reply::Text("sum")]);
    let push = desk.agent.plan_push(" parser ").unwrap();
    assert_eq!((push.target.as_str(), push.label.as_deref()), ("b", Some("⤓parser")));
    desk.agent.label(&push, &Cancel::new()).await.unwrap();
    for text in ["one", "two"] {
        desk.agent.prompt(crate::support::prompt(text), &Cancel::new()).await.unwrap();
    }
    let pop = desk.agent.plan_pop(&PopRequest::default()).unwrap();
    let popped = desk.agent.go(pop.movement, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!((pop.plan.push.as_deref(), popped.editor_text), (Some("parser"), None));
    let summary = desk.agent.session().leaf_entry().unwrap().unwrap();
    assert_eq!(summary.parent_id().unwrap(), "b");
    let asked = desk.model.asked(2).remove(0);
    assert!(asked.contains("[User]: one") && asked.contains("[User]: two"), "{asked}");
}

#[tokio::test]
async fn a_pop_that_is_stopped_fails_or_is_not_wanted_changes_nothing() {
    let before = Desk::draw(TWO, vec![]).bytes();
    let mut desk = Desk::draw(TWO, vec![Reply::Hangs("## Go")]);
    let pop = desk.agent.plan_pop(&PopRequest::default()).unwrap();
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let stopper = tokio::spawn(async move { stop.cancel() });
    let popped = desk.agent.go(pop.movement, &cancel).await.unwrap();
    stopper.await.unwrap();
    assert_eq!(popped, Applied::Cancelled(CancelledBy::User));
    assert_eq!((desk.bytes(), desk.leaf().as_deref()), (before.clone(), Some("f")));
    assert_eq!(desk.events(), ["session_before_tree", "session_tree_end"]);

    let mut desk = Desk::draw(TWO, vec![Reply::Fails("half", refused())]);
    let pop = desk.agent.plan_pop(&PopRequest::default()).unwrap();
    desk.agent.go(pop.movement, &Cancel::new()).await.unwrap_err();
    assert_eq!((desk.bytes(), desk.leaf().as_deref()), (before.clone(), Some("f")));
    assert_eq!(desk.event("session_tree_end")["outcome"], "failed");

    let mut desk = Desk::with_hooks(TWO, vec![], refusing("session_before_tree"));
    let pop = desk.agent.plan_pop(&PopRequest::default()).unwrap();
    let popped = desk.agent.go(pop.movement, &Cancel::new()).await.unwrap();
    assert_eq!(popped, Applied::Cancelled(CancelledBy::Hook("guard".into())));
    assert_eq!((desk.bytes(), desk.leaf().as_deref()), (before, Some("f")));
}

#[tokio::test]
async fn an_undo_takes_the_last_prompt_back_and_tells_how_to_come_back() {
    let mut desk = Desk::draw(TWO, vec![]);
    let undo = desk.agent.plan_undo().unwrap();
    let undone = desk.agent.go(undo, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(undone.editor_text.as_deref(), Some("Use Go"));
    assert_eq!(desk.leaf().as_deref(), Some("b"));
    assert_eq!(desk.appended(TWO), [json!(null); 0]);
    assert_eq!(back(&mut desk).await.as_deref(), Some("f"));

    // A prompt that nobody answered is taken back too, and the first one leaves nothing.
    let mut desk = Desk::draw("a user hello", vec![]);
    let undo = desk.agent.plan_undo().unwrap();
    let undone = desk.agent.go(undo, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!((desk.leaf(), undone.editor_text.as_deref()), (None, Some("hello")));
    assert_eq!(desk.agent.plan_undo().unwrap_err().to_string(), "there is nothing to take back");
    assert_eq!(back(&mut desk).await.as_deref(), Some("a"));
}

#[tokio::test]
async fn back_and_forward_walk_through_the_places_like_a_browser() {
    let mut desk = Desk::draw(TWO, vec![Reply::Text("more")]);
    assert_eq!(desk.agent.plan_back().unwrap_err().to_string(), "there is no place to go back to");
    switch(&mut desk, &to("c")).await;
    switch(&mut desk, &MoveRequest { exact: true, ..to("a") }).await;
    assert_eq!(back(&mut desk).await.as_deref(), Some("d"));
    assert_eq!(back(&mut desk).await.as_deref(), Some("f"));
    assert!(desk.agent.plan_back().is_err());
    assert_eq!(forward(&mut desk).await.as_deref(), Some("d"));
    // What is said on the way belongs to the place.
    desk.agent.prompt(crate::support::prompt("and?"), &Cancel::new()).await.unwrap();
    let said = desk.leaf();
    assert_eq!(forward(&mut desk).await.as_deref(), Some("a"));
    assert_eq!(back(&mut desk).await, said);
    // A new move forgets what was ahead.
    switch(&mut desk, &to("e")).await;
    assert_eq!(desk.agent.plan_forward().unwrap_err().to_string(), "there is no place to go forward to");
    assert_eq!(back(&mut desk).await, said);
}

#[tokio::test]
async fn beginning_anew_in_the_same_file_makes_a_second_root() {
    let mut desk = Desk::draw(TWO, vec![Reply::Text("hi")]);
    let planned = desk.agent.plan_new_here().unwrap();
    desk.agent.go(planned, &Cancel::new()).await.unwrap();
    assert_eq!(desk.leaf(), None);
    desk.agent.prompt(crate::support::prompt("something else"), &Cancel::new()).await.unwrap();
    assert_eq!(desk.model.asked(0), ["user: something else"]);
    assert_eq!(desk.appended(TWO)[0]["parentId"], json!(null));
    back(&mut desk).await;
    assert_eq!(desk.context().len(), 4);
}

#[tokio::test]
async fn a_position_is_kept_when_somebody_says_so() {
    let mut desk = Desk::draw(TWO, vec![]);
    switch(&mut desk, &to("c")).await;
    assert_eq!(Session::open_read_only(desk.file()).unwrap().leaf_id().unwrap(), "f");
    desk.agent.keep_position().unwrap();
    assert_eq!(Session::open_read_only(desk.file()).unwrap().leaf_id().unwrap(), "d");
    assert_eq!(desk.agent.keep_position().unwrap(), None);
}

#[tokio::test]
async fn a_move_that_was_planned_in_another_session_is_refused() {
    let mut desk = Desk::draw(TWO, vec![]);
    let planned = desk.agent.plan_switch(&to("c")).unwrap();
    let fork = desk.agent.plan_clone(None).unwrap();
    desk.agent.fork(fork, options(), &Cancel::new()).await.unwrap();
    let error = desk.agent.go(planned, &Cancel::new()).await.unwrap_err();
    assert_eq!(error.to_string(), Error::StalePlan.to_string());
}
