//! Tests of a journal that several handles share.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use super::{HEADER, Handles, Outcome, SharedTest, all_bytes, append, ensure, lock};
use crate::journal::{Journal, NewLine, NewLines};
use crate::{Error, Message, Session};

pub(super) const TESTS: &[SharedTest] = &[
    ("another handle reads what was appended", visible),
    ("the lock keeps other handles out", excluding),
    ("a handle that is dropped releases its lock", dropping),
    ("an append without the lock needs the last length", unlocked),
    ("lines of many writers are all kept, once", many_writers),
    ("two sessions become two branches", two_sessions),
    ("a follower receives the entries of others", following),
    ("many sessions append to one journal", many_sessions),
];

fn visible(handles: &mut Handles<'_>) -> Outcome {
    let (mut one, mut other) = (handles.open()?, handles.open()?);
    append(&mut *one, b"{\"id\":\"a\"}\n", Some("a"))?;
    ensure!(all_bytes(&*other)? == all_bytes(&*one)?, "the second handle reads other bytes");
    append(&mut *other, b"{\"id\":\"b\"}\n", Some("b"))?;
    let expected = [HEADER, b"{\"id\":\"a\"}\n{\"id\":\"b\"}\n"].concat();
    ensure!(all_bytes(&*one)? == expected, "the first handle does not read the line of the second");
    ensure!(all_bytes(&*handles.open()?)? == expected, "a new handle reads other bytes");
    Ok(())
}

fn excluding(handles: &mut Handles<'_>) -> Outcome {
    let (mut one, mut other) = (handles.open()?, handles.open()?);
    other.set_lock_wait(Duration::from_millis(20));
    lock(&mut *one)?;
    let refused = other.lock();
    ensure!(matches!(refused, Err(Error::Locked { .. })), "a second lock returned {refused:?}");
    ensure!(all_bytes(&*other)? == HEADER, "a locked journal cannot be read");
    one.unlock();
    let locked = lock(&mut *other)?;
    other.unlock();
    ensure!(locked.len == HEADER.len() as u64, "the length is {} under the lock", locked.len);
    Ok(())
}

fn dropping(handles: &mut Handles<'_>) -> Outcome {
    let (mut one, mut other) = (handles.open()?, handles.open()?);
    lock(&mut *one)?;
    drop(one);
    append(&mut *other, b"{}\n", None)
}

fn unlocked(handles: &mut Handles<'_>) -> Outcome {
    let (mut one, mut other) = (handles.open()?, handles.open()?);
    let at = HEADER.len() as u64;
    let append_at = |journal: &mut dyn Journal, at, id: &str| -> Outcome<Vec<u8>> {
        let line = format!("{{\"id\":\"{id}\"}}\n");
        let lines = [NewLine { bytes: line.as_bytes(), id: Some(id.into()), parent: None }];
        let new = NewLines { at, bytes: line.as_bytes(), lines: &lines, publish: true };
        Ok(if journal.append_unlocked(&new)? { line.into_bytes() } else { Vec::new() })
    };
    let first = append_at(&mut *one, at, "a")?;
    let is_announced = one.capabilities().unlocked;
    ensure!(
        first.is_empty() != is_announced,
        "the capability is {is_announced}, the append did the opposite"
    );
    // The other handle does not know of the first line, and the first handle knows that the journal is longer.
    let late = append_at(&mut *other, at, "b")?;
    ensure!(!is_announced || late.is_empty(), "a line was appended at a place that another one has");
    let again = append_at(&mut *one, at, "c")?;
    ensure!(!is_announced || again.is_empty(), "a line was appended before the end");
    let expected = [HEADER, &first].concat();
    ensure!(all_bytes(&*other)? == expected, "lines are there that were not appended");
    append(&mut *other, b"{\"id\":\"d\"}\n", Some("d"))?;
    let expected = [&expected[..], b"{\"id\":\"d\"}\n"].concat();
    ensure!(all_bytes(&*one)? == expected, "an append under the lock follows at another place");
    Ok(())
}

