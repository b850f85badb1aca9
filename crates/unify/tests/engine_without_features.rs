//! The engine without features: sessions in memory, with the caller's clock and ids.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use session_tree::{Clock, EntryId, IdSource, Message, Options, Session, Timestamp};

struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        Timestamp::parse("2025-01-01T12:00:00Z").unwrap()
    }
}

struct Counter(u32);

impl IdSource for Counter {
    fn entry_id(&mut self) -> EntryId {
        self.0 += 1;
        EntryId::from(format!("{:08x}", self.0))
    }

    fn long_entry_id(&mut self) -> EntryId {
        self.0 += 1;
        EntryId::from(format!("{:032x}", self.0))
    }

    fn session_id(&mut self) -> String {
        "session".into()
    }
}

fn texts(session: &Session) -> Vec<String> {
    let context = session.context().unwrap();
    context.messages().map(|message| message.text().into_owned()).collect()
}

#[test]
fn a_session_in_memory_is_created_branched_written_and_read_again() {
    let mut session = Options::with(Noon, Counter(0)).in_memory("/project").unwrap();
    let first = session.append(Message::user("one")).unwrap();
    session.append(Message::user("two")).unwrap();
    session.branch(first.as_str()).unwrap();
    session.append(Message::user("three")).unwrap();
    assert_eq!(texts(&session), ["one", "three"]);
    assert_eq!(session.now(), Noon.now());

    let mut bytes = Vec::new();
    session.write_to(&mut bytes).unwrap();
    let read = Session::from_bytes(bytes.clone()).unwrap();
    assert_eq!(texts(&read), ["one", "three"]);
    assert_eq!(read.tree().len(), 3);
    assert_eq!(read.header().id(), "session");

    let mut again = Vec::new();
    read.write_to(&mut again).unwrap();
    assert_eq!(again, bytes);
}
