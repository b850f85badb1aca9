//! Sessions that continue in a local file while the server is away.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use session_tree::{Message, Options, Session};
use session_tree_postgres::{PostgresJournal, PostgresStore, sessions};
use testkit::postgres::PostgresServer;

use crate::database;

fn texts(session: &Session) -> Vec<String> {
    session.context().unwrap().messages().map(|message| message.text().into_owned()).collect()
}

/// Waits until a session has no notice for its user.
fn wait(session: &mut Session) {
    let start = Instant::now();
    while session.notice().is_some() {
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", session.notice());
        thread::sleep(Duration::from_millis(50));
    }
}

fn spooled(directory: &Path) -> usize {
    fs::read_dir(directory).map_or(0, Iterator::count)
}

#[test]
fn a_session_continues_while_the_server_is_away_and_catches_up() {
    let (mut server, spool) = (PostgresServer::start(), tempfile::tempdir().unwrap());
    let address = database(&server);
    let store = Arc::new(PostgresStore::default());
    store.set_spool(spool.path().into());
    store.continue_offline();
    let root = store.add(&address);
    let options = || Options::new().store(store.clone());
    let mut session = options().create_in(&root, "/project").unwrap();
    session.append(Message::user("one")).unwrap();
    let name = address.with_session(session.header().id());

    // Lines keep their places if no other client appends.
    server.kill();
    session.append(Message::user("two")).unwrap();
    assert!(session.notice().unwrap().contains("local file"));
    session.append(Message::user("three")).unwrap();
    assert_eq!(texts(&session), ["one", "two", "three"]);
    assert_eq!(spooled(spool.path()), 1);
    server.resume();
    wait(&mut session);
    assert_eq!(spooled(spool.path()), 0);
    session.append(Message::user("four")).unwrap();
    let stored = || Options::new().open_journal(PostgresJournal::open(&name).unwrap()).unwrap();
    assert_eq!(texts(&stored()), ["one", "two", "three", "four"]);

    // Another client is faster: its entry becomes another branch.
    let mut other = stored();
    server.kill();
    session.append(Message::user("five")).unwrap();
    server.resume();
    other.append(Message::user("of another client")).unwrap();
    wait(&mut session);
    session.append(Message::user("six")).unwrap();
    assert_eq!(texts(&session), ["one", "two", "three", "four", "five", "six"]);
    let all = stored();
    assert_eq!((all.tree().len(), all.diagnostics().len()), (7, 0));
    assert_eq!(texts(&all), ["one", "two", "three", "four", "five", "six"]);

    // A program that dies leaves its lines in the file; the next program that uses the database copies them there.
    server.kill();
    session.append(Message::user("seven")).unwrap();
    session.append(Message::user("eight")).unwrap();
    // What a killed process leaves: the file without its lock, and half a line.
    let left = fs::read_dir(spool.path()).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&left).unwrap();
    drop(session);
    fs::write(&left, [&bytes[..], br#"{"type":"message","id":"torn"#].concat()).unwrap();
    server.resume();
    assert_eq!(sessions(&address).unwrap()[0].summary.message_count, 7);
    let recovered = options().open(root.join(name.session().unwrap())).unwrap();
    let expected = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
    assert_eq!(texts(&recovered), expected);
    assert_eq!(spooled(spool.path()), 0);
    // A file that was pushed but not deleted yet changes nothing.
    drop(recovered);
    fs::write(&left, &bytes).unwrap();
    let again = options().open(root.join(name.session().unwrap())).unwrap();
    assert_eq!((again.tree().len(), texts(&again).len()), (9, 8));
}

#[test]
fn a_new_session_begins_while_the_server_is_away() {
    let (mut server, spool) = (PostgresServer::start(), tempfile::tempdir().unwrap());
    let address = database(&server);
    let store = Arc::new(PostgresStore::default());
    store.set_spool(spool.path().into());
    store.continue_offline();
    let options = || Options::new().store(store.clone());
    let mut session = options().create_in(store.add(&address), "/project").unwrap();
    let name = address.with_session(session.header().id());
    server.kill();
    session.append(Message::user("one")).unwrap();
    session.append(Message::user("two")).unwrap();
    assert_eq!(texts(&session), ["one", "two"]);
    server.resume();
    wait(&mut session);
    session.append(Message::user("three")).unwrap();
    let stored = Options::new().open_journal(PostgresJournal::open(&name).unwrap()).unwrap();
    assert_eq!(texts(&stored), ["one", "two", "three"]);
    assert_eq!(stored.tree().len(), 3);
}
