//! Commands, events and messages, without components.

use offshoot_agent::agent::Submitted;
use serde_json::json;

use crate::support::Setup;
use crate::{of, stage};

#[tokio::test]
async fn bookmark() {
    let mut stage = stage("bookmark").await;
    stage.user("q");
    let answer = stage.assistant("a");
    stage.command("bookmark here").await.unwrap();
    assert_eq!(stage.notes(), ["info: Bookmarked as: here"]);
    let label = |stage: &crate::support::Stage| {
        let session = stage.agent.session();
        let node = session.node(&answer).unwrap();
        session.label(node).map(|label| label.text.clone())
    };
    assert_eq!(label(&stage).as_deref(), Some("here"));
    stage.command("unbookmark").await.unwrap();
    assert_eq!(label(&stage), None);
}

#[tokio::test]
async fn session_name() {
    let mut stage = stage("session-name").await;
    stage.command("session-name My work").await.unwrap();
    stage.command("session-name").await.unwrap();
    assert_eq!(stage.notes(), ["info: Session named: My work", "info: Session: My work"]);
}

#[tokio::test]
async fn send_user_message() {
    let mut stage = of("send-user-message", Setup { replies: vec!["hi", "short"], ..Setup::default() }).await;
    stage.command("ask hello").await.unwrap();
    assert_eq!(stage.path(), ["model_change ", "user: hello", "assistant: hi"]);
    stage.command("askwith why").await.unwrap();
    assert!(stage.path()[3].starts_with("user: User request: why"), "{:?}", stage.path());
    stage.command("ask").await.unwrap();
    assert_eq!(stage.notes(), ["warning: Usage: /ask <message>"]);
}

#[tokio::test]
async fn event_bus() {
    let mut stage = stage("event-bus").await;
    stage.fire("session_start", json!({"reason": "startup"})).await;
    stage.command("emit hey").await.unwrap();
    assert_eq!(
        stage.notes(),
        ["info: Event from event-bus-example: Session started", "info: Event from /emit command: hey"]
    );
}

#[tokio::test]
async fn status_line() {
    let mut stage = of("status-line", Setup { replies: vec!["hi"], ..Setup::default() }).await;
    stage.agent.start(&Default::default()).await;
    stage.submit("hello").await;
    assert_eq!(
        stage.notes(),
        [
            "status status-demo: Ready",
            "status status-demo: ● Turn 1...",
            "status status-demo: ✓ Turn 1 complete"
        ]
    );
}

#[tokio::test]
async fn input_transform() {
    let mut stage = of("input-transform", Setup { replies: vec!["because"], ..Setup::default() }).await;
    assert_eq!(stage.submit("ping").await, Submitted::Handled);
    assert_eq!(stage.notes(), ["info: pong"]);
    stage.submit("?quick why").await;
    assert_eq!(stage.path()[0], "user: Respond briefly in 1-2 sentences: why");
}

#[tokio::test]
async fn pirate() {
    let mut stage = stage("pirate").await;
    stage.submit("one").await;
    stage.command("pirate").await.unwrap();
    stage.submit("two").await;
    let requests = stage.model.requests.lock().unwrap();
    assert!(!requests[0].system.contains("PIRATE"));
    assert!(requests[1].system.starts_with("You are a test.") && requests[1].system.contains("PIRATE MODE"));
}

#[tokio::test]
async fn file_trigger() {
    let trigger = "/tmp/agent-trigger.txt";
    std::fs::write(trigger, "").unwrap();
    let mut stage = of("file-trigger", Setup { replies: vec!["on it"], ..Setup::default() }).await;
    stage.fire("session_start", json!({"reason": "startup"})).await;
    assert_eq!(stage.notes(), [format!("info: Watching {trigger}")]);
    std::fs::write(trigger, "run the tests\n").unwrap();
    stage.serve_one().await;
    assert_eq!(stage.path(), ["custom_message file-trigger", "assistant: on it"]);
    std::fs::remove_file(trigger).unwrap();
}

#[tokio::test]
async fn claude_rules() {
    let mut stage = stage("claude-rules").await;
    let rules = stage.project().join(".claude/rules/deep");
    std::fs::create_dir_all(&rules).unwrap();
    std::fs::write(rules.join("style.md"), "tabs").unwrap();
    stage.agent.start(&Default::default()).await;
    assert_eq!(stage.notes(), ["info: Found 1 rule(s) in .claude/rules/"]);
    stage.submit("hello").await;
    let system = stage.model.requests.lock().unwrap()[0].system.clone();
    assert!(system.contains("- .claude/rules/deep/style.md"), "{system}");
}

#[tokio::test]
async fn rpc_demo() {
    let mut stage = stage("rpc-demo").await;
    stage.fire("session_start", json!({"reason": "new"})).await;
    assert_eq!(
        stage.notes(),
        [
            "title pi RPC Demo (new session)",
            "widget rpc-demo: --- RPC Extension UI Demo ---|Loaded and ready.",
            "status rpc-demo: Turns: 0",
        ]
    );
    stage.says("seven");
    stage.command("rpc-input").await.unwrap();
    stage.says("a\nb");
    stage.command("rpc-editor").await.unwrap();
    stage.command("rpc-prefill").await.unwrap();
    let notes = stage.notes();
    assert_eq!(notes[1], "info: You entered: seven");
    assert_eq!(notes[3], "info: Editor submitted (2 lines)");
    assert_eq!(notes[4], "editor text This text was set by the rpc-demo extension.");
}

