use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::*;

/// Registers a handler with a fixed answer.
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
    answering(
        &mut hooks,
        "a",
        "session_before_tree",
        json!({"label": "one", "summary": {"summary": "text"}}),
    );
    answering(&mut hooks, "b", "session_before_tree", json!({"label": "two"}));
    answering(&mut hooks, "c", "session_before_fork", json!({"label": "three"}));
    let gate = hooks.gate("session_before_tree", &json!({}), &Cancel::new()).await;
    assert_eq!(Json::Object(gate.fields), json!({"label": "two", "summary": {"summary": "text"}}));
    assert_eq!(gate.cancelled_by, None);
}

#[tokio::test]
async fn a_cancel_stops_the_calls_and_names_the_handler() {
    let mut hooks = Hooks::new();
    let asked = Arc::new(AtomicUsize::new(0));
    answering(&mut hooks, "a", "session_before_tree", json!({"cancel": true}));
    let counter = asked.clone();
    hooks.on("b", "session_before_tree", move |_, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Ok(Json::Null) })
    });
    let gate = hooks.gate("session_before_tree", &json!({}), &Cancel::new()).await;
    assert_eq!(gate.cancelled_by.as_deref(), Some("a"));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_failed_handler_is_reported_and_skipped() {
    let mut hooks = Hooks::new();
    failing(&mut hooks, "bad", "session_before_tree");
    answering(&mut hooks, "good", "session_before_tree", json!({"label": "kept"}));
    let gate = hooks.gate("session_before_tree", &json!({}), &Cancel::new()).await;
    assert_eq!(gate.text("label").as_deref(), Some("kept"));
    let failure = HookFailure {
        handler: "bad".into(),
        event: "session_before_tree".into(),
        message: "it broke".into(),
    };
    assert_eq!(hooks.take_failures(), [failure]);
    assert_eq!(hooks.take_failures(), []);
}

#[tokio::test]
async fn in_a_chain_each_handler_gets_the_changes_of_the_one_before() {
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
async fn the_table_defines_which_answer_ends_a_chain_and_which_fields_count() {
    let mut hooks = Hooks::new();
    for (event, field) in [("context", "messages"), ("tool_call", "input")] {
        answering(&mut hooks, "a", event, json!({"block": true, "toolName": "other"}));
        answering(&mut hooks, "b", event, json!({ field: 1 }));
    }
    let made = hooks.chain("context", json!({}), &Cancel::new()).await;
    assert_eq!(made, json!({"messages": 1}), "a context cannot be blocked");
    let made = hooks.chain("tool_call", json!({"toolName": "bash"}), &Cancel::new()).await;
    assert_eq!(made, json!({"block": true, "toolName": "bash"}));
}

#[tokio::test]
async fn a_hanging_handler_is_abandoned_when_the_work_is_cancelled() {
    let mut hooks = Hooks::new();
    hooks.on("slow", "session_before_tree", |_, _| Box::pin(std::future::pending()));
    let cancel = Cancel::new();
    cancel.cancel();
    let gate = hooks.gate("session_before_tree", &json!({}), &cancel).await;
    assert_eq!(gate, Gate::default());
}

#[tokio::test]
async fn a_function_for_an_older_name_is_called_once_and_with_that_name() {
    for event in events::EVENTS {
        for older in event.older_names {
            let (mut hooks, seen) = (Hooks::new(), Arc::new(Mutex::new(Vec::new())));
            assert!(!hooks.wants(event.name));
            let into = seen.clone();
            hooks.on("old", older, move |payload, _| {
                into.lock().unwrap().push(payload["type"].clone());
                Box::pin(async { Ok(Json::Null) })
            });
            assert!(hooks.wants(event.name));
            hooks.notify(event.name, &json!({"type": event.name}), &Cancel::new()).await;
            assert_eq!(*seen.lock().unwrap(), [json!(older)]);
        }
    }
}

/// A handler with several listeners for one event.
struct Several;

impl Handler for Several {
    fn name(&self) -> &str {
        "several"
    }

    fn wants(&self, event: &str) -> bool {
        event == "resources_discover"
    }

    fn listeners(&self, _: &str) -> Vec<u64> {
        vec![7, 5]
    }

    fn call<'a>(&'a self, _: &'a str, _: &'a Json, _: &'a Cancel) -> HookFuture<'a> {
        Box::pin(std::future::ready(Err("asks for all answers at once".to_owned())))
    }

    fn call_listener<'a>(&'a self, _: &'a str, at: u64, _: &'a Json, _: &'a Cancel) -> HookFuture<'a> {
        Box::pin(async move { Ok(json!({"skillPaths": [at]})) })
    }
}

#[tokio::test]
async fn the_listeners_of_one_handler_are_combined_like_several_handlers() {
    let mut hooks = Hooks::new();
    hooks.register(Arc::new(Several));
    let (answers, _) = hooks.collect("resources_discover", json!({}), &Cancel::new()).await;
    assert_eq!(answers, [json!({"skillPaths": [7]}), json!({"skillPaths": [5]})]);
}

#[test]
fn every_name_of_an_event_means_one_event() {
    let mut names: Vec<&str> =
        events::EVENTS.iter().flat_map(|one| one.older_names.iter().copied().chain([one.name])).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[tokio::test]
async fn a_failed_guard_blocks_the_action() {
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
async fn the_first_deciding_handler_decides_about_trust() {
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
