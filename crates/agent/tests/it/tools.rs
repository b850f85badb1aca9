//! Tools in an agent: checked, run concurrently, cancelled.

#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

mod bash;
mod user;

use std::fs;
use std::future::ready;
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::model::ToolSpec;
use offshoot_agent::permission::{Decision, Mode, Permissions};
use offshoot_agent::tool::{Effect, Tool, ToolCall, ToolFuture, ToolOutput, ToolPlace};
use offshoot_agent::tools::ToolBox;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// A directory, and the progress that tools reported.
struct Workspace {
    dir: TempDir,
    place: ToolPlace,
    progress: Arc<Mutex<Vec<String>>>,
}

fn workspace() -> Workspace {
    let dir = tempfile::tempdir().unwrap();
    let progress = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&progress);
    let mut place = ToolPlace::new(dir.path(), Cancel::new());
    place.progress = Arc::new(move |output| keep.lock().unwrap().push(text(&output).to_owned()));
    Workspace { dir, place, progress }
}

impl Workspace {
    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
    }

    async fn run(&self, name: &str, arguments: Json) -> ToolOutput {
        match ToolBox::all().check(call(name, arguments), self.place.clone()) {
            Ok(ready) => ready.run().await,
            Err(output) => output,
        }
    }
}

fn call(name: &str, arguments: Json) -> ToolCall {
    ToolCall { id: "c1".into(), name: name.into(), arguments }
}

fn text(output: &ToolOutput) -> &str {
    output.content[0]["text"].as_str().unwrap()
}

#[test]
fn tools_are_declared_in_a_stable_order_with_the_names_that_pi_uses() {
    let declared: Vec<(String, Vec<String>)> = ToolBox::all()
        .specs()
        .into_iter()
        .map(|spec| (spec.name, spec.parameters["properties"].as_object().unwrap().keys().cloned().collect()))
        .collect();
    let expected = [
        ("read", &["path", "offset", "limit"][..]),
        ("bash", &["command", "timeout"]),
        ("edit", &["path", "edits"]),
        ("write", &["path", "content"]),
        ("grep", &["pattern", "path", "glob", "ignoreCase", "literal", "context", "limit"]),
        ("find", &["pattern", "path", "limit"]),
        ("ls", &["path", "limit"]),
    ];
    let expected =
        expected.map(|(name, fields)| (name.to_owned(), fields.iter().map(ToString::to_string).collect()));
    assert_eq!(declared, expected);
    assert_eq!(ToolBox::coding().names().collect::<Vec<_>>(), ["read", "bash", "edit", "write"]);
    assert_eq!(ToolBox::all().specs(), ToolBox::all().specs());
}

#[test]
fn a_call_that_cannot_run_is_answered() {
    let tools = ToolBox::coding();
    let refused = |name, arguments| tools.check(call(name, arguments), workspace().place).unwrap_err();
    let progress = |name, arguments| text(&refused(name, arguments)).to_owned();
    assert!(refused("read", json!({})).is_error);
    assert_eq!(progress("read", json!({})), "read: the argument `path` is missing");
    assert_eq!(
        progress("grep", json!({})),
        "there is no tool `grep`; the tools are: read, bash, edit, write"
    );
    assert_eq!(
        progress("read", json!({"malformedArguments": "{\"path"})),
        "read: the arguments are not a valid JSON object; call the tool again with valid JSON"
    );
    assert_eq!(
        progress("edit", json!({"path": "f", "edits": [{"oldText": "a"}]})),
        "edit: the argument `edits[0].newText` is missing"
    );
    assert_eq!(
        progress("bash", json!({"command": ["ls"]})),
        "bash: the argument `command` must be string, but is array"
    );
}

#[test]
fn an_edit_is_understood_in_every_box_that_has_the_tool() {
    let mut tools = ToolBox::all();
    tools.retain(|name| name == "edit");
    let lone = json!({"path": "f", "oldText": "a", "newText": "b"});
    let ready = tools.check(call("edit", lone), workspace().place).unwrap();
    assert_eq!(ready.call.arguments["edits"], json!([{"oldText": "a", "newText": "b"}]));
}

#[derive(Debug)]
struct CustomTool(&'static str);

impl Tool for CustomTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: self.0.into(), description: "mine".into(), parameters: json!({}) }
    }

    fn effect(&self, _: &Json) -> Effect {
        Effect::Other("it is mine".into())
    }

    fn run<'a>(&'a self, call: ToolCall, _: &'a ToolPlace) -> ToolFuture<'a> {
        Box::pin(ready(ToolOutput::text(call.arguments.to_string())))
    }
}

