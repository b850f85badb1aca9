//! Making a new session of a path of 100,000 entries.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use session_tree::{Destination, Options, Session, SyncPolicy};

use super::Bench;
use crate::Failure;
use crate::clock::{best_of_pairs, cpu_of, program};
use crate::files::Files;
use crate::table::Line;

const LABELS: usize = 500;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let plain = bench.files.one_path(100_000)?;
    let labelled = bench.files.copy(&plain, "labelled.jsonl")?;
    let mut session = Options::new().sync(SyncPolicy::Os).open(&labelled)?;
    let leaf = session.leaf_id().ok_or("no leaf")?;
    let step = session.tree().len() / LABELS;
    let targets: Vec<_> =
        session.tree().nodes().step_by(step).take(LABELS).map(|node| session.tree().id(node)).collect();
    for target in targets {
        session.append_label_change(target.as_str(), Some("a good place"))?;
    }
    let unlabelled = Session::open_read_only(&plain)?;
    let runs = bench.runs.min(4);
    let (ours, cat) =
        best_of_pairs(runs, || fork(bench.files, &session, leaf.as_str()), || copy(bench, &plain))?;
    let (_, without) =
        best_of_pairs(runs, || Ok(Duration::ZERO), || fork(bench.files, &unlabelled, leaf.as_str()))?;
    Ok(vec![
        Line::cost("fork of a path of 100k entries with 500 labels", ours, ("cat", cat), 5.0),
        Line::cost("the same", ours, ("without labels", without), 1.1),
    ])
}

/// Forks the whole path to an entry, and deletes what was made.
pub(crate) fn fork(files: &Files, session: &Session, leaf: &str) -> Result<Duration, Failure> {
    let to = files.scratch("fork.jsonl");
    let time = cpu_of(|| {
        Ok(session.create_branched_session(leaf, Destination::File(to.clone()), Options::new())?)
    })?;
    fs::remove_file(to)?;
    Ok(time)
}

fn copy(bench: &Bench<'_>, file: &Path) -> Result<Duration, Failure> {
    let to = bench.files.scratch("copy.jsonl");
    let time = program(Command::new("cat").arg(file), Some(File::create(&to)?))?;
    fs::remove_file(to)?;
    Ok(time)
}
