//! The files of `fixtures/pi-1.5.0` and the recorded answers of pi.

use std::fs;
use std::path::Path;

use session_tree::json::{Doc, ValueRef};
use session_tree::{Node, Session};

/// One recorded file.
pub(crate) struct Recorded {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) answer: Doc,
}

/// Reads all recorded files, in the order of their names.
pub(crate) fn recorded() -> Vec<Recorded> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pi-1.5.0");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .filter_map(|file| {
            file.unwrap().file_name().into_string().unwrap().strip_suffix(".jsonl").map(Into::into)
        })
        .collect();
    names.sort();
    let read = |name: String| Recorded {
        bytes: fs::read(folder.join(format!("{name}.jsonl"))).unwrap(),
        answer: Doc::parse(fs::read(folder.join(format!("{name}.answer.json"))).unwrap()).unwrap(),
        name,
    };
    names.into_iter().map(read).collect()
}

impl Recorded {
    /// Returns true if pi found a session in the file instead of refusing it or starting a new one.
    pub(crate) fn is_session(&self) -> bool {
        let answer = self.answer.root();
        answer.get("openError").is_none() && answer.get("fresh").and_then(ValueRef::as_bool) != Some(true)
    }

    /// Returns the answers for the leaf and for other positions, except those where pi crashed or did not end.
    pub(crate) fn positions(&self) -> Vec<Position<'_>> {
        let answer = self.answer.root();
        let loaded = Position { leaf: leaf(answer), is_loaded: true, answer };
        let others = answer.get("leaves").into_iter().flat_map(ValueRef::items);
        let others = others.map(|answer| Position { leaf: leaf(answer), is_loaded: false, answer });
        std::iter::once(loaded).chain(others).filter(Position::is_answered).collect()
    }
}

/// The answers of pi for one position of the leaf.
pub(crate) struct Position<'a> {
    pub(crate) leaf: Option<String>,
    /// True if this is the leaf after loading.
    pub(crate) is_loaded: bool,
    pub(crate) answer: ValueRef<'a>,
}

impl Position<'_> {
    fn is_answered(&self) -> bool {
        self.answer.get("context").is_some_and(|context| context.get("crash").is_none())
    }
}

fn leaf(answer: ValueRef<'_>) -> Option<String> {
    answer.get("leaf").and_then(ValueRef::as_str).map(Into::into)
}

/// Finds the entry that an answer names; `#k` is the k-th entry of a file without ids.
pub(crate) fn named(session: &Session, id: &str) -> Option<Node> {
    let place = || session.tree().nodes().nth(id.strip_prefix('#')?.parse().ok()?);
    session.tree().node(id).or_else(place)
}
