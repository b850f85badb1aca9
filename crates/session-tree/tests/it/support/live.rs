//! Writable sessions, and short descriptions of their content.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use session_tree::json::ValueRef;
use session_tree::{EntryId, Message, Options, Position, Session, Timestamp};
use testkit::clock::TickingClock;
use testkit::ids::CountingIds;

/// A directory that is removed after the test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Returns the names of all files, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let files = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Returns options with the same ids and times in every run.
pub(crate) fn options() -> Options {
    Options::new().clock(TickingClock::default()).ids(CountingIds::default())
}

/// Creates a session in memory.
pub(crate) fn in_memory() -> Session {
    options().in_memory("/project").unwrap()
}

pub(crate) fn user(text: &str) -> Message {
    Message::user(text).with_time(Timestamp::from_millis(0))
}

pub(crate) fn assistant(text: &str) -> Message {
    let content = json!([{"type": "text", "text": text}]);
    Message::from_serialize(
        &json!({"role": "assistant", "content": content, "api": "api", "provider": "prov",
        "model": "mod", "stopReason": "stop", "timestamp": 0}),
    )
    .unwrap()
}

pub(crate) fn parent(session: &Session, id: &EntryId) -> Option<EntryId> {
    session.entry(id.as_str()).unwrap().parent_id().cloned()
}

/// Formats each entry as `id<parent`, in file order.
pub(crate) fn shape(session: &Session) -> Vec<String> {
    let tree = session.tree();
    let draw = |node| match tree.parent(node) {
        Some(parent) => format!("{}<{}", tree.id(node), tree.id(parent)),
        None => tree.id(node).to_string(),
    };
    tree.nodes().map(draw).collect()
}

/// Returns the ids from the root to an entry, or to the leaf.
pub(crate) fn path(session: &Session, from: Option<&str>) -> Vec<String> {
    session
        .branch_path(from.map_or(Position::Leaf, Position::from))
        .into_iter()
        .map(|node| session.tree().id(node).to_string())
        .collect()
}

/// Returns the ids of the children of an entry, in file order.
pub(crate) fn children(session: &Session, id: &str) -> Vec<String> {
    let tree = session.tree();
    tree.children(tree.node(id).unwrap()).map(|node| tree.id(node).to_string()).collect()
}

/// Returns the ids of all roots, in file order.
pub(crate) fn roots(session: &Session) -> Vec<String> {
    session.tree().roots().map(|node| session.tree().id(node).to_string()).collect()
}

/// Returns the source entries of the context of the leaf.
pub(crate) fn context(session: &Session) -> Vec<String> {
    let context = session.context().unwrap();
    context.items.iter().map(|item| session.tree().id(item.source).to_string()).collect()
}

/// Returns a text field of an entry.
pub(crate) fn field(session: &Session, id: &str, name: &str) -> Option<String> {
    let entry = session.entry(id).unwrap();
    entry.value().unwrap().get(name).and_then(ValueRef::as_str).map(Into::into)
}

/// Returns the codes of all diagnostics, in file order.
pub(crate) fn codes(session: &Session) -> Vec<&'static str> {
    session.diagnostics().iter().map(|diagnostic| diagnostic.problem.code()).collect()
}

pub(crate) fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}
