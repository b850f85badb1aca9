//! Compaction: when it happens, the context after it, and that a failed one changes nothing.

use std::sync::{Arc, Mutex};

use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{Applied, CancelledBy};
use offshoot_agent::error::AgentError;
use offshoot_agent::event::{AgentEvent, Events};
use offshoot_agent::hooks::Hooks;
use offshoot_agent::model::ModelError;
use offshoot_agent::settings::Settings;
use offshoot_agent::turn::Outcome;
use serde_json::{Value as Json, json};
use session_tree::CompactionSettings;

use crate::support::{Reply, Scripted, agent, empty, overflow, overloaded, path, prompt, refused, watched};

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
async fn a_summary_replaces_older_messages() {
    let model = two_answers(vec![Reply::Text("history"), Reply::Text("prefix"), Reply::Text("three")]);
    let mut agent = talked(&model).await;
    let focus = Some("names");
    let done = agent.compact(focus, &Cancel::new()).await.unwrap();
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
    let error = agent.compact(None, &Cancel::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "Nothing to compact (no messages yet)");
    let model = two_answers(vec![Reply::Text("h"), Reply::Text("p")]);
    let mut agent = talked(&model).await;
    agent.compact(None, &Cancel::new()).await.unwrap();
    let error = agent.compact(None, &Cancel::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "Already compacted");
}

/// Returns the summary of the compaction at the leaf.
fn summary_at_leaf(agent: &offshoot_agent::agent::Agent) -> String {
    let entry = agent.session().leaf_entry().unwrap().unwrap().value().unwrap().to_serde().unwrap();
    assert_eq!(entry["type"], "compaction");
    entry["summary"].as_str().unwrap().to_owned()
}

/// Records the ends of compactions.
fn ends() -> (Events, Arc<Mutex<Vec<Json>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let into = seen.clone();
    let watcher = Events::new(move |event| {
        if matches!(event.event, AgentEvent::CompactionEnd { .. } | AgentEvent::RetryStart { .. }) {
            into.lock().unwrap().push(event.event.to_json());
        }
    });
    (watcher, seen)
}

#[tokio::test(start_paused = true)]
async fn a_summary_request_that_fails_for_a_while_is_sent_again() {
    let limited = ModelError::RateLimit { service: "s".into(), message: "slow".into(), retry_after: None };
    let model = two_answers(vec![
        Reply::Fails("half", overloaded()),
        Reply::Fails("", limited),
        Reply::Text("history"),
        Reply::Text("prefix"),
    ]);
    let (watcher, seen) = ends();
    let mut agent = talked(&model).await.with_events(watcher);
    let done = agent.compact(None, &Cancel::new()).await.unwrap();
    assert!(matches!(done, Applied::Done(_)));
    assert!(summary_at_leaf(&agent).starts_with("history\n"), "{}", summary_at_leaf(&agent));
    let seen = seen.lock().unwrap();
    let kinds: Vec<&str> = seen.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["auto_retry_start", "auto_retry_start", "compaction_end"]);
    assert_eq!(seen[2]["warning"], Json::Null);
}

#[tokio::test]
async fn a_summary_that_reaches_the_output_limit_is_kept_and_marked_incomplete() {
    let model = two_answers(vec![Reply::Cut("half a history"), Reply::Text("prefix")]);
    let (watcher, seen) = ends();
    let mut agent = talked(&model).await.with_events(watcher);
    agent.compact(None, &Cancel::new()).await.unwrap();
    assert!(summary_at_leaf(&agent).starts_with("half a history\n"), "{}", summary_at_leaf(&agent));
    assert!(seen.lock().unwrap()[0]["warning"].as_str().unwrap().contains("output limit"));
}

