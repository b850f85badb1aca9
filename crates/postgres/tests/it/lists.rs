//! Lists: the summary that the row of a session holds, and stores of the engine.

use std::sync::Arc;

use session_tree::{Catalog, Destination, Extract, Message, NewSession, Options, Session, SessionSummary};
use session_tree_postgres::{Address, PostgresJournal, PostgresStore, sessions};

use crate::{database, server};

/// Returns the row of a session in the list of its database, and the row that its bytes give.
fn rows(address: &Address, session: &Session) -> (SessionSummary, SessionSummary) {
    let name = address.session().unwrap();
    let listed = sessions(&address.without_session()).unwrap();
    let listed = listed.into_iter().find(|session| session.name == name).unwrap().summary;
    let mut bytes = Vec::new();
    session.write_to(&mut bytes).unwrap();
    let mut made = SessionSummary::of_bytes(&bytes).unwrap();
    made.path = listed.path.clone();
    (listed, made)
}

/// Changes a session; the text is the id of its first entry.
type Step = fn(&mut Session, &str);

/// Returns what the row of a session holds.
fn stored(address: &Address, column: &str) -> String {
    let (database, name) = (address.without_session().to_string(), address.session().unwrap());
    let statement = format!("SELECT {column} FROM offshoot.session WHERE name = '{name}'");
    server().sql(database.rsplit('/').next().unwrap(), &statement).unwrap()
}

#[test]
fn the_row_of_a_session_holds_what_a_list_shows() {
    let address = database(server()).with_session("one");
    let journal = PostgresJournal::create(&address).unwrap();
    let mut session = Options::new().create_journal(journal, "/project").unwrap();
    let first = session.append(Message::user("first \u{0} prompt")).unwrap();
    let steps: [(&str, Step); 9] = [
        ("an answer", |session, _| drop(session.append(Message::assistant().text("a").build()).unwrap())),
        ("a label", |session, first| drop(session.set_label(first, "start").unwrap())),
        ("a prompt", |session, _| drop(session.append(Message::user("b")).unwrap())),
        ("a name", |session, _| drop(session.set_name("A name").unwrap())),
        ("a branch", |session, first| drop(session.append_under(first, Message::user("c")).unwrap())),
        ("a continued branch", |session, _| drop(session.append(Message::user("d")).unwrap())),
        ("a root", |session, _| {
            session.reset_leaf();
            session.append(Message::user("e")).unwrap();
        }),
        ("a label at an old place", |session, first| {
            session.branch(first).unwrap();
            session.set_label(first, "again").unwrap();
            session.append(Message::user("f")).unwrap();
        }),
        ("no name", |session, _| drop(session.append_session_info("").unwrap())),
    ];
    for (step, change) in steps {
        change(&mut session, first.as_str());
        let (listed, made) = rows(&address, &session);
        assert_eq!(listed, made, "{step}");
        assert_eq!(stored(&address, "is_counted"), "t", "{step}: counted once");
    }
    // What continues a branch needs no second look.
    session.append(Message::user("g")).unwrap();
    session.append(Message::assistant().text("h").build()).unwrap();
    assert_eq!(stored(&address, "is_counted AND summary IS NOT NULL"), "t");
    let (listed, made) = rows(&address, &session);
    assert_eq!(listed, made);
    assert_eq!((listed.message_count, listed.tip_count), (9, 4));
}

#[test]
fn sessions_of_a_database_have_a_catalog() {
    let (database, store) = (database(server()), Arc::new(PostgresStore::default()));
    let root = store.add(&database);
    let options = || Options::new().store(store.clone());
    let new = |cwd: &str, id: &str| NewSession { id: Some(id.to_owned()), ..cwd.into() };
    let mut one = options().create_in(&root, new("/project", "one-1")).unwrap();
    one.append(Message::user("hello there")).unwrap();
    one.append(Message::assistant().text("general answer").build()).unwrap();
    let mut two = options().create_in(&root, new("/other", "two-2")).unwrap();
    two.append(Message::user("other")).unwrap();
    two.set_name("Named").unwrap();

    let catalog = Catalog::of_store(store.clone(), &root);
    let ids = |rows: Vec<SessionSummary>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
    assert_eq!(ids(catalog.list("/project").rows()), ["one-1"]);
    assert_eq!(catalog.list_all().rows().len(), 2);
    assert_eq!(catalog.most_recent("/other").unwrap().path, root.join("two-2"));
    assert_eq!(catalog.text(one.file().unwrap()).unwrap(), "hello there general answer");
    for wanted in ["two", "two-2", "Named"] {
        assert_eq!(catalog.find(wanted, Some("/project")).unwrap(), root.join("two-2"), "{wanted}");
    }
    assert!(catalog.find("three", None).is_err());

    // A fork goes beside its source, and shares its lines.
    let plan = one.plan_extract(Extract::Path { at: one.leaf().unwrap() }).unwrap();
    let fork = one.extract(&plan, Destination::Directory(root.clone()), options()).unwrap();
    assert_eq!(fork.header().parent_session().as_deref(), one.file().unwrap().to_str());
    assert_eq!(fork.file().unwrap().parent(), Some(root.as_path()));
    let forked = database.with_session(fork.header().id());
    let (listed, made) = rows(&forked, &fork);
    assert_eq!(listed, made);
    let reopened = options().open(fork.file().unwrap()).unwrap();
    assert_eq!(reopened.leaf_id(), one.leaf_id());
    assert!(matches!(options().create(fork.file().unwrap(), "/"), Err(session_tree::Error::Exists { .. })));
}

#[test]
fn a_context_reads_the_path_only() {
    let address = database(server()).with_session("wide");
    let mut session =
        Options::new().create_journal(PostgresJournal::create(&address).unwrap(), "/project").unwrap();
    let root = session.append(Message::user("root")).unwrap();
    for branch in 0..20 {
        session.branch(root.as_str()).unwrap();
        for entry in 0..20 {
            session.append(Message::user(format!("{branch} {entry} {}", "x".repeat(2000)))).unwrap();
        }
    }
    let mut bytes = Vec::new();
    session.write_to(&mut bytes).unwrap();
    let journal = Arc::new(PostgresJournal::open(&address).unwrap());
    let before = journal.bytes_read();
    let path = session_tree::journal::Journal::paths(&*journal, &[session.leaf_id().unwrap()]).unwrap();
    let read = journal.bytes_read() - before;
    assert_eq!(read, path.len() as u64);
    assert!(read < bytes.len() as u64 / 15, "{read} of {} bytes", bytes.len());
    let alone = Options::new().open_journal_path(PostgresJournal::open(&address).unwrap()).unwrap();
    let texts = |session: &Session| -> Vec<String> {
        session.context().unwrap().messages().map(|message| message.text().into_owned()).collect()
    };
    assert_eq!(texts(&alone), texts(&session));
    assert_eq!(alone.tree().len(), 21);
}
