//! Crashes at each point of a turn: no prompt is lost, and no tool runs again by itself.
//!
//! The session is on a simulated disk. At each point all disks that a power cut may leave are opened, and the
//! conversation continues there.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use offshoot_agent::agent::Agent;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::event::{AgentEvent, Events};
use offshoot_agent::handle::{CustomMessage, SendOptions};
use offshoot_agent::model::{AnswerEvent, AnswerStream, Model, ModelSpec, Request, ThinkingLevel, ToolSpec};
use offshoot_agent::tool::{Effect, Tool, ToolCall, ToolFuture, ToolOutput, ToolPlace};
use offshoot_agent::tools::ToolBox;
use serde_json::{Value as Json, json};
use session_tree::{Message, Options, Session, Timestamp};
use testkit::clock::TickingClock;
use testkit::sim_fs::SimFs;

use crate::extensions::{names, noting};
use crate::support::{Reply, Scripted, allow_all, path, prompt};

const FILE: &str = "/d/s.jsonl";

fn options(fs: &SimFs) -> Options {
    Options::new()
        .file_system(Arc::new(fs.clone()))
        .clock(TickingClock::new(Timestamp::from_millis(1), 1_000))
}

/// The disks that a crash may leave at each point, and the number of tool runs until then.
type Disks = Arc<Mutex<BTreeMap<&'static str, (Vec<SimFs>, usize)>>>;

/// Simulates a power cut.
#[derive(Debug, Clone)]
struct PowerCut {
    fs: SimFs,
    runs: Arc<AtomicUsize>,
    left: Disks,
}

impl PowerCut {
    fn crash(&self, point: &'static str) {
        let runs = self.runs.load(Ordering::Relaxed);
        let mut left = self.left.lock().unwrap();
        // Only the first time counts.
        left.entry(point)
            .or_insert_with(|| (self.fs.crash_states_now(7).map(|state| state.fs).collect(), runs));
    }
}

/// A model that crashes at each request.
#[derive(Debug)]
struct CrashingModel {
    script: Arc<Scripted>,
    power_cut: PowerCut,
    asked: AtomicUsize,
}

impl Model for CrashingModel {
    fn spec(&self) -> &ModelSpec {
        self.script.spec()
    }

    fn answer(&self, request: Request) -> AnswerStream {
        let points = ["1 the request leaves", "5 the results leave"];
        if let Some(point) = points.get(self.asked.fetch_add(1, Ordering::Relaxed)) {
            self.power_cut.crash(point);
        }
        self.script.answer(request)
    }
}

#[derive(Debug)]
struct Counting(PowerCut);

impl Tool for Counting {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "count".into(), description: String::new(), parameters: json!({"type": "object"}) }
    }

    fn effect(&self, _: &Json) -> Effect {
        Effect::Other("counts".into())
    }

    fn run<'a>(&'a self, _: ToolCall, _: &'a ToolPlace) -> ToolFuture<'a> {
        Box::pin(async move {
            self.0.runs.fetch_add(1, Ordering::Relaxed);
            self.0.crash("3 the tool runs");
            ToolOutput::text("counted")
        })
    }
}

fn counting(power_cut: &PowerCut) -> ToolBox {
    let mut tools = ToolBox::new();
    tools.add(Arc::new(Counting(power_cut.clone())));
    tools
}

/// Runs one turn with a tool and crashes at every point of it.
async fn turn(fs: &SimFs) -> Disks {
    fs.put_dir("/d").unwrap();
    let power_cut = PowerCut { fs: fs.clone(), runs: Arc::default(), left: Arc::default() };
    let script =
        Scripted::new(vec![Reply::Calls("look", vec![("c1", "count", json!({}))]), Reply::Text("fine")]);
    let model = Arc::new(CrashingModel { script, power_cut: power_cut.clone(), asked: AtomicUsize::new(0) });
    let watching = power_cut.clone();
    let watcher = Events::new(move |event| match event.event {
        AgentEvent::Answer(AnswerEvent::BlockDelta { .. }) => watching.crash("2 the answer grows"),
        AgentEvent::ToolEnd { .. } => watching.crash("4 the tool is done"),
        _ => {}
    });
    let session = options(fs).create(FILE, "/w").unwrap();
    let mut agent = Agent::new(session, "/w")
        .with_model(model, ThinkingLevel::Off)
        .with_tools(counting(&power_cut))
        .with_approver(allow_all())
        .with_events(watcher);
    agent.prompt(prompt("count it"), &Cancel::new()).await.unwrap();
    power_cut.crash("6 the turn is over");
    power_cut.left
}

/// Returns the messages that must survive a crash at a point.
fn promised(point: &str) -> &'static [&'static str] {
    match &point[..1] {
        "1" | "2" => &["user: count it"],
        "3" | "4" => &["user: count it", "assistant: look"],
        "5" => &["user: count it", "assistant: look", "toolResult: counted"],
        _ => &["user: count it", "assistant: look", "toolResult: counted", "assistant: fine"],
    }
}

/// Continues after a crash. Returns the messages of the request and the number of tool runs.
async fn resume(session: Session, fs: &SimFs) -> (Vec<String>, usize) {
    let power_cut = PowerCut { fs: fs.clone(), runs: Arc::default(), left: Arc::default() };
    let script = Scripted::new(vec![Reply::Text("back")]);
    let model: Arc<dyn Model> = script.clone();
    let mut agent = Agent::new(session, "/w")
        .with_model(model, ThinkingLevel::Off)
        .with_tools(counting(&power_cut))
        .with_approver(allow_all());
    agent.prompt(prompt("where were we?"), &Cancel::new()).await.unwrap();
    (script.asked(0), power_cut.runs.load(Ordering::Relaxed))
}

