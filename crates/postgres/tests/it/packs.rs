//! Packs: the heads of several hundred lines in one row, from which a session is opened.

use std::thread;

use session_tree::journal::Journal;
use session_tree::{Draft, Extract, Message, Options, Session};
use session_tree_postgres::{Address, PostgresJournal, copy_missing, delete};

use crate::{database, server};

fn create(address: &Address) -> Session {
    let journal = PostgresJournal::create(address).unwrap();
    let mut session = Options::new().create_journal(journal, "/project").unwrap();
    session.append(Message::user("root")).unwrap();
    session
}

fn open(address: &Address) -> Session {
    Options::new().open_journal(PostgresJournal::open(address).unwrap()).unwrap()
}

fn sql(address: &Address, statement: &str) -> String {
    let name = address.without_session().to_string();
    server().sql(name.rsplit('/').next().unwrap(), statement).unwrap()
}

/// The id, the parent, the type and the place in the file of every entry.
fn outline(session: &Session) -> Vec<(String, Option<String>, String, u64)> {
    let entry = |node| {
        let parent = session.tree().parent(node).map(|parent| session.tree().id(parent).to_string());
        let entry = session.entry_at(node).unwrap();
        (entry.id().to_string(), parent, entry.type_name().to_string(), session.line_len(node))
    };
    session.tree().nodes().map(entry).collect()
}

/// Checks that a session that was opened from packs is the one that its bytes give.
fn check(address: &Address) -> Vec<u8> {
    let opened = open(address);
    let mut bytes = Vec::new();
    opened.write_to(&mut bytes).unwrap();
    assert_eq!(outline(&opened), outline(&Session::from_bytes(bytes.clone()).unwrap()));
    assert!(opened.diagnostics().is_empty(), "{:?}", opened.diagnostics());
    bytes
}

fn prompts(count: usize) -> Vec<Draft> {
    (0..count).map(|number| Message::user(format!("text {number}")).try_into().unwrap()).collect()
}

#[test]
fn a_session_is_opened_from_packs_and_the_lines_behind_them() {
    let address = database(server());
    let [one, two, copy] = ["one", "two", "copy"].map(|name| address.with_session(name));
    let mut session = create(&one);
    for _ in 0..3 {
        session.append_batch(&prompts(200)).unwrap();
        check(&one);
    }
    assert_eq!(sql(&one, "SELECT count(*) FROM offshoot.pack"), "1");
    for text in ["a", "b", "c"] {
        session.append(Message::user(text)).unwrap();
    }
    let bytes = check(&one);
    // A fork reads the part of a pack that it shares, and continues with its own lines.
    let at = session.tree().nodes().nth(150).unwrap();
    let plan = session.plan_extract(Extract::Path { at }).unwrap();
    let journal = PostgresJournal::create(&two).unwrap();
    let mut fork = session.extract_to_journal(&plan, journal, Options::new()).unwrap();
    fork.append_batch(&prompts(300)).unwrap();
    fork.append(Message::user("last")).unwrap();
    let forked = check(&two);
    // A copy is packed at once.
    let source = PostgresJournal::open(&one).unwrap();
    copy_missing(&source, &mut PostgresJournal::create(&copy).unwrap()).unwrap();
    assert_eq!(check(&copy), bytes);
    let loose = "SELECT count(*) FROM offshoot.line l JOIN offshoot.session s USING (log) WHERE s.name = 'copy' \
         AND NOT EXISTS (SELECT FROM offshoot.pack p WHERE p.log = l.log AND p.stop > l.position)";
    assert_eq!(sql(&copy, loose), "0");
    delete(&one).unwrap();
    assert_eq!(check(&two), forked);
    delete(&two).unwrap();
    delete(&copy).unwrap();
    assert_eq!(sql(&one, "SELECT count(*) FROM offshoot.pack"), "0");
}

#[test]
fn packs_of_many_writers_have_every_line_once() {
    let address = database(server()).with_session("busy");
    drop(create(&address));
    thread::scope(|scope| {
        for _ in 0..4 {
            let mut session = open(&address);
            scope.spawn(move || {
                for _ in 0..30 {
                    session.append_batch(&prompts(25)).unwrap();
                }
            });
        }
    });
    check(&address);
    let packs = sql(&address, "SELECT count(*) > 1 FROM offshoot.pack");
    let overlaps = "SELECT count(*) FROM offshoot.pack a JOIN offshoot.pack b ON a.position < b.position AND a.stop > b.position";
    assert_eq!((packs.as_str(), sql(&address, overlaps).as_str()), ("t", "0"));
}

#[test]
fn an_index_begins_at_any_line() {
    let address = database(server()).with_session("index");
    let mut session = create(&address);
    session.append_batch(&prompts(400)).unwrap();
    session.append(Message::user("behind the pack")).unwrap();
    let journal = PostgresJournal::open(&address).unwrap();
    let positions = |since: u64| {
        let mut found = Vec::new();
        journal
            .index(since, &mut |line| {
                found.push(line.position);
                Ok(())
            })
            .unwrap();
        found
    };
    let all = positions(0);
    assert_eq!(all.len(), 403);
    for number in [0, 1, 200, 401, 402] {
        assert_eq!(positions(all[number]), all[number..]);
    }
}
