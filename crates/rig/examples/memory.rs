//! An agent that remembers: run it twice.
//!
//! The model is scripted, so that the example needs no key. Replace it by one of a provider.

#![allow(clippy::print_stdout, reason = "an example prints")]

use rig_agent::AgentBuilder;
use rig_core::memory::ConversationMemory;
use rig_core::test_utils::MockCompletionModel;
use session_tree_rig::SessionMemory;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "conversations".to_owned());
    println!("{} messages", talk(SessionMemory::files(directory)).await?);
    Ok(())
}

/// Sends a prompt, and returns the number of messages that the conversation has then.
async fn talk(memory: SessionMemory) -> Result<usize, Box<dyn std::error::Error>> {
    let agent = AgentBuilder::new(MockCompletionModel::text("Hello, Alice!")).memory(memory.clone()).build();
    agent.prompt("My name is Alice.").conversation("thread-1").await?;
    Ok(memory.load(&"thread-1".into()).await?.len())
}

#[cfg(test)]
#[tokio::test]
async fn a_conversation_goes_on_in_the_next_run() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(talk(SessionMemory::files(directory.path())).await.unwrap(), 2);
    assert_eq!(talk(SessionMemory::files(directory.path())).await.unwrap(), 4);
}
