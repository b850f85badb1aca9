//! Extensions that ask before something is done, and those that work with git.

use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{Applied, CancelledBy, NewRequest};
use serde_json::json;
use session_tree::Options;

use crate::stage;
use crate::support::{Stage, git};

#[allow(clippy::needless_pass_by_value, reason = "calls read better with a literal")]
fn call(tool: &str, input: serde_json::Value) -> serde_json::Value {
    json!({"type": "tool_call", "toolCallId": "1", "toolName": tool, "input": input})
}

#[tokio::test]
async fn confirm_destructive() {
    let mut stage = stage("confirm-destructive").await;
    stage.user("work");
    stage.says(false);
    let planned = stage.agent.plan_new(NewRequest::default(), Options::new()).unwrap();
    let applied = stage.agent.replace_session(planned, &Cancel::new()).await.unwrap();
    assert_eq!(applied.cancelled_by(), Some(&CancelledBy::Hook("confirm-destructive".into())));
    assert_eq!(stage.notes(), ["confirm Clear session?", "info: Clear cancelled"]);
    stage.says(true);
    let planned = stage.agent.plan_new(NewRequest::default(), Options::new()).unwrap();
    let applied = stage.agent.replace_session(planned, &Cancel::new()).await.unwrap();
    assert!(matches!(applied, Applied::Done(_)));
    stage.says("No, stay in current session");
    let answer = stage.fire("session_before_fork", json!({"entryId": "0123456789", "position": "at"})).await;
    assert_eq!(answer, json!({"cancel": true}));
    assert!(stage.notes()[1].contains("Fork from entry 01234567?"));
}

#[tokio::test]
async fn permission_gate() {
    let stage = stage("permission-gate").await;
    assert!(stage.fire("tool_call", call("bash", json!({"command": "ls"}))).await.is_null());
    stage.says("No");
    let answer = stage.fire("tool_call", call("bash", json!({"command": "rm -rf /"}))).await;
    assert_eq!(answer, json!({"block": true, "reason": "Blocked by user"}));
    stage.says("Yes");
    assert!(stage.fire("tool_call", call("bash", json!({"command": "sudo ls"}))).await.is_null());
    let alone = crate::of("permission-gate", crate::Setup { has_ui: false, ..Default::default() }).await;
    let answer = alone.fire("tool_call", call("bash", json!({"command": "sudo ls"}))).await;
    assert_eq!(answer["block"], true, "without a terminal");
}

#[tokio::test]
async fn protected_paths() {
    let stage = stage("protected-paths").await;
    let answer = stage.fire("tool_call", call("write", json!({"path": "a/.env", "content": ""}))).await;
    assert_eq!(answer["reason"], "Path \"a/.env\" is protected");
    assert!(stage.fire("tool_call", call("write", json!({"path": "a/b.rs", "content": ""}))).await.is_null());
}

/// Makes a repository with one commit and one change.
fn repository(stage: &Stage) -> std::path::PathBuf {
    let project = stage.project();
    git(&project, &["init", "-q"]);
    git(&project, &["config", "user.name", "t"]);
    git(&project, &["config", "user.email", "t@example.org"]);
    std::fs::write(project.join("file"), "one\n").unwrap();
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-q", "-m", "first"]);
    std::fs::write(project.join("file"), "two\n").unwrap();
    project
}

#[tokio::test]
async fn dirty_repo_guard() {
    let stage = stage("dirty-repo-guard").await;
    assert!(stage.fire("session_before_switch", json!({"reason": "new"})).await.is_null(), "no repository");
    repository(&stage);
    stage.says("No, let me commit first");
    let answer = stage.fire("session_before_switch", json!({"reason": "new"})).await;
    assert_eq!(answer, json!({"cancel": true}));
    let notes = stage.notes();
    assert!(notes[0].starts_with("select You have 1 uncommitted file(s). new session anyway?"), "{notes:?}");
}

#[tokio::test]
async fn git_checkpoint() {
    let stage = stage("git-checkpoint").await;
    let project = repository(&stage);
    let entry = stage.assistant("changed something");
    stage.fire("tool_result", json!({"toolName": "bash", "content": []})).await;
    stage.fire("turn_start", json!({})).await;
    git(&project, &["checkout", "-q", "--", "file"]);
    stage.says("Yes, restore code to that point");
    assert!(stage.fire("session_before_fork", json!({"entryId": entry, "position": "at"})).await.is_null());
    assert_eq!(std::fs::read_to_string(project.join("file")).unwrap(), "two\n");
    assert_eq!(stage.notes()[1], "info: Code restored to checkpoint");
}

#[tokio::test]
async fn auto_commit_on_exit() {
    let mut stage = stage("auto-commit-on-exit").await;
    let project = repository(&stage);
    stage.user("q");
    stage.assistant("Fixed the parser\nand more");
    stage.agent.quit().await;
    assert_eq!(git(&project, &["log", "-1", "--format=%s"]).trim(), "[pi] Fixed the parser");
}
