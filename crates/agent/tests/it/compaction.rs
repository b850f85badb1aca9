//! Compaction: when it happens, what the model gets afterwards, and that a failing one changes nothing.

use offshoot_agent::agent::CompactRequest;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{Applied, CancelledBy};
use offshoot_agent::error::AgentError;
use offshoot_agent::hooks::Hooks;
use offshoot_agent::settings::Settings;
use offshoot_agent::turn::Outcome;
use serde_json::json;
use session_tree::CompactionSettings;

use crate::support::{Reply, Scripted, agent, empty, overflow, overloaded, path, prompt, watched};

/// Keeps as little as possible.
fn eager() -> Settings {
    let compaction = CompactionSettings { keep_recent_tokens: 1, ..CompactionSettings::default() };
    Settings { compaction, ..Settings::default() }
}

/// An agent that has answered two prompts.
async fn talked(model: &std::sync::Arc<Scripted>) -> offshoot_agent::agent::Agent {
    let mut agent = agent(empty(), model).with_settings(eager());
    agent.prompt(prompt("first"), &Cancel::new()).await.unwrap();
    agent.prompt(prompt("second"), &Cancel::new()).await.unwrap();
    agent
}

fn two_answers(then: Vec<Reply>) -> std::sync::Arc<Scripted> {
    Scripted::new([vec![Reply::Text("one"), Reply::Text("two")], then].concat())
}

#[tokio::test]
async fn a_summary_takes_the_place_of_what_was_said() {
    let model = two_answers(vec![Reply::Text("history"), Reply::Text("prefix"), Reply::Text("three")]);
    let mut agent = talked(&model).await;
    let focus = CompactRequest { focus: Some("names".into()) };
    let done = agent.compact(&focus, &Cancel::new()).await.unwrap();
    assert!(matches!(done, Applied::Done(_)));
    assert!(model.requests()[2].messages[0].text().ends_with("Additional focus: names"));
    assert!(model.requests()[2].tools.is_empty());
    agent.prompt(prompt("third"), &Cancel::new()).await.unwrap();
    let asked = model.asked(4);
    assert!(
        asked[0].contains("history") && asked[0].contains("**Turn Context (split turn):**\n\nprefix"),
        "{asked:?}"
    );
    assert_eq!(asked[1..], ["assistant: two", "user: third"]);
}

#[tokio::test]
async fn too_little_is_not_compacted() {
    let model = Scripted::new(vec![]);
    let mut agent = agent(empty(), &model);
    let error = agent.compact(&CompactRequest::default(), &Cancel::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "Nothing to compact (no messages yet)");
    let model = two_answers(vec![Reply::Text("h"), Reply::Text("p")]);
    let mut agent = talked(&model).await;
    agent.compact(&CompactRequest::default(), &Cancel::new()).await.unwrap();
    let error = agent.compact(&CompactRequest::default(), &Cancel::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "Already compacted");
}

#[tokio::test]
async fn a_compaction_that_fails_or_is_stopped_changes_nothing() {
    for reply in [
        Reply::Fails("half", overloaded()),
        Reply::Cut("half"),
        Reply::Calls("x", vec![("c", "bash", json!({}))]),
        Reply::Text(""),
    ] {
        let model = two_answers(vec![reply]);
        let mut agent = talked(&model).await;
        let before = path(&agent.session());
        let error = agent.compact(&CompactRequest::default(), &Cancel::new()).await.unwrap_err();
        assert!(matches!(error, AgentError::Summary { .. }), "{error}");
        assert_eq!(path(&agent.session()), before);
    }
    let model = two_answers(vec![Reply::Hangs("half")]);
    let mut agent = talked(&model).await;
    let before = path(&agent.session());
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let stopper = tokio::spawn(async move { stop.cancel() });
    let done = agent.compact(&CompactRequest::default(), &cancel).await.unwrap();
    stopper.await.unwrap();
    assert_eq!(done, Applied::Cancelled(CancelledBy::User));
    assert_eq!(path(&agent.session()), before);
}

