//! Conversations in files.

use std::process::Command;

use rig_core::completion::Message;
use rig_core::memory::ConversationMemory;
use session_tree::{Position, Session};
use session_tree_rig::{FileSessions, SessionMemory};

use super::shared;

/// The directory in which a process of `processes_share_a_conversation` appends.
const DIRECTORY: &str = "SESSION_TREE_RIG_TEST_DIRECTORY";

#[tokio::test]
async fn files_store_conversations() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("made").join("here");
    shared::stores_conversations(|| SessionMemory::files(&place)).await;
}

#[tokio::test]
async fn files_can_be_cleared() {
    let directory = tempfile::tempdir().unwrap();
    shared::clears(|| SessionMemory::files(directory.path())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tasks_share_a_file() {
    let directory = tempfile::tempdir().unwrap();
    shared::shares_a_conversation(|| SessionMemory::files(directory.path())).await;
}

#[tokio::test]
async fn a_cleared_conversation_keeps_its_history() {
    let directory = tempfile::tempdir().unwrap();
    let memory = SessionMemory::files(directory.path());
    let id = "c".into();
    memory.append(&id, vec![Message::user("old"), Message::assistant("answer")]).await.unwrap();
    memory.clear(&id).await.unwrap();
    let path = FileSessions::new(directory.path()).path("c").unwrap();
    let session = Session::open_read_only(path).unwrap();
    assert_eq!(session.position(), Position::Start);
    let texts: Vec<String> = session
        .entries()
        .filter_map(|entry| entry.unwrap().to_message().map(|message| message.text().into_owned()))
        .collect();
    assert_eq!(texts, ["old", "answer"]);
}

/// Another program may move the leaf and append; rig continues there.
#[tokio::test]
async fn rig_continues_where_another_program_left_the_conversation() {
    let directory = tempfile::tempdir().unwrap();
    let memory = SessionMemory::files(directory.path());
    let id = "c".into();
    memory
        .append(&id, vec![Message::user("one"), Message::assistant("two"), Message::user("three")])
        .await
        .unwrap();
    let mut session = Session::open(FileSessions::new(directory.path()).path("c").unwrap()).unwrap();
    assert_eq!(session.header().id(), "c");
    let first = session.tree().nodes().next().unwrap();
    session.move_to(session.tree().id(first)).unwrap();
    session.append(session_tree::Message::assistant().text("another answer").build()).unwrap();
    memory.append(&id, vec![Message::user("go on")]).await.unwrap();
    let loaded = memory.load(&id).await.unwrap();
    assert_eq!(loaded.len(), 3);
    assert_eq!((&loaded[0], &loaded[2]), (&Message::user("one"), &Message::user("go on")));
}

/// The test runs itself as several processes.
#[tokio::test]
async fn processes_share_a_conversation() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        let memory = SessionMemory::files(directory);
        for number in 0..20 {
            let text = format!("{} {number}", std::process::id());
            memory.append(&"shared".into(), vec![Message::user(text)]).await.unwrap();
        }
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let run = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "files::processes_share_a_conversation"])
            .env(DIRECTORY, directory.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let processes: Vec<_> = (0..3).map(|_| run()).collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    let loaded = SessionMemory::files(directory.path()).load(&"shared".into()).await.unwrap();
    let mut texts: Vec<String> = loaded.iter().map(|message| message.rag_text().unwrap()).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 60);
}
