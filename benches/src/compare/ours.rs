//! Ours: the steps that the peers are asked for, in this process, and the references that physics sets.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use offshoot_tui::keys::{Action, Input};
use session_tree::{Catalog, Message, Options, Position, Session, SyncPolicy};

use crate::Failure;
use crate::clock::{best, cpu_of, program, wc, whole_program};
use crate::files::Files;
use crate::rows::{append, context, export, fork, peak_memory_of, program as offshoot, selector, tree};

const APPENDS: u32 = 50;

/// A time of ours, and the name and time of its reference.
type Timed = (Duration, (&'static str, Duration));

/// CPU times by step.
pub(super) struct Steps(HashMap<&'static str, Duration>);

impl Steps {
    pub(super) fn get(&self, step: &str) -> Option<Duration> {
        self.0.get(step).copied()
    }
}

/// The CPU time until the version is printed.
pub(super) fn start() -> Result<Duration, Failure> {
    let program = offshoot::program()?;
    best(7, || whole_program(Command::new(&program).arg("--version")))
}

/// The CPU times of listing a directory of sessions for the first time and, from the cache, again, each with what the
/// machine needs for it: to read all files, and to look at each.
pub(super) fn list(files: &Files, directory: &Path) -> Result<[Timed; 2], Failure> {
    let paths: Vec<_> =
        fs::read_dir(directory)?.map(|file| Ok(file?.path())).collect::<Result<_, Failure>>()?;
    let catalog = Catalog::new(directory).flat();
    let first = cpu_of(|| Ok(catalog.list_all().rows()))?;
    let cached = catalog.cache_file(files.scratch("catalog"));
    drop(cached.list_all().rows());
    let again = best(3, || cpu_of(|| Ok(cached.list_all().rows())))?;
    let cat = best(3, || program(Command::new("cat").args(&paths), None))?;
    let stat = best(3, || program(Command::new("stat").args(["-c", "%s"]).args(&paths), None))?;
    Ok([(first, ("cat", cat)), (again, ("stat", stat))])
}

/// The wall times of an append that is on the disk when it returns, and of a bare `write` and `fdatasync`.
pub(super) fn durable_append(files: &Files) -> Result<(Duration, Duration), Failure> {
    let copy = files.copy(&files.realistic(1_000)?, "synced.jsonl")?;
    append::pairs(files, &copy, SyncPolicy::Always, append::PAIRS)
}

/// Does all steps on copies of a file.
pub(super) fn steps(files: &Files, file: &Path, runs: usize) -> Result<Steps, Failure> {
    let mut times = HashMap::new();
    times.insert("open", best(runs, || cpu_of(|| Ok(Session::open_read_only(file)?)))?);
    times.insert("context", best(runs, || context::first_time(file))?);
    let session = Session::open_read_only(file)?;
    times.insert("tree", best(runs, || cpu_of(|| Ok(tree::ordered_with_labels(&session))))?);
    times.insert("view", best(runs, || cpu_of(|| selector::first_frame(&session)))?);
    times.insert("key", best(runs, || keys(&session))?);
    times.insert("search", selector::slowest(runs, &session, &[Input::Char('f')])?);
    let leaf = session.leaf_id().ok_or("no leaf")?;
    times.insert("fork", best(runs, || fork::fork(files, &session, leaf.as_str()))?);
    times.insert("export", best(1, || page(files, file))?);
    drop(session);
    let copy = files.copy(file, "ours.jsonl")?;
    let mut session = Options::new().sync(SyncPolicy::Os).open(&copy)?;
    times.insert("branch", best(runs, || branch(&mut session))?);
    times.insert("append", best(runs, || append(&mut session))?);
    fs::remove_file(copy)?;
    Ok(Steps(times))
}

/// Goes back to the middle of the path and makes the context there; then forth again.
fn branch(session: &mut Session) -> Result<Duration, Failure> {
    let path = session.branch_path(Position::Leaf);
    let id =
        |node: Option<&session_tree::Node>| node.map(|node| session.tree().id(*node)).ok_or("no entries");
    let (middle, leaf) = (id(path.get(path.len() / 2))?, id(path.last())?);
    let time = cpu_of(|| {
        session.branch(middle.as_str())?;
        Ok(session.context()?)
    })?;
    session.branch(leaf.as_str())?;
    Ok(time)
}

fn append(session: &mut Session) -> Result<Duration, Failure> {
    let text = "x".repeat(200);
    let time = cpu_of(|| {
        for _ in 0..APPENDS {
            session.append(Message::user(&text))?;
        }
        Ok(())
    })?;
    Ok(time / APPENDS)
}

/// The mean of four keys that move, each with its frame.
fn keys(session: &Session) -> Result<Duration, Failure> {
    let keys = [Action::SelectUp, Action::SelectUp, Action::SelectDown, Action::SelectUp];
    let mut shown = selector::first_frame(session)?;
    let time = cpu_of(|| {
        keys.into_iter().for_each(|key| shown.press(session, &Input::Action(key)));
        Ok(())
    })?;
    Ok(time / 4)
}

fn page(files: &Files, file: &Path) -> Result<Duration, Failure> {
    let page = files.scratch("page.html");
    let time = cpu_of(|| export::export(file, &page))?;
    fs::remove_file(page)?;
    Ok(time)
}

/// The most memory of a process that opens a file and makes its context.
pub(super) fn memory(file: &Path) -> Result<u64, Failure> {
    peak_memory_of("context", file)
}

/// The time that the machine needs for the bytes alone, by step.
pub(super) fn references(
    files: &Files,
    file: &Path,
) -> Result<HashMap<&'static str, (&'static str, Duration)>, Failure> {
    let copy = files.scratch("copied");
    let cat = best(3, || program(Command::new("cat").arg(file), Some(File::create(&copy)?)))?;
    fs::remove_file(copy)?;
    Ok(HashMap::from([
        ("open", ("wc -l", best(3, || wc(file))?)),
        ("append", ("write", bare_write(files)?)),
        ("fork", ("cat, whole file", cat)),
        ("export", ("cat, whole file", cat)),
    ]))
}

fn bare_write(files: &Files) -> Result<Duration, Failure> {
    let mut file = File::create(files.scratch("bare"))?;
    let line = [b'x'; 350];
    let time = best(7, || {
        cpu_of(|| {
            for _ in 0..APPENDS {
                file.write_all(&line)?;
            }
            Ok(())
        })
    })?;
    Ok(time / APPENDS)
}
