//! Bad networks, bad servers and killed clients: nothing acknowledged is lost, nothing is doubled, every error is clear.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use session_tree::{Message, Options, Session};
use session_tree_postgres::{Address, PostgresJournal, init, status};
use testkit::postgres::PostgresServer;
use testkit::proxy::Proxy;

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

/// Checks that a session has every acknowledged text, and none twice.
fn check(address: &Address, acknowledged: &[String]) {
    let session = open(address);
    assert!(session.diagnostics().is_empty(), "{:?}", session.diagnostics());
    let stored = texts(&session);
    let different: BTreeSet<&String> = stored.iter().collect();
    assert_eq!(different.len(), stored.len(), "an entry was doubled");
    let missing: Vec<&String> = acknowledged.iter().filter(|text| !different.contains(text)).collect();
    assert!(missing.is_empty(), "lost: {missing:?}");
    let mut bytes = Vec::new();
    session.write_to(&mut bytes).unwrap();
    assert_eq!(texts(&Session::from_bytes(bytes).unwrap()), stored);
}

fn name_of(address: &Address) -> String {
    address.without_session().to_string().rsplit('/').next().unwrap().to_owned()
}

#[test]
fn a_network_that_cuts_delays_and_truncates_loses_and_doubles_nothing() {
    let address = database(server());
    let name = name_of(&address);
    let proxy = Proxy::start(server().socket(), 7);
    let through = Address::parse(&proxy.address("postgres", &name)).unwrap().with_session("bad network");
    drop(create(&through));
    proxy.disturb(90);
    let workers = (0..3).map(|worker| {
        let through = through.clone();
        thread::spawn(move || {
            let mut acknowledged = Vec::new();
            let mut session = None;
            for count in 0..80 {
                let text = format!("{worker}-{count}");
                if session.is_none() {
                    let journal = PostgresJournal::open(&through);
                    session = journal.ok().and_then(|journal| Options::new().open_journal(journal).ok());
                }
                if session.as_mut().is_some_and(|session| session.append(Message::user(&text)).is_ok()) {
                    acknowledged.push(text);
                }
            }
            acknowledged
        })
    });
    let workers: Vec<_> = workers.collect();
    let acknowledged: Vec<String> = workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect();
    proxy.disturb(0);
    assert!(proxy.count() > 50, "only {} disturbances", proxy.count());
    assert!(acknowledged.len() > 150, "only {} appends worked", acknowledged.len());
    check(&address.with_session("bad network"), &acknowledged);
}

/// The variable that makes [`a_client_that_appends`] a client: its session, and the text before its numbers.
const CLIENT: &str = "POSTGRES_TEST_CLIENT";

/// Appends entries for as long as it lives, and prints each text when it is acknowledged. Runs in separate processes.
#[test]
fn a_client_that_appends() {
    let Ok(task) = std::env::var(CLIENT) else { return };
    let (address, name) = task.split_once(' ').unwrap();
    let mut session = open(&Address::parse(address).unwrap());
    let mut out = std::io::stderr();
    for count in 0.. {
        let text = format!("{name}-{count}");
        if session.append(Message::user(&text)).is_ok() {
            writeln!(out, "{text}").unwrap();
        }
    }
}

fn client(address: &str, name: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "faults::a_client_that_appends", "--nocapture", "--test-threads=1"]);
    command.env(CLIENT, format!("{address} {name}")).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn killed_clients_and_servers_lose_and_double_nothing() {
    let mut server = PostgresServer::start();
    let text = server.database();
    let address = Address::parse(&text).unwrap();
    init(&address, "team", None).unwrap();
    let address = address.with_session("kills");
    drop(create(&address));
    let session = text.replacen('?', "/kills?", 1);
    let mut acknowledged = Vec::new();
    for round in 0..6_u64 {
        let clients: Vec<Child> =
            (0..2).map(|number| client(&session, &format!("{round}.{number}"))).collect();
        thread::sleep(Duration::from_millis(900 + 137 * round));
        if round % 3 == 2 {
            server.kill();
            server.resume();
            thread::sleep(Duration::from_millis(300));
        }
        for mut client in clients {
            client.kill().unwrap();
            let lines = BufReader::new(client.stderr.take().unwrap()).lines();
            acknowledged.extend(lines.map_while(Result::ok).filter(|line| line.contains('-')));
            client.wait().unwrap();
        }
    }
    assert!(acknowledged.len() > 100, "only {} appends", acknowledged.len());
    check(&address, &acknowledged);
}

