//! Commands that move the leaf: switch, branch-here, pop, undo, back and forward.

use offshoot_agent::agent::{NavigationResult, SummaryRequest};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{Applied, CancelledBy, MoveRequest, PopRequest};
use serde_json::json;
use session_tree::{Error, Session};

use super::{TestAgent, options, refusing};
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

async fn switch(test: &mut TestAgent, request: &MoveRequest) -> NavigationResult {
    let planned = test.agent.plan_switch(request).unwrap();
    test.agent.go(planned, &Cancel::new()).await.unwrap().done().unwrap()
}

async fn back(test: &mut TestAgent) -> Option<String> {
    let planned = test.agent.plan_back().unwrap();
    test.agent.go(planned, &Cancel::new()).await.unwrap();
    test.leaf()
}

async fn forward(test: &mut TestAgent) -> Option<String> {
    let planned = test.agent.plan_forward().unwrap();
    test.agent.go(planned, &Cancel::new()).await.unwrap();
    test.leaf()
}

#[tokio::test]
async fn switching_goes_to_the_newest_end_below_or_exactly_there_and_writes_nothing() {
    let mut test = TestAgent::draw(TWO, vec![]);
    let result = switch(&mut test, &to("c")).await;
    assert_eq!((test.leaf().as_deref(), result.editor_text), (Some("d"), None));
    let exact = MoveRequest { exact: true, ..to("c") };
    let result = switch(&mut test, &exact).await;
    assert_eq!((test.leaf().as_deref(), result.editor_text), (Some("c"), None));
    switch(&mut test, &to("-")).await;
    assert_eq!(test.leaf().as_deref(), Some("d"));
    let expected = ["session_before_tree", "session_tree", "session_tree_end"].repeat(3);
    assert_eq!(test.events(), expected);
    assert_eq!(test.appended(TWO), [json!(null); 0]);
}

#[tokio::test]
async fn switching_with_a_summary_leaves_it_at_the_end_of_the_other_branch() {
    let mut test = TestAgent::draw(TWO, vec![Reply::Text("## Goal\nGo")]);
    let result = switch(&mut test, &MoveRequest { summary: SummaryRequest::Standard, ..to("c") }).await;
    assert_eq!(result.summary_entry.map(|id| id.to_string()), test.leaf());
    let [entry] = &test.appended(TWO)[..] else { panic!("one entry") };
    assert_eq!((&entry["parentId"], &entry["fromId"]), (&json!("d"), &json!("f")));
    let asked = test.model.asked(0).remove(0);
    assert!(
        asked.starts_with(
            "user: <conversation>\n[User]: Use Go\n\n[Assistant]: go it is\n</conversation>\n\n"
        ),
        "{asked}"
    );
}