/// Runs a function for each item at the same time.
fn at_once<T: Send>(items: Vec<T>, run: impl Fn(usize, T) -> Result<(), String> + Sync) -> Outcome {
    thread::scope(|scope| {
        let run = &run;
        let spawn = |(place, item)| scope.spawn(move || run(place, item));
        let threads: Vec<_> = items.into_iter().enumerate().map(spawn).collect();
        let mut joined = threads.into_iter().map(|thread| thread.join());
        joined.try_for_each(|result| result.unwrap_or_else(|_| Err("a writer panicked".into())))
    })?;
    Ok(())
}

fn many_writers(handles: &mut Handles<'_>) -> Outcome {
    let writers = (0..4).map(|_| handles.open()).collect::<Outcome<Vec<_>>>()?;
    at_once(writers, |writer, mut journal| {
        (0..25).try_for_each(|count| {
            let id = format!("{writer}-{count}");
            let line = format!("{{\"id\":\"{id}\"}}\n");
            append(&mut *journal, line.as_bytes(), Some(&id)).map_err(|error| error.to_string())
        })
    })?;
    let bytes = all_bytes(&*handles.open()?)?;
    let lines: Vec<&[u8]> = bytes[HEADER.len()..].split_inclusive(|byte| *byte == b'\n').collect();
    let different: BTreeSet<&[u8]> = lines.iter().copied().collect();
    ensure!(
        lines.len() == 100 && different.len() == 100,
        "{} lines, {} different",
        lines.len(),
        different.len()
    );
    Ok(())
}

fn two_sessions(handles: &mut Handles<'_>) -> Outcome {
    let (mut one, mut other) = (handles.session()?, handles.session()?);
    let root = one.append(Message::user("root"))?;
    let seen = other.catch_up()?;
    ensure!(
        seen.len() == 1 && *seen[0].id() == root,
        "the second session does not see the entry of the first"
    );
    other.branch(root.as_str())?;
    let left = one.append(Message::user("left"))?;
    let right = other.append(Message::user("right"))?;
    ensure!(one.leaf_id() == Some(left) && other.leaf_id() == Some(right.clone()), "a leaf moved");
    let theirs = other.take_appended_by_others()?;
    ensure!(theirs.len() == 1, "the append did not take in the entry of the other session");
    one.catch_up()?;
    let branches = one.tree().children(one.node(root.as_str())?).count();
    ensure!(branches == 2, "{branches} branches instead of two");
    Ok(())
}

fn following(handles: &mut Handles<'_>) -> Outcome {
    let mut follower = handles.session()?;
    let mut writer = handles.session()?;
    ensure!(follower.poll()?.is_empty(), "entries were reported before there were any");
    let ids = [writer.append(Message::user("one"))?, writer.append(Message::user("two"))?];
    let seen: Vec<_> = follower.poll()?.iter().map(|entry| entry.id().clone()).collect();
    ensure!(seen == ids, "{seen:?} instead of {ids:?}");
    ensure!(follower.poll()?.is_empty(), "entries were reported twice");
    Ok(())
}

fn many_sessions(handles: &mut Handles<'_>) -> Outcome {
    let sessions = (0..4).map(|_| handles.session()).collect::<Outcome<Vec<_>>>()?;
    at_once(sessions, |_, session| append_ten(session))?;
    let session = handles.session()?;
    let (entries, problems) = (session.tree().len(), session.diagnostics());
    ensure!(entries == 40 && problems.is_empty(), "{entries} entries instead of 40, {problems:?}");
    Ok(())
}

fn append_ten(mut session: Session) -> Result<(), String> {
    let mut count = 0;
    while count < 10 {
        match session.append(Message::user("text")) {
            Ok(_) => count += 1,
            Err(Error::Locked { .. }) => thread::sleep(Duration::from_millis(1)),
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(())
}
