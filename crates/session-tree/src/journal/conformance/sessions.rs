//! Tests of sessions in a journal.

use super::{Journal, Outcome, SessionTest, all_bytes, append, ensure, options};
use crate::journal::MemoryJournal;
use crate::session::path_to_leaf;
use crate::{Extract, Message, ReadOnlyReason, Session, StopReason};

pub(super) const TESTS: &[SessionTest] = &[
    ("a session is created, branched and read again", round_trip),
    ("a session is opened as it was left", opening),
    ("the path to the leaf is read alone", path_alone),
    ("a session is copied into the journal", copying),
    ("a fork has the entries of its path", forking),
    ("an old version is migrated, or read-only", old_version),
    ("a read-only session appends nothing", reading),
];

fn texts(session: &Session) -> Outcome<Vec<String>> {
    Ok(session.context()?.messages().map(|message| message.text().into_owned()).collect())
}

fn round_trip(journal: Box<dyn Journal>, _: Box<dyn Journal>) -> Outcome {
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

fn opening(journal: Box<dyn Journal>, _: Box<dyn Journal>) -> Outcome {
    let mut session = options().start(journal, "/project".into())?;
    let first = session.append(Message::user("one".repeat(1000)))?;
    session.append(Message::assistant().text("two".repeat(1000)).build())?;
    session.append_under(&first, Message::assistant().text("").stop_reason(StopReason::Error).build())?;
    session.set_label(&first, "start")?;
    session.set_name("A name")?;
    session.branch(first.as_str())?;
    session.mark_leaf()?;
    let journal = std::mem::replace(&mut session.journal, Box::new(MemoryJournal::default()));
    let bytes = all_bytes(&*journal)?;
    let (opened, read) = (options().load_journal(journal, None)?, Session::from_bytes(bytes)?);
    let described = [&opened, &read].map(|session| -> Outcome<String> {
        let tree = session.tree();
        let entries = tree.nodes().map(|node| {
            let facts =
                (tree.id(node), tree.parent(node), tree.kind(node), tree.role(node), tree.timestamp(node));
            (
                facts,
                tree.has_text(node),
                tree.ended_badly(node),
                session.line_number(node),
                session.line_len(node),
            )
        });
        let entries: Vec<_> = entries.collect();
        let labels: Vec<_> = session.labels().into_iter().map(|(node, label)| (node, &label.text)).collect();
        let about = (session.name(), session.leaf_id(), labels, session.diagnostics());
        Ok(format!("{entries:?} {about:?} {:?}", texts(session)?))
    });
    let [opened_as, read_as] = described;
    let (opened_as, read_as) = (opened_as?, read_as?);
    ensure!(opened_as == read_as, "{opened_as} instead of {read_as}");
    ensure!(
        opened.entry(first.as_str())?.raw() == read.entry(first.as_str())?.raw(),
        "other bytes were read"
    );
    Ok(())
}

fn path_alone(journal: Box<dyn Journal>, _: Box<dyn Journal>) -> Outcome {
    let mut session = options().start(journal, "/project".into())?;
    let first = session.append(Message::user("one"))?;
    let steps: [fn(&mut Session, &str) -> Outcome; 5] = [
        |session, _| Ok(session.append(Message::assistant().text("two".repeat(20_000)).build()).map(drop)?),
        |session, first| Ok(session.append_under(first, Message::user("three")).map(drop)?),
        |session, _| Ok(session.set_name("A name").map(drop)?),
        |session, first| {
            session.branch(first)?;
            Ok(session.mark_leaf().map(drop)?)
        },
        |session, _| {
            session.reset_leaf();
            Ok(session.mark_leaf().map(drop)?)
        },
    ];
    for step in steps {
        step(&mut session, first.as_str())?;
        let whole = Session::from_bytes(all_bytes(&*session.journal)?)?;
        let Some(alone) = path_to_leaf(&*session.journal)? else { return Ok(()) };
        ensure!(alone.leaf_id() == whole.leaf_id(), "{:?} instead of {:?}", alone.leaf_id(), whole.leaf_id());
        ensure!(texts(&alone)? == texts(&whole)?, "the context is {:?}", texts(&alone)?);
        ensure!(alone.header().id() == whole.header().id(), "the header is another one");
        let path = whole.leaf().map_or(0, |leaf| whole.tree().ancestors(leaf).count());
        // A marker of the leaf is read, too.
        ensure!(alone.tree().len() <= path + 2, "{} entries for a path of {path}", alone.tree().len());
    }
    Ok(())
}

fn forking(journal: Box<dyn Journal>, other: Box<dyn Journal>) -> Outcome {
    let mut source = options().start(journal, "/project".into())?;
    let first = source.append(Message::user("one"))?;
    source.append(Message::user("two"))?;
    let third = source.append_under(&first, Message::user("three"))?;
    source.append(Message::user("four"))?;
    source.set_label(&third, "here")?;
    let plan = source.plan_extract(Extract::Path { at: source.node(third.as_str())? })?;
    let mut fork = source.extract_to(&plan, other, options())?;
    ensure!(texts(&fork)? == ["one", "three"], "the context of the fork is {:?}", texts(&fork)?);
    ensure!(fork.tree().len() == 3 && fork.labels().len() == 1, "the fork has {} entries", fork.tree().len());
    fork.append(Message::user("five"))?;
    source.append(Message::user("six"))?;
    ensure!(texts(&fork)? == ["one", "three", "five"], "the fork changed to {:?}", texts(&fork)?);
    ensure!(
        texts(&source)? == ["one", "three", "four", "six"],
        "the source changed to {:?}",
        texts(&source)?
    );
    let read = Session::from_bytes(all_bytes(&*fork.journal)?)?;
    ensure!(read.diagnostics().is_empty(), "the fork has damage: {:?}", read.diagnostics());
    ensure!(texts(&read)? == texts(&fork)?, "the fork is read as {:?}", texts(&read)?);
    Ok(())
}

fn copying(journal: Box<dyn Journal>, _: Box<dyn Journal>) -> Outcome {
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

fn old_version(mut journal: Box<dyn Journal>, _: Box<dyn Journal>) -> Outcome {
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

fn reading(mut journal: Box<dyn Journal>, _: Box<dyn Journal>) -> Outcome {
    append(&mut *journal, super::HEADER, None)?;
    let mut session = options().load_journal(journal, Some(ReadOnlyReason::Asked))?;
    ensure!(session.append(Message::user("one")).is_err(), "an entry was appended");
    ensure!(all_bytes(&*session.journal)? == super::HEADER, "bytes were appended");
    Ok(())
}
