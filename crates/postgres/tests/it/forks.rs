//! Forks that share lines, large values, lists, deleting.

use session_tree::{Extract, Message, Options, Session};
use session_tree_postgres::{Address, Error, PostgresJournal, delete, sessions};

use crate::{database, server};

fn create(address: &Address) -> Session {
    Options::new().create_journal(PostgresJournal::create(address).unwrap(), "/project").unwrap()
}

fn open(address: &Address) -> Session {
    Options::new().open_journal(PostgresJournal::open(address).unwrap()).unwrap()
}

fn fork(source: &Session, address: &Address) -> Session {
    let plan = source.plan_extract(Extract::Path { at: source.leaf().unwrap() }).unwrap();
    source.extract_to_journal(&plan, PostgresJournal::create(address).unwrap(), Options::new()).unwrap()
}

fn bytes(session: &Session) -> Vec<u8> {
    let mut bytes = Vec::new();
    session.write_to(&mut bytes).unwrap();
    bytes
}

fn texts(session: &Session) -> Vec<String> {
    session.context().unwrap().messages().map(|message| message.text().into_owned()).collect()
}

/// Counts the rows of a table.
fn count(address: &Address, table: &str) -> usize {
    let name = address.without_session().to_string();
    let statement = format!("SELECT count(*) FROM offshoot.{table}");
    server().sql(name.rsplit('/').next().unwrap(), &statement).unwrap().parse().unwrap()
}

#[test]
fn a_fork_copies_no_line_and_lives_longer_than_its_source() {
    let address = database(server());
    let [one, two, three] = ["one", "two", "three"].map(|name| address.with_session(name));
    let mut source = create(&one);
    for number in 0..100 {
        source.append(Message::user(format!("text {number}"))).unwrap();
    }
    // A branch that the forks do not have.
    let place = source.leaf_id().unwrap();
    source.append(Message::user("left out")).unwrap();
    source.branch(place.as_str()).unwrap();
    source.append(Message::user("kept")).unwrap();
    let lines = count(&address, "line");
    let mut first = fork(&source, &two);
    assert_eq!(count(&address, "line"), lines + 1, "only the header is new");
    first.append(Message::user("of the fork")).unwrap();
    let second = fork(&first, &three);
    assert_eq!(count(&address, "line"), lines + 3);
    let expected: Vec<String> = (0..100).map(|number| format!("text {number}")).collect();
    let expected = [expected, vec!["kept".to_owned(), "of the fork".to_owned()]].concat();
    assert_eq!(texts(&second), expected);
    let kept = bytes(&second);
    assert_eq!(texts(&Session::from_bytes(kept.clone()).unwrap()), expected);
    drop((source, first, second));
    delete(&one).unwrap();
    assert!(matches!(PostgresJournal::open(&one), Err(Error::NoSession { .. })));
    assert_eq!(bytes(&open(&three)), kept);
    delete(&two).unwrap();
    assert_eq!(bytes(&open(&three)), kept);
    delete(&three).unwrap();
    assert_eq!((count(&address, "line"), count(&address, "part")), (0, 0));
}

#[test]
fn images_are_stored_once() {
    let address = database(server());
    let [one, two] = ["one", "two"].map(|name| address.with_session(name));
    let image = "iVBORw0KGgo".repeat(10_000);
    let message = Message::from_serialize(&serde_json::json!({
        "role": "user",
        "content": [{"type": "text", "text": "look"}, {"type": "image", "data": image, "mimeType": "image/png"}],
        "timestamp": 1,
    }))
    .unwrap();
    let mut first = create(&one);
    first.append(message.clone()).unwrap();
    first.append(message.clone()).unwrap();
    let mut second = create(&two);
    second.append(message).unwrap();
    assert_eq!(count(&address, "blob"), 1);
    let entry = |session: &Session| session.entries().next().unwrap().unwrap().raw().to_vec();
    assert_eq!(entry(&open(&one)).len(), entry(&first).len());
    assert_eq!(entry(&open(&one)), entry(&first));
    assert_eq!(bytes(&open(&two)), bytes(&second));
    delete(&one).unwrap();
    assert_eq!(bytes(&open(&two)), bytes(&second));
    delete(&two).unwrap();
    assert_eq!(count(&address, "blob"), 0);
}

#[test]
fn sessions_are_listed_by_their_last_append() {
    let address = database(server());
    let [one, two] = ["one", "two"].map(|name| address.with_session(name));
    let mut first = create(&one);
    first.append(Message::user("text")).unwrap();
    create(&two).append(Message::user("text")).unwrap();
    first.append(Message::user("text")).unwrap();
    let listed = sessions(&address).unwrap();
    let names: Vec<&str> = listed.iter().map(|session| session.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(listed[0].summary.cwd, "/project");
    assert_eq!(listed[0].summary.size, bytes(&first).len() as u64);
    assert!(listed[0].changed > listed[0].created);
}
