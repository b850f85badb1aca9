//! Extensions that draw, and those whose state follows the branch.

use offshoot_agent::agent::SummaryRequest;
use offshoot_extensions::Drawing;
use serde_json::{Value as Json, json};

use crate::support::{Setup, Stage, plain};
use crate::{of, stage};

fn text(output: &offshoot_agent::tool::ToolOutput) -> &str {
    output.content[0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn todo_follows_the_branch() {
    let mut stage = stage("todo").await;
    stage.user("plan");
    stage.tool("todo", json!({"action": "add", "text": "milk"})).await;
    let here = stage.agent.session().leaf_id().unwrap().to_string();
    stage.tool("todo", json!({"action": "add", "text": "bread"})).await;
    assert_eq!(text(&stage.tool("todo", json!({"action": "list"})).await), "[ ] #1: milk\n[ ] #2: bread");
    stage.navigate(&here, SummaryRequest::Skip).await;
    assert_eq!(text(&stage.tool("todo", json!({"action": "list"})).await), "[ ] #1: milk");
    stage.types(&["\x1b"]);
    stage.command("todos").await.unwrap();
    let screen = &stage.screens()[0];
    assert!(screen.contains("milk") && !screen.contains("bread"), "{screen}");
    let result = json!({"content": [], "details": {"action": "list", "todos": [{"id": 1, "text": "milk", "done": true}], "nextId": 2}});
    let drawn = stage
        .only()
        .draw(&Drawing::Tool("todo".into(), json!({"action": "list"}), result), false, 40)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        drawn.iter().map(|line| plain(line).trim_end().to_owned()).collect::<Vec<_>>(),
        ["todo list", "1 todo(s):", "✓ #1 milk"]
    );
}

#[tokio::test]
async fn tools_follow_the_branch() {
    let mut stage = stage("tools").await;
    stage.user("q");
    let before = stage.assistant("a");
    stage.agent.start(&Default::default()).await;
    stage.types(&[" ", "\x1b"]);
    stage.command("tools").await.unwrap();
    let screens = stage.screens();
    assert!(screens[0].starts_with("Tool Configuration"), "{}", screens[0]);
    assert!(
        screens[0].contains("read   enabled") && screens[1].contains("read   disabled"),
        "{}",
        screens[1]
    );
    assert_eq!(stage.active_tools(), ["bash", "edit", "write"]);
    assert_eq!(stage.path().last().unwrap(), "custom tools-config");
    stage.user("more");
    let after = stage.assistant("done");
    stage.navigate(&before, SummaryRequest::Skip).await;
    stage.host.tools.choose(vec!["read".into()]);
    stage.navigate(&after, SummaryRequest::Skip).await;
    assert_eq!(stage.active_tools(), ["bash", "edit", "write"]);
}

#[tokio::test]
async fn tic_tac_toe_follows_the_branch() {
    let mut stage = of("tic-tac-toe", Setup { replies: vec!["thinking"], ..Setup::default() }).await;
    stage.agent.start(&Default::default()).await;
    stage.types(&["\x1b[B", "\r", "q"]);
    stage.command("tic-tac-toe").await.unwrap();
    assert_eq!(stage.agent.session().name(), Some("Tic-Tac-Toe"));
    assert!(stage.path().iter().any(|line| line == "custom_message tic-tac-toe-move"), "{:?}", stage.path());
    let sent = stage.only_message("tic-tac-toe-move");
    assert!(stage.path().contains(&"assistant: thinking".to_owned()), "the move triggers a turn");
    let seen = stage.tool("tic_tac_toe_see_board", json!({})).await;
    let here = stage.agent.session().leaf_id().unwrap().to_string();
    let played = stage.tool("tic_tac_toe", json!({"action": "play"})).await;
    assert!(text(&played).starts_with("Placed O at (0,0)"), "{played:?}");
    assert_eq!(played.details.as_ref().unwrap()["board"][0][0], "O");
    stage.navigate(&here, SummaryRequest::Skip).await;
    let again = stage.tool("tic_tac_toe_see_board", json!({})).await;
    assert_eq!(again.details, seen.details, "the move is on another branch");
    let drawn = stage.only().draw(&Drawing::Message(sent), true, 60).await.unwrap().unwrap();
    assert!(plain(&drawn.join("\n")).contains("Player X played"), "{drawn:?}");
}

#[tokio::test]
async fn plan_mode() {
    let replies = vec!["Plan:\n1. Read the parser code\n2. Write more tests", "ok [DONE:1] [DONE:2]"];
    let mut stage = of("plan-mode", Setup { replies, ..Setup::default() }).await;
    stage.agent.start(&Default::default()).await;
    stage.command("plan").await.unwrap();
    assert!(stage.active_tools().contains(&"grep".to_owned()));
    let call = json!({"toolName": "bash", "toolCallId": "1", "input": {"command": "rm x"}});
    assert_eq!(stage.fire("tool_call", call).await["block"], true);
    stage.says("Execute the plan (track progress)");
    stage.submit("plan the tests").await;
    let path = stage.path();
    let prompt = path.iter().position(|line| line == "user: plan the tests").unwrap();
    assert_eq!(path[prompt + 1], "custom_message plan-mode-context");
    assert!(path.iter().any(|line| line == "custom_message plan-mode-execute"), "{path:?}");
    assert!(path.iter().any(|line| line == "custom_message plan-complete"), "{path:?}");
    assert_eq!(stage.active_tools(), ["read", "bash", "edit", "write"]);
    let notes = stage.notes();
    assert!(notes.iter().any(|note| note == "status plan-mode: 📋 2/2"), "{notes:?}");
}

#[tokio::test]
async fn preset() {
    let mut stage = stage("preset").await;
    let presets = json!({"careful": {"tools": ["read", "nope"], "thinkingLevel": "high", "instructions": "Look twice."}});
    for directory in [".pi", ".offshoot"] {
        std::fs::create_dir_all(stage.project().join(directory)).unwrap();
        std::fs::write(stage.project().join(directory).join("presets.json"), presets.to_string()).unwrap();
    }
    stage.agent.start(&Default::default()).await;
    stage.types(&["\r"]);
    stage.command("preset").await.unwrap();
    let notes = stage.notes();
    assert!(notes.contains(&"warning: Preset \"careful\": Unknown tools: nope".to_owned()), "{notes:?}");
    assert!(notes.contains(&"status preset: preset:careful".to_owned()), "{notes:?}");
    assert_eq!(stage.active_tools(), ["read"]);
    stage.submit("hello").await;
    assert!(stage.model.requests.lock().unwrap()[0].system.ends_with("Look twice."));
}

#[tokio::test]
async fn message_renderer() {
    let mut stage = stage("message-renderer").await;
    stage.command("status warn disk is full").await.unwrap();
    assert_eq!(stage.path(), ["custom_message status-update"]);
    let entry = stage.agent.session().leaf_entry().unwrap().unwrap().value().unwrap().to_serde().unwrap();
    assert_eq!(stage.extensions.message_renderer("status-update").unwrap().name(), "message-renderer");
    let drawn = stage.only().draw(&Drawing::Message(entry), true, 40).await.unwrap().unwrap();
    let lines: Vec<String> = drawn.iter().map(|line| plain(line)).collect();
    assert_eq!(lines[1].trim(), "[WARN] disk is full");
    assert!(lines[2].trim().starts_with("at "), "{lines:?}");
    assert!(drawn[0].starts_with("\x1b[45m"), "it has a background: {:?}", drawn[0]);
}

#[tokio::test]
async fn custom_footer() {
    let mut stage = stage("custom-footer").await;
    stage.user("q");
    stage.assistant("a");
    stage.command("footer").await.unwrap();
    let line = stage.drawn().await;
    assert!(line.starts_with("↑1.0k ↓500 $0.250") && line.ends_with("mod"), "{line:?}");
    assert_eq!(line.chars().count(), 72);
    stage.command("footer").await.unwrap();
    let notes = stage.notes();
    assert_eq!(
        notes,
        ["footer set", "info: Custom footer enabled", "footer -", "info: Default footer restored"]
    );
}

#[tokio::test]
async fn custom_header() {
    let stage = stage("custom-header").await;
    stage.fire("session_start", json!({"reason": "startup"})).await;
    assert!(!stage.drawn().await.is_empty());
}

#[tokio::test]
async fn snake_and_space_invaders() {
    for (name, command) in [("snake", "snake"), ("space-invaders", "invaders")] {
        let mut stage = stage(name).await;
        let command =
            stage.only().registry().commands.first().map_or(command.to_owned(), |one| one.name.clone());
        stage.types(&["\x1b[A", "\x1b[C", "q"]);
        stage.command(&command).await.unwrap();
        let screens = stage.screens();
        assert!(screens[0].lines().count() > 10, "{name}: {}", screens[0]);
        assert_eq!(stage.troubles(), []);
    }
}

async fn asked(name: &str, tool: &str, arguments: Json, keys: &[&'static str]) -> (Stage, String) {
    let mut stage = stage(name).await;
    stage.types(keys);
    let output = stage.tool(tool, arguments).await;
    let said = text(&output).to_owned();
    (stage, said)
}

#[tokio::test]
async fn question() {
    let arguments = json!({"question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]});
    let (stage, said) = asked("question", "question", arguments, &["\x1b[B", "\r"]).await;
    assert!(said.contains("Blue"), "{said}");
    assert!(stage.screens()[0].contains("Which?"));
}

#[tokio::test]
async fn structured_output() {
    let mut stage = stage("structured-output").await;
    let arguments = json!({"headline": "H", "summary": "S", "actionItems": ["a"]});
    let output = stage.tool("structured_output", arguments.clone()).await;
    let result = json!({"content": output.content, "details": output.details});
    let drawing = Drawing::Tool("structured_output".into(), arguments, result);
    let drawn = stage.only().draw(&drawing, false, 20).await.unwrap().unwrap();
    let lines: Vec<String> = drawn.iter().map(|line| plain(line).trim_end().to_owned()).collect();
    assert_eq!(lines, ["structured_output", "H", "S", "", "1. a"]);
}
