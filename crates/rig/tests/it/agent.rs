//! An agent of rig with a scripted model.

use rig_agent::AgentBuilder;
use rig_agent::test_utils::MockAddTool;
use rig_core::completion::Message;
use rig_core::memory::ConversationMemory;
use rig_core::message::UserContent;
use rig_core::test_utils::{MockCompletionModel, MockTurn};
use session_tree_rig::SessionMemory;

/// Lets an agent use a tool, and another agent continue its conversation.
pub(crate) async fn remembers(make: impl Fn() -> SessionMemory) {
    let call = MockTurn::tool_call("call-1", "add", serde_json::json!({"x": 2, "y": 3}));
    let model = MockCompletionModel::from_turns([call, MockTurn::text("It is 5.")]);
    let agent = AgentBuilder::new(model).memory(make()).tool(MockAddTool).build();
    let response = agent.prompt("What is 2 + 3?").conversation("sums").max_turns(3).await.unwrap();
    assert_eq!(response.output(), "It is 5.");

    let stored = make().load(&"sums".into()).await.unwrap();
    assert_eq!(stored.len(), 4);
    assert_eq!(stored[0], Message::user("What is 2 + 3?"));
    let Message::User { content } = &stored[2] else { panic!("no result: {stored:?}") };
    assert!(matches!(&content[0], UserContent::ToolResult(result) if result.name == "add"));

    let model = MockCompletionModel::text("Yes.");
    let agent =
        AgentBuilder::new(model.clone()).memory(make()).tool(MockAddTool).conversation("sums").build();
    agent.prompt("Really?").await.unwrap();
    let request = &model.requests()[0];
    assert!(request.chat_history.starts_with(&stored), "{:?}", request.chat_history);
    assert_eq!(make().load(&"sums".into()).await.unwrap().len(), 6);
    assert_eq!(make().load(&"other".into()).await.unwrap(), []);
}

#[tokio::test]
async fn an_agent_remembers_in_a_file() {
    let directory = tempfile::tempdir().unwrap();
    remembers(|| SessionMemory::files(directory.path())).await;
}

#[tokio::test]
async fn an_agent_reports_a_session_that_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("c.jsonl"), "hello\n").unwrap();
    let model = MockCompletionModel::text("never");
    let agent = AgentBuilder::new(model).memory(SessionMemory::files(directory.path())).build();
    let error = agent.prompt("hi").conversation("c").await.unwrap_err().to_string();
    assert!(error.contains("c.jsonl"), "{error}");
}
