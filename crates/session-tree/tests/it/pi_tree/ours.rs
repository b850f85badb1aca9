//! The tree of a session in the format of the recorded answers.

use serde_json::json;
use session_tree::json::ValueRef;
use session_tree::{Entry, Node, Session, Timestamp};

use testkit::canonical::{canonical, canonical_text};

/// The compared parts of an answer, in order.
pub(crate) const PARTS: [&str; 7] = ["ids", "parents", "types", "kept", "leaf", "name", "tree"];

/// Maps entries to their names in an answer.
pub(crate) struct Names<'s> {
    session: &'s Session,
    /// True for version 1: pi draws random ids, so the answers number the entries.
    by_place: bool,
}

impl<'s> Names<'s> {
    pub(crate) fn of(session: &'s Session) -> Self {
        let has_own_id = |entry: &Entry| {
            let id = format!("\"{}\"", entry.id());
            entry.raw().windows(id.len()).any(|window| window == id.as_bytes())
        };
        let is_old = session.header().version() < 2;
        let by_place = is_old && session.entries().flatten().any(|entry| !has_own_id(&entry));
        Self { session, by_place }
    }

    fn node(&self, node: Node) -> String {
        if self.by_place {
            let place = self.session.tree().nodes().position(|other| other == node);
            return format!("#{}", place.unwrap_or_default());
        }
        self.session.tree().id(node).to_string()
    }

    /// Formats a value that names an entry.
    fn value(&self, value: ValueRef<'_>) -> String {
        let node = value.as_str().and_then(|id| self.session.tree().node(&id));
        match node {
            Some(node) if self.by_place => text(&self.node(node)),
            _ => canonical(value),
        }
    }

    /// Formats a path.
    pub(crate) fn path(&self, nodes: &[Node]) -> String {
        list(nodes.iter().map(|node| text(&self.node(*node))))
    }

    /// Formats one part of the answer.
    pub(crate) fn part(&self, part: &str) -> String {
        let session = self.session;
        let entries = || session.entries().map(Result::unwrap);
        match part {
            "ids" => self.path(&session.tree().nodes().collect::<Vec<_>>()),
            "parents" => list(entries().map(|entry| self.written_parent(&entry))),
            "types" => list(entries().map(|entry| text(&entry.type_name()))),
            "kept" => {
                list(entries().filter(|entry| entry.type_name() == "compaction").map(|e| self.kept(&e)))
            }
            "leaf" => session.leaf().map_or("null".into(), |leaf| text(&self.node(leaf))),
            "name" => session.name().map_or("null".into(), text),
            "tree" => list(session.tree().ordered().into_iter().map(|(node, depth)| self.row(node, depth))),
            _ => panic!("no part {part}"),
        }
    }

    /// Formats the parent as the line names it, also for orphans.
    fn written_parent(&self, entry: &Entry) -> String {
        let parent = entry.value().and_then(|value| value.get("parentId"));
        parent.map_or_else(|| text("undefined"), |parent| self.value(parent))
    }

    fn kept(&self, entry: &Entry) -> String {
        let kept = entry.value().and_then(|value| value.get("firstKeptEntryId"));
        let kept = kept.map_or_else(|| "null".to_owned(), |kept| self.value(kept));
        format!("[{},{kept}]", text(&self.node(entry.node())))
    }

    fn row(&self, node: Node, depth: u32) -> String {
        let id = text(&self.node(node));
        match self.session.label(node) {
            Some(label) => {
                format!("[{depth},{id},{},{}]", text(&label.text), text(&label.set_at.to_string()))
            }
            None => format!("[{depth},{id},null]"),
        }
    }
}

/// Formats a recorded part. Times of labels are normalised, because ours are not stored as text.
pub(crate) fn theirs(part: &str, answer: ValueRef<'_>) -> String {
    if part != "tree" {
        return canonical(answer);
    }
    list(answer.items().map(|row| {
        let columns = row.items().enumerate().map(|(at, column)| {
            let time = column.as_str().filter(|_| at == 3).and_then(|time| Timestamp::parse(&time));
            time.map_or_else(|| canonical(column), |time| text(&time.to_string()))
        });
        list(columns)
    }))
}

fn text(text: &str) -> String {
    canonical_text(&json!(text).to_string())
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}
