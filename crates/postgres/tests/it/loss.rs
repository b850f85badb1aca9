//! Lost connections and killed servers: nothing acknowledged is lost, nothing is doubled.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use session_tree::{Message, Options, Session};
use session_tree_postgres::{Address, PostgresJournal};
use testkit::postgres::PostgresServer;

use crate::{database, server};

fn open(address: &Address) -> Session {
    Options::new().open_journal(PostgresJournal::open(address).unwrap()).unwrap()
}

fn create(address: &Address) -> Session {
    let journal = PostgresJournal::create(address).unwrap();
    let mut session = Options::new().create_journal(journal, "/project").unwrap();
    session.append(Message::user("root")).unwrap();
    session
}

fn texts(session: &Session) -> Vec<String> {
    let text = |entry: session_tree::Entry| entry.to_message().unwrap().text().into_owned();
    session.tree().nodes().map(|node| text(session.entry_at(node).unwrap())).collect()
}

#[test]
fn connections_that_end_at_any_time_lose_and_double_nothing() {
    let address = database(server()).with_session("cut");
    let mut session = create(&address);
    let is_over = AtomicBool::new(false);
    let mut acknowledged = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE datname = current_database() AND application_name = 'offshoot'";
            while !is_over.load(Ordering::Relaxed) {
                let name = address.without_session().to_string();
                server().sql(name.rsplit('/').next().unwrap(), end).unwrap();
                thread::sleep(Duration::from_millis(7));
            }
        });
        for count in 0..150 {
            let text = format!("text {count}");
            if session.append(Message::user(&text)).is_ok() {
                acknowledged.push(text);
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let stored = texts(&open(&address));
    let different: BTreeSet<&String> = stored.iter().collect();
    assert_eq!(different.len(), stored.len(), "an entry was doubled");
    let missing: Vec<_> = acknowledged.iter().filter(|text| !different.contains(text)).collect();
    assert!(missing.is_empty(), "lost: {missing:?}");
    assert!(acknowledged.len() > 100, "only {} appends worked", acknowledged.len());
}

#[test]
fn a_killed_server_keeps_what_it_acknowledged() {
    let mut server = PostgresServer::start();
    let address = database(&server).with_session("killed");
    let mut session = create(&address);
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        for count in 0..10 {
            let text = format!("{round}-{count}");
            session.append(Message::user(&text)).unwrap();
            acknowledged.push(text);
        }
        server.kill();
        server.resume();
    }
    let mut expected = vec!["root".to_owned()];
    expected.extend(acknowledged);
    assert_eq!(texts(&open(&address)), expected);
}
