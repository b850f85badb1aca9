//! Sizes: sessions of a million entries in every shape, a line of 200 megabytes, ten thousand files; and growth.
//!
//! Everything runs on a thread with a stack of 256 KiB, so that a walk that recurses dies. Growth is a guard against
//! quadratic steps, in CPU time: a hundred times as many entries take about a hundred times as long, with a quadratic
//! step ten thousand times. How long anything takes is measured in `benches`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::thread;

use offshoot_web::{ExportOptions, write_html, write_markdown};
use rustix::time::{ClockId, clock_gettime};
use session_tree::{Catalog, Destination, Options, Position, Session};
use session_view::{Outline, OutlineOptions};
use tempfile::TempDir;

use crate::part::{Done, Outcome, Plan};

/// So much a walk may use.
const STACK: usize = 256 << 10;
/// So many times as long a hundred times as much may take: caches that no longer hold everything cost a factor.
const MOST: f64 = 400.0;

/// No line is made longer than this.
const LONGEST: u64 = 1 << 30;

/// Returns the parent of the entry with a number.
type Shape = fn(u64) -> Option<u64>;

/// The shape in which every walk goes deepest.
const DEEPEST: &str = "chain";

const SHAPES: [(&str, Shape); 3] = [
    (DEEPEST, |number| number.checked_sub(1)),
    ("star", |number| (number > 0).then_some(0)),
    ("comb", |number| number.checked_sub(1 + number % 2)),
];

/// Opens what is large, walks it and lets it go.
pub fn sizes(plan: &Plan) -> Outcome {
    let entries = plan.runs(1_000_000, 10_000_000);
    let dir = tempfile::tempdir().map_err(text)?;
    for (name, shape) in SHAPES {
        let path = write_session(&dir, name, entries, shape)?;
        on_a_small_stack(|| walk(&path, entries)).map_err(|reason| format!("{name}: {reason}"))?;
        if name == DEEPEST {
            on_a_small_stack(|| export(&Session::open_read_only(&path).map_err(text)?))?;
        }
        std::fs::remove_file(&path).map_err(text)?;
    }
    let (bytes, files) = ((entries * 200).min(LONGEST), entries / 100);
    on_a_small_stack(|| long_line(&dir, bytes))?;
    on_a_small_stack(|| many_files(&dir, files))?;
    let what = format!("entries in three shapes, a line of {} MB, {files} files", bytes / 1_000_000);
    Ok(Done::new(entries, what))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn on_a_small_stack<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).map_err(text)?;
        thread.join().unwrap_or_else(|_| Err("the thread died".into()))
    })
}

