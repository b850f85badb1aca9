//! The table of events: each event is emitted with all its fields, a failed handler is reported and changes nothing,
//! and a cancelling handler is the last one called.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use offshoot_agent::agent::{NavigateRequest, Submission};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{
    CherryPickRequest, ForkRequest, LabelRequest, MergeBranchRequest, MergeWith, NewRequest,
};
use offshoot_agent::event::{AgentEvent, Events};
use offshoot_agent::hooks::Hooks;
use offshoot_agent::hooks::events::{self, EVENTS, fields, name_of};
use offshoot_agent::model::ThinkingLevel;
use offshoot_agent::settings::Settings;
use offshoot_agent::tool::ToolPlace;
use offshoot_agent::tools::UserCommand;
use serde_json::{Value as Json, json};
use session_tree::CompactionSettings;

use super::{TestAgent, options};
use crate::extensions::{call, with_tool};
use crate::support::{Reply, Scripted, path};

/// Two branches; the leaf is at `f`.
const TREE: &str = "
    a user one
    b<a assistant 1
    c<b user two
    d<c assistant 2
    e<b user three
    f<e assistant 3
";

/// An action that causes events.
type Scene = for<'d> fn(&'d mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + 'd>>;

/// The action that causes each event.
const SCENES: [(&str, Scene); 42] = [
    ("session_start", start),
    ("resources_discover", start),
    ("session_shutdown", quit),
    ("session_info_changed", name),
    ("session_label", label),
    ("session_before_switch", new),
    ("session_switch", new),
    ("session_before_fork", fork),
    ("session_fork", fork),
    ("session_before_compact", compact),
    ("session_compact", compact),
    ("session_compact_failed", compact_and_fail),
    ("session_before_tree", navigate),
    ("session_tree", navigate),
    ("session_tree_end", navigate),
    ("session_before_cherry_pick", cherry_pick),
    ("session_cherry_pick", cherry_pick),
    ("session_before_merge", merge),
    ("session_merge", merge),
    ("session_entry", turn),
    ("input", turn),
    ("before_agent_start", turn),
    ("agent_start", turn),
    ("turn_start", turn),
    ("context", turn),
    ("context_with_system", turn),
    ("message_start", turn),
    ("message_update", turn),
    ("message_end", turn),
    ("tool_execution_start", turn),
    ("tool_call", turn),
    ("tool_execution_update", turn),
    ("tool_result", turn),
    ("tool_execution_end", turn),
    ("turn_end", turn),
    ("agent_end", turn),
    ("agent_before_settle", turn),
    ("agent_settled", turn),
    ("model_select", choose),
    ("thinking_level_select", choose),
    ("user_bash", shell),
    ("project_trust", trust),
];

/// The events of HTTP requests, which the tests of the providers cover.
const HTTP_EVENTS: [&str; 3] =
    ["before_provider_request", "before_provider_headers", "after_provider_response"];

#[test]
fn every_event_of_the_table_has_a_scene() {
    let mut known: Vec<&str> = SCENES.iter().map(|(event, _)| *event).chain(HTTP_EVENTS).collect();
    let mut all: Vec<&str> = EVENTS.iter().map(|event| event.name).collect();
    known.sort_unstable();
    all.sort_unstable();
    assert_eq!(known, all);
}

fn start(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async { test.agent.start(&Cancel::new()).await })
}

fn quit(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async { test.agent.quit().await })
}

fn name(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let plan = test.agent.plan_name(Some("a name"));
        test.agent.name_session(&plan, &Cancel::new()).await.unwrap();
    })
}

fn label(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let request = LabelRequest { target: Some("b".into()), label: Some("here".into()) };
        let plan = test.agent.plan_label(&request).unwrap();
        test.agent.label(&plan, &Cancel::new()).await.unwrap();
    })
}

fn new(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let planned = test.agent.plan_new(NewRequest::default(), options()).unwrap();
        test.agent.replace_session(planned, &Cancel::new()).await.unwrap();
    })
}

fn fork(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let fork = test.agent.plan_fork(&ForkRequest::at("e")).unwrap();
        test.agent.fork(fork, options(), &Cancel::new()).await.unwrap();
    })
}

fn compact(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        test.agent.compact(None, &Cancel::new()).await.unwrap();
    })
}

fn compact_and_fail(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let stopped = Cancel::new();
        stopped.cancel();
        test.agent.compact(None, &stopped).await.unwrap();
    })
}

fn navigate(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let request = NavigateRequest { target: "d".into(), ..NavigateRequest::default() };
        test.agent.navigate_tree(&request, &Cancel::new()).await.unwrap();
    })
}

fn cherry_pick(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let what = "d".into();
        let request = CherryPickRequest { what, ..Default::default() };
        let planned = test.agent.plan_cherry_pick(None, &request).unwrap();
        test.agent.cherry_pick(planned, &Cancel::new()).await.unwrap();
    })
}

fn merge(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let request =
            MergeBranchRequest { branch: "d".into(), with: MergeWith::Digest, ..Default::default() };
        let planned = test.agent.plan_merge(None, &request).unwrap();
        let draft = test.agent.draft_merge(planned, &Cancel::new()).await.unwrap();
        if let Some(draft) = draft.done() {
            test.agent.merge(&draft, &Cancel::new()).await.unwrap();
        }
    })
}

fn turn(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        test.agent.submit(Submission::typed("four"), &Cancel::new()).await.unwrap();
    })
}

