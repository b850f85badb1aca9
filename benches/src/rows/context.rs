//! Decoding the messages of a context: a path of 10,000 entries.

use std::path::Path;
use std::time::Duration;

use session_tree::{Message, Options, Session, SyncPolicy};

use super::Bench;
use crate::Failure;
use crate::clock::{best, best_of_pairs, cpu_of};
use crate::table::Line;

const ENTRIES: usize = 10_000;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let file = bench.files.one_path(ENTRIES)?;
    let bytes = std::fs::read(&file)?;
    let (first, reference) =
        best_of_pairs(bench.runs, || first_time(&file), || cpu_of(|| with_serde(&bytes)))?;
    let session = Session::open_read_only(&file)?;
    drop(session.context()?);
    let again = best(bench.runs, || cpu_of(|| Ok(session.context()?)))?;
    let after = after_append(bench, &file)?;
    let large = bench.files.one_path(10 * ENTRIES)?;
    let in_large = best(bench.runs, || in_larger_file(&large))?;
    Ok(vec![
        Line::cost("decode a context of 10k entries", first, ("serde_json", reference), 2.0),
        Line::cost("the same again", again, ("first time", first), 0.1),
        Line::cost("the same after one append", after, ("first time", first), 0.1),
        Line::cost("the same path in a file ten times as large", in_large, ("first time", first), 1.2),
    ])
}

/// The first context after opening: nothing is decoded before.
pub(crate) fn first_time(file: &Path) -> Result<Duration, Failure> {
    let session = Session::open_read_only(file)?;
    cpu_of(|| Ok(session.context()?))
}

/// Decodes every line and keeps what it says, as the engine does.
fn with_serde(bytes: &[u8]) -> Result<Vec<serde_json::Value>, Failure> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Ok(lines.map(serde_json::from_slice).collect::<Result<_, _>>()?)
}

fn after_append(bench: &Bench<'_>, file: &Path) -> Result<Duration, Failure> {
    let copy = bench.files.copy(file, "context.jsonl")?;
    let mut session = Options::new().sync(SyncPolicy::Os).open(copy)?;
    drop(session.context()?);
    best(bench.runs, || {
        session.append(Message::user("one more"))?;
        cpu_of(|| Ok(session.context()?))
    })
}

/// The context of the entry that is the leaf of the smaller file: both files begin alike.
fn in_larger_file(file: &Path) -> Result<Duration, Failure> {
    let session = Session::open_read_only(file)?;
    let at = session.tree().nodes().nth(ENTRIES - 1);
    cpu_of(|| Ok(session.context_at(session.position_of(at)?)?))
}
