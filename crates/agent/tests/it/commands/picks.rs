//! Cherry-picks: what is copied, and what extensions may change.

use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{Applied, CancelledBy, CherryPickRequest, CherryPicked};
use offshoot_agent::model::ThinkingLevel;
use offshoot_agent::shared::SharedSession;
use serde_json::json;
use session_tree::Session;
use testkit::drawing::session_text;

use super::{Desk, answering, refusing};
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

async fn apply(desk: &mut Desk, request: &CherryPickRequest) -> CherryPicked {
    let planned = desk.agent.plan_cherry_pick(None, request).unwrap();
    desk.agent.cherry_pick(planned, &Cancel::new()).await.unwrap().done().unwrap()
}

#[tokio::test]
async fn an_answer_is_quoted_with_its_origin_and_the_model_reads_so() {
    let mut desk = Desk::draw(TREE, vec![]);
    let request = quote("f");
    let planned = desk.agent.plan_cherry_pick(None, &request).unwrap();
    let shown = planned.plan.text();
    assert_eq!(planned.warnings, [""; 0]);
    assert_eq!(desk.appended(TREE), [json!(null); 0], "planning writes nothing");
    desk.agent.cherry_pick(planned, &Cancel::new()).await.unwrap();
    let [entry] = &desk.appended(TREE)[..] else { panic!("one entry") };
    let got = (&entry["type"], &entry["customType"], &entry["parentId"]);
    assert_eq!(got, (&json!("custom_message"), &json!("cherry-pick"), &json!("g")));
    assert_eq!(entry["details"]["sourceEntryIds"], json!(["f"]));
    assert_eq!(desk.context().last(), Some(&format!("user: {shown}")));
    assert!(shown.starts_with("Copied from branch Use channels, entry f, "), "{shown}");
    assert!(shown.ends_with("\n\nchannels it is"), "{shown}");

    let before = &desk.event("session_before_cherry_pick")["preparation"];
    let got = (&before["targetLeafId"], &before["mode"], &before["sourceEntries"][0]["id"]);
    assert_eq!(got, (&json!("g"), &json!("quote"), &json!("f")));
    let after = desk.event("session_cherry_pick");
    assert_eq!(after["entries"][0]["id"], entry["id"]);
    assert_eq!(desk.events(), ["session_before_cherry_pick", "session_cherry_pick"]);
}

#[tokio::test]
async fn a_native_copy_of_a_group_gets_new_call_ids_and_runs_nothing() {
    let mut desk = Desk::draw(TREE, vec![Reply::Text("fine")]);
    let done = apply(&mut desk, &native("d")).await;
    assert_eq!(done.entries.len(), 2);
    let [answer, result] = &desk.appended(TREE)[..] else { panic!("two entries") };
    let call = &answer["message"]["content"][1];
    assert_eq!((&call["name"], &call["id"]), (&json!("bash"), &result["message"]["toolCallId"]));
    assert!(call["id"].as_str().unwrap().starts_with("pick_"));
    desk.agent.prompt(crate::support::prompt("go on"), &Cancel::new()).await.unwrap();
    let roles: Vec<_> = desk.model.requests()[0].messages.iter().map(|m| m.role().to_string()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "toolResult", "user"]);
}

#[tokio::test]
async fn what_is_on_the_path_already_is_copied_only_on_request() {
    let desk = Desk::draw(TREE, vec![]);
    let error = desk.agent.plan_cherry_pick(None, &quote("a")).unwrap_err();
    assert_eq!(error.to_string(), "entry a is on the current path already");
    let request = CherryPickRequest { again: true, ..quote("a") };
    assert!(desk.agent.plan_cherry_pick(None, &request).is_ok());
}