fn choose(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        test.agent.choose_model(Scripted::named("another")).unwrap();
        test.agent.choose_thinking(ThinkingLevel::High).unwrap();
        test.agent.run_queue(&Cancel::new()).await;
    })
}

fn shell(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let place = ToolPlace::new(".", Cancel::new());
        let command = UserCommand::parse("!true").unwrap();
        drop(test.agent.run_command(&command, &place).await);
    })
}

fn trust(test: &mut TestAgent) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        test.agent.hooks.project_trust("/w", &Cancel::new()).await;
        // Failures are reported with the next event.
        test.agent.start(&Cancel::new()).await;
    })
}

/// Creates an agent in which every event of the table can happen.
fn test(hooks: Hooks, watcher: Events) -> TestAgent {
    let replies = vec![call(), Reply::Text("fine"), Reply::Text("a summary"), Reply::Text("another")];
    let test = TestAgent::without_recorder(TREE, replies, hooks);
    let compaction = CompactionSettings { keep_recent_tokens: 1, ..CompactionSettings::default() };
    let agent = test.agent.with_tools(with_tool(|| {})).with_events(watcher);
    TestAgent { agent: agent.with_settings(Settings { compaction, ..Settings::default() }), ..test }
}

/// Compactions need texts as replies; only turns use the call at the start.
fn skip_call(event: &str, test: &TestAgent) {
    if event.contains("compact") {
        test.model.skip(1);
    }
}

/// Returns the path and the number of requests after a scene.
fn outcome(test: &TestAgent) -> (Vec<String>, usize) {
    (path(&test.agent.session()), test.model.requests().len())
}

#[tokio::test]
async fn every_event_is_emitted_with_all_its_fields() {
    for (event, scene) in SCENES {
        let seen: Arc<Mutex<Vec<Json>>> = Arc::default();
        let (mut hooks, into) = (Hooks::new(), seen.clone());
        hooks.on("noter", event, move |payload, _| {
            into.lock().unwrap().push(payload.clone());
            Box::pin(async { Ok(Json::Null) })
        });
        let mut test = test(hooks, Events::default());
        skip_call(event, &test);
        scene(&mut test).await;
        let seen = seen.lock().unwrap();
        assert!(!seen.is_empty(), "{event} is not told");
        for payload in &*seen {
            assert_eq!(payload["type"], event);
            let declared =
                fields(events::event(event).unwrap().payload).filter(|field| !field.contains("?:"));
            let missing: Vec<_> = declared.filter(|field| payload.get(name_of(field)).is_none()).collect();
            assert!(missing.is_empty(), "{event} has no {missing:?}: {payload}");
            let known =
                |name: &str| fields(events::event(event).unwrap().payload).any(|one| name_of(one) == name);
            let undeclared: Vec<_> =
                payload.as_object().unwrap().keys().filter(|name| !known(name)).collect();
            assert_eq!(undeclared, ["type"], "{event} has fields that the table does not declare");
        }
    }
}

#[tokio::test]
async fn a_failed_handler_is_reported_and_changes_nothing() {
    // A failed guard blocks the action.
    let is_guard = |name: &str| events::event(name).unwrap().failure_blocks;
    for (event, scene) in SCENES.iter().filter(|(event, _)| !is_guard(event)) {
        let mut plain = test(Hooks::new(), Events::default());
        skip_call(event, &plain);
        scene(&mut plain).await;

        let mut hooks = Hooks::new();
        hooks.on("broken", event, |_, _| Box::pin(async { Err("oops".to_owned()) }));
        let failures: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
        let into = failures.clone();
        let watcher = Events::new(move |told| {
            if let AgentEvent::HookFailed(failure) = &told.event {
                into.lock().unwrap().push((failure.handler.clone(), failure.event.clone()));
            }
        });
        let mut broken = test(hooks, watcher);
        skip_call(event, &broken);
        scene(&mut broken).await;
        assert_eq!(outcome(&broken), outcome(&plain), "{event}");
        let failures = failures.lock().unwrap();
        assert!(!failures.is_empty(), "{event}: nobody is told of the failure");
        assert!(
            failures.iter().all(|one| *one == ("broken".into(), (*event).into())),
            "{event}: {failures:?}"
        );
    }
}

#[tokio::test]
async fn a_cancelling_handler_is_the_last_one_and_nothing_changes() {
    let can_be_cancelled = |name: &str| events::event(name).unwrap().can_be_cancelled();
    for (event, scene) in SCENES.iter().filter(|(event, _)| can_be_cancelled(event)) {
        let (mut hooks, asked) = (Hooks::new(), Arc::new(AtomicUsize::new(0)));
        hooks.on("no", event, |_, _| Box::pin(async { Ok(json!({"cancel": true})) }));
        let counter = asked.clone();
        hooks.on("never", event, move |_, _| {
            counter.fetch_add(1, Ordering::Relaxed);
            Box::pin(async { Ok(Json::Null) })
        });
        let mut test = test(hooks, Events::default());
        skip_call(event, &test);
        let before =
            (test.bytes(), test.leaf(), test.agent.session().file().map(std::path::Path::to_path_buf));
        scene(&mut test).await;
        let after =
            (test.bytes(), test.leaf(), test.agent.session().file().map(std::path::Path::to_path_buf));
        assert_eq!(after, before, "{event}");
        assert_eq!(asked.load(Ordering::Relaxed), 0, "{event}");
        assert!(test.model.requests().is_empty(), "{event}");
    }
}