fn write_session(
    dir: &TempDir,
    name: &str,
    entries: u64,
    shape: Shape,
) -> Result<std::path::PathBuf, String> {
    let path = dir.path().join(format!("{name}-{entries}.jsonl"));
    let mut out = BufWriter::new(File::create(&path).map_err(text)?);
    let time = "2025-01-01T00:00:00.000Z";
    writeln!(out, r#"{{"type":"session","version":3,"id":"s","timestamp":"{time}","cwd":"/w"}}"#)
        .map_err(text)?;
    for number in 0..entries {
        let parent = shape(number).map_or("null".into(), |parent| format!("\"{parent:08x}\""));
        writeln!(
            out,
            r#"{{"type":"message","id":"{number:08x}","parentId":{parent},"timestamp":"{time}","message":{{"role":"user","content":"entry {number}"}}}}"#
        )
        .map_err(text)?;
    }
    out.flush().map_err(text)?;
    Ok(path)
}

/// Walks over a session.
fn walk(path: &Path, entries: u64) -> Result<(), String> {
    let session = Session::open_read_only(path).map_err(text)?;
    let tree = session.tree();
    let shown = tree.ordered().len() as u64;
    if tree.len() as u64 != entries || shown != entries {
        return Err(format!("{} entries and {shown} rows instead of {entries}", tree.len()));
    }
    let path = session.branch_path(Position::Leaf).len();
    let messages = session.context().map_err(text)?.items.len();
    if path != messages {
        return Err(format!("{messages} messages on a path of {path}"));
    }
    search(&session)?;
    let report = session.check().map_err(text)?;
    session.plan_repair(&report);
    let leaf = session.leaf_id().ok_or("no leaf")?;
    let fork = session.create_branched_session(leaf.as_str(), Destination::Memory, Options::new());
    let copied = fork.map_err(text)?.tree().len();
    if copied == path { Ok(()) } else { Err(format!("a fork of {copied} entries from a path of {path}")) }
}

fn search(session: &Session) -> Result<(), String> {
    let mut outline = Outline::new(session, OutlineOptions::default());
    outline.set_query(session, "entry 77").and_then(|_| outline.search_all(session)).map(drop).map_err(text)
}

/// Exports a session as a page and as Markdown.
fn export(session: &Session) -> Result<(), String> {
    let (options, out) = (ExportOptions::default(), &mut std::io::sink());
    write_html(session, &options, out, &mut |_, _| {}).map_err(text)?;
    write_markdown(session, &options, out, &mut |_, _| {}).map(drop).map_err(text)
}

fn long_line(dir: &TempDir, bytes: u64) -> Result<(), String> {
    let path = write_session(dir, "line", 3, |number| number.checked_sub(1))?;
    let mut out = BufWriter::new(File::options().append(true).open(&path).map_err(text)?);
    write!(
        out,
        r#"{{"type":"message","id":"long","parentId":"00000002","timestamp":"2025-01-01T00:00:00.000Z","message":{{"role":"user","content":""#
    )
    .map_err(text)?;
    for _ in 0..bytes / 1024 {
        out.write_all(&[b'x'; 1024]).map_err(text)?;
    }
    out.write_all(b"\"}}\n").and_then(|()| out.flush()).map_err(text)?;
    let session = Session::open_read_only(&path).map_err(text)?;
    let context = session.context().map_err(text)?;
    let said = context.messages().last().map_or(0, |message| message.text().len() as u64);
    std::fs::remove_file(&path).map_err(text)?;
    let expected = bytes / 1024 * 1024;
    if said == expected {
        Ok(())
    } else {
        Err(format!("{said} of {expected} bytes of a long line are there"))
    }
}

fn many_files(dir: &TempDir, count: u64) -> Result<(), String> {
    let folder = dir.path().join("many");
    std::fs::create_dir(&folder).map_err(text)?;
    for number in 0..count {
        let bytes = testkit::drawing::session_text("a user hello\nb<a assistant hi");
        std::fs::write(folder.join(format!("{number}.jsonl")), bytes).map_err(text)?;
    }
    let rows = Catalog::new(&folder).flat().list_all().rows().len() as u64;
    if rows == count { Ok(()) } else { Err(format!("{rows} of {count} files are listed")) }
}

/// Compares the time for many entries with the time for a hundredth of them.
pub fn growth(plan: &Plan) -> Outcome {
    let many = plan.runs(200_000, 1_000_000);
    let dir = tempfile::tempdir().map_err(text)?;
    let chain = SHAPES[0].1;
    let (small, large) =
        (write_session(&dir, "small", many / 100, chain)?, write_session(&dir, "large", many, chain)?);
    let mut ratios = Vec::new();
    for (name, work) in WORK {
        ratios.push(ratio(name, (&small, &large), work)?);
    }
    let damaged = (write_damaged(&dir, many / 100)?, write_damaged(&dir, many)?);
    ratios.push(ratio("load damaged", (&damaged.0, &damaged.1), |_| Ok(()))?);
    Ok(Done::new(many, format!("entries against a hundredth of them, times as long: {}", ratios.join(", "))))
}

/// Tells how many times as long some work took with the large session.
fn ratio(name: &str, (small, large): (&Path, &Path), work: Work) -> Result<String, String> {
    let ratio = on_a_small_stack(|| Ok(best(large, work, 2)? / best(small, work, 10)?))?;
    if ratio > MOST {
        return Err(format!("{name} of a hundred times as many entries took {ratio:.0} times as long"));
    }
    Ok(format!("{name} {ratio:.0}"))
}

/// Writes a session in which ids are repeated and taken back, and entries hang below lines that were cut off.
fn write_damaged(dir: &TempDir, lines: u64) -> Result<std::path::PathBuf, String> {
    let path = write_session(dir, &format!("damaged-of-{lines}"), 1, SHAPES[0].1)?;
    let mut out = BufWriter::new(File::options().append(true).open(&path).map_err(text)?);
    for number in 1..=lines / 5 {
        let entry = |id: String, parent: String, what: &str| {
            format!(
                r#"{{"type":"custom","id":"{id}","parentId":"{parent}","timestamp":"2025-01-01T00:00:00.000Z","customType":"{what}""#
            )
        };
        let (whole, root) = (format!("{number:08x}"), || "00000000".to_owned());
        let cut = format!("{:08x}", number + (1 << 31));
        writeln!(out, "{}}}", entry(whole.clone(), root(), "first")).map_err(text)?;
        writeln!(out, "{}}}", entry(whole.clone(), root(), "second")).map_err(text)?;
        writeln!(out, "{}}}", entry(whole, root(), "session-tree.withdrawn")).map_err(text)?;
        writeln!(out, "{}", entry(cut.clone(), root(), "cut off")).map_err(text)?;
        writeln!(out, "{}}}", entry(format!("{:08x}", number + (1 << 30)), cut, "below")).map_err(text)?;
    }
    out.flush().map_err(text)?;
    Ok(path)
}

/// One measured operation.
type Work = fn(&Session) -> Result<(), String>;

const WORK: [(&str, Work); 5] = [
    ("load", |_| Ok(())),
    ("context", |session| session.context().map(drop).map_err(text)),
    ("tree", |session| {
        session.tree().ordered();
        Ok(())
    }),
    ("search", search),
    ("export", export),
];

/// The least CPU time that opening a session and some work on it took.
fn best(path: &Path, work: Work, runs: usize) -> Result<f64, String> {
    let mut least = f64::INFINITY;
    for _ in 0..runs {
        let before = cpu();
        work(&Session::open_read_only(path).map_err(text)?)?;
        least = least.min(cpu() - before);
    }
    Ok(least)
}

fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
