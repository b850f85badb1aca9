//! Extensions that ask models, and those that compact.

use offshoot_agent::cancel::Cancel;

use crate::of;
use crate::support::{Setup, Stage};

/// Says so much that something can be compacted.
fn long_talk(stage: &Stage) {
    for number in 0..6 {
        stage.user(&format!("question {number} {}", "word ".repeat(8_000)));
        stage.assistant(&format!("answer {number}"));
    }
}

#[tokio::test]
async fn custom_compaction() {
    let model = ("google", "gemini-2.5-flash");
    let mut stage =
        of("custom-compaction", Setup { model, replies: vec!["all of it"], ..Setup::default() }).await;
    long_talk(&stage);
    let done = stage.agent.compact(None, &Cancel::new()).await.unwrap();
    let id = done.done().unwrap();
    let entry = stage.agent.session().entry(id.as_str()).unwrap().value().unwrap().to_serde().unwrap();
    assert_eq!((entry["summary"].as_str(), entry["fromHook"].as_bool()), (Some("all of it"), Some(true)));
    let request = stage.model.requests.lock().unwrap()[0].clone();
    assert_eq!(request.max_output, Some(8192));
    assert!(request.messages[0].text().contains("[User]: question 0"), "the conversation is spelled out");
    let notes = stage.notes();
    assert!(notes[1].starts_with("info: Custom compaction: summarizing "), "{notes:?}");
}

#[tokio::test]
async fn trigger_compact() {
    let mut stage = of("trigger-compact", Setup { replies: vec!["a summary"], ..Setup::default() }).await;
    long_talk(&stage);
    stage.command("trigger-compact the parser").await.unwrap();
    let notes = stage.shown("Compaction completed").await;
    assert_eq!(notes[0], "info: Compaction started");
    assert!(stage.path().last().unwrap().starts_with("compaction "), "{:?}", stage.path().last());
}

#[tokio::test]
async fn handoff() {
    let mut stage = of("handoff", Setup { replies: vec!["## Context\nParser"], ..Setup::default() }).await;
    stage.user("write a parser");
    stage.assistant("done");
    stage.stays_silent();
    stage.says("## Context\nParser, edited");
    stage.command("handoff test it").await.unwrap();
    let notes = stage.notes();
    assert_eq!(notes[1], "editor Edit handoff prompt \"## Context\\nParser\"");
    assert_eq!(
        notes[2..],
        ["editor text ## Context\nParser, edited", "info: Handoff ready. Submit when ready."]
    );
    assert!(stage.path().is_empty(), "a new session");
    let request = stage.model.requests.lock().unwrap()[0].clone();
    assert!(request.system.starts_with("You are a context transfer assistant"));
    assert!(request.messages[0].text().contains("write a parser"));
}

#[tokio::test]
async fn qna() {
    let mut stage = of("qna", Setup { replies: vec!["Q: Which?\nA: "], ..Setup::default() }).await;
    stage.user("hm");
    stage.assistant("Which one?");
    stage.stays_silent();
    stage.command("qna").await.unwrap();
    assert_eq!(stage.notes()[1], "editor text Q: Which?\nA: ");
}

#[tokio::test]
async fn summarize() {
    let model = ("openai", "gpt-5.2");
    let mut stage =
        of("summarize", Setup { model, replies: vec!["# Goal\n- a *parser*"], ..Setup::default() }).await;
    stage.user("write a parser");
    stage.assistant("done");
    stage.types(&["x", "\r"]);
    stage.command("summarize").await.unwrap();
    let screens = stage.screens();
    assert_eq!(screens.len(), 2, "it closes at the second key");
    let lines: Vec<&str> = screens[0].lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines[1..5], ["Conversation Summary", "Goal", "- a parser", "Press Enter or Esc to close"]);
}
