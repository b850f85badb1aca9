//! Merges: the request to the model, the draft, and the entry written after the review.

use std::path::Path;

use offshoot_agent::agent::Agent;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{
    Applied, CancelledBy, MergeBranchRequest, MergeDraft, MergeWith, MergedBranch,
};
use offshoot_agent::error::AgentError;
use offshoot_agent::shared::SharedSession;
use serde_json::json;
use session_tree::merge::{Conflict, MergeOutcome};
use session_tree::{Message, Session};
use testkit::drawing::session_text;

use super::{TestAgent, answering, options, refusing};
use crate::support::{Reply, refused};

/// Two branches below `b`; the leaf is at `f`.
const TREE: &str = "
    a user Build a CLI
    b<a assistant ok
    c<b user Use channels
    d<c assistant channels it is
    e<b user Use goroutines
    f<e assistant goroutines it is
";

const SUMMARY: &str = "## Goal\nchannels\n\n## Conflicts with the current branch\n\
    - concurrency | here: goroutines | there: channels\n\n## Not applied here\n- (none)";

fn merge(branch: &str, with: MergeWith) -> MergeBranchRequest {
    MergeBranchRequest { branch: branch.into(), with, ..MergeBranchRequest::default() }
}

fn summary() -> MergeWith {
    MergeWith::default()
}

async fn drafted(agent: &Agent, request: &MergeBranchRequest) -> MergeDraft {
    let planned = agent.plan_merge(None, request).unwrap();
    agent.draft_merge(planned, &Cancel::new()).await.unwrap().done().unwrap()
}

async fn written(test: &mut TestAgent, draft: &MergeDraft) -> MergedBranch {
    test.agent.merge(draft, &Cancel::new()).await.unwrap().done().unwrap()
}

#[tokio::test]
async fn a_model_is_asked_with_both_sides_and_its_text_is_only_a_draft() {
    let mut test = TestAgent::draw(TREE, vec![Reply::Text(SUMMARY)]);
    let request = merge("d", MergeWith::Summary { focus: Some("speed".into()) });
    let draft = drafted(&test.agent, &request).await;
    assert_eq!(test.appended(TREE), [json!(null); 0], "a draft is not written");
    assert_eq!(draft.text(), SUMMARY);
    let conflict =
        Conflict { topic: "concurrency".into(), ours: "goroutines".into(), theirs: "channels".into() };
    assert_eq!(draft.conflicts(), [conflict]);
    let content = &draft.merge().unwrap().content;
    assert!(content.usage.is_some() && !content.reviewed);

    let asked = &test.model.requests()[0];
    assert!(asked.tools.is_empty());
    let text = asked.messages[0].text().into_owned();
    insta::assert_snapshot!("merge_prompt", text);
    assert!(
        text.starts_with(
            "<conversation>\n[User]: Use channels\n\n[Assistant]: channels it is\n</conversation>\n\n\
             <current-branch>\nPrompts since the two parted:\n- Use goroutines\n</current-branch>\n\n"
        ),
        "{text}"
    );
    assert!(text.ends_with("\n\nAdditional focus: speed"), "{text}");

    let MergedBranch::Appended { entry, .. } = written(&mut test, &draft).await else { panic!("appended") };
    let [written] = &test.appended(TREE)[..] else { panic!("one entry") };
    assert_eq!(written["id"], entry.as_str());
    let expected = json!({
        "type": "branch_summary", "id": entry.as_str(), "parentId": "f", "fromId": "d", "summary": SUMMARY,
        "details": {
            "readFiles": [], "modifiedFiles": [],
            "merge": {
                "v": 1, "sourceLeafId": "d", "baseId": "b", "sourceEntryCount": 2, "mode": "summary",
                "contestedFiles": [],
                "conflicts": [{"topic": "concurrency", "ours": "goroutines", "theirs": "channels"}],
                "reviewed": false, "model": "prov/mod",
            },
        },
        "usage": written["usage"], "fromHook": false,
    });
    assert_eq!(*written, expected);
    assert_eq!(written["usage"]["totalTokens"], 15);
    assert!(test.context().last().unwrap().contains("here: goroutines"));
}

