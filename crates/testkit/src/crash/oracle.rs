//! The conditions that every disk must meet after a crash.

use std::collections::HashSet;
use std::sync::Arc;

use session_tree::{Body, Node, Options, Session, SyncPolicy};

use super::workload::{Fork, PATH, Record, path, user};
use crate::clock::TickingClock;
use crate::ids::CountingIds;
use crate::sim_fs::{CrashKind, CrashState, SimFs};

/// The broken condition, as a sentence.
pub type Verdict = Result<(), String>;

/// Checks one disk: what was promised is there, nothing was made up, and life goes on.
pub fn check(record: &Record, state: &CrashState) -> Verdict {
    record.forks.iter().try_for_each(|fork| a_fork_is_whole(fork, state))?;
    let needed = needed(record, state);
    let Some(before) = state.fs.bytes(PATH) else {
        return match needed.first() {
            Some(line) => Err(format!("the file is gone, with {}", record.lines[*line].id)),
            None => a_new_session_can_begin(&state.fs),
        };
    };
    let present = present(record, &before)?;
    if let Some(lost) = needed.iter().find(|line| !present.contains(line)) {
        return Err(format!("{} was promised and is lost", record.lines[*lost].id));
    }
    let mut session = options(&state.fs).open(PATH).map_err(|error| format!("cannot open: {error}"))?;
    the_tree_shows_what_is_there(record, &present, &session)?;
    the_next_entry_is_kept(&mut session, &state.fs, &before)
}

/// A fork appears whole or not at all, and is durable when it was made.
fn a_fork_is_whole(fork: &Fork, state: &CrashState) -> Verdict {
    match state.fs.bytes(&fork.path) {
        None if fork.made_at <= state.completed => Err(format!("{} was made and is gone", fork.path)),
        Some(bytes) if bytes != fork.bytes => Err(format!("{} is not whole", fork.path)),
        _ => Ok(()),
    }
}

/// The lines that must have survived.
fn needed(record: &Record, state: &CrashState) -> Vec<usize> {
    let promised = |line: &super::workload::Line| match state.kind {
        CrashKind::Kill => line.written_at,
        CrashKind::PowerCut => line.durable_at,
    };
    let lines = record.lines.iter().enumerate();
    lines
        .filter(|(_, line)| promised(line).is_some_and(|at| at <= state.completed))
        .map(|(at, _)| at)
        .collect()
}

/// The lines that can be found whole, in file order.
fn present(record: &Record, bytes: &[u8]) -> Result<Vec<usize>, String> {
    let lines = bytes.split(|byte| *byte == b'\n').skip(1);
    let found: Vec<usize> = lines.filter_map(|line| record.by_bytes.get(line).copied()).collect();
    if found.is_sorted_by(|one, other| one < other) {
        Ok(found)
    } else {
        Err(format!("lines changed their order: {found:?}"))
    }
}

fn options(fs: &SimFs) -> Options {
    Options::new()
        .file_system(Arc::new(fs.clone()))
        .sync(SyncPolicy::Always)
        .clock(TickingClock::default())
        .ids(CountingIds::after(0xf000_0000))
}

fn a_new_session_can_begin(fs: &SimFs) -> Verdict {
    let begin = || {
        let mut session = options(fs).create(PATH, "/w")?;
        let id = session.append_message(&user("again"))?;
        options(fs).open_read_only(PATH).map(|found| found.leaf_id() == Some(id))
    };
    match begin() {
        Ok(true) => Ok(()),
        Ok(false) => Err("a new session lost its first prompt".into()),
        Err(error) => Err(format!("no new session can begin: {error}")),
    }
}

fn the_tree_shows_what_is_there(record: &Record, present: &[usize], session: &Session) -> Verdict {
    let tree = session.tree();
    let mut expected = present.iter().map(|line| &record.lines[*line]).peekable();
    let orphans: HashSet<_> = tree.orphans().map(|(node, _)| node).collect();
    for node in tree.nodes() {
        let id = tree.id(node);
        let Some(line) = expected.next_if(|line| id == line.id.as_str()) else {
            if is_reported_as_damaged(session, node) {
                continue;
            }
            return Err(format!("{id} was never written, at least not here"));
        };
        let parent = tree.parent(node).map(|parent| tree.id(parent).to_string());
        if parent != line.parent && !orphans.contains(&node) {
            return Err(format!("{id} hangs below {parent:?} instead of {:?}", line.parent));
        }
    }
    expected.next().map_or(Ok(()), |line| Err(format!("{} is in the file but not shown", line.id)))
}

fn the_next_entry_is_kept(session: &mut Session, fs: &SimFs, before: &[u8]) -> Verdict {
    let leaf = session.leaf_id();
    let count = sound_count(session, 0);
    let id = session.append_message(&user("next")).map_err(|error| format!("cannot append: {error}"))?;
    let after = fs.bytes(PATH).ok_or("the append removed the file")?;
    if !after.starts_with(before) && !is_kept_beside(fs, before) {
        return Err("the append changed older bytes".into());
    }
    let found = options(fs).open_read_only(PATH).map_err(|error| format!("cannot open again: {error}"))?;
    if sound_count(&found, count + 1) != count + 1 || found.leaf_id().as_ref() != Some(&id) {
        let (now, leaf) = (found.tree().len(), found.leaf_id());
        return Err(format!("{now} entries instead of {} and the leaf {leaf:?} after the append", count + 1));
    }
    let above = found.leaf().and_then(|node| found.tree().parent(node)).map(|node| found.tree().id(node));
    if above == leaf {
        Ok(())
    } else {
        Err(format!("the next entry hangs below {above:?} instead of {leaf:?}"))
    }
}

/// Opening trusts a line that begins and ends like an entry; reading it must report the damage.
fn is_reported_as_damaged(session: &Session, node: Node) -> bool {
    let damaged = session.entry_at(node).is_ok_and(|entry| matches!(entry.body(), Body::Placeholder));
    damaged && session.diagnostics().iter().any(|diagnostic| diagnostic.line == session.line_number(node))
}

/// Counts the entries that can be read; `expected` is what a quick look should give.
fn sound_count(session: &Session, expected: usize) -> usize {
    let tree = session.tree();
    if tree.len() == expected {
        return expected;
    }
    tree.nodes().filter(|node| !is_reported_as_damaged(session, *node)).count()
}

/// A migration keeps the old bytes under another name.
fn is_kept_beside(fs: &SimFs, bytes: &[u8]) -> bool {
    let others = fs.paths().into_iter().filter(|other| *other != path());
    others.into_iter().any(|other| fs.bytes(other).as_deref() == Some(bytes))
}
