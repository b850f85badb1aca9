//! The files of `fixtures/pi-1.5.0` and what the real program answered about them.

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
    /// Tells whether the real program found a session in the file, neither refused it nor began a new one.
    pub(crate) fn is_session(&self) -> bool {
        let answer = self.answer.root();
        answer.get("openError").is_none() && answer.get("fresh").and_then(ValueRef::as_bool) != Some(true)
    }

    /// Returns the answers for the leaf and for the other positions; not those where the real program crashed or
    /// would never have answered.
    pub(crate) fn positions(&self) -> Vec<Position<'_>> {
        let answer = self.answer.root();
        let loaded = Position { leaf: leaf(answer), is_loaded: true, answer };
        let others = answer.get("leaves").into_iter().flat_map(ValueRef::items);
        let others = others.map(|answer| Position { leaf: leaf(answer), is_loaded: false, answer });
        std::iter::once(loaded).chain(others).filter(Position::is_answered).collect()
    }
}

/// What the real program answered for one position of the leaf.
pub(crate) struct Position<'a> {
    pub(crate) leaf: Option<String>,
    /// Whether this is where the leaf was after loading.
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

/// Finds the entry that an answer names; `#k` is the k-th entry of a file whose entries have no ids.
pub(crate) fn named(session: &Session, id: &str) -> Option<Node> {
    let place = || session.tree().nodes().nth(id.strip_prefix('#')?.parse().ok()?);
    session.tree().node(id).or_else(place)
}
