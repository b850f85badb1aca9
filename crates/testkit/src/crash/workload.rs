//! Workloads: a few things done to a session, and a record of what was promised when.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use session_tree::fs::Fs;
use session_tree::{
    Body, Destination, Draft, Message, NewBranchSummary, Options, Position, Result, Session, SyncPolicy,
    Timestamp,
};

use crate::clock::TickingClock;
use crate::drawing::{entry_lines, session_text};
use crate::ids::CountingIds;
use crate::rng::Rng;
use crate::sim_fs::SimFs;

/// The file that every workload works on.
pub const PATH: &str = "/home/sessions/s.jsonl";

/// The files before the first step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Nothing but the directory.
    Fresh,
    /// A session with two branches.
    Existing,
    /// A session whose last line broke off.
    TornTail,
    /// A session whose last line is whole but has no line feed.
    NoLineFeed,
    /// A session with a bad line on the way to its leaf.
    Damaged,
    /// A session of version 1, which the first append migrates.
    VersionOne,
}

/// Every start.
pub const STARTS: [Start; 6] =
    [Start::Fresh, Start::Existing, Start::TornTail, Start::NoLineFeed, Start::Damaged, Start::VersionOne];

/// One thing done to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A prompt of so many characters.
    Prompt(usize),
    /// A long answer of a model.
    Answer(usize),
    /// So many entries with one write.
    Batch(usize),
    /// Goes to an earlier entry and makes that position durable.
    Mark,
    /// Goes to an earlier entry with a summary of what is left behind.
    Summary,
    /// Names an entry.
    Label,
    /// Names the session.
    Name,
    /// Changes the model.
    Model,
    /// Makes everything before it durable.
    Sync,
    /// Copies the path of an entry into a new session.
    Fork,
    /// Writes the session in the current version.
    Migrate,
    /// Repairs what a check finds.
    Repair,
    /// Closes the session and opens it again.
    Reopen,
    /// Another program appends a line without taking the lock.
    Stranger,
    /// Another session appends to the same file.
    OtherWriter,
}

/// One workload.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The files before the first step.
    pub start: Start,
    /// The steps.
    pub steps: Vec<Step>,
    /// The seed of all choices.
    pub seed: u64,
}

impl Workload {
    /// Draws a workload of 3 to 12 steps.
    pub fn drawn(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let start = *rng.pick(&STARTS);
        let count = rng.range(3, 12);
        let mut steps: Vec<Step> = (0..count).map(|_| drawn_step(&mut rng)).collect();
        // Whatever came before, a session exists at the end and says that it is safe.
        steps.extend([Step::Prompt(20), Step::Sync]);
        Self { start, steps, seed }
    }

    /// Puts the files there that the workload starts with.
    pub fn set_up(&self, fs: &SimFs) {
        set_up(fs, self.start);
    }
}

fn drawn_step(rng: &mut Rng) -> Step {
    match rng.below(24) {
        0..5 => Step::Prompt(rng.range(1, 120) as usize),
        5..8 => Step::Answer(rng.range(1, 600) as usize),
        8..10 => Step::Batch(rng.range(2, 4) as usize),
        10 => Step::Mark,
        11 => Step::Summary,
        12 => Step::Label,
        13 => Step::Name,
        14 => Step::Model,
        15..17 => Step::Sync,
        17 => Step::Reopen,
        18 => Step::Stranger,
        19 => Step::Migrate,
        20 => Step::Repair,
        21..23 => Step::Fork,
        _ => Step::OtherWriter,
    }
}

/// Puts the files of a start there.
pub fn set_up(fs: &SimFs, start: Start) {
    fs.put_dir(Path::new(PATH).parent().unwrap()).unwrap();
    let mut text = session_text(
        "a user hello
         b<a assistant hi
         c<b user try A
         d<b user try B",
    );
    match start {
        Start::Fresh => {}
        Start::Existing => fs.put(PATH, &text).unwrap(),
        Start::TornTail => fs.put(PATH, &text[..text.len() - 30]).unwrap(),
        Start::NoLineFeed => {
            text.pop();
            fs.put(PATH, &text).unwrap();
        }
        Start::Damaged => fs.put(PATH, &damaged()).unwrap(),
        Start::VersionOne => fs.put(PATH, version_one().as_bytes()).unwrap(),
    }
    fs.forget_history();
}

