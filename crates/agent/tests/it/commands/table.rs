//! The table of events: each is told where it belongs and with all its fields, a handler that fails is reported and
//! changes nothing, and a gate that says no ends the asking.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use offshoot_agent::agent::{CompactRequest, NavigateRequest, Submission};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{
    CherryPickMode, CherryPickRequest, ForkRequest, LabelRequest, MergeBranchRequest, MergeWith,
};
use offshoot_agent::event::{AgentEvent, Watcher};
use offshoot_agent::hooks::Hooks;
use offshoot_agent::model::ThinkingLevel;
use offshoot_agent::settings::Settings;
use offshoot_agent::tool::ToolPlace;
use offshoot_agent::tools::UserCommand;
use serde_json::{Value as Json, json};
use session_tree::CompactionSettings;

use super::{Desk, options};
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

/// What happens, so that events are told.
type Scene = for<'d> fn(&'d mut Desk) -> Pin<Box<dyn Future<Output = ()> + 'd>>;

/// An event, what has to happen, and the fields that it has.
type Row = (&'static str, Scene, &'static [&'static str]);

const TABLE: [Row; 42] = [
    ("session_start", start, &["reason", "previousSessionFile"]),
    ("resources_discover", start, &["cwd", "reason"]),
    ("session_shutdown", quit, &["reason", "targetSessionFile"]),
    ("session_info_changed", name, &["name"]),
    ("session_label", label, &["targetId", "label", "previous"]),
    ("session_before_switch", new, &["reason", "targetSessionFile"]),
    ("session_switch", new, &["reason", "previousSessionFile"]),
    ("session_before_fork", fork, &["entryId", "position"]),
    ("session_fork", fork, &["reason", "previousSessionFile"]),
    (
        "session_before_compact",
        compact,
        &["preparation", "branchEntries", "customInstructions", "reason", "willRetry", "model"],
    ),
    ("session_compact", compact, &["compactionEntry", "fromExtension", "fromHook", "reason", "willRetry"]),
    (
        "session_compact_failed",
        compact_in_vain,
        &["reason", "errorMessage", "aborted", "willRetry", "fromExtension"],
    ),
    ("session_before_tree", navigate, &["preparation", "targetId", "model"]),
    ("session_tree", navigate, &["newLeafId", "oldLeafId", "targetId", "editorText", "cancelled", "aborted"]),
    ("session_tree_end", navigate, &["targetId", "outcome"]),
    ("session_before_cherry_pick", cherry_pick, &["preparation"]),
    ("session_cherry_pick", cherry_pick, &["mode", "entries"]),
    ("session_before_merge", merge, &["preparation"]),
    ("session_merge", merge, &["mode", "entry", "extraEntries", "fromExtension"]),
    ("session_entry", turn, &["entry", "source"]),
    ("input", turn, &["text", "images", "source"]),
    ("before_agent_start", turn, &["messageType", "prompt", "images", "systemPrompt"]),
    ("agent_start", turn, &[]),
    ("turn_start", turn, &["turnIndex", "timestamp"]),
    ("context", turn, &["messages"]),
    ("context_with_system", turn, &["messages"]),
    ("message_start", turn, &["message"]),
    ("message_update", turn, &["message", "assistantMessageEvent"]),
    ("message_end", turn, &["message"]),
    ("tool_execution_start", turn, &["toolCallId", "toolName", "args"]),
    ("tool_call", turn, &["toolCallId", "toolName", "input"]),
    ("tool_execution_update", turn, &["toolCallId", "toolName", "args", "partialResult"]),
    ("tool_result", turn, &["toolCallId", "toolName", "input", "content", "details", "isError"]),
    ("tool_execution_end", turn, &["toolCallId", "toolName", "result", "isError"]),
    (
        "turn_end",
        turn,
        &[
            "turnIndex",
            "message",
            "toolResults",
            "messageEntryId",
            "toolResultEntryIds",
            "outcome",
            "entries",
            "continue",
            "context",
        ],
    ),
    ("agent_end", turn, &["messages"]),
    ("agent_before_settle", turn, &["outcome", "entries", "continue", "context"]),
    ("agent_settled", turn, &["aborted"]),
    ("model_select", choose, &["model", "previousModel", "source"]),
    ("thinking_level_select", choose, &["level", "previousLevel"]),
    ("user_bash", shell, &["command", "excludeFromContext", "cwd"]),
    ("project_trust", trust, &["cwd"]),
];

fn start(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async { desk.agent.start(&Cancel::new()).await })
}

fn quit(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async { desk.agent.quit().await })
}

fn name(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let plan = desk.agent.plan_name(Some("a name"));
        desk.agent.name_session(&plan, &Cancel::new()).await.unwrap();
    })
}

fn label(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let request = LabelRequest { target: Some("b".into()), label: Some("here".into()) };
        let plan = desk.agent.plan_label(&request).unwrap();
        desk.agent.label(&plan, &Cancel::new()).await.unwrap();
    })
}

fn new(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let planned = desk.agent.plan_new(None, options()).unwrap();
        desk.agent.replace_session(planned, &Cancel::new()).await.unwrap();
    })
}

fn fork(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let fork = desk.agent.plan_fork(&ForkRequest::at("e")).unwrap();
        desk.agent.fork(fork, options(), &Cancel::new()).await.unwrap();
    })
}

fn compact(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        desk.agent.compact(&CompactRequest::default(), &Cancel::new()).await.unwrap();
    })
}

fn compact_in_vain(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let stopped = Cancel::new();
        stopped.cancel();
        desk.agent.compact(&CompactRequest::default(), &stopped).await.unwrap();
    })
}

