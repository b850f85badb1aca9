//! The outcomes of navigation in the table of engine.md, each with its final event.

use offshoot_agent::agent::{NavigateRequest, NavigationResult, SummaryRequest};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{Applied, CancelledBy};
use offshoot_agent::hooks::Hooks;
use serde_json::json;

use super::{TestAgent, answering, refusing};
use crate::support::{Reply, refused};

/// U1 A2 U3 A4 U5 A6.
const TALK: &str = "
    u1 user first
    a2<u1 assistant one
    u3<a2 user second
    a4<u3 assistant two
    u5<a4 user third
    a6<u5 assistant three
";

async fn go(test: &mut TestAgent, target: &str, summary: SummaryRequest) -> NavigationResult {
    let request = NavigateRequest { target: target.into(), summary, label: None };
    test.agent.navigate_tree(&request, &Cancel::new()).await.unwrap().done().unwrap_or_default()
}

#[tokio::test]
async fn every_navigation_ends_with_one_event_with_the_outcome() {
    let mut test = TestAgent::draw(TALK, vec![Reply::Fails("", refused()), Reply::Hangs("")]);
    let end = |test: &TestAgent| test.event("session_tree_end");
    go(&mut test, "a6", SummaryRequest::Skip).await;
    assert_eq!(end(&test), json!({"type": "session_tree_end", "targetId": "a6", "outcome": "noop"}));
    let unknown = NavigateRequest { target: "nope".into(), ..NavigateRequest::default() };
    test.agent.navigate_tree(&unknown, &Cancel::new()).await.unwrap_err();
    let expected = json!({
        "type": "session_tree_end", "targetId": "nope", "outcome": "failed", "error": "Entry nope not found",
    });
    assert_eq!(end(&test), expected);
    let summed = NavigateRequest { target: "a2".into(), summary: SummaryRequest::Standard, label: None };
    test.agent.navigate_tree(&summed, &Cancel::new()).await.unwrap_err();
    assert_eq!(end(&test)["outcome"], "failed");
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let stopper = tokio::spawn(async move { stop.cancel() });
    test.agent.navigate_tree(&summed, &cancel).await.unwrap();
    stopper.await.unwrap();
    assert_eq!(end(&test)["outcome"], "aborted");
    assert_eq!((test.leaf().as_deref(), test.appended(TALK).len()), (Some("a6"), 0));
    go(&mut test, "a2", SummaryRequest::Skip).await;
    assert_eq!(end(&test)["outcome"], "navigated");

    let mut test = TestAgent::with_hooks(TALK, vec![], refusing("session_before_tree"));
    go(&mut test, "a2", SummaryRequest::Skip).await;
    assert_eq!(end(&test)["outcome"], "cancelled");
    assert_eq!(test.events(), ["session_tree_end"], "who comes behind the one that cancels is not asked");
}

#[tokio::test]
async fn a_summary_hangs_below_the_parent_of_a_prompt_or_below_an_answer() {
    for (target, parent, text) in
        [("u1", json!(null), Some("first")), ("u3", json!("a2"), Some("second")), ("a2", json!("a2"), None)]
    {
        let mut test = TestAgent::draw(TALK, vec![Reply::Text("told")]);
        let result = go(&mut test, target, SummaryRequest::Standard).await;
        assert_eq!(result.editor_text.as_deref(), text);
        let [entry] = &test.appended(TALK)[..] else { panic!("one entry") };
        assert_eq!((&entry["type"], &entry["parentId"]), (&json!("branch_summary"), &parent));
        assert_eq!(test.leaf().as_deref(), entry["id"].as_str());
        assert_eq!(test.event("session_tree")["summaryEntry"]["id"], entry["id"]);
        assert_eq!(test.event("session_tree")["fromExtension"], false);
    }
}

#[tokio::test]
async fn bookkeeping_entries_are_not_summarised() {
    let drawing = "a user hi\nb<a assistant yes\nc<b label a x\nd<c model p/m\ne<d thinking high";
    let mut test = TestAgent::draw(drawing, vec![]);
    // The label makes it a position, separate from its effective entry.
    let result = go(&mut test, "a", SummaryRequest::Skip).await;
    assert!(result.moved);
    let mut test = TestAgent::at(&format!("{drawing}\nf<b user more"), "e", vec![]);
    let result = go(&mut test, "f", SummaryRequest::Standard).await;
    assert_eq!((result.summary_entry, result.editor_text.as_deref()), (None, Some("more")));
    assert!(test.model.requests().is_empty());
}

#[tokio::test]
async fn a_summary_of_an_extension_counts_even_if_nothing_is_left_and_an_empty_one_does_not() {
    let hooks = |text: &str| answering("session_before_tree", json!({"summary": {"summary": text}}));
    let mut test = TestAgent::with_hooks(TALK, vec![], hooks("by me"));
    test.agent.session().branch("a2").unwrap();
    let result = go(&mut test, "a6", SummaryRequest::Standard).await;
    assert!(result.summary_entry.is_some());
    assert_eq!(test.event("session_tree")["fromExtension"], true);

    let mut test = TestAgent::with_hooks(TALK, vec![], hooks(""));
    let result = go(&mut test, "a2", SummaryRequest::Standard).await;
    assert_eq!((result.summary_entry, test.leaf().as_deref()), (None, Some("a2")));
    assert_eq!(test.appended(TALK), [json!(null); 0]);
    assert_eq!(test.event("session_tree").get("summaryEntry"), None);
}

