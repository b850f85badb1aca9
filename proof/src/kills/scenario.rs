//! Scenarios in which the program is killed, and the checks of the directory afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use session_tree::{Message, Options, Session, SyncPolicy};
use testkit::drawing::session_text;

use super::Left;

const FILE: &str = "s.jsonl";

/// One command, from one start.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    start: Start,
    pub(super) arguments: &'static [&'static str],
    pub(super) input: &'static [u8],
    /// How many entries it may add to the session.
    adds: usize,
}

/// The files of the directory before the run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Nothing,
    Session,
    Torn,
    NoFeed,
    Damaged,
    VersionOne,
    VersionTwo,
}

const DRAFTS: &[u8] = b"{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"one\"}}\n\
    {\"type\":\"label\",\"targetId\":\"leaf\",\"label\":\"here\"}\n\
    {\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"two\"}}\n";

const fn scenario(
    name: &'static str,
    start: Start,
    arguments: &'static [&'static str],
    input: &'static [u8],
    adds: usize,
) -> Scenario {
    Scenario { name, start, arguments, input, adds }
}

const APPEND: &[&str] = &["append", FILE];
const ALWAYS: &[&str] = &["append", FILE, "--sync", "always"];

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("create", Start::Nothing, &["append", FILE, "--create", "--cwd", "."], DRAFTS, 3),
    scenario(
        "create, synced",
        Start::Nothing,
        &["append", FILE, "--create", "--cwd", ".", "--sync", "always"],
        DRAFTS,
        3,
    ),
    scenario("new", Start::Nothing, &["new", "--session-dir", ".", "--name", "a name"], b"", 1),
    scenario("append", Start::Session, APPEND, DRAFTS, 3),
    scenario("append, synced", Start::Session, ALWAYS, DRAFTS, 3),
    scenario("append to a torn line", Start::Torn, APPEND, DRAFTS, 3),
    scenario("append to a torn line, synced", Start::Torn, ALWAYS, DRAFTS, 3),
    scenario("append to a line without end", Start::NoFeed, APPEND, DRAFTS, 3),
    scenario("append to a damaged file", Start::Damaged, ALWAYS, DRAFTS, 4),
    scenario("append to version 1", Start::VersionOne, ALWAYS, DRAFTS, 3),
    scenario("append to version 2", Start::VersionTwo, APPEND, DRAFTS, 3),
    scenario("first turn", Start::Nothing, &["-p", "hello", "--session-dir", "."], b"", 6),
    scenario("next turn", Start::Session, &["-c", "-p", "go on", "--session-dir", "."], b"", 6),
    scenario("migrate 1", Start::VersionOne, &["migrate", FILE], b"", 0),
    scenario("migrate 2", Start::VersionTwo, &["migrate", FILE], b"", 0),
    scenario("fork", Start::Session, &["fork", FILE, "-o", "f.jsonl"], b"", 0),
    scenario("fork of version 1", Start::VersionOne, &["fork", FILE, "-o", "f.jsonl"], b"", 0),
    scenario("clone", Start::Session, &["clone", FILE, "-o", "f.jsonl"], b"", 0),
    scenario("repair", Start::Damaged, &["repair", FILE], b"", 4),
    scenario("repair of a torn line", Start::Torn, &["repair", FILE], b"", 4),
    scenario("repair in a copy", Start::Damaged, &["repair", FILE, "--copy", "f.jsonl"], b"", 0),
    scenario("label", Start::Session, &["label", FILE, "leaf", "here"], b"", 1),
    scenario("name", Start::Session, &["name", FILE, "a name"], b"", 1),
    scenario("switch", Start::Session, &["switch", FILE, "root"], b"", 1),
];

/// A session file as it was.
pub(super) struct Before {
    bytes: Vec<u8>,
    ids: Vec<String>,
}