fn damaged() -> Vec<u8> {
    session_text(
        r#"a user hello
           ! {"type":"message","id":"b","parentId":"a","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"as
           c<b user go on"#,
    )
}

fn version_one() -> String {
    let time = "2025-01-01T00:00:00.000Z";
    let header = json!({"type": "session", "id": "old", "timestamp": time, "cwd": "/w"});
    let message = |text: &str| json!({"type": "message", "timestamp": time, "message": {"role": "user", "content": text}});
    format!("{header}\n{}\nnot a line\n{}\n", message("one"), message("two"))
}

/// A line that was written, or tried to be.
#[derive(Debug)]
pub struct Line {
    /// The id of the entry.
    pub id: String,
    /// The id of its parent.
    pub parent: Option<String>,
    /// When the call returned that wrote it; from there on it survives the death of the process.
    pub written_at: Option<usize>,
    /// When the session first said that it is safe; from there on it survives a power cut.
    pub durable_at: Option<usize>,
    /// Others wrote it; this session promises nothing about it.
    foreign: bool,
}

/// The record of a workload: its entries and the promises made.
#[derive(Debug, Default)]
pub struct Record {
    /// The lines in file order.
    pub lines: Vec<Line>,
    /// The position in `lines` of each spelling of a line.
    pub by_bytes: HashMap<Vec<u8>, usize>,
    positions: HashMap<String, usize>,
    /// The forks that were made.
    pub forks: Vec<Fork>,
}

/// A session that was made of another one.
#[derive(Debug, Clone)]
pub struct Fork {
    /// The path of the file.
    pub path: String,
    /// The content of the file.
    pub bytes: Vec<u8>,
    /// When the call returned that made it.
    pub made_at: usize,
}

impl Record {
    /// Takes in the lines of a file as a session understands them.
    fn take(&mut self, session: &Session, foreign: bool) {
        for entry in session.entries() {
            let entry = entry.unwrap();
            if matches!(entry.body(), Body::Placeholder) {
                continue;
            }
            let id = entry.id().to_string();
            let next = self.lines.len();
            let position = *self.positions.entry(id.clone()).or_insert(next);
            if position == next {
                let parent = entry.parent_id().map(ToString::to_string);
                self.lines.push(Line { id, parent, written_at: None, durable_at: None, foreign });
            }
            self.by_bytes.insert(entry.raw().to_vec(), position);
        }
    }

    fn note_written(&mut self, now: usize) {
        for line in &mut self.lines {
            line.written_at.get_or_insert(now);
        }
    }

    fn note_durable(&mut self, now: usize) {
        for line in self.lines.iter_mut().filter(|line| !line.foreign) {
            line.durable_at.get_or_insert(now);
        }
    }
}

/// Opens sessions on one disk, each with different ids.
pub struct Opener {
    fs: SimFs,
    /// The disk as the engine sees it.
    seen: Arc<dyn Fs>,
    policy: SyncPolicy,
    forks: Vec<Fork>,
    opened: u64,
}

impl Opener {
    /// Makes an opener for a disk that the engine sees as it is.
    pub fn new(fs: &SimFs, policy: SyncPolicy) -> Self {
        Self::through(fs, Arc::new(fs.clone()), policy)
    }

    /// Makes an opener for a disk that the engine sees through something else.
    pub fn through(fs: &SimFs, seen: Arc<dyn Fs>, policy: SyncPolicy) -> Self {
        Self { fs: fs.clone(), seen, policy, forks: Vec::new(), opened: 0 }
    }

    fn options(&mut self) -> Options {
        self.opened += 1;
        // Forty milliseconds a step: now and then a second passes between two syncs.
        let start = Timestamp::from_millis(1_735_700_000_000 + 10_000 * self.opened as i64);
        Options::new()
            .file_system(self.seen.clone())
            .sync(self.policy)
            .clock(TickingClock::new(start, 140))
            .ids(CountingIds::after(0x1000 * self.opened))
    }

    /// Opens the session of the workload, or begins it.
    pub fn open_or_create(&mut self) -> Result<Session> {
        self.options().open_or_create(PATH, "/w")
    }
}

/// Runs a workload on a disk; every call has to succeed.
pub fn run(workload: &Workload, policy: SyncPolicy, fs: &SimFs) -> Record {
    run_through(workload, policy, fs, Arc::new(fs.clone()))
}

/// Runs a workload on a disk that the engine sees through `seen`.
pub fn run_through(workload: &Workload, policy: SyncPolicy, fs: &SimFs, seen: Arc<dyn Fs>) -> Record {
    workload.set_up(fs);
    let mut rng = Rng::new(workload.seed ^ 0x5eed);
    let mut opener = Opener::through(fs, seen, policy);
    let mut session = opener.open_or_create().unwrap();
    let mut record = Record::default();
    if session.is_saved() {
        record.take(&session, false);
        record.note_written(0);
        record.note_durable(0);
    }
    if let (Start::NoLineFeed, Some(last)) = (workload.start, record.lines.last_mut()) {
        // A line without line feed was never reported as durable.
        last.durable_at = None;
        last.foreign = true;
    }
    for step in &workload.steps {
        perform(*step, &mut session, &mut opener, &mut rng).unwrap();
        if !session.is_saved() {
            continue;
        }
        let now = fs.op_count();
        // Read as a stranger would, so that lines of others are known too.
        let found = Options::new().file_system(Arc::new(fs.clone())).open_read_only(PATH).unwrap();
        record.take(&found, matches!(step, Step::Stranger | Step::OtherWriter));
        record.note_written(now);
        if session.is_durable() {
            record.note_durable(now);
        }
    }
    record.forks = opener.forks;
    record
}

/// Does one step.
pub fn perform(step: Step, session: &mut Session, opener: &mut Opener, rng: &mut Rng) -> Result<()> {
    match step {
        Step::Prompt(length) => session.append_message(&user(&"p".repeat(length))).map(drop),
        Step::Answer(length) => session.append_message(&assistant(&"a".repeat(length))).map(drop),
        Step::Batch(count) => {
            let drafts = (0..count).map(|number| Draft::message(&user(&format!("batch {number}"))));
            session.append_batch(&drafts.collect::<Result<Vec<_>>>()?).map(drop)
        }
        Step::Mark => {
            go_back(session, rng);
            session.mark_leaf().map(drop)
        }
        Step::Summary => {
            let target = some_entry(session, rng);
            let summary =
                NewBranchSummary { summary: "what was tried".into(), ..NewBranchSummary::default() };
            session.branch_with_summary(Position::entry_or_start(target), &summary).map(drop)
        }
        Step::Label => match some_entry(session, rng) {
            Some(target) => session.append_label_change(&target, Some("here")).map(drop),
            None => Ok(()),
        },
        Step::Name => session.append_session_info("a name").map(drop),
        Step::Model => session.append_model_change("prov", "mod").map(drop),
        Step::Sync => session.sync(),
        Step::Fork => fork(session, opener, rng),
        Step::Migrate => session.migrate().map(drop),
        Step::Repair => {
            let plan = session.plan_repair(&session.check()?);
            session.apply_repair(&plan).map(drop)
        }
        Step::Reopen => {
            if session.is_saved() {
                *session = opener.open_or_create()?;
            }
            Ok(())
        }
        Step::Stranger => {
            opener.opened += 1;
            let id = format!("stranger-{}", opener.opened);
            let line = String::from_utf8(entry_lines(&format!("{id} custom state"))).unwrap();
            if session.is_saved() && takes_lines_of_strangers(&opener.fs) {
                opener.fs.append_as_other(PATH, line.as_bytes()).unwrap();
            }
            Ok(())
        }
        Step::OtherWriter => {
            if session.is_saved() {
                opener.open_or_create()?.append_message(&user("from elsewhere"))?;
            }
            Ok(())
        }
    }
}

/// A stranger that glues its line to a torn one loses it, and one that writes ids into a file without them changes
/// its meaning; neither is our promise.
fn takes_lines_of_strangers(fs: &SimFs) -> bool {
    let bytes = fs.bytes(PATH).unwrap_or_default();
    let header = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    bytes.ends_with(b"\n") && String::from_utf8_lossy(header).contains("\"version\":3")
}

fn fork(session: &mut Session, opener: &mut Opener, rng: &mut Rng) -> Result<()> {
    let Some(target) = some_entry(session, rng).filter(|_| session.is_saved()) else { return Ok(()) };
    let options = opener.options();
    let path = format!("/home/sessions/fork-{}.jsonl", opener.opened);
    let fork = session.create_branched_session(&target, Destination::File(path.clone().into()), options)?;
    if fork.is_saved() {
        let bytes = opener.fs.bytes(&path).unwrap();
        opener.forks.push(Fork { path, bytes, made_at: opener.fs.op_count() });
    }
    Ok(())
}

fn go_back(session: &mut Session, rng: &mut Rng) {
    match some_entry(session, rng) {
        Some(target) => session.branch(&target).unwrap(),
        None => session.reset_leaf(),
    }
}

fn some_entry(session: &Session, rng: &mut Rng) -> Option<String> {
    let nodes: Vec<_> = session.tree().nodes().collect();
    if nodes.is_empty() { None } else { Some(session.tree().id(*rng.pick(&nodes)).to_string()) }
}

/// A prompt.
pub fn user(text: &str) -> Message {
    Message::user(text).with_time(Timestamp::from_millis(0))
}

/// An answer of a model.
pub fn assistant(text: &str) -> Message {
    let message = json!({"role": "assistant", "content": [{"type": "text", "text": text}], "api": "api",
        "provider": "prov", "model": "mod", "stopReason": "stop", "timestamp": 0});
    Message::from_serialize(&message).unwrap()
}

/// The path of the file, and of what lies beside it.
pub fn path() -> PathBuf {
    PATH.into()
}
