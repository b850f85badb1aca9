//! The content of a file, read without the engine.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use session_tree::{Message, Options, Timestamp};

/// One entry of a file.
pub(super) struct WrittenEntry {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    /// The writer.
    pub(super) writer: String,
    pub(super) number: usize,
}

/// All lines of a file.
pub(super) struct View {
    pub(super) entries: Vec<WrittenEntry>,
    /// The number of lines that are not JSON.
    pub(super) broken: usize,
    pub(super) headers: usize,
    pub(super) blank: usize,
}

impl View {
    pub(super) fn of(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.ends_with('\n'), "the last line is whole");
        let mut view = View { entries: Vec::new(), broken: 0, headers: 0, blank: 0 };
        for line in text.lines() {
            match serde_json::from_str::<Value>(line) {
                Err(_) if line.is_empty() => view.blank += 1,
                Err(_) => view.broken += 1,
                Ok(value) if value["type"] == "session" => view.headers += 1,
                Ok(value) => view.entries.push(WrittenEntry::read(&value)),
            }
        }
        view
    }

    pub(super) fn ids(&self) -> Vec<&str> {
        self.entries.iter().map(|entry| entry.id.as_str()).collect()
    }

    /// Returns the entries of one writer, in file order.
    pub(super) fn of_writer<'v>(&'v self, name: &'v str) -> impl Iterator<Item = &'v WrittenEntry> {
        self.entries.iter().filter(move |entry| entry.writer == name)
    }

    /// Checks that all ids are unique.
    pub(super) fn assert_ids_are_unique(&self, about: &str) {
        let mut counts = HashMap::new();
        for id in self.ids() {
            *counts.entry(id).or_insert(0) += 1;
        }
        counts.retain(|_, count| *count > 1);
        assert!(counts.is_empty(), "{about}: {counts:?}");
    }

    /// Checks that the entries of a writer form a chain below `start`, in the order of writing.
    pub(super) fn assert_chain(&self, name: &str, start: Option<&str>, about: &str) {
        let mut above = start;
        for (number, entry) in self.of_writer(name).enumerate() {
            assert_eq!(entry.number, number, "{about}: {name} wrote {}", entry.id);
            assert_eq!(entry.parent.as_deref(), above, "{about}: {name} wrote {}", entry.id);
            above = Some(&entry.id);
        }
    }
}

impl WrittenEntry {
    fn read(value: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let content = text(&value["message"]["content"]).unwrap_or_default();
        let mut words = content.split(' ');
        WrittenEntry {
            id: text(&value["id"]).unwrap_or_default(),
            parent: text(&value["parentId"]),
            writer: words.next().unwrap_or_default().to_owned(),
            number: words.next().and_then(|word| word.parse().ok()).unwrap_or(usize::MAX),
        }
    }
}

/// Creates a session with one entry and returns its id.
pub(super) fn start_session(path: &PathBuf) -> String {
    let mut session = Options::new().create(path, "/project").unwrap();
    let message = Message::user("start").with_time(Timestamp::from_millis(0));
    session.append_message(&message).unwrap().to_string()
}
