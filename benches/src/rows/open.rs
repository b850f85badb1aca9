//! Opening a file that nothing is known about, and checking all of it.

use std::path::Path;
use std::time::Duration;

use session_tree::{Position, Projection, Session};

use super::{Bench, NOT_QUICK, against_peer, peak_memory_of};
use crate::Failure;
use crate::clock::{best_of_pairs, cpu_of, wc};
use crate::table::Line;

/// Opens a session and finds out which entries speak at its leaf.
pub(super) fn open_and_project(file: &Path) -> Result<(Session, Projection), Failure> {
    let session = Session::open_read_only(file)?;
    let projection = session.projection(Position::Leaf)?;
    Ok((session, projection))
}

fn against_wc(bench: &Bench<'_>, file: &Path) -> Result<(Duration, Duration), Failure> {
    best_of_pairs(bench.runs, || cpu_of(|| open_and_project(file)), || wc(file))
}

/// 100,000 entries of realistic sizes.
pub(super) fn hundred_thousand(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let file = bench.files.realistic(100_000)?;
    let (ours, wc) = against_wc(bench, &file)?;
    let peer = bench.ask_peer(&file, &["open"], "")?;
    Ok(vec![
        Line::cost("open, path and projection, 100k entries", ours, ("wc -l", wc), 2.0),
        against_peer("the same", ours, peer.as_ref(), "open", 25.0)?,
    ])
}

/// A million small entries, with memory.
pub(super) fn million(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let work = "open, path and projection, 1M small entries";
    if bench.quick {
        return Ok(vec![Line::skipped(work, NOT_QUICK)]);
    }
    let file = bench.files.small(1_000_000)?;
    let (ours, wc) = against_wc(bench, &file)?;
    let memory = peak_memory_of("open", &file)?;
    Ok(vec![
        Line::cost(work, ours, ("wc -l", wc), 3.0),
        Line::memory("the same: peak memory of the process", memory, 150_000_000),
    ])
}

/// Every line validated.
pub(super) fn check(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let file = bench.files.realistic(100_000)?;
    let session = Session::open_read_only(&file)?;
    let (ours, reference) =
        best_of_pairs(bench.runs.min(3), || cpu_of(|| Ok(session.check()?)), || wc(&file))?;
    Ok(vec![Line::cost("check of every line, 100k entries", ours, ("wc -l", reference), 8.0)])
}
