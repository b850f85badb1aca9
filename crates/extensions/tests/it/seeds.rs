//! The seeds as their readers would use them: every example for authors of hooks and extensions is a file in
//! `fixtures/seeds`, with the same calls, parameters and results, and without a declaration of its dialect.

use offshoot_agent::agent::{NavigateRequest, SummaryRequest};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::CancelledBy;
use serde_json::{Value as Json, json};

use crate::support::{Setup, Stage};

/// Loads a file of `fixtures/seeds` into the directory of extensions.
async fn seed(name: &str, setup: Setup) -> Stage {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/seeds");
    let text = std::fs::read_to_string(format!("{directory}/{name}")).unwrap();
    assert!(!text.contains("dialect ="), "{name} declares its dialect");
    let stage = setup.with(&[(name, &text)]).await;
    assert_eq!(stage.errors, []);
    stage
}

fn replying(replies: &[&'static str]) -> Setup {
    Setup { replies: replies.to_vec(), ..Setup::default() }
}

async fn probe(stage: &Stage) -> Json {
    stage.fire("probe", json!({})).await["seen"].clone()
}

/// Two turns; returns the ids of all four entries.
fn conversation(stage: &Stage) -> [String; 4] {
    [stage.user("a"), stage.assistant("b"), stage.user("c"), stage.assistant("d")]
}

#[tokio::test]
async fn seed_000_a_custom_summarizer_makes_the_summary() {
    let mut stage = seed("custom-summarizer.ts", Setup::default()).await;
    let [_, target, _, last] = conversation(&stage);
    let result = stage.navigate(&target, SummaryRequest::Standard).await;
    let id = result.done().unwrap().summary_entry.unwrap();
    assert_eq!(stage.path(), ["user: a", "assistant: b", "branch_summary custom summary of 2 entries"]);
    let entry = stage.agent.session().entry(id.as_str()).unwrap().value().unwrap().to_serde().unwrap();
    assert_eq!((&entry["details"], &entry["fromHook"]), (&json!({"custom": true}), &json!(true)));
    assert!(stage.model.requests.lock().unwrap().is_empty(), "the model was not asked");

    // Without a request for a summary it stays out of the way.
    let back = stage.navigate(&last, SummaryRequest::Skip).await;
    assert_eq!(back.done().unwrap().summary_entry, None);
}

#[tokio::test]
async fn seed_000_both_events_have_the_listed_fields() {
    let mut stage = seed("tree-fields.ts", replying(&["what was done"])).await;
    let [_, target, prompt, leaf] = conversation(&stage);
    stage.navigate(&target, SummaryRequest::Standard).await.done().unwrap();
    let seen = probe(&stage).await;
    let before = json!({
        "type": "session_before_tree", "targetId": target, "oldLeafId": leaf, "commonAncestorId": target,
        "userWantsSummary": true,
    });
    assert_eq!(seen[0], before);
    assert_eq!(seen[1], json!({"ids": [prompt, leaf], "isAborted": false}));
    assert_eq!(seen[2], json!({"optional": []}), "what was not given is left out");
    assert_eq!((&seen[3]["type"], &seen[3]["fromHook"]), (&json!("session_tree"), &json!(false)));
    assert_eq!((&seen[3]["oldLeafId"], &seen[3]["from"]), (&json!(leaf), &json!(leaf)));
    assert!(seen[3]["summary"].as_str().unwrap().ends_with("what was done"), "{seen}");
    let asked = stage.model.requests.lock().unwrap()[0].messages[0].text().into_owned();
    assert!(asked.ends_with("only the parser"), "{asked}");
    assert!(stage.path().contains(&"label left here".to_owned()), "{:?}", stage.path());
}

#[tokio::test]
async fn seed_001_the_context_of_a_hook_reads_and_branches() {
    let mut stage = seed("hook-context.ts", replying(&["e"])).await;
    let [_, second, ..] = conversation(&stage);
    stage.agent.start(&Cancel::new()).await;
    assert_eq!(
        probe(&stage).await,
        json!([true, 1, ["message", "message", "branch_summary", "custom"]]),
        "both moves are visible at once"
    );
    assert_eq!(
        stage.path(),
        ["user: a", "assistant: b", "branch_summary what was tried here", "custom state"]
    );
    assert_eq!(stage.agent.session().tree().node(&second).map(|_| ()), Some(()));

    // While a turn is running, the move waits for its end.
    stage.submit("go on").await;
    assert_eq!(probe(&stage).await[3], true, "the turn goes on where it began");
    assert_eq!(stage.path(), ["user: a", "branch_summary not while the model answers"]);
}

#[tokio::test]
async fn seed_001_branching_in_place_makes_or_stores_a_summary() {
    let mut stage = seed("agent-session.ts", replying(&["made by the model"])).await;
    let [first, second, ..] = conversation(&stage);
    stage.command(&format!("in-place {second}")).await.unwrap();
    let path = stage.path();
    assert_eq!(path.len(), 3);
    assert!(path[2].starts_with("branch_summary ") && path[2].contains("made by the model"), "{path:?}");

    stage.command(&format!("in-place-with-text {first}")).await.unwrap();
    assert_eq!(stage.path(), ["user: a", "branch_summary my own words"], "the entry itself is the parent");
    let entry = stage.agent.session().leaf_entry().unwrap().unwrap().value().unwrap().to_serde().unwrap();
    assert_eq!(entry["fromHook"], true);
    assert_eq!(stage.model.requests.lock().unwrap().len(), 1, "no model was asked for the text");

    stage.command("tree").await.unwrap();
    assert_eq!(stage.notes(), [format!("info: {first} 2")]);
    stage.command(&format!("branch {first}")).await.unwrap();
    let expected = json!({"selectedText": "a", "cancelled": false, "isFile": false, "inPlace": false});
    let note = stage.notes().remove(0);
    assert_eq!(serde_json::from_str::<Json>(note.trim_start_matches("info: ")).unwrap(), expected);
}

#[tokio::test]
async fn seeds_000_to_002_the_session_manager_reads_and_moves() {
    let mut stage = seed("session-manager.ts", Setup::default()).await;
    let [first, ..] = conversation(&stage);
    stage.agent.session().append_label_change(&first, Some("start")).unwrap();
    let answer = stage.fire("probe", json!({})).await;
    stage.serve().await;
    let expected = json!({
        "leaf": true, "path": 5, "branch": 5, "entry": true, "tree": [first, 1, "start", false], "children": 1,
        "label": "start", "context": 4, "branched": true, "summary": ["what came of it", true], "saved": 2,
        "reset": null, "fromRoot": [null, "root"], "renamed": "kept",
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn seed_003_a_command_gets_its_context_alone_and_may_return_a_prompt() {
    let mut stage = seed("command.ts", Setup::default()).await;
    assert_eq!(stage.command("review HEAD~1").await, Ok(Some("Review HEAD~1: three files".into())));
    assert_eq!(stage.command("quiet everything else").await, Ok(None));
    assert_eq!(stage.command("entries").await, Ok(None));
    assert_eq!(stage.notes(), ["info: done with everything else", "info: 0 undefined"]);
}

#[tokio::test]
async fn seed_003_a_component_is_shown_until_it_closes() {
    for (keys, screens, picked) in
        [(&["j", "\r", "j"][..], 2, "two"), (&["\x1b", "j"], 1, "one"), (&["j", "\x1b[27u", "j"], 2, "two")]
    {
        let mut stage = seed("custom-ui.ts", Setup::default()).await;
        stage.types(keys);
        stage.command("list").await.unwrap();
        assert_eq!(stage.shown("picked").await, ["custom".to_owned(), format!("info: picked {picked}")]);
        assert_eq!(stage.screens().len(), screens, "{keys:?}");
    }
}

#[tokio::test]
async fn seed_003_messages_state_and_renderers() {
    let mut stage = seed("messages.ts", replying(&["answer"])).await;
    stage.command("note hello").await.unwrap();
    assert_eq!(stage.path(), ["custom count", "custom_message note"]);
    let message =
        json!({"customType": "note", "content": "hello", "display": true, "details": {"from": "me"}});
    let renderer = stage.extensions.message_renderer("note").unwrap();
    let drawn = renderer.draw(&offshoot_extensions::Drawing::Message(message), false, 40).await.unwrap();
    assert_eq!(drawn, Some(vec!["hello (me)".to_owned()]));

    stage.command("ask why").await.unwrap();
    assert_eq!(stage.path().last().unwrap(), "assistant: answer", "the flag triggers a turn");
}

#[tokio::test]
async fn seeds_002_and_003_older_names_of_events() {
    let mut stage = seed("older-events.ts", Setup::default()).await;
    let [first, ..] = conversation(&stage);
    let payload = json!({
        "type": "session_before_compact", "preparation": {"firstKeptEntryId": first, "tokensBefore": 9},
        "branchEntries": [{"type": "compaction", "id": "1"}], "customInstructions": null, "model": null,
    });
    let answer = stage.fire("session_before_compact", payload).await;
    assert_eq!(answer["compaction"]["details"], json!({"version": 1}));
    let entry = json!({"type": "session_compact", "compactionEntry": {"summary": "s"}});
    stage.fire("session_compact", entry).await;
    stage.command("walk").await.unwrap();
    let of = |name: &str, more: &[Json]| {
        let base = [json!(name), json!("function"), json!("function"), json!(false)];
        Json::from_iter(base.into_iter().chain(more.iter().cloned()))
    };
    let expected = [
        of("before_compact", &[json!(1), Json::Null, json!("undefined"), json!(false)]),
        of("session_compact", &[json!("s")]),
        of("session_before_tree", &[]),
        of("session_tree", &[]),
        of("session_before_branch", &[json!(first)]),
        of("session_branch", &[]),
        of("before_switch", &[json!(false)]),
        of("switch", &[json!(false)]),
    ];
    assert_eq!(probe(&stage).await, Json::from_iter(expected));
}

#[tokio::test]
async fn seed_004_methods_of_the_event_change_the_navigation() {
    let mut stage = seed("tree-methods.ts", replying(&["what the parser did"])).await;
    let target = stage.user("a");
    stage.assistant("b");
    let result = stage.navigate(&target, SummaryRequest::Skip).await;
    assert!(result.done().unwrap().summary_entry.is_some(), "setSummarize(true) overrides a no");
    let asked = stage.model.requests.lock().unwrap()[0].messages[0].text().into_owned();
    assert!(asked.ends_with("only the parser"), "{asked}");
    let seen = probe(&stage).await;
    assert_eq!(seen[0], json!(["before", target]));
    let summary = seen[1][2].as_str().unwrap();
    assert!(summary.ends_with("what the parser did"), "{summary}");
    assert_eq!(seen[1], json!(["after", target, summary, "a", "false", "false"]));
    assert_eq!(seen[2][0], "moved", "a completed navigation goes to every handler");
    assert_eq!(seen.as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn seed_004_a_cancelled_navigation_goes_to_handlers_that_read_the_outcome() {
    let flags = json!({"refuse": true});
    let mut stage = seed("tree-methods.ts", Setup { flags, ..Setup::default() }).await;
    let target = stage.user("a");
    stage.assistant("b");
    let result = stage.navigate(&target, SummaryRequest::Skip).await;
    assert_eq!(result.cancelled_by(), Some(&CancelledBy::Hook("tree-methods".into())));
    let expected = json!([["before", target], ["after", target, "undefined", "undefined", "true", "false"]]);
    assert_eq!(probe(&stage).await, expected);
}

#[tokio::test]
async fn seed_004_an_aborted_navigation_goes_to_handlers_that_read_the_outcome() {
    let mut stage = seed("tree-methods.ts", Setup::default()).await;
    let target = stage.user("a");
    stage.assistant("b");
    let stopped = Cancel::new();
    stopped.cancel();
    let request = NavigateRequest { target: target.clone(), summary: SummaryRequest::Standard, label: None };
    let result = stage.agent.navigate_tree(&request, &stopped).await.unwrap();
    assert_eq!(result.cancelled_by(), Some(&CancelledBy::User));
    let seen = probe(&stage).await;
    let last = seen.as_array().unwrap().last().unwrap().clone();
    assert_eq!(last, json!(["after", target, "undefined", "undefined", "true", "true"]), "{seen}");
}

#[tokio::test]
async fn seed_004_navigation_from_a_command_returns_the_summary() {
    let mut stage = seed("navigate.ts", replying(&["the API changed"])).await;
    let [_, target, _, leaf] = conversation(&stage);
    stage.command(&format!("go {target}")).await.unwrap();
    let note = stage.notes().remove(0);
    let result: Json = serde_json::from_str(note.trim_start_matches("info: ")).unwrap();
    let summary = result["summary"].as_str().unwrap();
    assert!(summary.ends_with("the API changed"), "{summary}");
    let expected = json!({
        "editorText": "undefined", "cancelled": false, "aborted": false, "hasText": false, "summary": summary,
        "from": leaf, "type": "branch_summary", "roots": 1,
    });
    assert_eq!(result, expected);
    assert!(stage.path().contains(&"label checkpoint".to_owned()), "{:?}", stage.path());
}