#[tokio::test]
async fn branching_here_takes_a_prompt_back_unless_the_entry_itself_is_meant() {
    let mut test = TestAgent::draw(TWO, vec![]);
    let request = MoveRequest { target: "c".into(), ..MoveRequest::default() };
    let planned = test.agent.plan_branch_here(&request).unwrap();
    let result = test.agent.go(planned, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!((test.leaf().as_deref(), result.editor_text.as_deref()), (Some("b"), Some("Use Node")));
    let planned = test.agent.plan_branch_here(&MoveRequest { exact: true, ..request }).unwrap();
    let result = test.agent.go(planned, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!((test.leaf().as_deref(), result.editor_text), (Some("c"), None));
}

#[tokio::test]
async fn a_pop_takes_the_last_prompt_back_and_summarises_its_turn() {
    let mut test = TestAgent::draw(TWO, vec![Reply::Text("## Goal\nGo")]);
    let pop = test.agent.plan_pop(&PopRequest::default()).unwrap();
    let popped = test.agent.go(pop.movement, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(popped.editor_text.as_deref(), Some("Use Go"));
    let [entry] = &test.appended(TWO)[..] else { panic!("one entry") };
    assert_eq!((&entry["type"], &entry["parentId"]), (&json!("branch_summary"), &json!("b")));
    let asked = test.model.asked(0).remove(0);
    assert!(asked.contains("[User]: Use Go\n\n[Assistant]: go it is"), "{asked}");
    assert_eq!(test.context().len(), 3);
}

#[tokio::test]
async fn a_pop_with_a_note_needs_no_model_and_returns_the_prompt() {
    let mut test = TestAgent::draw(TWO, vec![]);
    let request = PopRequest { note: Some("slow".into()), ..PopRequest::default() };
    let pop = test.agent.plan_pop(&request).unwrap();
    let popped = test.agent.go(pop.movement, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(popped.editor_text.as_deref(), Some("Use Go"));
    assert!(test.model.requests().is_empty());
    assert_eq!(test.appended(TWO)[0]["summary"], "slow");
}

#[tokio::test]
async fn a_pop_goes_back_to_the_innermost_push() {
    let mut test = TestAgent::at(TWO, "b", vec![Reply::Text("hm"), Reply::Text("done"), Reply::Text("sum")]);
    let push = test.agent.plan_push(" parser ").unwrap();
    assert_eq!((push.target.as_str(), push.label.as_deref()), ("b", Some("⤓parser")));
    test.agent.label(&push, &Cancel::new()).await.unwrap();
    for text in ["one", "two"] {
        test.agent.prompt(crate::support::prompt(text), &Cancel::new()).await.unwrap();
    }
    let pop = test.agent.plan_pop(&PopRequest::default()).unwrap();
    let popped = test.agent.go(pop.movement, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!((pop.plan.push.as_deref(), popped.editor_text), (Some("parser"), None));
    let summary = test.agent.session().leaf_entry().unwrap().unwrap();
    assert_eq!(summary.parent_id().unwrap(), "b");
    let asked = test.model.asked(2).remove(0);
    assert!(asked.contains("[User]: one") && asked.contains("[User]: two"), "{asked}");
}

#[tokio::test]
async fn a_failed_or_cancelled_pop_changes_nothing() {
    let before = TestAgent::draw(TWO, vec![]).bytes();
    let mut test = TestAgent::draw(TWO, vec![Reply::Hangs("## Go")]);
    let pop = test.agent.plan_pop(&PopRequest::default()).unwrap();
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let stopper = tokio::spawn(async move { stop.cancel() });
    let popped = test.agent.go(pop.movement, &cancel).await.unwrap();
    stopper.await.unwrap();
    assert_eq!(popped, Applied::Cancelled(CancelledBy::User));
    assert_eq!((test.bytes(), test.leaf().as_deref()), (before.clone(), Some("f")));
    assert_eq!(test.events(), ["session_before_tree", "session_tree_end"]);

    let mut test = TestAgent::draw(TWO, vec![Reply::Fails("half", refused())]);
    let pop = test.agent.plan_pop(&PopRequest::default()).unwrap();
    test.agent.go(pop.movement, &Cancel::new()).await.unwrap_err();
    assert_eq!((test.bytes(), test.leaf().as_deref()), (before.clone(), Some("f")));
    assert_eq!(test.event("session_tree_end")["outcome"], "failed");

    let mut test = TestAgent::with_hooks(TWO, vec![], refusing("session_before_tree"));
    let pop = test.agent.plan_pop(&PopRequest::default()).unwrap();
    let popped = test.agent.go(pop.movement, &Cancel::new()).await.unwrap();
    assert_eq!(popped, Applied::Cancelled(CancelledBy::Hook("guard".into())));
    assert_eq!((test.bytes(), test.leaf().as_deref()), (before, Some("f")));
}

#[tokio::test]
async fn an_undo_takes_the_last_prompt_back_and_can_be_reverted() {
    let mut test = TestAgent::draw(TWO, vec![]);
    let undo = test.agent.plan_undo().unwrap();
    let undone = test.agent.go(undo, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(undone.editor_text.as_deref(), Some("Use Go"));
    assert_eq!(test.leaf().as_deref(), Some("b"));
    assert_eq!(test.appended(TWO), [json!(null); 0]);
    assert_eq!(back(&mut test).await.as_deref(), Some("f"));

    // A prompt without an answer is taken back too, even the first one.
    let mut test = TestAgent::draw("a user hello", vec![]);
    let undo = test.agent.plan_undo().unwrap();
    let undone = test.agent.go(undo, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!((test.leaf(), undone.editor_text.as_deref()), (None, Some("hello")));
    assert_eq!(test.agent.plan_undo().unwrap_err().to_string(), "there is nothing to take back");
    assert_eq!(back(&mut test).await.as_deref(), Some("a"));
}

#[tokio::test]
async fn back_and_forward_walk_through_the_places_like_a_browser() {
    let mut test = TestAgent::draw(TWO, vec![Reply::Text("more")]);
    assert_eq!(test.agent.plan_back().unwrap_err().to_string(), "there is no place to go back to");
    switch(&mut test, &to("c")).await;
    switch(&mut test, &MoveRequest { exact: true, ..to("a") }).await;
    assert_eq!(back(&mut test).await.as_deref(), Some("d"));
    assert_eq!(back(&mut test).await.as_deref(), Some("f"));
    assert!(test.agent.plan_back().is_err());
    assert_eq!(forward(&mut test).await.as_deref(), Some("d"));
    // Messages appended in between belong to the position.
    test.agent.prompt(crate::support::prompt("and?"), &Cancel::new()).await.unwrap();
    let said = test.leaf();
    assert_eq!(forward(&mut test).await.as_deref(), Some("a"));
    assert_eq!(back(&mut test).await, said);
    // A new move clears the positions ahead.
    switch(&mut test, &to("e")).await;
    assert_eq!(test.agent.plan_forward().unwrap_err().to_string(), "there is no place to go forward to");
    assert_eq!(back(&mut test).await, said);
}

#[tokio::test]
async fn starting_over_in_the_same_file_makes_a_second_root() {
    let mut test = TestAgent::draw(TWO, vec![Reply::Text("hi")]);
    let planned = test.agent.plan_new_here().unwrap();
    test.agent.go(planned, &Cancel::new()).await.unwrap();
    assert_eq!(test.leaf(), None);
    test.agent.prompt(crate::support::prompt("something else"), &Cancel::new()).await.unwrap();
    assert_eq!(test.model.asked(0), ["user: something else"]);
    assert_eq!(test.appended(TWO)[0]["parentId"], json!(null));
    back(&mut test).await;
    assert_eq!(test.context().len(), 4);
}

#[tokio::test]
async fn a_position_is_stored_on_request() {
    let mut test = TestAgent::draw(TWO, vec![]);
    switch(&mut test, &to("c")).await;
    assert_eq!(Session::open_read_only(test.file()).unwrap().leaf_id().unwrap(), "f");
    test.agent.keep_position().unwrap();
    assert_eq!(Session::open_read_only(test.file()).unwrap().leaf_id().unwrap(), "d");
    assert_eq!(test.agent.keep_position().unwrap(), None);
}

#[tokio::test]
async fn a_move_that_was_planned_in_another_session_is_refused() {
    let mut test = TestAgent::draw(TWO, vec![]);
    let planned = test.agent.plan_switch(&to("c")).unwrap();
    let fork = test.agent.plan_clone(None).unwrap();
    test.agent.fork(fork, options(), &Cancel::new()).await.unwrap();
    let error = test.agent.go(planned, &Cancel::new()).await.unwrap_err();
    assert_eq!(error.to_string(), Error::StalePlan.to_string());
}
