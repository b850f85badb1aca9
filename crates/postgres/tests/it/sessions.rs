//! Sessions, versions of the tables, and bad input.

use std::io::Write;
use std::thread;

use session_tree::{Message, Options, Session};
use session_tree_postgres::{Address, Error, PostgresJournal, VERSION, init, migrate, status};

use crate::{database, server};

fn open(address: &Address) -> Session {
    Options::new().open_journal(PostgresJournal::open(address).unwrap()).unwrap()
}

fn bytes(session: &Session) -> Vec<u8> {
    let mut bytes = Vec::new();
    session.write_to(&mut bytes).unwrap();
    bytes
}

#[test]
fn transcripts_keep_every_byte() {
    let address = database(server()).with_session("bytes");
    let mut session =
        Options::new().create_journal(PostgresJournal::create(&address).unwrap(), "/project").unwrap();
    session.append(Message::user("NUL \u{0}, U+2028 \u{2028}, a face \u{1f600}")).unwrap();
    let lone = r#"{"type":"message","id":"a\u0000","parentId":null,"message":{"role":"user","content":"\ud800"},"x":1,"x":2}"#;
    let mut journal = PostgresJournal::open(&address).unwrap();
    append_raw(&mut journal, &format!("{lone}\n"));
    let read = open(&address);
    assert!(bytes(&read).ends_with(format!("{lone}\n").as_bytes()));
    assert_eq!(bytes(&read), bytes(&Session::from_bytes(bytes(&read)).unwrap()));
}

fn append_raw(journal: &mut PostgresJournal, line: &str) {
    use session_tree::journal::{Journal, NewLine, NewLines};
    let at = journal.lock().unwrap().len;
    let new = NewLine { bytes: line.as_bytes(), id: Some("a\0".into()), parent: None };
    journal.append(&NewLines { at, bytes: line.as_bytes(), lines: &[new], publish: true }).unwrap();
    journal.unlock();
}

#[test]
fn an_entry_may_have_fifty_megabytes() {
    let address = database(server()).with_session("large");
    let mut session =
        Options::new().create_journal(PostgresJournal::create(&address).unwrap(), "/project").unwrap();
    let text = "0123456789".repeat(5 << 20);
    session.append(Message::user(&text)).unwrap();
    session.append(Message::user("after")).unwrap();
    let read = open(&address);
    assert_eq!(read.context().unwrap().messages().next().unwrap().text(), text);
}

#[test]
fn writers_of_one_session_lose_nothing() {
    let address = database(server()).with_session("shared");
    let mut session =
        Options::new().create_journal(PostgresJournal::create(&address).unwrap(), "/project").unwrap();
    session.append(Message::user("root")).unwrap();
    thread::scope(|scope| {
        for writer in 0..16 {
            let address = &address;
            scope.spawn(move || {
                let mut session = open(address);
                for count in 0..10 {
                    session.append(Message::user(format!("{writer}-{count}"))).unwrap();
                }
            });
        }
    });
    let read = open(&address);
    assert_eq!(read.tree().len(), 161);
    assert!(read.diagnostics().is_empty(), "{:?}", read.diagnostics());
}

#[test]
fn the_engine_works_inside_a_runtime() {
    let address = database(server()).with_session("runtime");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let journal = PostgresJournal::create(&address).unwrap();
        let mut session = Options::new().create_journal(journal, "/project").unwrap();
        session.append(Message::user("hello")).unwrap();
    });
    assert_eq!(open(&address).tree().len(), 1);
}

#[test]
fn a_session_is_created_once() {
    let address = database(server()).with_session("once");
    let create = || PostgresJournal::create(&address).unwrap();
    let (first, second) = (create(), create());
    let mut session = Options::new().create_journal(first, "/project").unwrap();
    session.append(Message::user("first")).unwrap();
    let failed = Options::new()
        .create_journal(second, "/project")
        .and_then(|mut session| session.append(Message::user("x")));
    assert!(failed.unwrap_err().to_string().contains("append"));
    assert!(matches!(PostgresJournal::create(&address), Err(Error::SessionExists { .. })));
    assert_eq!(open(&address).tree().len(), 1);
}

#[test]
fn bad_addresses_are_told_apart() {
    let server = server();
    let parse = |text: &str| Address::parse(text).unwrap().with_session("s");
    let open = |address: &Address| PostgresJournal::open(address).unwrap_err();
    let missing = parse(&server.address("postgres", "missing"));
    assert!(matches!(open(&missing), Error::NoDatabase { .. }), "{:?}", open(&missing));
    let nobody = parse(&server.address("nobody", "postgres"));
    assert!(matches!(open(&nobody), Error::Login { .. }), "{:?}", open(&nobody));
    let empty = parse(&server.database());
    assert!(matches!(open(&empty), Error::NoSchema { .. }), "{:?}", open(&empty));
    let address = database(server);
    assert!(matches!(open(&address.with_session("s")), Error::NoSession { .. }));
    let unreachable = parse("postgres:///x?host=/nowhere&connect_timeout=1");
    let error = open(&unreachable).to_string();
    assert!(error.starts_with("no connection to postgres://%2Fnowhere/x: "), "{error}");
}

#[test]
fn tables_of_other_versions_are_refused() {
    let text = server().database();
    let address = Address::parse(&text).unwrap();
    assert!(matches!(migrate(&address), Err(Error::NoSchema { .. })));
    assert_eq!(status(&address).unwrap().version, None);
    let made = init(&address, "team", None).unwrap();
    assert_eq!((made.version, made.tenant.as_deref()), (Some(VERSION), Some("team")));
    // Both may run any number of times.
    assert_eq!(init(&address, "team", None).unwrap(), made);
    assert_eq!(migrate(&address).unwrap(), made);
    let name = text.trim_start_matches("postgres:///").split('?').next().unwrap().to_owned();
    server().sql(&name, "INSERT INTO offshoot.schema_version VALUES (1000)").unwrap();
    for error in [
        migrate(&address).unwrap_err(),
        init(&address, "team", None).unwrap_err(),
        PostgresJournal::open(&address.with_session("s")).unwrap_err(),
    ] {
        assert!(matches!(error, Error::SchemaVersion { found: 1000, .. }), "{error}");
    }
}

#[test]
fn a_server_that_only_reads_says_so() {
    let text = server().database();
    let address = Address::parse(&text).unwrap();
    init(&address, "team", None).unwrap();
    let session = address.with_session("s");
    Options::new()
        .create_journal(PostgresJournal::create(&session).unwrap(), "/project")
        .unwrap()
        .append(Message::user("kept"))
        .unwrap();
    let name = text.trim_start_matches("postgres:///").split('?').next().unwrap().to_owned();
    server().sql(&name, &format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).unwrap();
    let mut read = open(&session);
    assert_eq!(read.tree().len(), 1);
    let mut report = Vec::new();
    let error = read.append(Message::user("lost")).unwrap_err();
    let mut source: Option<&dyn std::error::Error> = Some(&error);
    while let Some(error) = source {
        write!(report, "{error}: ").unwrap();
        source = error.source();
    }
    assert!(String::from_utf8(report).unwrap().contains("read-only"));
    assert_eq!(open(&session).tree().len(), 1);
}