#[tokio::test]
async fn extensions_receive_the_merge_before_and_after() {
    let mut test = TestAgent::draw(TREE, vec![Reply::Text(SUMMARY)]);
    let draft = drafted(&test.agent, &merge("d", summary())).await;
    let before = test.event("session_before_merge");
    let ids = |key: &str| -> Vec<String> {
        let entries = before["preparation"][key].as_array().unwrap();
        entries.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (ids("sourceEntries"), ids("targetEntries")),
        (vec!["c".into(), "d".into()], vec!["e".into(), "f".into()])
    );
    let preparation = &before["preparation"];
    let got = (&preparation["baseId"], &preparation["sourceLeafId"], &preparation["mode"]);
    assert_eq!(got, (&json!("b"), &json!("d"), &json!("summary")));
    written(&mut test, &draft).await;
    let after = test.event("session_merge");
    assert_eq!(after["entry"]["parentId"], "f");
    assert_eq!(test.events(), ["session_before_merge", "session_merge"]);
}

#[tokio::test]
async fn the_reviewed_text_is_written() {
    let mut test = TestAgent::draw(TREE, vec![Reply::Text(SUMMARY)]);
    let mut draft = drafted(&test.agent, &merge("d", summary())).await;
    draft.review(Some("Channels were faster.".into()));
    assert!(draft.conflicts().is_empty());
    written(&mut test, &draft).await;
    let [entry] = &test.appended(TREE)[..] else { panic!("one entry") };
    assert_eq!(entry["summary"], "Channels were faster.");
    assert_eq!(entry["details"]["merge"]["reviewed"], true);

    // A blank text is refused.
    let mut test = TestAgent::draw(TREE, vec![Reply::Text(SUMMARY)]);
    let mut draft = drafted(&test.agent, &merge("d", summary())).await;
    draft.review(Some("  ".into()));
    test.agent.merge(&draft, &Cancel::new()).await.unwrap_err();
    assert_eq!(test.appended(TREE), [json!(null); 0]);
}

#[tokio::test]
async fn a_digest_and_a_given_text_need_no_model() {
    let mut test = TestAgent::draw(TREE, vec![]);
    let draft = drafted(&test.agent, &merge("d", MergeWith::Digest)).await;
    assert!(
        draft.text().contains("User: Use channels") && draft.text().contains("Assistant: channels it is")
    );
    written(&mut test, &draft).await;
    assert_eq!(test.appended(TREE)[0]["details"]["merge"]["mode"], "digest");

    let mut test = TestAgent::draw(TREE, vec![]);
    let request =
        MergeBranchRequest { note: Some("why".into()), ..merge("d", MergeWith::Text("fast".into())) };
    let draft = drafted(&test.agent, &request).await;
    written(&mut test, &draft).await;
    let entry = &test.appended(TREE)[0];
    let details = &entry["details"]["merge"];
    assert_eq!(
        (&entry["summary"], &details["mode"], &details["note"]),
        (&json!("fast"), &json!("text"), &json!("why"))
    );
    assert!(test.model.requests().is_empty());
}

#[tokio::test]
async fn a_branch_that_continues_the_leaf_is_fast_forwarded() {
    let mut test = TestAgent::at(TREE, "b", vec![Reply::Text(SUMMARY)]);
    let draft = drafted(&test.agent, &merge("d", summary())).await;
    test.agent.session().branch("f").unwrap();
    test.agent.merge(&draft, &Cancel::new()).await.unwrap_err();
    assert_eq!(test.leaf().as_deref(), Some("f"), "the leaf is elsewhere now");
    test.agent.session().branch("b").unwrap();
    let done = written(&mut test, &draft).await;
    assert!(matches!(done, MergedBranch::FastForwarded(result) if result.moved));
    assert_eq!((test.leaf().as_deref(), test.appended(TREE).len()), (Some("d"), 0));
    assert_eq!(test.events(), ["session_before_tree", "session_tree", "session_tree_end"]);

    let request = MergeBranchRequest { no_fast_forward: true, ..merge("d", summary()) };
    test.agent.session().branch("b").unwrap();
    let draft = drafted(&test.agent, &request).await;
    assert!(matches!(written(&mut test, &draft).await, MergedBranch::Appended { .. }));
    assert_eq!(test.model.requests().len(), 1);
}

