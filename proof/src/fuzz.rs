//! Odd input, a lot of it: session files and texts, drawn and then broken, thrown at whatever reads them.
//!
//! Runs on the pinned toolchain without a fuzzing engine: a seeded mutator that knows the format (`mutate`) starts
//! from the files of `testkit::mangle` and from the corpus in `proof/corpus`. A run is its part, seed and number, so a
//! failure can be seen again.

mod html;
mod mutate;
mod text;

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use offshoot_web::{ExportOptions, write_html, write_markdown};
use session_tree::json::{self, Doc, Kind};
use session_tree::{Message, Options, Session};
use testkit::clock::TickingClock;
use testkit::ids::CountingIds;
use testkit::mangle;
use testkit::rng::Rng;
use testkit::sim_fs::SimFs;

use crate::attempt::{attempt, sum_over, watched};
use crate::part::{Done, Outcome, Plan};

const PATH: &str = "/sessions/s.jsonl";
/// No input is so large that more than this is needed, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(10);
/// So many runs share one thread's turn.
const CHUNK: u64 = 500;

/// The files that inputs are made from.
pub struct Pool {
    files: Vec<Vec<u8>>,
}

impl Pool {
    /// Gathers the corpus and some drawn files that `is_wanted`.
    pub fn new(seed: u64, drawn: usize, is_wanted: impl Fn(&[u8]) -> bool) -> Self {
        let small = |bytes: &Vec<u8>| bytes.len() < 6_000 && is_wanted(bytes);
        let drawn = (0..).map(|index| mangle::file(seed, index).bytes).filter(small).take(drawn);
        Self { files: corpus().into_iter().filter(small).chain(drawn).collect() }
    }

    /// Draws the input with a number.
    fn input(&self, rng: &mut Rng) -> Vec<u8> {
        let (one, other) = (rng.pick(&self.files), rng.pick(&self.files));
        mutate::mutate(one, other, rng)
    }
}

/// The files that are kept because something was wrong with them once, or might be.
pub fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut paths: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| fs::read(path).ok()).collect()
}

/// Passes inputs to `look`, which returns true if it could use one.
fn throw(
    plan: &Plan,
    runs: u64,
    look: impl Fn(&mut Rng) -> Result<bool, String> + Sync,
) -> Result<u64, String> {
    watched(LIMIT, end_process, |watch| {
        sum_over(runs.div_ceil(CHUNK), |chunk| {
            let mut used = 0;
            for number in chunk * CHUNK..((chunk + 1) * CHUNK).min(runs) {
                let mut rng = Rng::new(plan.seed.wrapping_mul(0x9e37_79b9).wrapping_add(number));
                let name = format!("run {number} of seed {}", plan.seed);
                let is_used = watch.during(name, || attempt(|| look(&mut rng))).and_then(|result| result);
                used += u64::from(is_used.map_err(|reason| format!("run {number}: {reason}"))?);
            }
            Ok(used)
        })
    })
}

/// A thread that hangs cannot be ended; the process can.
#[allow(clippy::print_stderr, reason = "the last words of the process")]
fn end_process(what: &str) {
    eprintln!("BROKEN: {what} has not ended within {LIMIT:?}");
    std::process::exit(1);
}

/// Looks at an input; a complaint shows it.
fn told(bytes: &[u8], look: impl FnOnce(&[u8]) -> Result<bool, String>) -> Result<bool, String> {
    let result = attempt(|| look(bytes)).and_then(|result| result);
    result.map_err(|reason| format!("{reason}\n{}", bytes.escape_ascii().to_string().replace("\\n", "\n")))
}

/// Loads broken files: every byte sequence gives a tree and diagnostics, or is refused.
pub fn load(plan: &Plan) -> Outcome {
    let runs = plan.runs(600_000, 600_000_000);
    let pool = Pool::new(plan.seed, 600, |_| true);
    let read = throw(plan, runs, |rng| {
        let bytes = pool.input(rng);
        told(&bytes, |bytes| look_around(bytes, rng))
    })?;
    Ok(Done::new(runs, format!("broken files loaded, {read} of them still sessions")))
}

