//! Cherry-picks: what is copied, asked again or edited, and what extensions may change.

use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{
    Applied, CancelledBy, CherryPickMode, CherryPickRequest, CherryPicked, PickedContent,
};
use offshoot_agent::model::ThinkingLevel;
use offshoot_agent::shared::SharedSession;
use offshoot_agent::turn::Outcome;
use serde_json::json;
use session_tree::Session;
use testkit::drawing::session_text;

use super::{Desk, answering, refusing};
use crate::support::{Reply, overloaded};

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

fn pick(what: &str, mode: CherryPickMode) -> CherryPickRequest {
    CherryPickRequest { what: what.into(), mode, ..CherryPickRequest::default() }
}

async fn apply(desk: &mut Desk, request: &CherryPickRequest) -> CherryPicked {
    let planned = desk.agent.plan_cherry_pick(None, request).unwrap();
    desk.agent.cherry_pick(planned, None, &Cancel::new()).await.unwrap().done().unwrap()
}

fn appended(done: CherryPicked) -> usize {
    match done {
        CherryPicked::Appended { entries, .. } => entries.len(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_answer_is_quoted_with_its_origin_and_the_model_reads_so() {
    let mut desk = Desk::draw(TREE, vec![]);
    let request = pick("f", CherryPickMode::Usual);
    let planned = desk.agent.plan_cherry_pick(None, &request).unwrap();
    let shown = planned.text();
    assert!(!planned.is_large && !planned.has_unread_images);
    assert_eq!(desk.appended(TREE), [json!(null); 0], "planning writes nothing");
    desk.agent.cherry_pick(planned, None, &Cancel::new()).await.unwrap();
    let [entry] = &desk.appended(TREE)[..] else { panic!("one entry") };
    let got = (&entry["type"], &entry["customType"], &entry["parentId"]);
    assert_eq!(got, (&json!("custom_message"), &json!("cherry-pick"), &json!("g")));
    assert_eq!(entry["details"]["sourceEntryIds"], json!(["f"]));
    assert_eq!(desk.context().last(), Some(&format!("user: {shown}")));
    assert!(shown.starts_with("Copied from branch Use channels, entry f, "), "{shown}");
    assert!(shown.ends_with("\n\nchannels it is"), "{shown}");

    let before = &desk.event("session_before_cherry_pick")["preparation"];
    let got = (&before["targetLeafId"], &before["mode"], &before["sourceEntries"][0]["id"]);
    assert_eq!(got, (&json!("g"), &json!("usual"), &json!("f")));
    let after = desk.event("session_cherry_pick");
    assert_eq!(after["entries"][0]["id"], entry["id"]);
    assert_eq!(desk.events(), ["session_before_cherry_pick", "session_cherry_pick"]);
}

#[tokio::test]
async fn a_native_copy_of_a_group_gets_new_call_ids_and_runs_nothing() {
    let mut desk = Desk::draw(TREE, vec![Reply::Text("fine")]);
    let done = apply(&mut desk, &pick("d", CherryPickMode::Native)).await;
    assert_eq!(appended(done), 2);
    let [answer, result] = &desk.appended(TREE)[..] else { panic!("two entries") };
    let call = &answer["message"]["content"][1];
    assert_eq!((&call["name"], &call["id"]), (&json!("bash"), &result["message"]["toolCallId"]));
    assert!(call["id"].as_str().unwrap().starts_with("pick_"));
    desk.agent.prompt(crate::support::prompt("go on"), &Cancel::new()).await.unwrap();
    let roles: Vec<_> = desk.model.requests()[0].messages.iter().map(|m| m.role().to_string()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "toolResult", "user"]);
}

#[tokio::test]
async fn prompts_are_asked_again_in_order_until_one_fails() {
    let mut desk = Desk::draw(TREE, vec![Reply::Text("goroutines then"), Reply::Text("no threads")]);
    let request = pick("b..h", CherryPickMode::Prompt);
    let CherryPicked::Asked { outcome, left } = apply(&mut desk, &request).await else { panic!("asked") };
    assert_eq!((outcome, left.len()), (Outcome::Done, 0));
    let expected = ["user: Build a CLI", "assistant: ok", "user: Use goroutines", "user: Use channels"];
    assert_eq!(desk.model.asked(0), expected);
    assert_eq!(desk.model.asked(1)[4..], ["assistant: goroutines then", "user: And threads?"]);

    let retries = offshoot_agent::settings::Settings {
        retry: offshoot_agent::turn::RetryPolicy { most: 0, ..Default::default() },
        ..Default::default()
    };
    let desk = Desk::draw(TREE, vec![Reply::Fails("", overloaded())]);
    let mut agent = desk.agent.with_settings(retries);
    let planned = agent.plan_cherry_pick(None, &request).unwrap();
    let done = agent.cherry_pick(planned, None, &Cancel::new()).await.unwrap().done().unwrap();
    let CherryPicked::Asked { outcome, left } = done else { panic!("asked") };
    assert!(matches!(outcome, Outcome::Failed(_)));
    assert_eq!(left.iter().map(|prompt| prompt.text().into_owned()).collect::<Vec<_>>(), ["And threads?"]);
}

#[tokio::test]
async fn a_selection_without_prompts_cannot_be_asked_again() {
    let desk = Desk::draw(TREE, vec![]);
    let error = desk.agent.plan_cherry_pick(None, &pick("f", CherryPickMode::Prompt)).unwrap_err();
    assert_eq!(error.to_string(), "the selection holds no prompt");
}

#[tokio::test]
async fn the_editor_gets_the_text_and_nothing_is_written() {
    let mut desk = Desk::draw(TREE, vec![]);
    let request = CherryPickRequest { turn: true, ..pick("f", CherryPickMode::Editor) };
    let CherryPicked::Editor { text, .. } = apply(&mut desk, &request).await else { panic!("editor") };
    assert_eq!(text, "Use channels\n\nlet me see\n\nchannels it is");
    assert_eq!(desk.appended(TREE), [json!(null); 0]);
    // What is on the path already may be edited all the same.
    assert!(desk.agent.plan_cherry_pick(None, &pick("a", CherryPickMode::Editor)).is_ok());
    let error = desk.agent.plan_cherry_pick(None, &pick("a", CherryPickMode::Usual)).unwrap_err();
    assert_eq!(error.to_string(), "entry a is on the current path already");
}

#[tokio::test]
async fn a_setting_is_set_here_too() {
    let mut desk = Desk::draw(TREE, vec![]);
    assert_eq!(desk.agent.thinking(), ThinkingLevel::Off);
    apply(&mut desk, &pick("i", CherryPickMode::Usual)).await;
    assert_eq!(desk.agent.thinking(), ThinkingLevel::High);
    assert_eq!(desk.appended(TREE)[0]["thinkingLevel"], "high");
    // Which models there are only a front end knows.
    let tree = &TREE.replace("g<b", "j<i model far/away\n    g<b");
    let mut desk = Desk::draw(tree, vec![]);
    let done = apply(&mut desk, &pick("j", CherryPickMode::Usual)).await;
    let CherryPicked::Appended { model: Some(model), .. } = done else { panic!("{done:?}") };
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
    let mut desk = Desk { agent: desk.agent.with_watcher(watcher), ..desk };
    let done = apply(&mut desk, &pick("f", CherryPickMode::Native)).await;
    assert_eq!(appended(done), 2);
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
    let planned = desk.agent.plan_cherry_pick(None, &pick("f", CherryPickMode::Usual)).unwrap();
    let done = desk.agent.cherry_pick(planned, None, &Cancel::new()).await.unwrap();
    assert_eq!(done.cancelled_by(), Some(&CancelledBy::Hook("guard".into())));
    assert_eq!((desk.appended(TREE).len(), desk.leaf().as_deref()), (0, Some("g")));

    let mut desk = Desk::draw(TREE, vec![]);
    let planned = desk.agent.plan_cherry_pick(None, &pick("f", CherryPickMode::Usual)).unwrap();
    let cancel = Cancel::new();
    cancel.cancel();
    let done = desk.agent.cherry_pick(planned.clone(), None, &cancel).await.unwrap();
    assert!(matches!(done, Applied::Cancelled(CancelledBy::User)));
    // Nor does one that was planned at another place.
    desk.agent.session().branch("b").unwrap();
    desk.agent.cherry_pick(planned, None, &Cancel::new()).await.unwrap_err();
    assert_eq!(desk.appended(TREE), [json!(null); 0]);
}

#[tokio::test]
async fn an_undo_takes_a_whole_pick_back() {
    let mut desk = Desk::draw(TREE, vec![]);
    let request = CherryPickRequest { turn: true, ..pick("f", CherryPickMode::Native) };
    assert_eq!(appended(apply(&mut desk, &request).await), 4);
    let undo = desk.agent.plan_undo().unwrap();
    let undone = desk.agent.undo(undo, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!((desk.leaf().as_deref(), undone.arrival.editor_text), (Some("g"), None));
}

#[tokio::test]
async fn another_session_is_a_source_too() {
    let other = Session::from_bytes(session_text("x user hello\ny<x assistant secret plan")).unwrap();
    let other = SharedSession::new(other);
    let mut desk = Desk::draw("a user here", vec![]);
    let planned = desk.agent.plan_cherry_pick(Some(&other), &pick("y", CherryPickMode::Usual)).unwrap();
    assert!(matches!(planned.content, PickedContent::Entries));
    desk.agent.cherry_pick(planned, Some(&other), &Cancel::new()).await.unwrap();
    assert!(desk.context()[1].ends_with("secret plan"));
    assert_eq!(desk.event("session_before_cherry_pick")["preparation"]["sourceSession"]["id"], "ses");
}

#[tokio::test]
async fn what_takes_a_quarter_of_the_room_has_to_be_shown() {
    let drawing = format!("a user here\nb<a assistant {}\nc<a user there", "word ".repeat(25_000));
    let desk = Desk::draw(&drawing, vec![]);
    assert!(desk.agent.plan_cherry_pick(None, &pick("b", CherryPickMode::Usual)).unwrap().is_large);
}
