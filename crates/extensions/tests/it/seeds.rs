//! The two examples from which all of this began, end to end through a navigation.

use offshoot_agent::agent::SummaryRequest;
use offshoot_agent::command::CancelledBy;
use serde_json::json;

use crate::support::Setup;

#[tokio::test]
async fn the_custom_summarizer_makes_the_summary() {
    let text = include_str!("../fixtures/seeds/custom-summarizer.ts");
    let mut stage = Setup::default().with(&[("custom-summarizer.ts", text)]).await;
    assert_eq!(stage.errors, []);
    stage.user("a");
    let target = stage.assistant("b");
    stage.user("c");
    stage.assistant("d");
    let result = stage.navigate(&target, SummaryRequest::Standard).await;
    let id = result.done().unwrap().summary_entry.unwrap();
    assert_eq!(stage.path(), ["user: a", "assistant: b", "branch_summary custom summary of 2 entries"]);
    let entry = stage.agent.session().entry(id.as_str()).unwrap().value().unwrap().to_serde().unwrap();
    assert_eq!((&entry["details"], &entry["fromHook"]), (&json!({"custom": true}), &json!(true)));
    assert!(stage.model.requests.lock().unwrap().is_empty(), "the model was not asked");

    // Without a wish for a summary it stays out of the way.
    let back = stage.navigate("00000004", SummaryRequest::Skip).await;
    assert_eq!(back.done().unwrap().summary_entry, None);
}

#[tokio::test]
async fn methods_of_the_event_change_what_is_asked_of_the_model() {
    let text = include_str!("../fixtures/seeds/both-handlers.ts");
    let replies = vec!["what the parser did"];
    let mut stage = Setup { replies, ..Setup::default() }.with(&[("both.ts", text)]).await;
    assert_eq!(stage.errors, []);
    let target = stage.user("a");
    stage.assistant("b");
    let result = stage.navigate(&target, SummaryRequest::Skip).await;
    assert!(result.done().unwrap().summary_entry.is_some(), "setSummarize(true) overrides a no");
    let asked = stage.model.requests.lock().unwrap()[0].messages[0].text().into_owned();
    assert!(asked.ends_with("only the parser"), "{asked}");
    let seen = stage.fire("probe", json!({})).await["seen"].clone();
    assert_eq!(seen[0], format!("before {target}"));
    let after = seen[1].as_str().unwrap();
    assert!(after.starts_with(&format!("after {target} ")), "{after}");
    assert!(after.ends_with("what the parser did a false false"), "{after}");
}

#[tokio::test]
async fn who_speaks_in_events_hears_of_a_navigation_that_came_to_nothing() {
    let text = include_str!("../fixtures/seeds/both-handlers.ts");
    let flags = json!({"refuse": true});
    let mut stage = Setup { flags, ..Setup::default() }.with(&[("both.ts", text)]).await;
    let target = stage.user("a");
    stage.assistant("b");
    let result = stage.navigate(&target, SummaryRequest::Skip).await;
    assert_eq!(result.cancelled_by(), Some(&CancelledBy::Hook("both".into())));
    let seen = stage.fire("probe", json!({})).await["seen"].clone();
    let expected =
        json!([format!("before {target}"), format!("after {target} undefined undefined true false")]);
    assert_eq!(seen, expected);
}
