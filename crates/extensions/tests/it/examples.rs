//! The examples that come with the program do what they say.

use std::path::{Path, PathBuf};

use offshoot_agent::agent::SummaryRequest;
use offshoot_extensions::Drawing;
use serde_json::json;

use crate::support::{Setup, Stage, git, plain};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/extensions").join(format!("{name}.ts"))
}

async fn stage(name: &str, replies: Vec<&'static str>) -> Stage {
    let stage = Setup { replies, ..Setup::default() }.of(&[example(name)]).await;
    assert_eq!(stage.errors, []);
    stage
}

#[tokio::test]
async fn the_summarizer_asks_in_its_own_words() {
    let mut stage = stage("custom-summarizer", vec!["It does not work.\nUse Rust."]).await;
    stage.user("a");
    let target = stage.assistant("b");
    stage.user("try node");
    stage.assistant("too slow");
    stage.navigate(&target, SummaryRequest::Standard).await;
    assert_eq!(stage.path().last().unwrap(), "branch_summary It does not work.\nUse Rust.");
    let asked = stage.model.requests.lock().unwrap()[0].messages[0].text().into_owned();
    assert!(asked.starts_with("In three lines") && asked.contains("[User]: try node"), "{asked}");
}

#[tokio::test]
async fn checkpoints_follow_the_branch() {
    let mut stage = stage("git-checkpoint", vec!["one", "two"]).await;
    let project = stage.project();
    git(&project, &["init", "-q"]);
    git(&project, &["config", "user.name", "t"]);
    git(&project, &["config", "user.email", "t@example.org"]);
    std::fs::write(project.join("file"), "start\n").unwrap();
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-q", "-m", "start"]);
    std::fs::write(project.join("file"), "first\n").unwrap();
    stage.submit("first").await;
    let here = stage.agent.session().leaf_id().unwrap().to_string();
    std::fs::write(project.join("file"), "second\n").unwrap();
    stage.submit("second").await;
    assert_eq!(
        stage.path(),
        [
            "user: first",
            "assistant: one",
            "custom git-checkpoint",
            "user: second",
            "assistant: two",
            "custom git-checkpoint"
        ]
    );
    stage.says("Restore the checkpoint");
    let answer = stage.agent.session().branch_path(&here)[1];
    let answer = stage.agent.session().tree().id(answer).to_string();
    stage.navigate(&here, SummaryRequest::Skip).await;
    assert_eq!(std::fs::read_to_string(project.join("file")).unwrap(), "first\n");
    assert_eq!(stage.notes()[1], "info: Files restored");
    stage.navigate(&answer, SummaryRequest::Skip).await;
    assert!(stage.notes().is_empty(), "there is no checkpoint before the first one");
}

#[tokio::test]
async fn bookmarks_are_labels_to_go_to() {
    let mut stage = stage("bookmark", vec![]).await;
    stage.command("bookmarks").await.unwrap();
    stage.user("a");
    let answer = stage.assistant("b");
    stage.command("bookmark good").await.unwrap();
    stage.user("c");
    stage.assistant("d");
    stage.says("good");
    stage.command("bookmarks").await.unwrap();
    assert_eq!(stage.agent.session().leaf_id().unwrap().as_str(), answer);
    assert_eq!(
        stage.notes(),
        ["info: There are no labels", "info: Labelled: good", "select Go to [\"good\"]"]
    );
}

#[tokio::test]
async fn the_gate_asks_or_refuses() {
    let call = |command: &str| json!({"toolName": "bash", "toolCallId": "1", "input": {"command": command}});
    let stage = stage("permission-gate", vec![]).await;
    assert!(stage.fire("tool_call", call("rm file")).await.is_null());
    stage.says("Do not run it");
    assert_eq!(stage.fire("tool_call", call("rm -rf /")).await["block"], true);
    stage.says("Run it");
    assert!(stage.fire("tool_call", call("git reset --hard")).await.is_null());
    let alone = Setup { has_ui: false, ..Setup::default() }.of(&[example("permission-gate")]).await;
    assert_eq!(
        alone.fire("tool_call", call("sudo x")).await["reason"],
        "It runs as root, and nobody is there to be asked"
    );
}

#[tokio::test]
async fn the_list_follows_the_branch() {
    let mut stage = stage("todo", vec![]).await;
    stage.agent.start(&Default::default()).await;
    stage.user("plan");
    stage.tool("todos", json!({"action": "add", "text": "milk"})).await;
    let here = stage.agent.session().leaf_id().unwrap().to_string();
    let output = stage.tool("todos", json!({"action": "done", "number": 1})).await;
    assert_eq!(output.content[0]["text"], "1. [x] milk");
    let failed = stage.tool("todos", json!({"action": "done", "number": 7})).await;
    assert_eq!((failed.is_error, failed.content[0]["text"].as_str()), (true, Some("there is no number 7")));
    stage.navigate(&here, SummaryRequest::Skip).await;
    stage.command("todos").await.unwrap();
    assert_eq!(stage.notes(), ["info: 1. [ ] milk"]);
    let result = json!({"content": output.content, "details": output.details});
    let drawing = Drawing::Tool("todos".into(), json!({}), result);
    let drawn = stage.only().draw(&drawing, false, 20).await.unwrap().unwrap();
    assert_eq!(plain(&drawn.join("\n")).trim_end(), "todos\nmilk");
}
