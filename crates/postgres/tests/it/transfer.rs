//! Copies between files and the database.

use std::path::Path;
use std::sync::Arc;

use session_tree::fs::{Access, RealFs};
use session_tree::journal::FileJournal;
use session_tree::{Message, Options, Session};
use session_tree_postgres::{Address, Copied, PostgresJournal, copy_missing};

use crate::{database, server};

fn file(path: &Path) -> FileJournal {
    FileJournal::open(Arc::new(RealFs), path, Access::Append).unwrap()
}

fn push(path: &Path, address: &Address) -> Copied {
    let mut target =
        PostgresJournal::open(address).unwrap_or_else(|_| PostgresJournal::create(address).unwrap());
    copy_missing(&file(path), &mut target).unwrap()
}

fn pull(address: &Address, path: &Path) -> Copied {
    copy_missing(&PostgresJournal::open(address).unwrap(), &mut file(path)).unwrap()
}

fn stored(address: &Address) -> Session {
    Options::new().open_journal(PostgresJournal::open(address).unwrap()).unwrap()
}

fn bytes(session: &Session) -> Vec<u8> {
    let mut bytes = Vec::new();
    session.write_to(&mut bytes).unwrap();
    bytes
}

fn texts(session: &Session) -> Vec<String> {
    let text = |entry: session_tree::Entry| entry.to_message().unwrap().text().into_owned();
    let mut texts: Vec<String> = session.entries().map(|entry| text(entry.unwrap())).collect();
    texts.sort();
    texts
}

#[test]
fn a_session_goes_to_the_database_and_back_without_duplicates() {
    let address = database(server()).with_session("travelling");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("session.jsonl");
    let mut session = Options::new().create(&path, "/project").unwrap();
    session.append(Message::user("one")).unwrap();
    session.append(Message::user("two")).unwrap();
    session.save().unwrap();
    assert_eq!(push(&path, &address), Copied { lines: 3, is_identical: true });
    assert_eq!(push(&path, &address), Copied { lines: 0, is_identical: true });
    assert_eq!(bytes(&stored(&address)), std::fs::read(&path).unwrap());
    // It goes on in the database, and comes back.
    stored(&address).append(Message::user("three")).unwrap();
    assert_eq!(pull(&address, &path), Copied { lines: 1, is_identical: true });
    assert_eq!(bytes(&stored(&address)), std::fs::read(&path).unwrap());
    // It goes on in both places: each gets the entries of the other once.
    stored(&address).append(Message::user("there")).unwrap();
    session.append(Message::user("here")).unwrap();
    assert_eq!(push(&path, &address), Copied { lines: 1, is_identical: false });
    assert_eq!(pull(&address, &path), Copied { lines: 1, is_identical: false });
    assert_eq!((push(&path, &address).lines, pull(&address, &path).lines), (0, 0));
    let expected = ["here", "one", "there", "three", "two"];
    assert_eq!(texts(&stored(&address)), expected);
    assert_eq!(texts(&Session::open(&path).unwrap()), expected);
}

#[test]
fn two_different_sessions_are_not_mixed() {
    let address = database(server()).with_session("first");
    let directory = tempfile::tempdir().unwrap();
    let [one, two] = ["one.jsonl", "two.jsonl"].map(|name| directory.path().join(name));
    for path in [&one, &two] {
        let mut session = Options::new().create(path, "/project").unwrap();
        session.append(Message::user("text")).unwrap();
        session.save().unwrap();
    }
    push(&one, &address);
    let error = copy_missing(&file(&two), &mut PostgresJournal::open(&address).unwrap()).unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("different sessions"), "{error}");
    std::fs::write(&two, "{\"type\":\"session\"").unwrap();
    assert!(copy_missing(&file(&two), &mut PostgresJournal::open(&address).unwrap()).is_err());
}