#[tokio::test]
async fn a_note_is_not_replaced_by_an_extension() {
    let hooks =
        answering("session_before_tree", json!({"summary": {"summary": "theirs"}, "summarize": false}));
    let mut test = TestAgent::with_hooks(TALK, vec![], hooks);
    go(&mut test, "a2", SummaryRequest::Note("mine".into())).await;
    assert_eq!(test.appended(TALK)[0]["summary"], "mine");
}

#[tokio::test]
async fn an_extension_changes_label_and_instructions_and_whether_there_is_a_summary() {
    let answer = json!({"customInstructions": "ONLY", "replaceInstructions": true, "label": "theirs"});
    let mut test =
        TestAgent::with_hooks(TALK, vec![Reply::Text("told")], answering("session_before_tree", answer));
    let request = NavigateRequest {
        target: "a2".into(),
        summary: SummaryRequest::Focus("mine".into()),
        label: Some("mine".into()),
    };
    test.agent.navigate_tree(&request, &Cancel::new()).await.unwrap();
    assert!(test.model.requests()[0].messages[0].text().ends_with("</conversation>\n\nONLY"));
    let [summary, label] = &test.appended(TALK)[..] else { panic!("two entries") };
    assert_eq!((&label["targetId"], &label["label"]), (&summary["id"], &json!("theirs")));
    assert_eq!(test.leaf().as_deref(), label["id"].as_str());
    let expected = json!({
        "type": "session_label", "targetId": summary["id"], "label": "theirs", "previous": null,
    });
    assert_eq!(test.event("session_label"), expected);

    let hooks = answering("session_before_tree", json!({"summarize": true}));
    let mut test = TestAgent::with_hooks(TALK, vec![Reply::Text("told")], hooks);
    assert!(go(&mut test, "a2", SummaryRequest::Skip).await.summary_entry.is_some());
    let hooks = answering("session_before_tree", json!({"summarize": false}));
    let mut test = TestAgent::with_hooks(TALK, vec![], hooks);
    assert_eq!(go(&mut test, "a2", SummaryRequest::Standard).await.summary_entry, None);
}

#[tokio::test]
async fn a_label_without_a_summary_goes_onto_the_target_and_becomes_the_leaf() {
    let mut test = TestAgent::draw(TALK, vec![]);
    let request =
        NavigateRequest { target: "u3".into(), summary: SummaryRequest::Skip, label: Some(" here ".into()) };
    test.agent.navigate_tree(&request, &Cancel::new()).await.unwrap();
    let [label] = &test.appended(TALK)[..] else { panic!("one entry") };
    let got = (&label["targetId"], &label["parentId"], &label["label"]);
    assert_eq!(got, (&json!("u3"), &json!("a2"), &json!("here")));
    assert_eq!(test.event("session_tree")["newLeafId"], label["id"]);
    let names = ["session_before_tree", "session_label", "session_tree", "session_tree_end"];
    assert_eq!(test.events(), names);
}

#[tokio::test]
async fn a_prompt_right_below_the_leaf_gives_its_text_and_leaves_the_leaf() {
    let mut test = TestAgent::at(TALK, "a2", vec![]);
    let result = go(&mut test, "u3", SummaryRequest::Skip).await;
    assert_eq!((test.leaf().as_deref(), result.editor_text.as_deref()), (Some("a2"), Some("second")));
    assert!(test.agent.history().behind().is_empty(), "no place was left");
}

#[tokio::test]
async fn a_hook_that_throws_is_skipped_and_reported() {
    let mut hooks = Hooks::new();
    hooks.on("broken", "session_before_tree", |_, _| Box::pin(async { Err("oops".to_owned()) }));
    let test = TestAgent::with_hooks(TALK, vec![], hooks);
    let (watcher, seen) = crate::support::watched();
    let mut agent = test.agent.with_events(watcher);
    let request = NavigateRequest { target: "a2".into(), ..NavigateRequest::default() };
    let applied = agent.navigate_tree(&request, &Cancel::new()).await.unwrap();
    assert!(applied.done().unwrap().moved);
    assert_eq!(*seen.lock().unwrap(), ["extension_error"]);
}

#[tokio::test(start_paused = true)]
async fn a_hanging_extension_cannot_delay_a_cancelled_navigation() {
    let mut hooks = Hooks::new();
    hooks.on("clings", "session_tree_end", |_, _| Box::pin(std::future::pending()));
    let mut test = TestAgent::with_hooks(TALK, vec![], hooks);
    let cancel = Cancel::new();
    cancel.cancel();
    let request = NavigateRequest { target: "a2".into(), ..NavigateRequest::default() };
    let result = test.agent.navigate_tree(&request, &cancel).await.unwrap();
    assert_eq!(result, Applied::Cancelled(CancelledBy::User));
    assert_eq!((test.leaf().as_deref(), test.appended(TALK).len()), (Some("a6"), 0));
}