fn navigate(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let request = NavigateRequest { target: "d".into(), ..NavigateRequest::default() };
        desk.agent.navigate_tree(&request, &Cancel::new()).await.unwrap();
    })
}

fn cherry_pick(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let what = "d".into();
        let request = CherryPickRequest { what, mode: CherryPickMode::Quote, ..Default::default() };
        let planned = desk.agent.plan_cherry_pick(None, &request).unwrap();
        desk.agent.cherry_pick(planned, None, &Cancel::new()).await.unwrap();
    })
}

fn merge(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let request = MergeBranchRequest {
            branch: "d".into(),
            with: MergeWith::Digest { budget_tokens: None },
            ..Default::default()
        };
        let planned = desk.agent.plan_merge(None, &request).unwrap();
        let draft = desk.agent.draft_merge(planned, None, &Cancel::new()).await.unwrap();
        if let Some(draft) = draft.done() {
            desk.agent.merge(&draft, &Cancel::new()).await.unwrap();
        }
    })
}

fn turn(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        desk.agent.submit(Submission::typed("four"), &Cancel::new()).await.unwrap();
    })
}

fn choose(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        desk.agent.choose_model(Scripted::named("another")).unwrap();
        desk.agent.choose_thinking(ThinkingLevel::High).unwrap();
        desk.agent.grant_all(&Cancel::new()).await;
    })
}

fn shell(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        let place = ToolPlace::new(".", Cancel::new());
        let command = UserCommand::parse("!true").unwrap();
        drop(desk.agent.run_command(&command, &place).await);
    })
}

fn trust(desk: &mut Desk) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async {
        desk.agent.hooks().project_trust("/w", &Cancel::new()).await;
        // Failures are told with the next thing that happens.
        desk.agent.start(&Cancel::new()).await;
    })
}

/// A desk where everything of the table can happen.
fn desk(hooks: Hooks, watcher: Watcher) -> Desk {
    let replies = vec![call(), Reply::Text("fine"), Reply::Text("a summary"), Reply::Text("another")];
    let desk = Desk::without_noter(TREE, replies, hooks);
    let compaction = CompactionSettings { keep_recent_tokens: 1, ..CompactionSettings::default() };
    let agent = desk.agent.with_tools(with_tool(|| {})).with_watcher(watcher);
    Desk { agent: agent.with_settings(Settings { compaction, ..Settings::default() }), ..desk }
}

/// The replies of compactions are texts, those of turns begin with a call.
fn skip_call(event: &str, desk: &Desk) {
    if event.contains("compact") {
        desk.model.skip(1);
    }
}

/// What came of a scene: the path, and what the model was asked.
fn outcome(desk: &Desk) -> (Vec<String>, usize) {
    (path(&desk.agent.session()), desk.model.requests().len())
}

#[tokio::test]
async fn every_event_is_told_where_it_belongs_with_all_its_fields() {
    for (event, scene, fields) in TABLE {
        let seen: Arc<Mutex<Vec<Json>>> = Arc::default();
        let (mut hooks, into) = (Hooks::new(), seen.clone());
        hooks.on("noter", event, move |payload, _| {
            into.lock().unwrap().push(payload.clone());
            Box::pin(async { Ok(Json::Null) })
        });
        let mut desk = desk(hooks, Watcher::default());
        skip_call(event, &desk);
        scene(&mut desk).await;
        let seen = seen.lock().unwrap();
        assert!(!seen.is_empty(), "{event} is not told");
        for payload in &*seen {
            assert_eq!(payload["type"], event);
            let missing: Vec<_> = fields.iter().filter(|field| payload.get(**field).is_none()).collect();
            assert!(missing.is_empty(), "{event} has no {missing:?}: {payload}");
        }
    }
}

#[tokio::test]
async fn whoever_fails_is_reported_and_everything_goes_on_as_if_nobody_had_listened() {
    // Guards that fail let nothing through.
    for (event, scene, _) in TABLE.iter().filter(|(event, ..)| !["tool_call", "user_bash"].contains(event)) {
        let mut plain = desk(Hooks::new(), Watcher::default());
        skip_call(event, &plain);
        scene(&mut plain).await;

        let mut hooks = Hooks::new();
        hooks.on("broken", event, |_, _| Box::pin(async { Err("oops".to_owned()) }));
        let failures: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
        let into = failures.clone();
        let watcher = Watcher::new(move |told| {
            if let AgentEvent::HookFailed(failure) = told {
                into.lock().unwrap().push((failure.handler, failure.event));
            }
        });
        let mut broken = desk(hooks, watcher);
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
async fn a_gate_that_says_no_ends_the_asking_and_nothing_has_changed() {
    let gates = TABLE.iter().filter(|(event, ..)| event.starts_with("session_before_"));
    assert_eq!(gates.clone().count(), 6);
    for (event, scene, _) in gates {
        let (mut hooks, asked) = (Hooks::new(), Arc::new(AtomicUsize::new(0)));
        hooks.on("no", event, |_, _| Box::pin(async { Ok(json!({"cancel": true})) }));
        let counter = asked.clone();
        hooks.on("never", event, move |_, _| {
            counter.fetch_add(1, Ordering::Relaxed);
            Box::pin(async { Ok(Json::Null) })
        });
        let mut desk = desk(hooks, Watcher::default());
        skip_call(event, &desk);
        let before =
            (desk.bytes(), desk.leaf(), desk.agent.session().file().map(std::path::Path::to_path_buf));
        scene(&mut desk).await;
        let after =
            (desk.bytes(), desk.leaf(), desk.agent.session().file().map(std::path::Path::to_path_buf));
        assert_eq!(after, before, "{event}");
        assert_eq!(asked.load(Ordering::Relaxed), 0, "{event}");
        assert!(desk.model.requests().is_empty(), "{event}");
    }
}