/// Loads a file and calls every reading method; returns true if it is a session.
fn look_around(bytes: &[u8], rng: &mut Rng) -> Result<bool, String> {
    let Ok(session) = Session::from_bytes(bytes.to_vec()) else { return Ok(false) };
    let tree = session.tree();
    let ordered = tree.ordered();
    for node in tree.nodes() {
        if tree.path(node).len() > tree.len() {
            return Err("a path is longer than the tree".into());
        }
    }
    if ordered.len() != tree.len() {
        return Err(format!("{} entries are shown instead of {}", ordered.len(), tree.len()));
    }
    session.context().map_err(|error| format!("no context: {error}"))?.to_request();
    let all: Vec<_> = tree.nodes().collect();
    if !all.is_empty() {
        let node = *rng.pick(&all);
        session
            .position_of(node)
            .and_then(|at| session.context_at(at))
            .map_err(|error| format!("no context: {error}"))?;
        let entry = session.entry_at(node).map_err(|error| format!("no entry: {error}"))?;
        let raw = entry.raw();
        if !raw.is_empty() && !bytes.windows(raw.len()).any(|window| window == raw) {
            return Err(format!("a line that is not in the file: {}", raw.escape_ascii()));
        }
    }
    if rng.below(8) == 0 {
        session.check().map_err(|error| format!("no check: {error}"))?;
    }
    Ok(true)
}

fn options(fs: &SimFs) -> Options {
    let ids = CountingIds::after(0xf000_0000);
    Options::new().file_system(Arc::new(fs.clone())).clock(TickingClock::default()).ids(ids)
}

fn disk(bytes: &[u8]) -> SimFs {
    let fs = SimFs::new();
    fs.put(PATH, bytes).expect("an empty disk takes a file");
    fs
}

/// Appends to broken files: the entry is found again, and no older byte is lost.
pub fn append(plan: &Plan) -> Outcome {
    let runs = plan.runs(120_000, 200_000_000);
    let pool = Pool::new(plan.seed ^ 1, 400, |_| true);
    let appended = throw(plan, runs, |rng| told(&pool.input(rng), append_to))?;
    Ok(Done::new(runs, format!("broken files opened for writing, {appended} appended to")))
}

fn append_to(bytes: &[u8]) -> Result<bool, String> {
    let fs = disk(bytes);
    let kept = || fs.paths().into_iter().any(|path| fs.bytes(path).is_some_and(|now| now.starts_with(bytes)));
    let opened = options(&fs).open(PATH);
    let result = opened.and_then(|mut session| {
        let above = session.leaf_id();
        session.append(Message::user("appended")).map(|id| (id, above))
    });
    // No session, a newer version.
    let Ok((id, above)) = result else { return refused(&fs, bytes) };
    if !kept() {
        return Err("older bytes are lost".into());
    }
    let found = options(&fs).open_read_only(PATH).map_err(|error| format!("cannot open again: {error}"))?;
    let tree = found.tree();
    let parent = tree.node(id.as_str()).and_then(|node| tree.parent(node)).map(|node| tree.id(node));
    if found.leaf_id().as_ref() != Some(&id) || parent != above {
        return Err(format!(
            "{id} hangs below {parent:?} instead of {above:?}, the leaf is {:?}",
            found.leaf_id()
        ));
    }
    Ok(true)
}

/// Checks that a refused file is unchanged.
fn refused(fs: &SimFs, bytes: &[u8]) -> Result<bool, String> {
    let is_untouched = fs.bytes(PATH).as_deref() == Some(bytes);
    if is_untouched { Ok(false) } else { Err("refused, but changed".into()) }
}

/// Migrates broken files of old versions: ids, contexts and lines that cannot be read stay, and so does the original.
pub fn migrate(plan: &Plan) -> Outcome {
    let runs = plan.runs(60_000, 100_000_000);
    let pool = old_files(plan.seed);
    let migrated = throw(plan, runs, |rng| told(&pool.input(rng), migrate_file))?;
    Ok(Done::new(runs, format!("broken old files, {migrated} of them migrated")))
}

fn old_files(seed: u64) -> Pool {
    Pool::new(seed ^ 2, 300, is_old)
}

fn is_old(bytes: &[u8]) -> bool {
    Session::from_bytes(bytes.to_vec()).is_ok_and(|session| session.header().version() < 3)
}

