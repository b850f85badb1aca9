//! Sessions with two branches for the tests of picks, merges and pops, and lines that a drawing cannot express.

use session_tree::{EntryId, Kind, Message, Node, Options, Session, Timestamp};
use testkit::clock::TickingClock;
use testkit::drawing::session_text;
use testkit::ids::CountingIds;

/// The time of every pick.
pub(crate) const NOW: i64 = 1_750_000_000_000;

/// A writable session with the entries of a drawing whose last entry is the leaf.
pub(crate) struct Live {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) session: Session,
}

impl Live {
    pub(crate) fn draw(drawing: &str) -> Self {
        Self::of(session_text(drawing))
    }

    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, bytes).unwrap();
        let session = options().open(&path).unwrap();
        Self { dir, session }
    }

    /// Draws a session and moves its leaf to an entry.
    pub(crate) fn at(drawing: &str, leaf: &str) -> Self {
        let mut live = Self::draw(drawing);
        live.session.branch(leaf).unwrap();
        live
    }

    pub(crate) fn node(&self, id: &str) -> Node {
        self.session.node(id).unwrap()
    }

    /// Opens the file again, like another process, with the same leaf.
    pub(crate) fn reread(&self) -> Session {
        let mut again = Session::open_read_only(self.dir.path().join("s.jsonl")).unwrap();
        assert!(again.diagnostics().is_empty(), "{:?}", again.diagnostics());
        match self.session.leaf_id() {
            Some(leaf) => again.branch(leaf.as_str()).unwrap(),
            None => again.reset_leaf(),
        }
        again
    }

    /// Returns the context at the leaf from the file, one `role: text` per message.
    pub(crate) fn llm(&self) -> Vec<String> {
        let request = self.reread().context().unwrap().to_request();
        request.iter().map(|item| format!("{}: {}", item.role(), item.text())).collect()
    }

    pub(crate) fn json(&self, id: &EntryId) -> serde_json::Value {
        self.reread().entry(id.as_str()).unwrap().value().unwrap().to_serde().unwrap()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.dir.path().join("s.jsonl")).unwrap()
    }

    pub(crate) fn say(&mut self, text: &str) -> EntryId {
        self.session.append_message(&Message::user(text).with_time(Timestamp::from_millis(NOW))).unwrap()
    }
}

pub(crate) fn options() -> Options {
    Options::new().clock(TickingClock::new(Timestamp::from_millis(NOW), 0)).ids(CountingIds::default())
}

/// Draws a session with another id.
pub(crate) fn other(drawing: &str) -> Live {
    let text = String::from_utf8(session_text(drawing)).unwrap();
    Live::of(text.replacen("\"id\":\"ses\"", "\"id\":\"elsewhere\"", 1).into_bytes())
}

pub(crate) fn ids(session: &Session, nodes: &[Node]) -> Vec<String> {
    nodes.iter().map(|node| session.tree().id(*node).to_string()).collect()
}

/// Returns the line of a message entry that a drawing cannot express.
pub(crate) fn line(id: &str, parent: &str, message: &str) -> String {
    format!(
        r#"! {{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2025-01-01T01:00:00.000Z","message":{message}}}"#
    )
}

/// Returns the line of an answer that calls one tool on a file.
pub(crate) fn call(id: &str, parent: &str, tool: &str, path: &str) -> String {
    let call =
        format!(r#"{{"type":"toolCall","id":"call-{id}","name":"{tool}","arguments":{{"path":"{path}"}}}}"#);
    line(
        id,
        parent,
        &format!(r#"{{"role":"assistant","content":[{call}],"stopReason":"toolUse","timestamp":1}}"#),
    )
}

/// Returns the line of the result of such a call.
pub(crate) fn result(id: &str, answer: &str, tool: &str, text: &str) -> String {
    line(
        id,
        answer,
        &format!(
            r#"{{"role":"toolResult","toolCallId":"call-{answer}","toolName":"{tool}","content":[{{"type":"text","text":"{text}"}}],"isError":false,"timestamp":1}}"#
        ),
    )
}

pub(crate) fn kinds(session: &Session, ids: &[EntryId]) -> Vec<Kind> {
    ids.iter().map(|id| session.tree().kind(session.node(id.as_str()).unwrap())).collect()
}
