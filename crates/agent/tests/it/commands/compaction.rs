//! Compactions and extensions, and which usage counts: cases 114, 116, 118 and 119 of engine.md.

use std::sync::{Arc, Mutex};

use offshoot_agent::cancel::Cancel;
use offshoot_agent::hooks::Hooks;
use offshoot_agent::model::ModelError;
use offshoot_agent::settings::Settings;
use serde_json::{Value as Json, json};
use session_tree::CompactionSettings;

use super::TestAgent;
use crate::support::{Reply, Scripted, agent, empty, path, prompt};

fn eager() -> Settings {
    let compaction = CompactionSettings { keep_recent_tokens: 1, ..CompactionSettings::default() };
    Settings { compaction, ..Settings::default() }
}

/// Records the calls of each handler, in order.
fn noting(names: &[&'static str]) -> (Hooks, Arc<Mutex<Vec<String>>>) {
    let (mut hooks, seen) = (Hooks::new(), Arc::new(Mutex::new(Vec::new())));
    for name in names.iter().copied() {
        for event in ["session_before_compact", "session_compact"] {
            let into = seen.clone();
            hooks.on(name, event, move |_, _| {
                into.lock().unwrap().push(format!("{event} {name}"));
                Box::pin(async { Ok(Json::Null) })
            });
        }
    }
    (hooks, seen)
}

#[tokio::test]
async fn all_extensions_are_called_in_order_before_and_after() {
    let (hooks, seen) = noting(&["one", "two"]);
    let replies = ["a", "b", "history", "prefix"].map(Reply::Text);
    let mut agent = agent(empty(), &Scripted::new(replies.to_vec())).with_settings(eager()).with_hooks(hooks);
    for text in ["first", "second"] {
        agent.prompt(prompt(text), &Cancel::new()).await.unwrap();
    }
    agent.compact(None, &Cancel::new()).await.unwrap();
    let expected = [
        "session_before_compact one",
        "session_before_compact two",
        "session_compact one",
        "session_compact two",
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[tokio::test]
async fn an_extension_that_throws_leaves_the_default_compaction() {
    let mut hooks = Hooks::new();
    hooks.on("broken", "session_before_compact", |_, _| Box::pin(async { Err("oops".into()) }));
    let replies = ["a", "b", "history", "prefix"].map(Reply::Text);
    let mut agent = agent(empty(), &Scripted::new(replies.to_vec())).with_settings(eager()).with_hooks(hooks);
    for text in ["first", "second"] {
        agent.prompt(prompt(text), &Cancel::new()).await.unwrap();
    }
    let done = agent.compact(None, &Cancel::new()).await.unwrap();
    let id = done.done().unwrap();
    let entry = agent.session().entry(id.as_str()).unwrap().value().unwrap().to_serde().unwrap();
    assert_eq!(entry["fromHook"], json!(false));
    assert!(entry["summary"].as_str().unwrap().starts_with("history"));
}

#[tokio::test]
async fn an_answer_from_before_a_compaction_does_not_call_for_another_one() {
    // The kept answer `d` reports a nearly full context, but from before the compaction.
    let full = r#"{"role":"assistant","content":[{"type":"text","text":"yes"}],"api":"a","provider":"prov","model":"mod","usage":{"input":95000,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":95001,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1735689603000}"#;
    let drawing = format!(
        "a user one\nb<a assistant 1\nc<b user two\n\
         ! {{\"type\":\"message\",\"id\":\"d\",\"parentId\":\"c\",\"timestamp\":\"2025-01-01T00:00:04.000Z\",\"message\":{full}}}\n\
         e<d compaction keep=c what was said"
    );
    let mut test = TestAgent::draw(&drawing, vec![Reply::Text("three")]);
    test.agent.prompt(prompt("more"), &Cancel::new()).await.unwrap();
    assert_eq!(test.model.requests().len(), 1, "only the prompt was asked");
    assert!(test.model.asked(0)[0].contains("what was said"));
}

#[tokio::test]
async fn a_failed_answer_after_one_that_nearly_filled_the_context_lets_it_be_compacted() {
    let refused = ModelError::Refused { service: "s".into(), status: 400, message: "no".into() };
    let model = Scripted::new(vec![
        Reply::Text("one"),
        Reply::Text("two"),
        Reply::Fails("", refused),
        Reply::Text("history"),
        Reply::Text("prefix"),
        Reply::Text("four"),
    ]);
    let mut agent = agent(empty(), &model).with_settings(eager());
    agent.prompt(prompt("first"), &Cancel::new()).await.unwrap();
    model.uses(70_000);
    agent.prompt(prompt("second"), &Cancel::new()).await.unwrap();
    model.uses(0);
    // Not enough yet: the limit is 100,000 less 16,384.
    assert!(!path(&agent.session()).contains(&"compaction".to_owned()));
    agent.prompt(prompt(&"word ".repeat(12_000)), &Cancel::new()).await.unwrap();
    agent.prompt(prompt("fourth"), &Cancel::new()).await.unwrap();
    let said: Vec<String> =
        path(&agent.session()).iter().map(|text| text.chars().take(30).collect()).collect();
    assert!(said.contains(&"compaction".to_owned()), "{said:?}");
}