fn migrate_file(bytes: &[u8]) -> Result<bool, String> {
    let fs = disk(bytes);
    let Ok(mut session) = options(&fs).open(PATH) else { return refused(&fs, bytes) };
    let before = shown(&session)?;
    let kept = match session.migrate() {
        Ok(Some(kept)) => kept,
        // A damaged line of version 1 with an id in it means something else in version 3 (`Verify`).
        Ok(None) | Err(session_tree::Error::ReadOnly { .. } | session_tree::Error::Verify { .. }) => {
            return refused(&fs, bytes);
        }
        Err(error) => return Err(format!("cannot migrate: {error}")),
    };
    if fs.bytes(&kept).as_deref() != Some(bytes) {
        return Err("the original was not kept".into());
    }
    let after = fs.bytes(PATH).unwrap_or_default();
    let lines: HashSet<&[u8]> = after.split(|byte| *byte == b'\n').collect();
    let is_bad = |line: &&[u8]| {
        // A byte order mark before the header is no part of it.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        !line.is_empty() && !matches!(json::validate(line), Ok(Kind::Object))
    };
    if let Some(lost) = bytes.split(|byte| *byte == b'\n').filter(is_bad).find(|line| !lines.contains(line)) {
        return Err(format!("a line that cannot be read is lost: {}", lost.escape_ascii()));
    }
    let messages_after = messages(&after);
    if let Some(lost) = messages(bytes).iter().find(|message| !messages_after.contains(*message)) {
        return Err(format!("the bytes of a message changed: {}", lost.escape_ascii()));
    }
    let found = options(&fs).open_read_only(PATH).map_err(|error| format!("cannot open again: {error}"))?;
    let after = shown(&found)?;
    // A torn line whose id can be read holds its place once it has an end, and with it a compaction its first kept entry.
    let is_same = if bytes.ends_with(b"\n") { after == before } else { after.0 == before.0 };
    if is_same { Ok(true) } else { Err(format!("{before:?} became {after:?}")) }
}

/// The bytes of all messages of a file; those of hooks get another role by a migration and are left out.
fn messages(bytes: &[u8]) -> HashSet<Vec<u8>> {
    let message = |line: &[u8]| {
        let doc = Doc::parse(line).ok()?;
        let message = doc.root().get("message")?;
        let is_of_hook = message.get("role").is_some_and(|role| role.is_str("hookMessage"));
        (!is_of_hook).then(|| message.raw().to_vec())
    };
    bytes.split(|byte| *byte == b'\n').filter_map(message).collect()
}

/// The ids, the leaf and the texts of the context.
type Shown = (Vec<String>, Option<String>, Vec<String>);

/// Says what a session shows. Whether a damaged line shows, as a parent too, depends on whether opening had to look
/// into it.
fn shown(session: &Session) -> Result<Shown, String> {
    let mut entries = Vec::new();
    for entry in session.entries() {
        let entry = entry.map_err(|error| format!("no entry: {error}"))?;
        if !entry.is_placeholder() {
            entries.push(entry.id().to_string());
        }
    }
    let context = session.context().map_err(|error| format!("no context: {error}"))?;
    let texts = context.messages().map(|message| message.text().into_owned()).collect();
    Ok((entries, session.leaf_id().map(|id| id.to_string()), texts))
}

/// Cleans hostile texts: what comes out holds nothing that a terminal would obey.
pub fn terminal(plan: &Plan) -> Outcome {
    let runs = plan.runs(300_000, 500_000_000);
    throw(plan, runs, |rng| text::clean_one(rng).map(|()| true))?;
    Ok(Done::new(runs, "hostile texts cleaned for a terminal"))
}

/// Exports sessions full of hostile texts: no element, attribute or address of theirs reaches the page.
pub fn page(plan: &Plan) -> Outcome {
    let runs = plan.runs(3_000, 20_000_000);
    let exported = throw(plan, runs, |rng| export_one(&text::hostile_session(rng)))?;
    Ok(Done::new(exported, "sessions of hostile texts exported as pages and as Markdown"))
}

fn export_one(bytes: &[u8]) -> Result<bool, String> {
    let session = Session::from_bytes(bytes.to_vec()).map_err(|error| format!("not a session: {error}"))?;
    let options = ExportOptions { packed: Some(false), ..ExportOptions::default() };
    let (mut page, mut plain) = (Vec::new(), Vec::new());
    write_html(&session, &options, &mut page, &mut |_, _| {}).map_err(|error| format!("no page: {error}"))?;
    write_markdown(&session, &options, &mut plain, &mut |_, _| {})
        .map_err(|error| format!("no text: {error}"))?;
    html::check(&page).map(|()| true)
}