#[tokio::test]
async fn a_second_merge_contains_only_new_entries() {
    let mut test =
        TestAgent::draw(TREE, vec![Reply::Text(SUMMARY), Reply::Text("more"), Reply::Text(SUMMARY)]);
    let draft = drafted(&test.agent, &merge("b", summary())).await;
    assert_eq!(written(&mut test, &draft).await, MergedBranch::UpToDate);
    let draft = drafted(&test.agent, &merge("d", summary())).await;
    written(&mut test, &draft).await;
    let merged = test.leaf().unwrap();
    let again = test.agent.plan_merge(None, &merge("d", summary())).unwrap();
    assert!(matches!(again.plan.outcome, MergeOutcome::UpToDate));
    test.agent.session().branch("d").unwrap();
    test.agent.prompt(crate::support::prompt("And threads?"), &Cancel::new()).await.unwrap();
    let tip = test.leaf().unwrap();
    test.agent.session().branch(&merged).unwrap();
    drafted(&test.agent, &merge(&tip, summary())).await;
    let asked = test.model.asked(2).remove(0);
    assert!(
        asked.starts_with("user: <conversation>\n[User]: And threads?\n\n[Assistant]: more\n</conversation>"),
        "{asked}"
    );
}

#[tokio::test]
async fn a_failed_or_cancelled_merge_changes_nothing() {
    for reply in [Reply::Fails("half", refused()), Reply::Cut(" "), Reply::Text(" ")] {
        let test = TestAgent::draw(TREE, vec![reply]);
        let planned = test.agent.plan_merge(None, &merge("d", summary())).unwrap();
        let error = test.agent.draft_merge(planned, &Cancel::new()).await.unwrap_err();
        assert!(error.to_string().starts_with("Merge failed: "), "{error}");
        assert_eq!((test.appended(TREE).len(), test.leaf().as_deref()), (0, Some("f")));
    }
    let test = TestAgent::draw(TREE, vec![Reply::Hangs("## Go")]);
    let planned = test.agent.plan_merge(None, &merge("d", summary())).unwrap();
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let stopper = tokio::spawn(async move { stop.cancel() });
    let done = test.agent.draft_merge(planned, &cancel).await.unwrap();
    stopper.await.unwrap();
    assert_eq!(done.cancelled_by(), Some(&CancelledBy::User));

    let test = TestAgent::with_hooks(TREE, vec![], refusing("session_before_merge"));
    let planned = test.agent.plan_merge(None, &merge("d", summary())).unwrap();
    let done = test.agent.draft_merge(planned, &Cancel::new()).await.unwrap();
    assert_eq!(done.cancelled_by(), Some(&CancelledBy::Hook("guard".into())));
    assert!(test.model.requests().is_empty());
    assert_eq!(test.appended(TREE), [json!(null); 0]);

    // A draft made at another position is refused.
    let mut test = TestAgent::draw(TREE, vec![]);
    let draft = drafted(&test.agent, &merge("d", MergeWith::Text("x".into()))).await;
    test.agent.session().branch("b").unwrap();
    test.agent.merge(&draft, &Cancel::new()).await.unwrap_err();
    let stopped = Cancel::new();
    stopped.cancel();
    test.agent.session().branch("f").unwrap();
    let done = test.agent.merge(&draft, &stopped).await.unwrap();
    assert_eq!(done, Applied::Cancelled(CancelledBy::User));
    assert_eq!(test.appended(TREE), [json!(null); 0]);
}

