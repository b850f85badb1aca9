//! Navigation: every outcome of the table, and that a failed one changes nothing.

use offshoot_agent::agent::{Agent, NavigateRequest, NavigationResult, SummaryRequest};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{Applied, CancelledBy};
use offshoot_agent::error::AgentError;
use offshoot_agent::hooks::Hooks;
use offshoot_agent::model::ThinkingLevel;
use serde_json::json;
use session_tree::{Message, Session, Timestamp};
use std::sync::{Arc, Mutex};
use testkit::drawing::session_text;

use crate::support::{Reply, Scripted, agent, empty, overloaded, path};

/// U1 A2 U3 A4, as ids 1 to 4.
fn walked() -> Session {
    let mut session = empty();
    session.append(Message::user("first")).unwrap();
    session.append_message(&answer("one")).unwrap();
    session.append(Message::user("second")).unwrap();
    session.append_message(&answer("two")).unwrap();
    session
}

fn answer(text: &str) -> session_tree::Message {
    let value = json!({
        "role": "assistant", "content": [{"type": "text", "text": text}], "api": "test", "provider": "prov",
        "model": "mod", "stopReason": "stop", "timestamp": 1,
        "usage": {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2},
    });
    session_tree::Message::from_serialize(&value).unwrap()
}

fn to(target: &str, summary: SummaryRequest) -> NavigateRequest {
    NavigateRequest { target: target.into(), summary, label: None }
}

async fn go(agent: &mut Agent, target: &str, summary: SummaryRequest) -> NavigationResult {
    agent.navigate_tree(&to(target, summary), &Cancel::new()).await.unwrap().done().unwrap()
}

fn leaf(agent: &Agent) -> Option<String> {
    agent.session().leaf_id().map(|id| id.to_string())
}

/// Creates hooks that record the names of events.
fn noting() -> (Hooks, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut hooks = Hooks::new();
    for event in ["session_before_tree", "session_tree"] {
        let into = seen.clone();
        hooks.on("noter", event, move |payload, _| {
            into.lock().unwrap().push(payload.to_string());
            Box::pin(async { Ok(serde_json::Value::Null) })
        });
    }
    (hooks, seen)
}

#[tokio::test]
async fn moving_to_the_leaf_does_nothing_and_runs_no_hook() {
    let (hooks, seen) = noting();
    let mut agent = agent(walked(), &Scripted::new(vec![])).with_hooks(hooks);
    let result = go(&mut agent, "00000004", SummaryRequest::Standard).await;
    assert_eq!(result, NavigationResult::default());
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_plain_move_writes_nothing_and_runs_both_hooks() {
    let (hooks, seen) = noting();
    let mut agent = agent(walked(), &Scripted::new(vec![])).with_hooks(hooks);
    let entries = agent.session().tree().len();
    go(&mut agent, "00000002", SummaryRequest::Skip).await;
    assert_eq!(leaf(&agent).as_deref(), Some("00000002"));
    assert_eq!(agent.session().tree().len(), entries);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 2);
    let before: serde_json::Value = serde_json::from_str(&seen[0]).unwrap();
    assert_eq!(before["preparation"]["commonAncestorId"], "00000002");
    assert_eq!(before["preparation"]["entriesToSummarize"].as_array().unwrap().len(), 2);
    assert_eq!(before["preparation"]["userWantsSummary"], false);
    let after: serde_json::Value = serde_json::from_str(&seen[1]).unwrap();
    assert_eq!((&after["newLeafId"], &after["oldLeafId"]), (&json!("00000002"), &json!("00000004")));
    assert_eq!(after.get("summaryEntry"), None);
}

