//! The reference program and the engine on the same files: entries, leaf, path and context are equal, or the
//! difference is one of those that `docs/compat.md` lists. And both at once on one file.
//!
//! `--peer DIR` names the folder in which pi is installed (`DIR/node_modules/...`). It works on copies in a temporary
//! directory; many files go to one process.

mod compared;
mod peer;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use session_tree::{Options, Session, SyncPolicy};
use testkit::crash::workload::assistant;
use testkit::mangle;

use crate::model;
use crate::part::{Done, Outcome, Plan};
use compared::{Verdict, compare};
use peer::Peer;

/// So many files go to one process.
const BATCH: usize = 500;

/// Compares drawn files and files that the engine wrote, then lets both programs append to one file.
pub fn run(plan: &Plan) -> Outcome {
    let folder = plan.peer.as_ref().ok_or("--peer DIR must name the folder in which pi is installed")?;
    let peer = Peer::find(folder)?;
    // The older version differs in many places that are its faults; it has to read what we write.
    let drawn = if peer.is_reference() { plan.runs(5_000, 20_000) } else { 0 };
    let mut files: Vec<(String, Vec<u8>)> =
        mangle::files(plan.seed, drawn).map(|file| (file.name.clone(), file.bytes)).collect();
    let written = plan.runs(5_000, 20_000) / 10;
    for number in 0..written {
        let bytes = model::written(plan.seed, number)?;
        files.extend(bytes.map(|bytes| (format!("written-{number}"), bytes)));
    }
    let tally = tally(&peer, &files)?;
    let shared = side_by_side(&peer, if plan.soak { 5_000 } else { 300 })?;
    let equal = tally.get("equal").copied().unwrap_or(0);
    let others: Vec<String> = tally
        .iter()
        .filter(|(name, _)| **name != "equal")
        .map(|(name, count)| format!(", {name} {count}"))
        .collect();
    let version = &peer.version;
    let what = format!(
        "files compared with pi {version}: {equal} equal, {}; {shared} entries side by side",
        others.join(", ")
    );
    Ok(Done::new(files.len() as u64, what))
}

/// Asks about all files; gives how many had each verdict.
fn tally(peer: &Peer, files: &[(String, Vec<u8>)]) -> Result<BTreeMap<&'static str, usize>, String> {
    let mut tally = BTreeMap::new();
    let mut different = Vec::new();
    for batch in files.chunks(BATCH) {
        let answers = peer.ask(batch.iter().map(|(_, bytes)| bytes.as_slice()))?;
        for ((name, bytes), answer) in batch.iter().zip(&answers) {
            match compare(bytes, answer, peer.is_reference()) {
                Verdict::Equal => *tally.entry("equal").or_insert(0) += 1,
                Verdict::Known(reason) => *tally.entry(reason).or_insert(0) += 1,
                Verdict::Different(what) => different.push(format!("{name}: {what}")),
            }
        }
    }
    if different.is_empty() {
        return Ok(tally);
    }
    let count = different.len();
    different.truncate(20);
    Err(format!("{count} of {} files differ; known: {tally:?}\n{}", files.len(), different.join("\n")))
}

/// Checks that the reference program opens files that the engine calls sessions, with all entries.
pub fn opens_all<'f>(folder: &Path, files: impl Iterator<Item = &'f [u8]>) -> Result<usize, String> {
    let peer = Peer::find(folder)?;
    let files: Vec<(String, Vec<u8>)> =
        files.enumerate().map(|(number, bytes)| (format!("left {number}"), bytes.to_vec())).collect();
    tally(&peer, &files)?;
    Ok(files.len())
}

/// Lets the reference program and the engine append to one file at the same time.
fn side_by_side(peer: &Peer, count: usize) -> Result<usize, String> {
    let text = |error: session_tree::Error| error.to_string();
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = dir.path().join("s.jsonl");
    let mut session = Options::new().sync(SyncPolicy::Os).create(&path, "/w").map_err(text)?;
    session.append_user_text("start").map_err(text)?;
    // The older version writes nothing before there is an answer.
    session.append_message(&assistant("begun")).map_err(text)?;
    let mut theirs = peer.append_to(&path, count)?;
    let mut ours = Vec::new();
    while !theirs.is_done()? || ours.len() < count {
        ours.push(session.append_user_text("ours").map_err(text)?.to_string());
        std::thread::sleep(std::time::Duration::from_micros(500));
    }
    let theirs = theirs.ids()?;
    let found = Session::open_read_only(&path).map_err(text)?;
    let lost = ours.iter().chain(&theirs).find(|id| found.tree().node(id).is_none());
    if let Some(id) = lost {
        return Err(format!("{id} is lost"));
    }
    let total = ours.len() + theirs.len() + 2;
    if found.tree().len() != total || theirs.len() != count || !found.diagnostics().is_empty() {
        return Err(format!("{} entries of {total}, {:?}", found.tree().len(), found.diagnostics()));
    }
    let seen: HashSet<String> =
        session.tree().nodes().map(|node| session.tree().id(node).to_string()).collect();
    if let Some(id) = theirs.iter().find(|id| !seen.contains(*id)) {
        return Err(format!("our session has not noticed {id}"));
    }
    let bytes = fs::read(&path).map_err(|error| error.to_string())?;
    tally(peer, &[("the shared file".into(), bytes)])?;
    Ok(total)
}