#[tokio::test]
async fn without_a_model_only_a_summary_is_refused() {
    let test = TestAgent::draw(TREE, vec![]);
    let agent = Agent::new(options().open(test.file()).unwrap(), "/w");
    let planned = agent.plan_merge(None, &merge("d", summary())).unwrap();
    assert_eq!(planned.text(), "", "a plan shows no text that would not be written");
    let error = agent.draft_merge(planned, &Cancel::new()).await.unwrap_err();
    assert!(matches!(error, AgentError::NoModelForSummary));
    drafted(&agent, &merge("d", MergeWith::Digest)).await;
}

#[tokio::test]
async fn an_extension_may_supply_text_conflicts_and_entries() {
    let answer = json!({
        "summary": {"summary": "by me", "usage": {"input": 1}},
        "conflicts": [{"topic": "t", "ours": "o", "theirs": "h"}],
        "extraEntries": [{"type": "custom_message", "customType": "x", "content": "note", "display": true}],
    });
    let mut test = TestAgent::with_hooks(TREE, vec![], answering("session_before_merge", answer));
    let draft = drafted(&test.agent, &merge("d", summary())).await;
    assert_eq!(draft.text(), "by me");
    let MergedBranch::Appended { extra, .. } = written(&mut test, &draft).await else { panic!("appended") };
    assert_eq!(extra.len(), 1);
    let [entry, more] = &test.appended(TREE)[..] else { panic!("two entries") };
    assert_eq!((&entry["fromHook"], &entry["usage"]), (&json!(true), &json!({"input": 1})));
    assert_eq!(entry["details"]["merge"]["conflicts"], json!([{"topic": "t", "ours": "o", "theirs": "h"}]));
    assert_eq!((&more["content"], &more["parentId"]), (&json!("note"), &entry["id"]));
    assert!(test.model.requests().is_empty());
    assert_eq!(test.event("session_merge")["fromExtension"], true);
}

#[tokio::test]
async fn an_undo_takes_a_merge_back() {
    let mut test = TestAgent::draw(TREE, vec![]);
    let draft = drafted(&test.agent, &merge("d", MergeWith::Text("x".into()))).await;
    written(&mut test, &draft).await;
    let undo = test.agent.plan_undo().unwrap();
    test.agent.go(undo, &Cancel::new()).await.unwrap();
    assert_eq!(test.leaf().as_deref(), Some("f"));
}

#[tokio::test]
async fn a_text_of_more_than_half_of_the_free_context_is_refused() {
    let mut test = TestAgent::draw(TREE, vec![]);
    let text = "word ".repeat(45_000);
    let draft = drafted(&test.agent, &merge("d", MergeWith::Text(text))).await;
    let error = test.agent.merge(&draft, &Cancel::new()).await.unwrap_err();
    assert!(matches!(error, AgentError::MergeTooLong { tokens, allowed } if tokens > allowed), "{error}");
    assert_eq!(test.appended(TREE), [json!(null); 0]);

    // A digest drops its oldest turns instead.
    let long = "word ".repeat(25_000);
    let drawing =
        format!("a user A\nb<a user B\nc<b assistant {long}\nd<c user C\ne<d assistant {long}\nf<a user D");
    let mut test = TestAgent::draw(&drawing, vec![]);
    let draft = drafted(&test.agent, &merge("e", MergeWith::Digest)).await;
    assert_eq!(draft.merge().unwrap().omitted_turns, 1);
    written(&mut test, &draft).await;
}

