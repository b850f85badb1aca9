//! Cherry-picks: the copied entries, and the changes that extensions may make.

use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{Applied, CancelledBy, CherryPickRequest, CherryPicked};
use offshoot_agent::model::ThinkingLevel;
use offshoot_agent::shared::SharedSession;
use serde_json::json;
use session_tree::Session;
use testkit::drawing::session_text;

use super::{TestAgent, answering, refusing};
use crate::support::Reply;

/// Another branch with a tool, two prompts and settings; the leaf is at `g`.
const TREE: &str = "
    a user Build a CLI
    b<a assistant ok
    c<b user Use channels
    d<c call bash let me see
    e<d tool bash all green
    f<e assistant channels it is
    h<f user And threads?
    i<h thinking high
    g<b user Use goroutines
";

fn quote(what: &str) -> CherryPickRequest {
    CherryPickRequest { what: what.into(), ..CherryPickRequest::default() }
}

fn native(what: &str) -> CherryPickRequest {
    CherryPickRequest { native: true, ..quote(what) }
}

async fn apply(test: &mut TestAgent, request: &CherryPickRequest) -> CherryPicked {
    let planned = test.agent.plan_cherry_pick(None, request).unwrap();
    test.agent.cherry_pick(planned, &Cancel::new()).await.unwrap().done().unwrap()
}

#[tokio::test]
async fn an_answer_is_quoted_with_its_origin_in_the_context() {
    let mut test = TestAgent::draw(TREE, vec![]);
    let request = quote("f");
    let planned = test.agent.plan_cherry_pick(None, &request).unwrap();
    let shown = planned.plan.text();
    assert_eq!(planned.warnings, [""; 0]);
    assert_eq!(test.appended(TREE), [json!(null); 0], "planning writes nothing");
    test.agent.cherry_pick(planned, &Cancel::new()).await.unwrap();
    let [entry] = &test.appended(TREE)[..] else { panic!("one entry") };
    let got = (&entry["type"], &entry["customType"], &entry["parentId"]);
    assert_eq!(got, (&json!("custom_message"), &json!("cherry-pick"), &json!("g")));
    assert_eq!(entry["details"]["sourceEntryIds"], json!(["f"]));
    assert_eq!(test.context().last(), Some(&format!("user: {shown}")));
    assert!(shown.starts_with("Copied from branch Use channels, entry f, "), "{shown}");
    assert!(shown.ends_with("\n\nchannels it is"), "{shown}");

    let before = &test.event("session_before_cherry_pick")["preparation"];
    let got = (&before["targetLeafId"], &before["mode"], &before["sourceEntries"][0]["id"]);
    assert_eq!(got, (&json!("g"), &json!("quote"), &json!("f")));
    let after = test.event("session_cherry_pick");
    assert_eq!(after["entries"][0]["id"], entry["id"]);
    assert_eq!(test.events(), ["session_before_cherry_pick", "session_cherry_pick"]);
}

#[tokio::test]
async fn a_native_copy_of_a_group_gets_new_call_ids_and_runs_nothing() {
    let mut test = TestAgent::draw(TREE, vec![Reply::Text("fine")]);
    let done = apply(&mut test, &native("d")).await;
    assert_eq!(done.entries.len(), 2);
    let [answer, result] = &test.appended(TREE)[..] else { panic!("two entries") };
    let call = &answer["message"]["content"][1];
    assert_eq!((&call["name"], &call["id"]), (&json!("bash"), &result["message"]["toolCallId"]));
    assert!(call["id"].as_str().unwrap().starts_with("pick_"));
    test.agent.prompt(crate::support::prompt("go on"), &Cancel::new()).await.unwrap();
    let roles: Vec<_> = test.model.requests()[0].messages.iter().map(|m| m.role().to_string()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "toolResult", "user"]);
}

#[tokio::test]
async fn entries_of_the_path_are_copied_only_on_request() {
    let test = TestAgent::draw(TREE, vec![]);
    let error = test.agent.plan_cherry_pick(None, &quote("a")).unwrap_err();
    assert_eq!(error.to_string(), "entry a is on the current path already");
    let request = CherryPickRequest { again: true, ..quote("a") };
    assert!(test.agent.plan_cherry_pick(None, &request).is_ok());
}