#[tokio::test]
async fn an_extension_may_cancel_it_or_bring_the_summary() {
    let mut hooks = Hooks::new();
    hooks.on("guard", "session_before_compact", |_, _| Box::pin(async { Ok(json!({"cancel": true})) }));
    let model = two_answers(vec![]);
    let mut stopped = talked(&model).await.with_hooks(hooks);
    let done = stopped.compact(&CompactRequest::default(), &Cancel::new()).await.unwrap();
    assert_eq!(done, Applied::Cancelled(CancelledBy::Hook("guard".into())));

    let mut hooks = Hooks::new();
    hooks.on("broken", "session_before_compact", |_, _| Box::pin(async { Err("oops".into()) }));
    hooks.on("teller", "session_before_compact", |payload, _| {
        let kept = payload["preparation"]["firstKeptEntryId"].clone();
        Box::pin(async move {
            Ok(json!({"compaction": {"summary": "mine", "firstKeptEntryId": kept, "tokensBefore": 7}}))
        })
    });
    let model = two_answers(vec![]);
    let mut told = talked(&model).await.with_hooks(hooks);
    let Applied::Done(id) = told.compact(&CompactRequest::default(), &Cancel::new()).await.unwrap() else {
        panic!("it was cancelled");
    };
    let entry = told.session().entry(id.as_str()).unwrap().value().unwrap().to_serde().unwrap();
    assert_eq!(
        (&entry["summary"], &entry["fromHook"], &entry["tokensBefore"]),
        (&json!("mine"), &json!(true), &json!(7))
    );
    assert_eq!(model.requests().len(), 2, "no model was asked for a summary");
}

#[tokio::test]
async fn a_long_context_is_compacted_before_the_next_prompt() {
    let model = two_answers(vec![Reply::Text("history"), Reply::Text("prefix"), Reply::Text("three")]);
    let (watcher, seen) = watched();
    let mut agent = talked(&model).await.with_watcher(watcher);
    assert!(!seen.lock().unwrap().iter().any(|event| event.starts_with("compaction")));
    // The last answer says how long the context was.
    model.uses(90_000);
    agent.prompt(prompt("third"), &Cancel::new()).await.unwrap();
    let before = model.requests().len();
    agent.prompt(prompt("fourth"), &Cancel::new()).await.unwrap();
    assert!(model.requests().len() > before + 1, "a summary was asked for");
    assert!(seen.lock().unwrap().iter().any(|event| event == "compaction_end"));
    assert!(path(&agent.session()).contains(&"compaction".to_owned()));
}

#[tokio::test]
async fn an_overflow_is_met_by_compacting_and_asking_once_more() {
    let model = two_answers(vec![Reply::Fails("", overflow()), Reply::Text("history"), Reply::Text("three")]);
    // The last two prompts stay.
    let compaction = CompactionSettings { keep_recent_tokens: 4, ..CompactionSettings::default() };
    let mut agent = talked(&model).await.with_settings(Settings { compaction, ..Settings::default() });
    let outcome = agent.prompt(prompt("third"), &Cancel::new()).await.unwrap();
    assert_eq!(outcome, Outcome::Done);
    let asked = model.asked(model.requests().len() - 1);
    assert!(asked[0].contains("history"), "{asked:?}");
    assert_eq!(asked[1..], ["user: second", "assistant: two", "user: third"]);
    assert_eq!(path(&agent.session()).last().unwrap(), "assistant: three");
}

#[tokio::test]
async fn the_failed_answer_is_left_out_whatever_extensions_append_behind_it() {
    let model = two_answers(vec![Reply::Fails("", overflow()), Reply::Text("history"), Reply::Text("three")]);
    let compaction = CompactionSettings { keep_recent_tokens: 4, ..CompactionSettings::default() };
    let mut hooks = Hooks::new();
    hooks.on("keeper", "turn_end", |payload, _| {
        let (state, note) = (
            json!({"type": "custom", "customType": "state"}),
            json!({"type": "custom_message", "customType": "note", "content": "mind", "display": true}),
        );
        let is_failed = payload["outcome"] == "error";
        Box::pin(async move { Ok(if is_failed { json!({"entries": [note, state]}) } else { json!(null) }) })
    });
    let settings = Settings { compaction, ..Settings::default() };
    let mut agent = talked(&model).await.with_settings(settings).with_hooks(hooks);
    let outcome = agent.prompt(prompt("third"), &Cancel::new()).await.unwrap();
    assert_eq!(outcome, Outcome::Done);
    let asked = model.asked(model.requests().len() - 1);
    assert_eq!(asked[asked.len() - 2..], ["user: third", "user: mind"], "{asked:?}");
}

#[tokio::test]
async fn an_overflow_that_stays_is_told_after_one_try() {
    let model = two_answers(vec![
        Reply::Fails("", overflow()),
        Reply::Text("history"),
        Reply::Text("prefix"),
        Reply::Fails("", overflow()),
    ]);
    let mut agent = talked(&model).await;
    let outcome = agent.prompt(prompt("third"), &Cancel::new()).await.unwrap();
    assert_eq!(outcome, Outcome::Failed(overflow()));
}