#[tokio::test]
async fn another_session_can_be_merged() {
    let text = String::from_utf8(session_text("x user elsewhere\ny<x assistant done")).unwrap();
    let text = text.replace("\"ses\"", "\"other\"");
    let other = SharedSession::new(Session::from_bytes(text.into_bytes()).unwrap());
    let mut test = TestAgent::draw(TREE, vec![Reply::Text(SUMMARY)]);
    let planned = test.agent.plan_merge(Some(&other), &merge("y", summary())).unwrap();
    let draft = test.agent.draft_merge(planned, &Cancel::new()).await.unwrap().done().unwrap();
    assert!(test.model.asked(0)[0].contains("[User]: elsewhere"));
    written(&mut test, &draft).await;
    let details = &test.appended(TREE)[0]["details"]["merge"];
    assert_eq!((&details["sourceSession"]["id"], &details["baseId"]), (&json!("other"), &json!(null)));
}

/// A tool call that changes a file, and its result.
fn change(session: &mut Session, path: &str) {
    let call =
        json!({"type": "toolCall", "id": "c", "name": "write", "arguments": {"path": path, "content": "x"}});
    let answer = json!({"role": "assistant", "content": [call], "api": "a", "provider": "p", "model": "m",
        "usage": {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2},
        "stopReason": "toolUse", "timestamp": 1});
    session.append_message(&Message::from_serialize(&answer).unwrap()).unwrap();
    let result = json!({"role": "toolResult", "toolCallId": "c", "toolName": "write",
        "content": [{"type": "text", "text": "ok"}], "isError": false, "timestamp": 1});
    session.append_message(&Message::from_serialize(&result).unwrap()).unwrap();
}

#[tokio::test]
async fn files_that_both_branches_changed_are_listed_and_never_touched() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("both"), "mine").unwrap();
    let mut session = options().in_memory(dir.path().to_str().unwrap()).unwrap();
    let root = session.append(Message::user("go")).unwrap();
    session.append(Message::user("there")).unwrap();
    ["both", "only-there"].iter().for_each(|path| change(&mut session, path));
    let tip = session.leaf_id().unwrap().to_string();
    session.branch(root.as_str()).unwrap();
    session.append(Message::user("here")).unwrap();
    change(&mut session, "both");

    let model = crate::support::Scripted::new(vec![Reply::Text("told")]);
    let mut agent = on(dir.path(), session, &model);
    let draft = drafted(&agent, &merge(&tip, summary())).await;
    assert_eq!(draft.merge().unwrap().contested, ["both"]);
    let list = "<contested-files>\nboth\n</contested-files>";
    assert!(model.asked(0)[0].contains(list), "{}", model.asked(0)[0]);
    assert!(draft.text().contains(list) && draft.text().contains("<modified-files>"), "{}", draft.text());
    // The plan of a digest already has its text: the shown text is the written one.
    let digest = agent.plan_merge(None, &merge(&tip, MergeWith::Digest)).unwrap();
    assert!(digest.text().contains(list), "{}", digest.text());
    assert_eq!(drafted(&agent, &merge(&tip, MergeWith::Digest)).await.text(), digest.text());
    agent.merge(&draft, &Cancel::new()).await.unwrap().done().unwrap();
    assert_eq!(std::fs::read(dir.path().join("both")).unwrap(), b"mine");
    assert!(!dir.path().join("only-there").exists());
}

#[tokio::test]
async fn the_text_that_was_shown_is_the_text_that_is_written() {
    let mut test = TestAgent::draw(TREE, vec![]);
    let mut draft = drafted(&test.agent, &merge("d", MergeWith::Digest)).await;
    let shown = draft.text().to_owned();
    draft.review(None);
    written(&mut test, &draft).await;
    let entry = &test.appended(TREE)[0];
    assert_eq!((&entry["summary"], &entry["details"]["merge"]["reviewed"]), (&json!(shown), &json!(true)));
}

fn on(dir: &Path, session: Session, model: &std::sync::Arc<crate::support::Scripted>) -> Agent {
    let model: std::sync::Arc<dyn offshoot_agent::model::Model> = model.clone();
    Agent::new(session, dir).with_model(model, offshoot_agent::model::ThinkingLevel::Off)
}
