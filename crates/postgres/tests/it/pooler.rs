//! PgBouncer in transaction mode: each transaction may run on another connection to the server.

use std::collections::BTreeSet;
use std::thread;

use session_tree::journal::conformance::run;
use session_tree::{Message, Options, Session};
use session_tree_postgres::{Address, Error, PostgresJournal, delete, init, sessions};
use testkit::pooler::Pooler;

use crate::conformance::Database;
use crate::server;

/// Starts a pooler. Returns it, and the addresses of a new database through it: of a member of a tenant, and of a superuser.
fn pooled() -> (Pooler, Address, Address) {
    let direct = server().database();
    let name = direct.trim_start_matches("postgres:///").split('?').next().unwrap();
    let role = format!("{name}_member");
    // The tables are created without the pooler.
    for role in [Some(&*role), None] {
        init(&Address::parse(&direct).unwrap(), "team", role).unwrap();
    }
    let pooler = Pooler::start(server(), &[&role, "postgres"]);
    let address = |role: &str| Address::parse(&pooler.address(role, name)).unwrap();
    let (member, superuser) = (address(&role), address("postgres"));
    (pooler, member, superuser)
}

#[test]
fn a_session_behind_a_pooler_in_transaction_mode_is_a_journal() {
    let (_pooler, database, _) = pooled();
    assert_eq!(run(&mut Database(database)).unwrap(), 41);
}

#[test]
fn eight_writers_share_two_connections_to_the_server() {
    let (_pooler, database, _) = pooled();
    let address = database.with_session("shared");
    let open = || Options::new().open_journal(PostgresJournal::open(&address).unwrap()).unwrap();
    let journal = PostgresJournal::create(&address).unwrap();
    let mut first = Options::new().create_journal(journal, "/project").unwrap();
    first.append(Message::user("root")).unwrap();
    let texts = |session: &Session| -> BTreeSet<String> {
        let text = |node| session.entry_at(node).unwrap().to_message().unwrap().text().into_owned();
        session.tree().nodes().map(text).collect()
    };
    let image = "x".repeat(40_000);
    thread::scope(|scope| {
        for writer in 0..8 {
            let (mut session, image) = (open(), &image);
            scope.spawn(move || {
                for count in 0..40 {
                    let size = if count % 10 == 0 { image } else { "" };
                    session.append(Message::user(format!("{writer}-{count}{size}"))).unwrap();
                }
            });
        }
    });
    assert_eq!(texts(&open()).len(), 8 * 40 + 1);
    assert_eq!(sessions(&database).unwrap().len(), 1);
    delete(&address).unwrap();
    assert!(sessions(&database).unwrap().is_empty());
}

#[test]
fn a_superuser_behind_a_pooler_is_refused() {
    let (_pooler, _, superuser) = pooled();
    let refused = sessions(&superuser).unwrap_err();
    assert!(matches!(&refused, Error::Refused { reason, .. } if reason.contains("all tenants")), "{refused}");
}
