//! Tests of sessions in a journal.

use super::{Journal, JournalTest, Outcome, all_bytes, append, ensure, options};
use crate::{Extract, Message, ReadOnlyReason, Session};

pub(super) const TESTS: &[JournalTest] = &[
    ("a session is created, branched and read again", round_trip),
    ("a session is copied into the journal", copying),
    ("an old version is migrated, or read-only", old_version),
    ("a read-only session appends nothing", reading),
];

fn texts(session: &Session) -> Outcome<Vec<String>> {
    Ok(session.context()?.messages().map(|message| message.text().into_owned()).collect())
}

fn round_trip(journal: Box<dyn Journal>) -> Outcome {
    let mut session = options().start(journal, "/project".into())?;
    let first = session.append(Message::user("one"))?;
    session.append(Message::user("two"))?;
    session.branch(first.as_str())?;
    session.append(Message::user("three"))?;
    session.append_label_change(first.as_str(), Some("start"))?;
    session.sync()?;
    ensure!(texts(&session)? == ["one", "three"], "the context is {:?}", texts(&session)?);
    let mut bytes = Vec::new();
    session.write_to(&mut bytes)?;
    let read = Session::from_bytes(bytes)?;
    ensure!(read.tree().len() == 4 && read.diagnostics().is_empty(), "{:?}", read.diagnostics());
    ensure!(texts(&read)? == ["one", "three"], "the written session has the context {:?}", texts(&read)?);
    ensure!(read.leaf_id() == session.leaf_id(), "the leaf moved");
    Ok(())
}

fn copying(journal: Box<dyn Journal>) -> Outcome {
    let mut source = options().in_memory("/project")?;
    source.append(Message::user("one"))?;
    source.append(Message::user("two"))?;
    let plan = source.plan_extract(Extract::All)?;
    let mut copy = source.extract_to(&plan, journal, options())?;
    ensure!(texts(&copy)? == ["one", "two"], "the context of the copy is {:?}", texts(&copy)?);
    copy.append(Message::user("three"))?;
    ensure!(texts(&copy)? == ["one", "two", "three"], "the copy cannot be continued");
    Ok(())
}

fn old_version(mut journal: Box<dyn Journal>) -> Outcome {
    let old = concat!(
        r#"{"type":"session","id":"s1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}"#,
        "\n",
    );
    append(&mut *journal, old.as_bytes(), None)?;
    let can_replace = journal.capabilities().replace;
    let mut session = options().load_journal(journal, None)?;
    ensure!(texts(&session)? == ["one"], "the old session has the context {:?}", texts(&session)?);
    if !can_replace {
        let reason = session.read_only();
        ensure!(reason == Some(&ReadOnlyReason::OldVersion { version: 1 }), "read-only because {reason:?}");
        return Ok(());
    }
    session.append(Message::user("two"))?;
    ensure!(
        texts(&session)? == ["one", "two"],
        "the migrated session has the context {:?}",
        texts(&session)?
    );
    let bytes = all_bytes(&*session.journal)?;
    ensure!(Session::from_bytes(bytes)?.header().version() == 3, "the version is still old");
    Ok(())
}

fn reading(mut journal: Box<dyn Journal>) -> Outcome {
    append(&mut *journal, super::HEADER, None)?;
    let mut session = options().load_journal(journal, Some(ReadOnlyReason::Asked))?;
    ensure!(session.append(Message::user("one")).is_err(), "an entry was appended");
    ensure!(all_bytes(&*session.journal)? == super::HEADER, "bytes were appended");
    Ok(())
}
