//! The reference program and the engine on the same files: entries, leaf, path and context are equal, or become equal
//! when the file is taken as pi takes it, in one of the ways that `docs/compat.md` lists. And both at once on one file.
//!
//! `--peer DIR` names the folder in which pi is installed (`DIR/node_modules/...`). It works on copies in a temporary
//! directory; many files go to one process.

mod compared;
mod cures;
mod habits;
mod lines;
mod peer;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use session_tree::{Message, Options, Session, SyncPolicy};
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
    let count = files.len() as u64;
    let tally = tally(&peer, files)?;
    let shared = side_by_side(&peer, if plan.soak { 5_000 } else { 300 })?;
    let mut known: Vec<(String, usize)> = tally.into_iter().collect();
    known.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let known: Vec<String> = known.into_iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
    let (version, known) = (peer.version(), known.join("; "));
    let what = format!("files compared with pi {version}: {known}; {shared} entries side by side");
    Ok(Done::new(count, what))
}

/// How many files had each verdict: `equal`, or why they are not.
type Tally = BTreeMap<String, usize>;

/// Asks about all files, and again about those that have to be cured before pi can read them.
fn tally(peer: &Peer, files: Vec<(String, Vec<u8>)>) -> Result<Tally, String> {
    let mut tally = Tally::new();
    let mut different = Vec::new();
    let mut asked: Vec<AskedFile> =
        files.into_iter().map(|(name, bytes)| AskedFile { name, bytes, cured_of: Vec::new() }).collect();
    while !asked.is_empty() {
        let mut again = Vec::new();
        for batch in asked.chunks(BATCH) {
            let answers = peer.ask(batch.iter().map(|asked| asked.bytes.as_slice()))?;
            for (asked, answer) in batch.iter().zip(&answers) {
                match asked.verdict(answer, peer.is_reference()) {
                    NextStep::Counted(verdict) => *tally.entry(verdict).or_insert(0) += 1,
                    NextStep::Ask(cured) => again.push(cured),
                    NextStep::Different(what) => different.push(format!("{}: {what}", asked.name)),
                }
            }
        }
        asked = again;
    }
    if different.is_empty() {
        return Ok(tally);
    }
    let count = different.len();
    different.truncate(20);
    Err(format!("{count} files differ; the others: {tally:?}\n{}", different.join("\n")))
}

/// A file about which pi is asked.
struct AskedFile {
    name: String,
    bytes: Vec<u8>,
    /// The cures that were applied to the file so that pi can read it.
    cured_of: Vec<&'static str>,
}

/// The next step for a file after an answer.
enum NextStep {
    Counted(String),
    Ask(AskedFile),
    Different(String),
}

impl AskedFile {
    fn verdict(&self, answer: &Value, is_reference: bool) -> NextStep {
        match compare(&self.bytes, answer, is_reference) {
            Verdict::Equal if self.cured_of.is_empty() => NextStep::Counted("equal".into()),
            Verdict::Equal => NextStep::Counted(self.cured_of.join(" + ")),
            Verdict::Known(habits) => NextStep::Counted(
                self.cured_of.iter().copied().chain([habits.as_str()]).collect::<Vec<_>>().join(" + "),
            ),
            Verdict::GaveUp(cured) if !self.cured_of.contains(&cured.reason) => {
                let cured_of = [self.cured_of.as_slice(), &[cured.reason]].concat();
                NextStep::Ask(Self { name: self.name.clone(), bytes: cured.bytes, cured_of })
            }
            Verdict::GaveUp(cured) => NextStep::Different(format!("{} even when cured", cured.reason)),
            Verdict::Different(what) => NextStep::Different(what),
        }
    }
}

/// Checks that the reference program opens files that the engine calls sessions, with all entries.
pub fn opens_all<'f>(folder: &Path, files: impl Iterator<Item = &'f [u8]>) -> Result<usize, String> {
    let peer = Peer::find(folder)?;
    let files: Vec<(String, Vec<u8>)> =
        files.enumerate().map(|(number, bytes)| (format!("left {number}"), bytes.to_vec())).collect();
    let count = files.len();
    tally(&peer, files)?;
    Ok(count)
}

/// Lets the reference program and the engine append to one file at the same time.
fn side_by_side(peer: &Peer, count: usize) -> Result<usize, String> {
    let text = |error: session_tree::Error| error.to_string();
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = dir.path().join("s.jsonl");
    let mut session = Options::new().sync(SyncPolicy::Os).create(&path, "/w").map_err(text)?;
    session.append(Message::user("start")).map_err(text)?;
    // The older version writes nothing before there is an answer.
    session.append_message(&assistant("begun")).map_err(text)?;
    let mut theirs = peer.append_to(&path, count)?;
    let mut ours = Vec::new();
    while !theirs.is_done()? || ours.len() < count {
        ours.push(session.append(Message::user("ours")).map_err(text)?.to_string());
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
    tally(peer, vec![("the shared file".into(), bytes)])?;
    Ok(total)
}
