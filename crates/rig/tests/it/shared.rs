//! Checks that files and databases have to pass alike.

use std::sync::Arc;

use rig_core::completion::Message;
use rig_core::memory::ConversationMemory;
use session_tree_rig::SessionMemory;

/// How many tasks append to one conversation, and how often.
const TASKS: usize = 8;
const APPENDS: usize = 10;

/// Conversations are separate, empty before their first message, and go on in another memory of the same place.
pub(crate) async fn stores_conversations(make: impl Fn() -> SessionMemory) {
    let memory = make();
    let ids = ["thread-1", "Thread-1", "../odd name/ä\0", "%2E"];
    for id in ids {
        assert_eq!(memory.load(&id.into()).await.unwrap(), []);
        memory.append(&id.into(), vec![]).await.unwrap();
        memory.append(&id.into(), vec![Message::user(id), Message::assistant("yes\0")]).await.unwrap();
    }
    for id in ids {
        make().append(&id.into(), vec![Message::user("more")]).await.unwrap();
        let expected = [Message::user(id), Message::assistant("yes\0"), Message::user("more")];
        assert_eq!(make().load(&id.into()).await.unwrap(), expected, "{id}");
    }
}

/// A cleared conversation is empty for everybody, and goes on from the start.
pub(crate) async fn clears(make: impl Fn() -> SessionMemory) {
    let id = "cleared".into();
    let memory = make();
    memory.clear(&id).await.unwrap();
    memory.append(&id, vec![Message::user("old"), Message::assistant("answer")]).await.unwrap();
    memory.clear(&id).await.unwrap();
    memory.clear(&id).await.unwrap();
    assert_eq!(make().load(&id).await.unwrap(), []);
    make().append(&id, vec![Message::user("new")]).await.unwrap();
    assert_eq!(make().load(&id).await.unwrap(), [Message::user("new")]);
}

/// Tasks that append to one conversation at the same time, also its first messages, lose nothing, and keep the messages of
/// one append together.
pub(crate) async fn shares_a_conversation(make: impl Fn() -> SessionMemory) {
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let memory = Arc::new(make());
            tokio::spawn(async move {
                for number in 0..APPENDS {
                    let pair = vec![
                        Message::user(format!("{task} {number}")),
                        Message::assistant(format!("{task} {number}!")),
                    ];
                    memory.append(&"shared".into(), pair).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let loaded = make().load(&"shared".into()).await.unwrap();
    assert_eq!(loaded.len(), TASKS * APPENDS * 2);
    let mut next = [0; TASKS];
    for pair in loaded.chunks(2) {
        let prompt = pair[0].rag_text().unwrap();
        assert_eq!(pair[1], Message::assistant(format!("{prompt}!")));
        let (task, number) = prompt.split_once(' ').unwrap();
        let (task, number): (usize, usize) = (task.parse().unwrap(), number.parse().unwrap());
        assert_eq!(number, next[task], "the appends of a task are in order");
        next[task] += 1;
    }
}
