//! The program, from its start to its end, against the time that pi needs to print its version.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Bench, NEEDS_PEER};
use crate::table::Line;
use crate::{Failure, clock};

/// How much faster than `pi --version` a command must be.
const BAR: f64 = 10.0;

/// Measures whole processes on a session of 10,000 entries, without any cache.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let file = bench.files.realistic(10_000)?;
    let directory = bench.files.scratch("one-session");
    fs::create_dir_all(&directory)?;
    fs::copy(&file, directory.join("session.jsonl"))?;
    let session = file.to_string_lossy().into_owned();
    let place = directory.to_string_lossy().into_owned();
    let commands: [(&str, Vec<&str>); 4] = [
        ("offshoot --version", vec!["--version"]),
        ("offshoot tree, 10k entries", vec!["tree", &session]),
        ("offshoot context, 10k entries", vec!["context", &session]),
        (
            "offshoot sessions, in a directory that holds it",
            vec!["sessions", "--all", "--session-dir", &place],
        ),
    ];
    let program = program()?;
    commands.iter().map(|(work, arguments)| line(bench, &program, work, arguments)).collect()
}

fn line(bench: &Bench<'_>, program: &Path, work: &str, arguments: &[&str]) -> Result<Line, Failure> {
    let Some(peer) = &bench.peer else { return Ok(Line::skipped(work, NEEDS_PEER)) };
    let ours = || {
        let mut command = Command::new(program);
        clock::whole_program(command.args(arguments).env("OFFSHOOT_NO_CACHE", "1"))
    };
    let (ours, theirs) =
        clock::best_of_pairs(bench.runs, ours, || clock::whole_program(&mut peer.version()))?;
    Ok(Line::gain(work, ours, ("pi --version", theirs), BAR))
}

/// The program as `cargo build --profile dist` makes it, beside this one.
pub(crate) fn program() -> Result<PathBuf, Failure> {
    let path = std::env::current_exe()?.with_file_name("offshoot");
    if path.is_file() {
        return Ok(path);
    }
    Err("build the program first: cargo build --profile dist".into())
}
