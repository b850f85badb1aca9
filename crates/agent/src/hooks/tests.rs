use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::*;

/// Registers a handler that always answers the same.
fn answering(hooks: &mut Hooks, name: &str, event: &str, answer: Json) {
    hooks.on(name, event, move |_, _| {
        let answer = answer.clone();
        Box::pin(async move { Ok(answer) })
    });
}

fn failing(hooks: &mut Hooks, name: &str, event: &str) {
    hooks.on(name, event, |_, _| Box::pin(async { Err("it broke".to_owned()) }));
}

#[tokio::test]
async fn answers_to_a_gate_are_merged_field_by_field() {
    let mut hooks = Hooks::new();
    answering(&mut hooks, "a", "before", json!({"label": "one", "summary": {"summary": "text"}}));
    answering(&mut hooks, "b", "before", json!({"label": "two"}));
    answering(&mut hooks, "c", "other", json!({"label": "three"}));
    let gate = hooks.gate("before", &json!({}), &Cancel::new()).await;
    assert_eq!(Json::Object(gate.fields), json!({"label": "two", "summary": {"summary": "text"}}));
    assert_eq!(gate.cancelled_by, None);
}

#[tokio::test]
async fn a_cancel_ends_the_asking_and_names_who_it_was() {
    let mut hooks = Hooks::new();
    let asked = Arc::new(AtomicUsize::new(0));
    answering(&mut hooks, "a", "before", json!({"cancel": true}));
    let counter = asked.clone();
    hooks.on("b", "before", move |_, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Ok(Json::Null) })
    });
    let gate = hooks.gate("before", &json!({}), &Cancel::new()).await;
    assert_eq!(gate.cancelled_by.as_deref(), Some("a"));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_handler_that_fails_is_reported_and_passed_over() {
    let mut hooks = Hooks::new();
    failing(&mut hooks, "bad", "before");
    answering(&mut hooks, "good", "before", json!({"label": "kept"}));
    let gate = hooks.gate("before", &json!({}), &Cancel::new()).await;
    assert_eq!(gate.text("label").as_deref(), Some("kept"));
    let failure = HookFailure { handler: "bad".into(), event: "before".into(), message: "it broke".into() };
    assert_eq!(hooks.take_failures(), [failure]);
    assert_eq!(hooks.take_failures(), []);
}

#[tokio::test]
async fn in_a_chain_everybody_sees_what_the_one_before_made() {
    let mut hooks = Hooks::new();
    answering(&mut hooks, "a", "input", json!({"text": "changed"}));
    hooks.on("b", "input", |payload, _| {
        let text = format!("{} twice", payload["text"].as_str().unwrap());
        Box::pin(async move { Ok(json!({ "text": text })) })
    });
    let made = hooks.chain("input", json!({"text": "first", "source": "person"}), &Cancel::new()).await;
    assert_eq!(made, json!({"text": "changed twice", "source": "person"}));
}

#[tokio::test]
async fn a_chain_ends_only_with_a_last_word_that_its_caller_knows() {
    let mut hooks = Hooks::new();
    answering(&mut hooks, "a", "context", json!({"block": true, "action": "handled"}));
    answering(&mut hooks, "b", "context", json!({"seen": true}));
    let made = hooks.chain("context", json!({}), &Cancel::new()).await;
    assert_eq!(made["seen"], true);
    let blocks = |answer: &serde_json::Map<String, Json>| answer.contains_key("block");
    let made = hooks.chain_until("context", json!({}), blocks, &Cancel::new()).await;
    assert_eq!((&made["block"], made.get("seen")), (&json!(true), None));
}

#[tokio::test]
async fn a_handler_that_hangs_is_left_when_the_work_is_cancelled() {
    let mut hooks = Hooks::new();
    hooks.on("slow", "before", |_, _| Box::pin(std::future::pending()));
    let cancel = Cancel::new();
    cancel.cancel();
    let gate = hooks.gate("before", &json!({}), &cancel).await;
    assert_eq!(gate, Gate::default());
}

#[tokio::test]
async fn who_listens_under_an_older_name_hears_of_the_event_once_and_under_that_name() {
    for (older, event) in ALIASES {
        let mut hooks = Hooks::new();
        assert!(!hooks.wants(event));
        hooks.on("old", older, |payload, _| {
            let kind = payload["type"].clone();
            Box::pin(async move { Ok(json!({"heard": kind})) })
        });
        assert!(hooks.wants(event));
        let mut payload = json!({"type": event});
        let answers = hooks.collect(event, &mut payload, &[], &Cancel::new()).await;
        assert_eq!(answers, [json!({"heard": older})]);
        assert_eq!(payload, json!({"type": event}), "the others see its own name");
    }
}

/// Listens under every name that there is.
struct Everything;

impl Handler for Everything {
    fn name(&self) -> &str {
        "everything"
    }

    fn wants(&self, _: &str) -> bool {
        true
    }

    fn call<'a>(&'a self, event: &'a str, _: &'a Json, _: &'a Cancel) -> HookFuture<'a> {
        Box::pin(async move { Ok(json!([event])) })
    }
}

#[tokio::test]
async fn who_listens_under_both_names_hears_of_the_event_once() {
    let mut hooks = Hooks::new();
    hooks.register(Arc::new(Everything));
    let answers = hooks.collect("session_before_compact", &mut json!({}), &[], &Cancel::new()).await;
    assert_eq!(answers, [json!(["session_before_compact"])]);
}

#[tokio::test]
async fn a_guard_that_fails_lets_nothing_through() {
    let mut hooks = Hooks::new();
    failing(&mut hooks, "guard", "tool_call");
    failing(&mut hooks, "guard", "user_bash");
    let called = hooks.chain("tool_call", json!({"input": {}}), &Cancel::new()).await;
    let refused = json!({"block": true, "reason": "an extension failed: it broke"});
    assert_eq!((&called["block"], &called["reason"]), (&refused["block"], &refused["reason"]));
    assert_eq!(hooks.first("user_bash", &json!({}), &Cancel::new()).await, Some(refused));
    assert_eq!(hooks.take_failures().len(), 2);
}

#[tokio::test]
async fn a_project_is_trusted_by_the_first_who_decides() {
    let mut hooks = Hooks::new();
    let cancel = Cancel::new();
    assert_eq!(hooks.project_trust("/w", &cancel).await, None);
    failing(&mut hooks, "a", "project_trust");
    answering(&mut hooks, "b", "project_trust", json!({"trusted": "undecided"}));
    assert_eq!(hooks.project_trust("/w", &cancel).await, None);
    answering(&mut hooks, "c", "project_trust", json!({"trusted": "no", "remember": true}));
    answering(&mut hooks, "d", "project_trust", json!({"trusted": "yes"}));
    let trust = hooks.project_trust("/w", &cancel).await;
    assert_eq!(trust, Some(Trust { is_trusted: false, remember: true }));
}