#[tokio::test]
async fn a_conversation_that_is_too_long_for_one_summary_request_is_sent_in_parts() {
    let model = two_answers(vec![]);
    let mut agent = agent(empty(), &model).with_settings(eager());
    let words = |name: &str| (0..2_000).map(|number| format!("{name}{number} ")).collect::<String>();
    agent.prompt(prompt(&words("first")), &Cancel::new()).await.unwrap();
    agent.prompt(prompt(&words("second")), &Cancel::new()).await.unwrap();
    model.accepts(9_000);
    let before = model.requests().len();
    let done = agent.compact(None, &Cancel::new()).await.unwrap();
    assert!(matches!(done, Applied::Done(_)));
    let sent = model.requests().split_off(before);
    let accepted: Vec<String> = sent
        .iter()
        .filter(|request| !model.refuses(request))
        .map(|request| request.messages[0].text().into_owned())
        .collect();
    assert!(accepted.len() > 2 && sent.len() < 40, "{} of {}", accepted.len(), sent.len());
    // A split may cut a word in two; all other words are in some request.
    let missing = (0..2_000)
        .flat_map(|number| [format!("first{number} "), format!("second{number} ")])
        .filter(|word| !accepted.iter().any(|text| text.contains(word.as_str())))
        .count();
    assert!(missing < sent.len(), "{missing}");
    assert!(accepted[1].contains("<previous-summary>"), "later parts go on from the summary of earlier ones");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_makes_no_summary_does_not_stop_the_compaction() {
    for (reply, cause) in [
        (Reply::Fails("half", overloaded()), "busy"),
        (Reply::Fails("", refused()), "refused the request"),
        (Reply::Fails("", overflow()), "too long"),
        (Reply::Calls("x", vec![("c", "bash", json!({}))]), "called a tool"),
        (Reply::Text(""), "is empty"),
        (Reply::Cut(""), "token cap"),
    ] {
        let model = two_answers(vec![reply.clone(); 50]);
        let (watcher, seen) = ends();
        let mut agent = talked(&model).await.with_events(watcher);
        let done = agent.compact(None, &Cancel::new()).await.unwrap();
        assert!(matches!(done, Applied::Done(_)), "{reply:?}");
        let summary = summary_at_leaf(&agent);
        assert!(summary.contains("first") && summary.contains("no model wrote it"), "{summary}");
        let warning = seen.lock().unwrap().last().unwrap()["warning"].as_str().unwrap().to_owned();
        assert!(warning.contains(cause), "{reply:?}: {warning}");
        assert!(model.requests().len() < 20, "{}", model.requests().len());
    }
}

#[tokio::test]
async fn an_earlier_summary_survives_an_offline_summary() {
    let model = two_answers(vec![Reply::Text("free words of old"), Reply::Text("prefix")]);
    let mut agent = talked(&model).await;
    agent.compact(None, &Cancel::new()).await.unwrap();
    for text in ["third", "fourth"] {
        agent.prompt(prompt(text), &Cancel::new()).await.unwrap();
    }
    model.accepts(10);
    agent.compact(None, &Cancel::new()).await.unwrap();
    let summary = summary_at_leaf(&agent);
    assert!(summary.contains("free words of old") && summary.contains("third"), "{summary}");
}

#[tokio::test]
async fn a_context_that_overflows_is_compacted_even_if_no_summary_request_succeeds() {
    let refused = || Reply::Fails("", refused());
    let model = two_answers(vec![Reply::Fails("", overflow()), refused(), Reply::Text("three")]);
    let mut agent = talked(&model).await;
    let outcome = agent.prompt(prompt("third"), &Cancel::new()).await.unwrap();
    assert_eq!(outcome, Outcome::Done);
    assert_eq!(path(&agent.session()).last().unwrap(), "assistant: three");
}

#[tokio::test]
async fn a_message_that_is_longer_than_what_is_kept_does_not_block_the_session() {
    let model = Scripted::new(vec![]);
    let mut agent = agent(empty(), &model);
    // 37,500 tokens: more than the 20,000 that are kept, so the default cut is before it.
    let long = "word ".repeat(30_000);
    agent.prompt(prompt(&long), &Cancel::new()).await.unwrap();
    model.accepts(100_000);
    for text in ["second", "third"] {
        assert_eq!(agent.prompt(prompt(text), &Cancel::new()).await.unwrap(), Outcome::Done, "{text}");
    }
    assert!(path(&agent.session()).contains(&"compaction".to_owned()));
}

#[tokio::test]
async fn a_small_window_does_not_keep_more_than_it_holds() {
    // By default 20,000 tokens are kept and 16,384 left free; this window has 4,000.
    let model = Scripted::with_window(4_000, vec![]);
    model.accepts(4 * 4_000);
    let mut agent = agent(empty(), &model);
    let long = "word ".repeat(700);
    for number in 0..12 {
        let outcome = agent.prompt(prompt(&long), &Cancel::new()).await.unwrap();
        assert_eq!(outcome, Outcome::Done, "prompt {number}");
    }
    assert!(path(&agent.session()).contains(&"compaction".to_owned()));
}

#[tokio::test]
async fn failed_answers_are_no_part_of_a_summary() {
    let model = Scripted::new(vec![
        Reply::Fails("a broken thought", refused()),
        Reply::Text("one"),
        Reply::Text("two"),
        Reply::Text("history"),
        Reply::Text("prefix"),
    ]);
    let mut agent = agent(empty(), &model).with_settings(eager());
    for text in ["zero", "first", "second"] {
        agent.prompt(prompt(text), &Cancel::new()).await.unwrap();
    }
    agent.compact(None, &Cancel::new()).await.unwrap();
    let asked = model.requests()[3].messages[0].text().into_owned();
    assert!(asked.contains("[User]: zero") && asked.contains("[Assistant]: one"), "{asked}");
    assert!(!asked.contains("a broken thought"), "{asked}");
}

#[tokio::test]
async fn a_service_that_cannot_be_reached_or_a_stopped_compaction_changes_nothing() {
    let key = ModelError::Key { service: "s".into(), message: "wrong".into() };
    let model = two_answers(vec![Reply::Fails("", key)]);
    let mut agent = talked(&model).await;
    let before = path(&agent.session());
    let error = agent.compact(None, &Cancel::new()).await.unwrap_err();
    assert!(matches!(error, AgentError::Summary { .. }), "{error}");
    assert_eq!(path(&agent.session()), before);

    let model = two_answers(vec![Reply::Hangs("half")]);
    let mut agent = talked(&model).await;
    let before = path(&agent.session());
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let stopper = tokio::spawn(async move { stop.cancel() });
    let done = agent.compact(None, &cancel).await.unwrap();
    stopper.await.unwrap();
    assert_eq!(done, Applied::Cancelled(CancelledBy::User));
    assert_eq!(path(&agent.session()), before);
}

#[tokio::test]
async fn an_extension_may_cancel_it_or_supply_the_summary() {
    let mut hooks = Hooks::new();
    hooks.on("guard", "session_before_compact", |_, _| Box::pin(async { Ok(json!({"cancel": true})) }));
    let model = two_answers(vec![]);
    let mut stopped = talked(&model).await.with_hooks(hooks);
    let done = stopped.compact(None, &Cancel::new()).await.unwrap();
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
    let Applied::Done(id) = told.compact(None, &Cancel::new()).await.unwrap() else {
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
    let mut agent = talked(&model).await.with_events(watcher);
    assert!(!seen.lock().unwrap().iter().any(|event| event.starts_with("compaction")));
    // The last answer reports the length of the context.
    model.uses(90_000);
    agent.prompt(prompt("third"), &Cancel::new()).await.unwrap();
    let before = model.requests().len();
    agent.prompt(prompt("fourth"), &Cancel::new()).await.unwrap();
    assert!(model.requests().len() > before + 1, "a summary was asked for");
    assert!(seen.lock().unwrap().iter().any(|event| event == "compaction_end"));
    assert!(path(&agent.session()).contains(&"compaction".to_owned()));
}

#[tokio::test]
async fn an_overflow_causes_a_compaction_and_another_request() {
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
async fn a_repeated_overflow_is_reported_with_the_message_of_the_service() {
    let model = two_answers(vec![
        Reply::Fails("", overflow()),
        Reply::Text("history"),
        Reply::Text("prefix"),
        Reply::Fails("", overflow()),
    ]);
    let mut agent = talked(&model).await;
    let outcome = agent.prompt(prompt("third"), &Cancel::new()).await.unwrap();
    let Outcome::Failed(ModelError::Overflow { message }) = outcome else { panic!("{outcome:?}") };
    assert!(message.starts_with("prompt is too long"), "{message}");
}