#[test]
fn connections_are_encrypted_and_verified_as_the_address_asks() {
    let server = PostgresServer::start_with_tls();
    let authority = server.authority();
    let try_with = |host: &str, parameters: &str| {
        let text = format!("{}?{parameters}", server.tls_address(host, "postgres"));
        status(&Address::parse(&text).unwrap())
    };
    let root = format!("sslrootcert={}", authority.display());
    for good in ["sslmode=disable", "sslmode=prefer", "sslmode=require"] {
        try_with("localhost", good).unwrap();
        try_with("127.0.0.1", good).unwrap();
    }
    try_with("localhost", &format!("sslmode=verify-full&{root}")).unwrap();
    try_with("127.0.0.1", &format!("sslmode=verify-ca&{root}")).unwrap();
    // The certificate names localhost only, and no authority of the system has signed it.
    for (host, parameters) in [
        ("127.0.0.1", format!("sslmode=verify-full&{root}")),
        ("localhost", "sslmode=verify-full".to_owned()),
        ("localhost", "sslmode=verify-ca".to_owned()),
        ("localhost", "sslmode=verify-full&sslrootcert=/nowhere".to_owned()),
    ] {
        let error = try_with(host, &parameters).unwrap_err().to_string();
        assert!(error.starts_with("no connection to postgres://"), "{parameters}: {error}");
    }
    // The server sees an encrypted connection.
    let encrypted =
        Address::parse(&format!("{}?sslmode=require", server.tls_address("localhost", "postgres")));
    init(&encrypted.unwrap(), "team", None).unwrap();
    let name = server.database();
    let name = name.trim_start_matches("postgres:///").split('?').next().unwrap();
    let address = format!("{}?sslmode=verify-full&{root}", server.tls_address("localhost", name));
    let address = Address::parse(&address).unwrap();
    init(&address, "team", None).unwrap();
    let mut session = create(&address.with_session("secret"));
    let count = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
         WHERE ssl AND application_name = 'offshoot'";
    assert_ne!(server.sql("postgres", count).unwrap(), "0");
    session.append(Message::user("hello")).unwrap();
}

#[test]
fn a_statement_timeout_is_reported_and_the_session_continues() {
    let address = database(server());
    let session = address.with_session("slow");
    drop(create(&session));
    server()
        .sql(
            &name_of(&address),
            &format!("ALTER DATABASE {} SET statement_timeout = '200ms'", name_of(&address)),
        )
        .unwrap();
    let mut waiting = open(&session);
    let mut holder = PostgresJournal::open(&session).unwrap();
    session_tree::journal::Journal::lock(&mut holder).unwrap();
    let error = waiting.append(Message::user("late")).unwrap_err();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(error) = source {
        text.push_str(&error.to_string());
        source = error.source();
    }
    assert!(text.contains("statement timeout"), "{text}");
    session_tree::journal::Journal::unlock(&mut holder);
    waiting.append(Message::user("now")).unwrap();
    assert_eq!(texts(&open(&session)), ["root", "now"]);
}

#[test]
fn a_full_disk_is_reported_and_nothing_is_lost() {
    let address = database(server());
    let session = address.with_session("full");
    let mut writer = create(&session);
    // The server reports a full disk with this code wherever it needs a new page.
    let full = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING \
         ERRCODE = '53100', MESSAGE = 'could not extend file: No space left on device'; END $$; \
         CREATE TRIGGER full_disk BEFORE INSERT ON offshoot.line EXECUTE FUNCTION full_disk()";
    server().sql(&name_of(&address), full).unwrap();
    let error = writer.append(Message::user("too much")).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("No space left on device"), "{error}: {source}");
    assert_eq!(texts(&open(&session)), ["root"]);
    server().sql(&name_of(&address), "DROP TRIGGER full_disk ON offshoot.line").unwrap();
    writer.append(Message::user("enough")).unwrap();
    assert_eq!(texts(&open(&session)), ["root", "enough"]);
    assert_eq!(texts(&writer), ["root", "enough"]);
}