impl Scenario {
    pub(super) fn set_up(&self, room: &Path) -> Result<(), String> {
        let text = session_text(
            "00000001 user hello
             00000002<00000001 assistant hi
             00000003<00000002 user try A
             00000004<00000002 user try B",
        );
        let bytes = match self.start {
            Start::Nothing => return Ok(()),
            Start::Session => text,
            Start::Torn => text[..text.len() - 30].to_vec(),
            Start::NoFeed => text[..text.len() - 1].to_vec(),
            Start::Damaged => session_text(
                r#"00000001 user hello
                   ! {"type":"message","id":"00000002","parentId":"00000001","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"as
                   00000003<00000002 user go on"#,
            ),
            Start::VersionOne => old("", &["one", "two", "three"]),
            Start::VersionTwo => {
                String::from_utf8_lossy(&text).replace("\"version\":3", "\"version\":2").into_bytes()
            }
        };
        fs::write(room.join(FILE), bytes).map_err(|error| error.to_string())
    }

    pub(super) fn state(&self, room: &Path) -> Result<Before, String> {
        let path = room.join(FILE);
        if self.start == Start::Nothing {
            return Ok(Before { bytes: Vec::new(), ids: Vec::new() });
        }
        let bytes = fs::read(&path).map_err(|error| error.to_string())?;
        Ok(Before { bytes, ids: ids(&open(&path)?) })
    }

    /// Checks what a kill left behind.
    pub(super) fn check(
        &self,
        room: &Path,
        before: &Before,
        printed: &str,
        left: &Left,
    ) -> Result<(), String> {
        let mut sessions = Vec::new();
        for path in names(room)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_temporary = name.starts_with('.') && name.ends_with(".tmp");
            if name.ends_with(".jsonl") {
                sessions.push(path);
            } else if !is_temporary && !name.contains(".bak-v") {
                return Err(format!("an unexpected file {name}"));
            }
        }
        if before.bytes.is_empty() {
            sessions.iter().try_for_each(|path| self.check_session(path, before, printed, left))?;
            let is_acknowledged = acknowledged(printed).next().is_some();
            return if sessions.is_empty() && is_acknowledged {
                Err("acknowledged, but there is no file".into())
            } else {
                Ok(())
            };
        }
        self.check_session(&room.join(FILE), before, printed, left)?;
        let copies = sessions.iter().filter(|path| !path.ends_with(FILE));
        copies.into_iter().try_for_each(|path| is_whole(path, before))
    }

    fn check_session(&self, path: &Path, before: &Before, printed: &str, left: &Left) -> Result<(), String> {
        let bytes = fs::read(path).map_err(|error| error.to_string())?;
        if let Ok(mut left) = left.lock() {
            left.insert(bytes.clone());
        }
        let is_kept = bytes.starts_with(&before.bytes) || beside(path)?.contains(&before.bytes);
        if !is_kept {
            return Err("older bytes changed".into());
        }
        let session = open(path)?;
        let now = ids(&session);
        let lost = before.ids.iter().find(|id| !now.contains(id));
        let unkept = acknowledged(printed).find(|id| !now.iter().any(|other| other == id));
        if let Some(id) = lost.map(String::as_str).or(unkept) {
            return Err(format!("{id} is lost, with {now:?} left; printed {printed:?}"));
        }
        if now.len() > before.ids.len() + self.adds {
            return Err(format!("{} entries of {}", now.len() - before.ids.len(), self.adds));
        }
        goes_on(path, session.leaf_id().map(|id| id.to_string()).as_deref())
    }
}

/// A fork and a repaired copy appear whole or not at all.
fn is_whole(copy: &Path, before: &Before) -> Result<(), String> {
    let held = ids(&open(copy)?);
    let last = before.ids.last();
    match last.filter(|id| !held.contains(id)) {
        Some(id) => Err(format!("{} is there without {id}", copy.display())),
        None => Ok(()),
    }
}

/// The next append is kept, below the leaf.
fn goes_on(path: &Path, leaf: Option<&str>) -> Result<(), String> {
    let mut session =
        Options::new().sync(SyncPolicy::Os).open(path).map_err(|error| format!("cannot go on: {error}"))?;
    let id =
        session.append(Message::user("after the kill")).map_err(|error| format!("cannot append: {error}"))?;
    drop(session);
    let found = open(path)?;
    let tree = found.tree();
    let above =
        tree.node(id.as_str()).and_then(|node| tree.parent(node)).map(|node| tree.id(node).to_string());
    if found.leaf_id() == Some(id) && above.as_deref() == leaf {
        Ok(())
    } else {
        Err(format!("the next entry hangs below {above:?}"))
    }
}

fn open(path: &Path) -> Result<Session, String> {
    Session::open_read_only(path).map_err(|error| format!("cannot open {}: {error}", path.display()))
}

/// The ids of what can be read.
fn ids(session: &Session) -> Vec<String> {
    let entries = session.entries().flatten().filter(|entry| !entry.is_placeholder());
    entries.map(|entry| entry.id().to_string()).collect()
}

/// The ids that were printed, and so are promised.
fn acknowledged(printed: &str) -> impl Iterator<Item = &str> {
    printed.lines().filter(|line| line.len() == 8 && line.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn names(room: &Path) -> Result<Vec<PathBuf>, String> {
    let files = fs::read_dir(room).map_err(|error| error.to_string())?;
    Ok(files.flatten().map(|file| file.path()).collect())
}

/// The contents of the files beside a session.
fn beside(path: &Path) -> Result<Vec<Vec<u8>>, String> {
    let others = names(path.parent().unwrap_or(path))?.into_iter().filter(|other| other != path);
    Ok(others.filter_map(|other| fs::read(other).ok()).collect())
}

fn old(version: &str, texts: &[&str]) -> Vec<u8> {
    let time = "2025-01-01T00:00:00.000Z";
    let mut out =
        format!("{{\"type\":\"session\"{version},\"id\":\"old\",\"timestamp\":\"{time}\",\"cwd\":\"/\"}}\n");
    for text in texts {
        out.push_str(&format!(
            "{{\"type\":\"message\",\"timestamp\":\"{time}\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\nnot a line\n"
        ));
    }
    out.into_bytes()
}