#[tokio::test]
async fn reload_runtime() {
    let mut stage = stage("reload-runtime").await;
    stage.command("reload-runtime").await.unwrap();
    assert_eq!(stage.notes(), ["reload"]);
    stage.tool("reload_runtime", json!({})).await;
    // Version 1.5 waits until the agent has settled.
    stage.fire("agent_settled", json!({"aborted": false})).await;
    stage.serve().await;
    assert_eq!(stage.notes(), ["reload"], "what looks like a command is one");
}

#[tokio::test]
async fn shutdown_command() {
    let mut stage = stage("shutdown-command").await;
    stage.command("quit").await.unwrap();
    let output = stage.tool("deploy_and_exit", json!({"environment": "production"})).await;
    assert_eq!(output.details, Some(json!({"environment": "production"})));
    assert_eq!(stage.notes(), ["shutdown", "shutdown"]);
}

#[tokio::test]
async fn hello() {
    let mut stage = stage("hello").await;
    let output = stage.tool("hello", json!({"name": "Ada"})).await;
    assert_eq!(output.content, [json!({"type": "text", "text": "Hello, Ada!"})]);
}

#[tokio::test]
async fn dynamic_tools() {
    let mut stage = stage("dynamic-tools").await;
    stage.fire("session_start", json!({"reason": "startup"})).await;
    stage.command("add-echo-tool loud").await.unwrap();
    let output = stage.tool("loud", json!({"message": "hi"})).await;
    assert_eq!(output.content[0]["text"], "[loud] hi");
    assert_eq!(*stage.theatre.registered.lock().unwrap(), 2);
}

#[tokio::test]
async fn notify_widget_placement_and_working_message() {
    let stage = stage("widget-placement").await;
    stage.fire("session_start", json!({"reason": "startup"})).await;
    let notes = stage.notes();
    assert!(notes[0].starts_with("widget "), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains(" below: ")), "{notes:?}");
}

#[tokio::test]
async fn prompt_customizer_and_system_prompt_header() {
    let mut stage = stage("prompt-customizer").await;
    stage.submit("hello").await;
    assert_eq!(stage.path().len(), 2);
    let stage = crate::stage("system-prompt-header").await;
    stage.fire("agent_start", json!({})).await;
    assert!(stage.notes()[0].contains("15"), "the length of the system prompt");
}

#[tokio::test]
async fn titlebar_spinner() {
    let mut stage = stage("titlebar-spinner").await;
    stage.submit("hello").await;
    let notes = stage.notes();
    assert!(notes.iter().all(|note| note.starts_with("title ")), "{notes:?}");
    assert!(notes.last().unwrap().contains("project"), "{notes:?}");
}

#[tokio::test]
async fn timed_confirm() {
    let mut stage = stage("timed-confirm").await;
    stage.says("Option B");
    stage.command("timed-select").await.unwrap();
    assert_eq!(stage.notes()[1], "info: Selected: Option B");
    stage.says(true);
    stage.command("timed").await.unwrap();
    assert!(stage.notes()[1].contains("onfirmed"));
}

#[tokio::test]
async fn inline_bash() {
    let mut stage = stage("inline-bash").await;
    stage.submit("say !{echo hi} twice").await;
    assert_eq!(stage.path()[0], "user: say hi twice");
}

#[tokio::test]
async fn bash_spawn_hook() {
    let mut stage = stage("bash-spawn-hook").await;
    let output = stage.tool("bash", json!({"command": "echo $((6 * 7))"})).await;
    assert!(output.content[0]["text"].as_str().unwrap().contains("42"), "{output:?}");
}

#[tokio::test]
async fn tool_override_reads_through_its_own_tool() {
    let mut stage = stage("tool-override").await;
    std::fs::write(stage.project().join("note.txt"), "seven\n").unwrap();
    let path = stage.project().join("note.txt");
    let output = stage.tool("read", json!({"path": path.to_string_lossy()})).await;
    assert!(output.content[0]["text"].as_str().unwrap().contains("seven"), "{output:?}");
    let denied = stage.tool("read", json!({"path": "/x/.env"})).await;
    assert!(denied.content[0]["text"].as_str().unwrap().contains("denied"), "{denied:?}");
}

#[tokio::test]
async fn dynamic_resources() {
    let stage = stage("dynamic-resources").await;
    let answer = stage.fire("resources_discover", json!({"cwd": "/w", "reason": "startup"})).await;
    assert!(answer["skillPaths"][0].as_str().unwrap().ends_with("SKILL.md"), "{answer}");
}

/// They need packages of their own, a client of one provider, or WebAssembly.
const OTHERS: [&str; 8] = [
    "custom-provider-anthropic",
    "custom-provider-gitlab-duo",
    "doom-overlay",
    "git-merge-and-resolve",
    "gondolin",
    "jev-router",
    "sandbox",
    "with-deps",
];

#[tokio::test]
async fn every_example_loads_except_those_that_need_other_packages() {
    let directory = crate::example("todo").parent().unwrap().to_path_buf();
    let found = offshoot_extensions::discover::in_directory(&directory);
    let mut failed = Vec::new();
    for one in &found {
        let stage = Setup::default().of(std::slice::from_ref(&one.path)).await;
        failed.extend(stage.errors.iter().map(|_| one.name.clone()));
    }
    assert!(found.len() > 60, "{}", found.len());
    failed.retain(|name| !OTHERS.contains(&name.as_str()));
    assert_eq!(failed, [] as [&str; 0]);
}
