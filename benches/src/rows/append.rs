//! Appending an entry of 300 bytes.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use session_tree::{Message, Options, Session, SyncPolicy};

use super::{Bench, NOT_QUICK};
use crate::Failure;
use crate::clock::{median, wall};
use crate::files::Files;
use crate::table::Line;

const LINE: usize = 300;
pub(crate) const PAIRS: usize = 200;
/// Enough for a median that one slow write does not move.
const MANY_PAIRS: usize = 2_000;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let small = bench.files.copy(&bench.files.realistic(1_000)?, "appended.jsonl")?;
    let work = |size: &str| format!("append of 300 bytes, policy os, {size}");
    let (ours, bare) = pairs(bench.files, &small, SyncPolicy::Os, MANY_PAIRS)?;
    let mut lines = vec![
        Line::cost(&work("2 MB file"), ours, ("write", bare), 5.0),
        Line::limit("the same", ours, Duration::from_micros(5)),
    ];
    if bench.quick {
        lines.push(Line::skipped(&work("1 GB file"), NOT_QUICK));
    } else {
        let large = bench.files.copy(&bench.files.small(1_000_000)?, "large.jsonl")?;
        let (ours, bare) = pairs(bench.files, &large, SyncPolicy::Os, MANY_PAIRS)?;
        lines.push(Line::cost(&work("1 GB file"), ours, ("write", bare), 5.0));
        std::fs::remove_file(large)?;
    }
    let (ours, bare) = pairs(bench.files, &small, SyncPolicy::Always, PAIRS)?;
    lines.push(Line::cost("the same, policy always", ours, ("write + fdatasync", bare), 1.2));
    Ok(lines)
}

/// Appends and writes in turn; returns the median of both.
pub(crate) fn pairs(
    files: &Files,
    file: &Path,
    policy: SyncPolicy,
    count: usize,
) -> Result<(Duration, Duration), Failure> {
    let mut session = Options::new().sync(policy).open(file)?;
    let text = "x".repeat(LINE - empty_line(&mut session, file)?);
    let mut bare = OpenOptions::new().append(true).create(true).open(files.scratch("bare"))?;
    let line = [b'x'; LINE];
    let (mut ours, mut reference) = (Vec::new(), Vec::new());
    for _ in 0..count {
        ours.push(wall(|| Ok(session.append(Message::user(&text))?))?);
        reference.push(wall(|| write(&mut bare, &line, policy))?);
    }
    Ok((median(ours), median(reference)))
}

/// Appends an entry without text and returns the length of its line.
fn empty_line(session: &mut Session, file: &Path) -> Result<usize, Failure> {
    let before = file.metadata()?.len();
    session.append(Message::user(""))?;
    Ok(usize::try_from(file.metadata()?.len() - before)?)
}

fn write(file: &mut File, line: &[u8], policy: SyncPolicy) -> Result<(), Failure> {
    file.write_all(line)?;
    if policy == SyncPolicy::Always {
        file.sync_data()?;
    }
    Ok(())
}