#[tokio::test]
async fn a_copied_setting_is_applied() {
    let mut test = TestAgent::draw(TREE, vec![]);
    assert_eq!(test.agent.thinking(), ThinkingLevel::Off);
    apply(&mut test, &quote("i")).await;
    assert_eq!(test.agent.thinking(), ThinkingLevel::High);
    assert_eq!(test.appended(TREE)[0]["thinkingLevel"], "high");
    // Only a front end has the list of models.
    let tree = &TREE.replace("g<b", "j<i model far/away\n    g<b");
    let mut test = TestAgent::draw(tree, vec![]);
    let done = apply(&mut test, &quote("j")).await;
    let model = done.model.unwrap();
    assert_eq!((&*model.provider, &*model.model_id), ("far", "away"));
}

#[tokio::test]
async fn an_extension_may_change_mode_and_text_and_add_entries() {
    let answer = json!({
        "mode": "quote", "text": "in short: channels",
        "extraEntries": [
            {"type": "custom", "customType": "todo", "data": {"n": 1}},
            {"type": "message", "message": {"role": "user", "content": "forged"}},
            {"type": "custom"},
        ],
    });
    let test = TestAgent::with_hooks(TREE, vec![], answering("session_before_cherry_pick", answer));
    let (watcher, seen) = crate::support::watched();
    let mut test = TestAgent { agent: test.agent.with_events(watcher), ..test };
    let done = apply(&mut test, &native("f")).await;
    assert_eq!(done.entries.len(), 2);
    let [quote, extra] = &test.appended(TREE)[..] else { panic!("two entries") };
    assert_eq!(
        (&quote["customType"], &quote["content"]),
        (&json!("cherry-pick"), &json!("in short: channels"))
    );
    assert_eq!((&extra["customType"], &extra["data"]), (&json!("todo"), &json!({"n": 1})));
    assert_eq!(seen.lock().unwrap().len(), 2, "what is no entry of an extension is told and left out");
}

#[tokio::test]
async fn a_cancelled_pick_changes_nothing() {
    let mut test = TestAgent::with_hooks(TREE, vec![], refusing("session_before_cherry_pick"));
    let planned = test.agent.plan_cherry_pick(None, &quote("f")).unwrap();
    let done = test.agent.cherry_pick(planned, &Cancel::new()).await.unwrap();
    assert_eq!(done.cancelled_by(), Some(&CancelledBy::Hook("guard".into())));
    assert_eq!((test.appended(TREE).len(), test.leaf().as_deref()), (0, Some("g")));

    let mut test = TestAgent::draw(TREE, vec![]);
    let planned = test.agent.plan_cherry_pick(None, &quote("f")).unwrap();
    let cancel = Cancel::new();
    cancel.cancel();
    let done = test.agent.cherry_pick(planned.clone(), &cancel).await.unwrap();
    assert!(matches!(done, Applied::Cancelled(CancelledBy::User)));
    // A pick planned at another position changes nothing either.
    test.agent.session().branch("b").unwrap();
    test.agent.cherry_pick(planned, &Cancel::new()).await.unwrap_err();
    assert_eq!(test.appended(TREE), [json!(null); 0]);
}

#[tokio::test]
async fn an_undo_takes_a_whole_pick_back() {
    let mut test = TestAgent::draw(TREE, vec![]);
    let request = CherryPickRequest { turn: true, ..native("f") };
    assert_eq!(apply(&mut test, &request).await.entries.len(), 4);
    let undo = test.agent.plan_undo().unwrap();
    let undone = test.agent.go(undo, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!((test.leaf().as_deref(), undone.editor_text), (Some("g"), None));
}

#[tokio::test]
async fn another_session_is_a_source_too() {
    let other = Session::from_bytes(session_text("x user hello\ny<x assistant secret plan")).unwrap();
    let other = SharedSession::new(other);
    let mut test = TestAgent::draw("a user here", vec![]);
    let planned = test.agent.plan_cherry_pick(Some(&other), &quote("y")).unwrap();
    test.agent.cherry_pick(planned, &Cancel::new()).await.unwrap();
    assert!(test.context()[1].ends_with("secret plan"));
    assert_eq!(test.event("session_before_cherry_pick")["preparation"]["sourceSession"]["id"], "ses");
}

#[tokio::test]
async fn a_pick_of_a_quarter_of_the_free_context_warns() {
    let drawing = format!("a user here\nb<a assistant {}\nc<a user there", "word ".repeat(25_000));
    let test = TestAgent::draw(&drawing, vec![]);
    let planned = test.agent.plan_cherry_pick(None, &quote("b")).unwrap();
    assert_eq!(planned.warnings, ["the copy takes more than a quarter of the free context"]);
}