#[tokio::test]
async fn a_tool_of_the_same_name_takes_the_place() {
    let workspace = workspace();
    let mut tools = ToolBox::coding();
    tools.add(Arc::new(CustomTool("edit")));
    tools.add(Arc::new(CustomTool("more")));
    assert_eq!(tools.names().collect::<Vec<_>>(), ["read", "bash", "edit", "write", "more"]);
    let arguments = json!({"oldText": "a", "newText": "b"});
    let output = tools.check(call("edit", arguments.clone()), workspace.place).unwrap().run().await;
    assert_eq!(text(&output), arguments.to_string(), "its arguments are left alone");
    tools.retain(|name| name != "bash");
    assert!(tools.tool("bash").is_none() && tools.tool("more").is_some());
}

#[tokio::test]
async fn edits_may_be_written_in_both_ways() {
    let workspace = workspace();
    workspace.write("f", "one two");
    let lone = workspace.run("edit", json!({"path": "f", "oldText": "one", "newText": "1"})).await;
    let list =
        workspace.run("edit", json!({"path": "f", "edits": [{"oldText": "two", "newText": "2"}]})).await;
    assert!(!lone.is_error && !list.is_error, "{lone:?} {list:?}");
    assert_eq!(fs::read_to_string(workspace.path("f")).unwrap(), "1 2");
}

#[tokio::test]
async fn concurrent_changes_of_one_file_are_applied_in_order() {
    let workspace = workspace();
    for round in 0..20 {
        let name = format!("f{round}");
        let mut calls = vec![workspace.run("write", json!({"path": name, "content": "0"}))];
        calls.extend((0..10).map(|n| {
            let edit = json!({"path": name, "oldText": n.to_string(), "newText": (n + 1).to_string()});
            workspace.run("edit", edit)
        }));
        let outputs = join_all(calls).await;
        assert!(outputs.iter().all(|output| !output.is_error), "{outputs:?}");
        assert_eq!(fs::read_to_string(workspace.path(&name)).unwrap(), "10");
    }
}

#[tokio::test]
async fn changes_through_a_link_do_not_get_lost() {
    let workspace = workspace();
    let lines: String = (0..20).map(|n| format!("<{n}>\n")).collect();
    workspace.write("f", &lines);
    std::os::unix::fs::symlink("f", workspace.path("link")).unwrap();
    let edits = (0..20).map(|n| {
        let path = if n % 2 == 0 { "f" } else { "./link" };
        workspace.run("edit", json!({"path": path, "oldText": format!("<{n}>"), "newText": "done"}))
    });
    let outputs = join_all(edits).await;
    assert!(outputs.iter().all(|output| !output.is_error), "{outputs:?}");
    assert_eq!(fs::read_to_string(workspace.path("f")).unwrap(), "done\n".repeat(20));
}

#[tokio::test]
async fn stopped_tools_touch_nothing() {
    let workspace = workspace();
    workspace.write("f", "old");
    workspace.place.cancel.cancel();
    let calls = [
        ("read", json!({"path": "f"})),
        ("write", json!({"path": "f", "content": "new"})),
        ("edit", json!({"path": "f", "oldText": "old", "newText": "new"})),
        ("bash", json!({"command": "echo new > f"})),
        ("grep", json!({"pattern": "x"})),
        ("find", json!({"pattern": "x"})),
        ("ls", json!({})),
    ];
    for (name, arguments) in calls {
        assert_eq!(workspace.run(name, arguments).await, ToolOutput::error("cancelled"), "{name}");
    }
    assert_eq!(fs::read_to_string(workspace.path("f")).unwrap(), "old");
}

#[test]
fn the_effect_of_a_call_is_available_before_it_runs() {
    let permissions = Permissions::new(Mode::DenyAsking);
    let decided = |name, arguments| {
        let place = ToolPlace::new("/project", Cancel::new());
        permissions.judge_call(&ToolBox::all().check(call(name, arguments), place).unwrap()).decision
    };
    assert_eq!(decided("read", json!({"path": "src/lib.rs"})), Decision::Allow);
    assert_eq!(decided("grep", json!({"pattern": "x"})), Decision::Allow);
    assert_eq!(decided("ls", json!({"path": "/elsewhere"})), Decision::Deny);
    assert_eq!(decided("write", json!({"path": "x", "content": ""})), Decision::Deny);
    assert_eq!(decided("edit", json!({"path": "x", "oldText": "a", "newText": "b"})), Decision::Deny);
    assert_eq!(decided("bash", json!({"command": "true"})), Decision::Deny);
}
