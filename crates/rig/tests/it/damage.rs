//! Sessions that cannot be used give errors that say why; nothing is skipped silently.

use std::fs;
use std::path::PathBuf;

use rig_core::completion::Message;
use rig_core::memory::ConversationMemory;
use session_tree_rig::{FileSessions, SessionMemory};

struct Place {
    directory: tempfile::TempDir,
    memory: SessionMemory,
}

impl Place {
    /// Creates a conversation of three messages.
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let memory = SessionMemory::files(directory.path());
        let messages = ["one", "two", "three"].map(Message::user).to_vec();
        memory.append(&"c".into(), messages).await.unwrap();
        Self { directory, memory }
    }

    fn file(&self) -> PathBuf {
        FileSessions::new(self.directory.path()).path("c").unwrap()
    }

    fn change(&self, change: impl FnOnce(String) -> String) {
        let text = fs::read_to_string(self.file()).unwrap();
        fs::write(self.file(), change(text)).unwrap();
    }

    async fn error(&self) -> String {
        self.memory.load(&"c".into()).await.unwrap_err().to_string()
    }
}

#[tokio::test]
async fn a_line_that_cannot_be_read_is_an_error() {
    let place = Place::new().await;
    place.change(|text| text.replace("\"two\"", "\"two"));
    let error = place.error().await;
    assert!(
        error.contains("c.jsonl")
            && error.contains("messages may be missing")
            && error.contains("offshoot repair"),
        "{error}"
    );
    assert!(error.contains("line 3"), "{error}");
}

#[tokio::test]
async fn a_missing_line_is_an_error() {
    let place = Place::new().await;
    place.change(|text| {
        text.lines().filter(|line| !line.contains("two")).map(|line| format!("{line}\n")).collect()
    });
    let error = place.error().await;
    assert!(error.contains("names the parent"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_session_is_an_error() {
    let place = Place::new().await;
    for content in ["", "hello\n", "\0\0\0\0", "{\"type\":\"other\"}\n"] {
        place.change(|_| content.to_owned());
        let error = place.error().await;
        assert!(error.contains("c.jsonl") && error.contains("\"c\""), "{content:?}: {error}");
        let error = place.memory.append(&"c".into(), vec![Message::user("more")]).await.unwrap_err();
        assert!(error.to_string().contains("c.jsonl"), "{content:?}: {error}");
        assert_eq!(fs::read_to_string(place.file()).unwrap(), content);
    }
}

/// The append of a program that died never returned, so nothing that was stored is missing.
#[tokio::test]
async fn the_torn_line_of_a_crash_is_no_error() {
    let place = Place::new().await;
    place.change(|text| text + "{\"type\":\"message\",\"id\":\"dead");
    assert_eq!(place.memory.load(&"c".into()).await.unwrap().len(), 3);
    place.memory.append(&"c".into(), vec![Message::user("four")]).await.unwrap();
    assert_eq!(place.memory.load(&"c".into()).await.unwrap().len(), 4);
}

#[tokio::test]
async fn entries_of_unknown_types_are_no_messages() {
    let place = Place::new().await;
    place.change(|text| {
        let last = text.lines().last().unwrap().split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        text + &format!("{{\"type\":\"hologram\",\"id\":\"ffffffff\",\"parentId\":\"{last}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\"}}\n")
    });
    assert_eq!(place.memory.load(&"c".into()).await.unwrap().len(), 3);
    place.memory.append(&"c".into(), vec![Message::user("four")]).await.unwrap();
    assert_eq!(place.memory.load(&"c".into()).await.unwrap().len(), 4);
}

#[tokio::test]
async fn a_directory_that_cannot_be_used_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let memory = SessionMemory::files(&file);
    let error = memory.load(&"c".into()).await.unwrap_err().to_string();
    assert!(error.contains("file/c.jsonl"), "{error}");
    let error = memory.append(&"c".into(), vec![Message::user("a")]).await.unwrap_err().to_string();
    assert!(error.contains("file/c.jsonl"), "{error}");
    fs::create_dir(directory.path().join("d.jsonl")).unwrap();
    let error = SessionMemory::files(directory.path()).load(&"d".into()).await.unwrap_err().to_string();
    assert!(error.contains("d.jsonl"), "{error}");
}

#[tokio::test]
async fn an_id_that_names_no_file_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let memory = SessionMemory::files(directory.path());
    for (id, reason) in [(String::new(), "empty"), ("x".repeat(300), "too long")] {
        let error = memory.load(&id.as_str().into()).await.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}
