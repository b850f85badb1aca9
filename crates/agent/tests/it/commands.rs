//! The commands: what they write, which events they emit, and that a failed one changes nothing.

mod compaction;
mod export;
mod labels;
mod merges;
mod moves;
mod navigation;
mod picks;
mod replace;
mod table;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use offshoot_agent::agent::Agent;
use offshoot_agent::hooks::Hooks;
use serde_json::{Value as Json, json};
use session_tree::{Options, Session, Timestamp};
use testkit::clock::TickingClock;
use testkit::drawing::session_text;
use testkit::ids::CountingIds;

use crate::support::{Reply, Scripted, agent};

/// All events of commands.
const EVENTS: [&str; 15] = [
    "session_before_tree",
    "session_tree",
    "session_tree_end",
    "session_before_fork",
    "session_before_switch",
    "session_shutdown",
    "session_start",
    "session_fork",
    "session_switch",
    "session_before_cherry_pick",
    "session_cherry_pick",
    "session_before_merge",
    "session_merge",
    "session_label",
    "session_info_changed",
];

/// An agent on a drawn session file, with a handler that records events.
struct TestAgent {
    dir: tempfile::TempDir,
    agent: Agent,
    model: Arc<Scripted>,
    seen: Arc<Mutex<Vec<Json>>>,
}

impl TestAgent {
    fn draw(drawing: &str, replies: Vec<Reply>) -> Self {
        Self::with_hooks(drawing, replies, Hooks::new())
    }

    /// Draws a session and moves its leaf to an entry.
    fn at(drawing: &str, leaf: &str, replies: Vec<Reply>) -> Self {
        let test = Self::draw(drawing, replies);
        test.agent.session().branch(leaf).unwrap();
        test
    }

    fn with_hooks(drawing: &str, replies: Vec<Reply>, mut hooks: Hooks) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        note_all(&mut hooks, &seen);
        TestAgent { seen, ..Self::without_recorder(drawing, replies, hooks) }
    }

    fn without_recorder(drawing: &str, replies: Vec<Reply>, hooks: Hooks) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, session_text(drawing)).unwrap();
        let model = Scripted::new(replies);
        let agent = agent(options().open(path).unwrap(), &model).with_hooks(hooks);
        TestAgent { dir, agent, model, seen: Arc::default() }
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("s.jsonl")
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.file()).unwrap()
    }

    fn leaf(&self) -> Option<String> {
        self.agent.session().leaf_id().map(|id| id.to_string())
    }

    /// Takes the names of the recorded events, in order.
    fn events(&self) -> Vec<String> {
        let seen = std::mem::take(&mut *self.seen.lock().unwrap());
        seen.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the last event of a name.
    fn event(&self, name: &str) -> Json {
        let seen = self.seen.lock().unwrap();
        seen.iter().rev().find(|event| event["type"] == name).cloned().unwrap()
    }

    /// Returns the entries appended to the drawing, without their times.
    fn appended(&self, drawing: &str) -> Vec<Json> {
        let before = session_text(drawing);
        let bytes = self.bytes();
        assert_eq!(bytes[..before.len()], before[..], "what was there stays as it was");
        let text = String::from_utf8(bytes[before.len()..].to_vec()).unwrap();
        text.lines().map(|line| without_times(serde_json::from_str(line).unwrap())).collect()
    }

    /// Returns the context: role and text of every message.
    fn context(&self) -> Vec<String> {
        let request = self.agent.request().unwrap();
        request.messages.iter().map(crate::support::spelled).collect()
    }
}

fn without_times(mut entry: Json) -> Json {
    entry.as_object_mut().unwrap().remove("timestamp");
    for field in ["details", "origin"] {
        if let Some(note) = entry.get_mut(field).and_then(Json::as_object_mut) {
            note.remove("pickedAt");
        }
    }
    entry
}

fn note_all(hooks: &mut Hooks, seen: &Arc<Mutex<Vec<Json>>>) {
    for event in EVENTS {
        let into = seen.clone();
        hooks.on("noter", event, move |payload, _| {
            into.lock().unwrap().push(payload.clone());
            Box::pin(async { Ok(Json::Null) })
        });
    }
}

/// Creates hooks with one fixed answer.
fn answering(event: &str, answer: Json) -> Hooks {
    let mut hooks = Hooks::new();
    hooks.on("guard", event, move |_, _| {
        let answer = answer.clone();
        Box::pin(async move { Ok(answer) })
    });
    hooks
}

fn refusing(event: &str) -> Hooks {
    answering(event, json!({"cancel": true}))
}

fn options() -> Options {
    let clock = TickingClock::new(Timestamp::from_millis(1_750_000_000_000), 1_000);
    Options::new().clock(clock).ids(CountingIds::default())
}

fn open(path: &std::path::Path) -> Session {
    Session::open_read_only(path).unwrap()
}

fn ids(session: &Session) -> Vec<String> {
    session.tree().nodes().map(|node| session.tree().id(node).to_string()).collect()
}