#[tokio::test]
async fn a_setting_is_set_here_too() {
    let mut desk = Desk::draw(TREE, vec![]);
    assert_eq!(desk.agent.thinking(), ThinkingLevel::Off);
    apply(&mut desk, &quote("i")).await;
    assert_eq!(desk.agent.thinking(), ThinkingLevel::High);
    assert_eq!(desk.appended(TREE)[0]["thinkingLevel"], "high");
    // Which models there are only a front end knows.
    let tree = &TREE.replace("g<b", "j<i model far/away\n    g<b");
    let mut desk = Desk::draw(tree, vec![]);
    let done = apply(&mut desk, &quote("j")).await;
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
    let desk = Desk::with_hooks(TREE, vec![], answering("session_before_cherry_pick", answer));
    let (watcher, seen) = crate::support::watched();
    let mut desk = Desk { agent: desk.agent.with_events(watcher), ..desk };
    let done = apply(&mut desk, &native("f")).await;
    assert_eq!(done.entries.len(), 2);
    let [quote, extra] = &desk.appended(TREE)[..] else { panic!("two entries") };
    assert_eq!(
        (&quote["customType"], &quote["content"]),
        (&json!("cherry-pick"), &json!("in short: channels"))
    );
    assert_eq!((&extra["customType"], &extra["data"]), (&json!("todo"), &json!({"n": 1})));
    assert_eq!(seen.lock().unwrap().len(), 2, "what is no entry of an extension is told and left out");
}

#[tokio::test]
async fn a_pick_that_is_not_wanted_or_stopped_changes_nothing() {
    let mut desk = Desk::with_hooks(TREE, vec![], refusing("session_before_cherry_pick"));
    let planned = desk.agent.plan_cherry_pick(None, &quote("f")).unwrap();
    let done = desk.agent.cherry_pick(planned, &Cancel::new()).await.unwrap();
    assert_eq!(done.cancelled_by(), Some(&CancelledBy::Hook("guard".into())));
    assert_eq!((desk.appended(TREE).len(), desk.leaf().as_deref()), (0, Some("g")));

    let mut desk = Desk::draw(TREE, vec![]);
    let planned = desk.agent.plan_cherry_pick(None, &quote("f")).unwrap();
    let cancel = Cancel::new();
    cancel.cancel();
    let done = desk.agent.cherry_pick(planned.clone(), &cancel).await.unwrap();
    assert!(matches!(done, Applied::Cancelled(CancelledBy::User)));
    // Nor does one that was planned at another place.
    desk.agent.session().branch("b").unwrap();
    desk.agent.cherry_pick(planned, &Cancel::new()).await.unwrap_err();
    assert_eq!(desk.appended(TREE), [json!(null); 0]);
}

#[tokio::test]
async fn an_undo_takes_a_whole_pick_back() {
    let mut desk = Desk::draw(TREE, vec![]);
    let request = CherryPickRequest { turn: true, ..native("f") };
    assert_eq!(apply(&mut desk, &request).await.entries.len(), 4);
    let undo = desk.agent.plan_undo().unwrap();
    let undone = desk.agent.go(undo, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!((desk.leaf().as_deref(), undone.editor_text), (Some("g"), None));
}

#[tokio::test]
async fn another_session_is_a_source_too() {
    let other = Session::from_bytes(session_text("x user hello\ny<x assistant secret plan")).unwrap();
    let other = SharedSession::new(other);
    let mut desk = Desk::draw("a user here", vec![]);
    let planned = desk.agent.plan_cherry_pick(Some(&other), &quote("y")).unwrap();
    desk.agent.cherry_pick(planned, &Cancel::new()).await.unwrap();
    assert!(desk.context()[1].ends_with("secret plan"));
    assert_eq!(desk.event("session_before_cherry_pick")["preparation"]["sourceSession"]["id"], "ses");
}

#[tokio::test]
async fn what_takes_a_quarter_of_the_room_has_to_be_shown() {
    let drawing = format!("a user here\nb<a assistant {}\nc<a user there", "word ".repeat(25_000));
    let desk = Desk::draw(&drawing, vec![]);
    let planned = desk.agent.plan_cherry_pick(None, &quote("b")).unwrap();
    assert_eq!(planned.warnings, ["the copy takes more than a quarter of the free context"]);
}
