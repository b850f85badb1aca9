//! Theirs: the steps that every peer is asked for, on copies of a file.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::{EXPORT, STEPS};
use crate::Failure;
use crate::clock::{best, whole_program};
use crate::files::Files;
use crate::peer::{Answers, Peer, PeerRequest};

/// The times of a peer for all steps on one file.
pub(super) struct Theirs {
    answers: Answers,
    export: Option<Duration>,
}

impl Theirs {
    /// Asks for all steps.
    pub(super) fn of(peer: &Peer, files: &Files, file: &Path, runs: usize) -> Result<Self, Failure> {
        let directory = files.scratch("peer");
        fs::create_dir_all(&directory)?;
        let copy = directory.join("session.jsonl");
        fs::copy(file, &copy)?;
        let steps: Vec<&str> = STEPS.iter().map(|(step, _)| *step).filter(|step| *step != EXPORT).collect();
        let answers = ask(peer, files, &copy, runs, &steps);
        fs::copy(file, &copy)?;
        let mut export = peer.export(&copy, &directory.join("page.html"), &directory);
        let export = whole_program(export.current_dir(&directory)).ok();
        // Forks and pages lie beside the copy.
        fs::remove_dir_all(directory)?;
        Ok(Self { answers, export })
    }

    /// The CPU time of a step.
    pub(super) fn time(&self, step: &str) -> Option<Duration> {
        if step == EXPORT { self.export } else { self.answers.time(step) }
    }
}

/// The CPU time until its version is printed; none if that fails.
pub(super) fn start(peer: &Peer) -> Option<Duration> {
    best(3, || whole_program(&mut peer.version())).ok()
}

/// The CPU times of listing a directory of sessions, for the first time in a process and again.
pub(super) fn list(peer: &Peer, files: &Files, directory: &Path) -> [Option<Duration>; 2] {
    let steps = ["list", "listAgain"];
    let answers = ask(peer, files, directory, 3, &steps);
    steps.map(|step| answers.time(step))
}

/// The most memory of a process that opens a file and makes its context.
pub(super) fn memory(peer: &Peer, files: &Files, file: &Path) -> Option<u64> {
    let answers = ask(peer, files, file, 1, &["open", "context"]);
    answers.time("context").and(answers.memory())
}

fn ask(peer: &Peer, files: &Files, file: &Path, runs: usize, steps: &[&str]) -> Answers {
    peer.ask(files, &PeerRequest { file, runs, steps, ids: "" }).unwrap_or_else(|error| {
        eprintln!("{error}");
        Answers::default()
    })
}