#[tokio::test]
async fn a_prompt_goes_to_its_parent_and_gives_its_text() {
    let mut agent = agent(walked(), &Scripted::new(vec![]));
    let result = go(&mut agent, "00000003", SummaryRequest::Skip).await;
    assert_eq!(result.editor_text.as_deref(), Some("second"));
    assert_eq!(leaf(&agent).as_deref(), Some("00000002"));
    let result = go(&mut agent, "00000001", SummaryRequest::Skip).await;
    assert_eq!((result.editor_text.as_deref(), leaf(&agent)), (Some("first"), None));
}

#[tokio::test]
async fn a_summary_is_appended_at_the_new_position_and_the_model_has_no_tools() {
    let model = Scripted::new(vec![Reply::Text("## Goal\nto walk")]);
    let mut agent = agent(walked(), &model);
    let result = go(&mut agent, "00000002", SummaryRequest::Focus("the parser".into())).await;
    let id = result.summary_entry.unwrap();
    assert_eq!(agent.session().leaf_id(), Some(id.clone()));
    assert_eq!(path(&agent.session()), ["user: first", "assistant: one", "branch_summary"]);
    let entry = agent.session().entry(id.as_str()).unwrap().value().unwrap().to_serde().unwrap();
    assert_eq!(entry["fromId"], "00000004");
    let text = entry["summary"].as_str().unwrap();
    assert!(text.starts_with("The user explored a different conversation branch"), "{text}");
    assert!(text.ends_with("## Goal\nto walk"), "{text}");
    assert_eq!(entry["usage"]["totalTokens"], 15);
    let request = &model.requests()[0];
    assert!(request.tools.is_empty());
    let asked = request.messages[0].text().into_owned();
    assert!(
        asked.starts_with("<conversation>\n[User]: second\n\n[Assistant]: two\n</conversation>"),
        "{asked}"
    );
    assert!(asked.ends_with("\n\nAdditional focus: the parser"), "{asked}");
}

#[tokio::test]
async fn custom_instructions_can_replace_the_default() {
    let model = Scripted::new(vec![Reply::Text("x")]);
    let mut agent = agent(walked(), &model);
    go(&mut agent, "00000002", SummaryRequest::Replace("ONLY".into())).await;
    assert!(model.requests()[0].messages[0].text().ends_with("</conversation>\n\nONLY"));
}

#[tokio::test]
async fn a_note_asks_no_model() {
    let model = Scripted::new(vec![]);
    let mut agent = agent(walked(), &model);
    let result = go(&mut agent, "00000002", SummaryRequest::Note("it was slow".into())).await;
    assert!(model.requests().is_empty());
    let id = result.summary_entry.unwrap();
    let entry = agent.session().entry(id.as_str()).unwrap().value().unwrap().to_serde().unwrap();
    assert_eq!(entry["summary"], "it was slow");
}

#[tokio::test]
async fn a_label_goes_onto_the_summary_or_the_target() {
    for (summary, labelled) in
        [(SummaryRequest::Note("n".into()), "00000005"), (SummaryRequest::Skip, "00000002")]
    {
        let mut agent = agent(walked(), &Scripted::new(vec![]));
        let request = NavigateRequest { target: "00000002".into(), summary, label: Some("here".into()) };
        agent.navigate_tree(&request, &Cancel::new()).await.unwrap();
        let node = agent.session().tree().node(labelled).unwrap();
        assert_eq!(agent.session().label(node).unwrap().text, "here");
    }
}

#[tokio::test]
async fn when_nothing_is_left_behind_no_model_is_asked() {
    let model = Scripted::new(vec![]);
    let mut session = walked();
    session.branch("00000002").unwrap();
    let mut agent = agent(session, &model);
    let result = go(&mut agent, "00000004", SummaryRequest::Standard).await;
    assert_eq!((result.summary_entry, model.requests().len()), (None, 0));
    assert_eq!(leaf(&agent).as_deref(), Some("00000004"));
}

/// Checks that a failed navigation changed nothing.
fn assert_unchanged(agent: &Agent) {
    assert_eq!(leaf(agent).as_deref(), Some("00000004"));
    assert_eq!(agent.session().tree().len(), 4);
}

