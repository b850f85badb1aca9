//! Opening a file of a million entries again, with the sidecar of the first time.

use std::path::Path;
use std::time::Duration;

use session_tree::{Message, Options, Position, Session};
use session_view::{Outline, OutlineRow};

use super::{Bench, NOT_QUICK, outline};
use crate::Failure;
use crate::clock::{best, best_of_pairs, cpu_of, wc};
use crate::table::Line;

const ADDED: usize = 1_000;

/// An outline and its first rows.
type Shown = (Outline, Vec<OutlineRow>);

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let work = "re-open 1M entries, leaf, projection, first outline rows";
    if bench.quick {
        return Ok(vec![Line::skipped(work, NOT_QUICK)]);
    }
    let file = bench.files.small(1_000_000)?;
    let (warm, cold) = (bench.files.scratch("sidecars"), bench.files.scratch("older"));
    drop(open_and_show(&file, &warm)?);
    let (ours, reference) =
        best_of_pairs(bench.runs, || cpu_of(|| open_and_show(&file, &warm)), || wc(&file))?;
    let opened = best(bench.runs, || cpu_of(|| open(&file, &warm)))?;
    let shown = best(bench.runs, || {
        let session = open(&file, &warm)?;
        cpu_of(|| outline::first_rows(&session))
    })?;
    let mut lines = vec![
        Line::cost(work, ours, ("wc -l", reference), 0.3),
        Line::limit("the same", ours, Duration::from_millis(50)),
        Line::cost("of this: open, leaf and projection", opened, ("wc -l", reference), 0.3),
        Line::cost("of this: first outline rows", shown, ("wc -l", reference), 0.3),
    ];
    lines.push(after_appends(bench, &file, &cold, opened)?);
    Ok(lines)
}

/// A sidecar that is some entries behind: what was added is read, and nothing else.
fn after_appends(
    bench: &Bench<'_>,
    file: &Path,
    directory: &Path,
    opened: Duration,
) -> Result<Line, Failure> {
    let copy = bench.files.copy(file, "behind.jsonl")?;
    drop(open(&copy, directory)?);
    let mut session = Options::new().open(&copy)?;
    for number in 0..ADDED {
        session.append(Message::user(format!("one more, number {number}")))?;
    }
    drop(session);
    let behind = best(bench.runs, || cpu_of(|| open(&copy, directory)))?;
    std::fs::remove_file(copy)?;
    Ok(Line::cost("open when 1,000 entries came since", behind, ("none came", opened), 1.2))
}

fn open(file: &Path, sidecars: &Path) -> Result<Session, Failure> {
    let session = Options::new().sidecar_dir(sidecars).open_read_only(file)?;
    std::hint::black_box(session.projection(Position::Leaf)?);
    Ok(session)
}

fn open_and_show(file: &Path, sidecars: &Path) -> Result<(Session, Shown), Failure> {
    let session = open(file, sidecars)?;
    let shown = outline::first_rows(&session)?;
    Ok((session, shown))
}