#[tokio::test]
async fn at_each_of_six_points_the_prompt_is_kept_and_the_tool_runs_at_most_once() {
    let left = turn(&SimFs::new()).await;
    let left = left.lock().unwrap().clone();
    assert_eq!(left.len(), 6, "{:?}", left.keys());
    for (point, (disks, runs)) in left {
        assert!(!disks.is_empty(), "{point}");
        for fs in disks {
            let session = options(&fs).open(FILE).unwrap();
            let kept = path(&session);
            let promised = promised(point);
            assert!(
                kept.starts_with(&promised.iter().map(ToString::to_string).collect::<Vec<_>>()),
                "{point}: {kept:?}"
            );
            let (asked, again) = resume(session, &fs).await;
            assert!(runs <= 1 && again == 0, "{point}: the tool ran {runs} + {again} times");
            // The context marks the call as interrupted; the model may repeat it.
            let is_open = kept.contains(&"assistant: look".to_owned())
                && !kept.iter().any(|said| said.starts_with("toolResult"));
            assert_eq!(
                asked.contains(&"toolResult: No result provided".to_owned()),
                is_open,
                "{point}: {asked:?}"
            );
        }
    }
}

#[tokio::test]
async fn the_test_notices_a_disk_that_ignores_sync() {
    let fs = SimFs::new();
    fs.ignore_syncs(true);
    let left = turn(&fs).await;
    let left = left.lock().unwrap().clone();
    let broken = left.iter().any(|(point, (disks, _))| {
        disks.iter().any(|fs| match options(fs).open(FILE) {
            Ok(session) => path(&session).len() < promised(point).len(),
            Err(_) => true,
        })
    });
    assert!(broken);
}

#[tokio::test]
async fn a_full_disk_ends_the_turn_and_not_the_agent() {
    let fs = SimFs::new();
    fs.put_dir("/d").unwrap();
    let power_cut = PowerCut { fs: fs.clone(), runs: Arc::default(), left: Arc::default() };
    let script = Scripted::new(vec![
        Reply::Calls("look", vec![("c1", "count", json!({}))]),
        Reply::Text("fine"),
        Reply::Text("back"),
    ]);
    let model: Arc<dyn Model> = script.clone();
    let session = options(&fs).create(FILE, "/w").unwrap();
    let (hooks, seen) = noting(&["agent_start", "turn_end", "agent_end", "agent_settled"]);
    let full = fs.clone();
    let watcher = Events::new(move |event| {
        if let AgentEvent::ToolEnd { .. } = event.event {
            // The result of the tool no longer fits.
            full.set_capacity(Some(full.bytes(FILE).map_or(0, |bytes| bytes.len() as u64)));
        }
    });
    let mut agent = Agent::new(session, "/w")
        .with_model(model, ThinkingLevel::Off)
        .with_tools(counting(&power_cut))
        .with_approver(allow_all())
        .with_hooks(hooks)
        .with_events(watcher);
    agent.prompt(prompt("count it"), &Cancel::new()).await.unwrap_err();
    let before = path(&options(&fs.killed()).open_read_only(FILE).unwrap());
    assert_eq!(before, ["user: count it", "assistant: look"], "what fitted is there, and nothing else");
    assert_eq!(path(&agent.session()), before, "and nothing else is in memory");
    assert_eq!(
        names(&seen),
        ["agent_start", "agent_end", "agent_settled"],
        "everybody hears that it is over"
    );
    seen.lock().unwrap().clear();
    fs.set_capacity(None);
    agent.prompt(prompt("where were we?"), &Cancel::new()).await.unwrap();
    assert_eq!(names(&seen), ["agent_start", "turn_end", "agent_end", "agent_settled"]);
    let told = seen.lock().unwrap();
    assert_eq!((&told[1]["turnIndex"], &told[1]["toolResults"]), (&json!(0), &json!([])));
    assert_eq!(told[2]["messages"].as_array().unwrap().len(), 2, "what failed is not told again");
    let after = path(&options(&fs.killed()).open_read_only(FILE).unwrap());
    assert_eq!(after[..2], before[..]);
    assert!(after.contains(&"user: where were we?".to_owned()), "{after:?}");
    assert_eq!(power_cut.runs.load(Ordering::Relaxed), 1, "the tool did not run again by itself");
}

#[test]
fn entries_that_an_extension_appends_while_idle_survive_a_power_cut() {
    let fs = SimFs::new();
    fs.put_dir("/d").unwrap();
    let mut session = options(&fs).create(FILE, "/w").unwrap();
    let id = session.append(Message::user("hi")).unwrap();
    session.sync().unwrap();
    let agent = Agent::new(session, "/w");
    let handle = agent.handle();
    let note = CustomMessage::text("note", "mind");
    let acts: [&dyn Fn(); 4] = [
        &|| drop(handle.set_label(id.as_str(), Some("start")).unwrap()),
        &|| drop(handle.set_session_name("greeting").unwrap()),
        &|| drop(handle.append_entry("state", None).unwrap()),
        &|| drop(handle.send_message(&note, SendOptions::default()).unwrap()),
    ];
    for (count, act) in acts.iter().enumerate() {
        act();
        for disk in fs.crash_states_now(7) {
            let left = options(&disk.fs).open_read_only(FILE).unwrap();
            assert_eq!(left.tree().len(), count + 2);
        }
    }
}