#[tokio::test]
async fn a_branch_summary_thinks_like_the_session_and_leaves_out_thinking_and_failed_or_hidden_replies() {
    let model = Scripted::new(vec![Reply::Text("told")]);
    let mut session = walked();
    let assistant = |text: &str, stop: &str| {
        let content = json!([{"type": "thinking", "thinking": "a thought"}, {"type": "text", "text": text}]);
        let message = json!({
            "role": "assistant", "content": content, "provider": "prov", "model": "mod", "stopReason": stop,
        });
        session_tree::Message::from_serialize(&message).unwrap()
    };
    session.append_message(&assistant("a broken reply", "error")).unwrap();
    let hidden = session.append_message(&assistant("a hidden reply", "stop")).unwrap();
    session.append_context_edit(hidden.as_str(), &session_tree::NewContent::Omit).unwrap();
    session.append_message(&assistant("a good reply", "stop")).unwrap();
    let mut agent = agent(session, &model).with_model(model.clone(), ThinkingLevel::High);
    go(&mut agent, "00000002", SummaryRequest::Standard).await;
    let request = &model.requests()[0];
    assert_eq!((request.thinking, request.max_output), (ThinkingLevel::High, None));
    let asked = request.messages[0].text();
    assert!(asked.contains("[Assistant]: a good reply"), "{asked}");
    for missing in ["a thought", "a broken reply", "a hidden reply"] {
        assert!(!asked.contains(missing), "{missing}: {asked}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_is_cut_off_is_kept_and_a_failing_request_is_sent_again() {
    let model = Scripted::new(vec![Reply::Fails("", overloaded()), Reply::Cut("what was tried")]);
    let mut agent = agent(walked(), &model);
    let result = go(&mut agent, "00000002", SummaryRequest::Standard).await;
    let id = result.summary_entry.unwrap();
    let entry = agent.session().entry(id.as_str()).unwrap().value().unwrap().to_serde().unwrap();
    assert!(entry["summary"].as_str().unwrap().contains("what was tried"), "{entry}");
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_fails_leaves_everything_as_it_was() {
    for reply in [
        Reply::Fails("half", overloaded()),
        Reply::Cut("  "),
        Reply::Calls("tool", vec![("c", "bash", json!({}))]),
        Reply::Text("  "),
    ] {
        let mut agent = agent(walked(), &Scripted::new(vec![reply.clone(); 5]));
        let error = agent.navigate_tree(&to("00000002", SummaryRequest::Standard), &Cancel::new()).await;
        let error = error.unwrap_err();
        assert!(matches!(error, AgentError::Summary { .. }), "{reply:?}: {error}");
        assert!(error.to_string().starts_with("Branch summarization failed: "), "{error}");
        assert_unchanged(&agent);
    }
}

#[tokio::test]
async fn without_a_model_a_summary_fails_fast_and_a_plain_move_works() {
    let mut agent = Agent::new(walked(), "/w");
    let error =
        agent.navigate_tree(&to("00000002", SummaryRequest::Standard), &Cancel::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "No model available for summarization");
    assert_unchanged(&agent);
    go(&mut agent, "00000002", SummaryRequest::Skip).await;
    assert_eq!(leaf(&agent).as_deref(), Some("00000002"));
}

#[tokio::test]
async fn stopping_the_summary_cancels_the_move() {
    let mut agent = agent(walked(), &Scripted::new(vec![Reply::Hangs("## Go")]));
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let stopper = tokio::spawn(async move { stop.cancel() });
    let result = agent.navigate_tree(&to("00000002", SummaryRequest::Standard), &cancel).await.unwrap();
    stopper.await.unwrap();
    assert_eq!(result, Applied::Cancelled(CancelledBy::User));
    assert_unchanged(&agent);
}

#[tokio::test]
async fn an_extension_may_cancel_or_supply_summary_and_label() {
    let mut hooks = Hooks::new();
    hooks.on("guard", "session_before_tree", |_, _| Box::pin(async { Ok(json!({"cancel": true})) }));
    let mut stopped = agent(walked(), &Scripted::new(vec![])).with_hooks(hooks);
    let request = to("00000002", SummaryRequest::Standard);
    let result = stopped.navigate_tree(&request, &Cancel::new()).await.unwrap();
    assert_eq!(result, Applied::Cancelled(CancelledBy::Hook("guard".into())));
    assert_unchanged(&stopped);

    let mut hooks = Hooks::new();
    hooks.on("teller", "session_before_tree", |_, _| {
        Box::pin(async {
            Ok(json!({"summary": {"summary": "mine", "details": {"x": 1}}, "label": "by teller"}))
        })
    });
    let model = Scripted::new(vec![]);
    let mut told = agent(walked(), &model).with_hooks(hooks.clone());
    let result = go(&mut told, "00000002", SummaryRequest::Standard).await;
    let id = result.summary_entry.unwrap();
    let entry = told.session().entry(id.as_str()).unwrap().value().unwrap().to_serde().unwrap();
    assert_eq!((&entry["summary"], &entry["fromHook"]), (&json!("mine"), &json!(true)));
    assert!(model.requests().is_empty());

    // Without a requested summary only the label counts.
    let mut plain = agent(walked(), &Scripted::new(vec![])).with_hooks(hooks);
    let result = go(&mut plain, "00000002", SummaryRequest::Skip).await;
    assert_eq!(result.summary_entry, None);
    let node = plain.session().tree().node("00000002").unwrap();
    assert_eq!(plain.session().label(node).unwrap().text, "by teller");
}

#[tokio::test]
async fn the_next_prompt_goes_on_from_the_new_position() {
    let model = Scripted::new(vec![Reply::Text("again")]);
    let mut agent = agent(walked(), &model);
    go(&mut agent, "00000003", SummaryRequest::Note("tried".into())).await;
    let text = session_tree::Message::user("second, better").with_time(Timestamp::from_millis(9));
    agent.prompt(vec![text], &Cancel::new()).await.unwrap();
    let asked = model.asked(0);
    assert_eq!(asked.len(), 4);
    assert!(asked[2].contains("<summary>\ntried</summary>"), "{asked:?}");
    assert_eq!(asked[3], "user: second, better");
}

#[tokio::test]
async fn the_plan_of_a_move_that_was_shown_is_applied_or_stale() {
    let dir = tempfile::tempdir().unwrap();
    let long = "the parser ".repeat(40);
    let text = session_text(&format!(
        "u1 user first
         a2<u1 assistant one
         u3<a2 user {long}
         a4<u3 assistant two"
    ));
    let file = dir.path().join("session.jsonl");
    std::fs::write(&file, text).unwrap();
    // Half of a window of 100 tokens is not enough for the long prompt.
    let small = Scripted::with_window(100, vec![]);
    let large = Scripted::new(vec![Reply::Text("## Goal\nparse")]);
    let agent = Agent::new(Session::open(file).unwrap(), dir.path()).with_model(small, ThinkingLevel::Off);
    let agent = agent.spawn().unwrap();
    let shown = agent.plan_navigation("a2").unwrap();
    assert_eq!(shown.covered().map(|covered| (covered.messages.len(), covered.omitted_older)), Some((1, 1)));

    agent.restore_model(large.clone(), None).await.unwrap();
    let mut summarized = shown.clone();
    summarized.summary = SummaryRequest::Standard;
    assert!(agent.go(summarized).await.unwrap().done().unwrap().moved);
    let asked = large.asked(0).concat();
    assert!(asked.contains("two") && !asked.contains("the parser"), "{asked}");

    let stale = agent.go(shown).await.unwrap_err();
    assert!(matches!(stale, AgentError::Session(session_tree::Error::StalePlan)), "{stale}");
    agent.quit().await.unwrap();
}
