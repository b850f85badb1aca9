//! The peers: where each is installed, how it is started, and how it is asked.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{EXPORT, STEPS};
use crate::Failure;
use crate::clock::{best, whole_program};
use crate::files::Files;
use crate::peer::{PACKAGE, PROGRAM, Peer};

/// The script, part of this program so that it can be moved.
const SCRIPT: &str = include_str!("../../peer/compare.mjs");

/// A peer.
pub(super) struct Program {
    pub(super) name: &'static str,
    /// How the script knows it.
    kind: &'static str,
    runtime: PathBuf,
    package: PathBuf,
    /// The program, below the package.
    cli: &'static str,
    /// What other programs import, below the package.
    entry: &'static str,
}

/// What a peer answered, by step; what it could not do is absent.
pub(super) struct Answers(HashMap<String, f64>);

impl Answers {
    /// The time of a step.
    pub(super) fn get(&self, step: &str) -> Option<Duration> {
        self.0.get(step).map(|ms| Duration::from_secs_f64(ms / 1e3))
    }
}

impl Program {
    /// The peers below a directory.
    pub(super) fn all(directory: &Path) -> Vec<Self> {
        let modules = |name: &str| directory.join(name).join("node_modules");
        let newest = Peer::in_directory(directory);
        vec![
            Self {
                name: "pi 1.5.0",
                kind: "pi",
                runtime: newest.node().to_path_buf(),
                package: newest.package(),
                cli: PROGRAM,
                entry: "dist/bundle/index.js",
            },
            Self {
                name: "pi 0.74.2",
                kind: "pi",
                runtime: newest.node().to_path_buf(),
                package: modules("pi-old").join(PACKAGE),
                cli: "dist/cli.js",
                entry: "dist/index.js",
            },
            Self {
                name: "oh-my-pi 18.2.3",
                kind: "oh-my-pi",
                runtime: modules("omp").join("@oven/bun-linux-x64/bin/bun"),
                package: modules("omp").join("@oh-my-pi/pi-coding-agent"),
                cli: "dist/cli.js",
                entry: "",
            },
        ]
    }

    fn runtime(&self) -> Command {
        let mut command = Command::new(&self.runtime);
        if self.kind == "pi" {
            command.arg("--max-old-space-size=8192");
        }
        command
    }

    fn program(&self) -> Command {
        let mut command = self.runtime();
        command.arg(self.package.join(self.cli)).env("PI_OFFLINE", "1");
        command
    }

    /// The CPU time until its version is printed; none if that fails.
    pub(super) fn start(&self) -> Option<Duration> {
        best(3, || whole_program(self.program().arg("--version"))).ok()
    }

    /// Does all steps on copies of a file.
    pub(super) fn steps(&self, files: &Files, file: &Path, runs: usize) -> Result<Answers, Failure> {
        let directory = files.scratch("peer");
        fs::create_dir_all(&directory)?;
        let copy = directory.join("session.jsonl");
        fs::copy(file, &copy)?;
        let asked = STEPS.iter().map(|(step, _)| *step).filter(|step| *step != EXPORT);
        let mut answers = self.ask(files, &copy, runs, &asked.collect::<Vec<_>>());
        let page = directory.join("page.html");
        fs::copy(file, &copy)?;
        let mut export = self.program();
        export.arg("--export").args([&copy, &page]).current_dir(&directory).env("HOME", &directory);
        if let Ok(time) = whole_program(&mut export) {
            answers.0.insert(EXPORT.to_owned(), time.as_secs_f64() * 1e3);
        }
        // Forks and pages lie beside the copy.
        fs::remove_dir_all(directory)?;
        Ok(answers)
    }

    /// The most memory of a process that opens a file and makes its context.
    pub(super) fn memory(&self, files: &Files, file: &Path) -> Option<u64> {
        let answers = self.ask(files, file, 1, &["open", "context"]);
        answers.get("context").and(answers.0.get("memory")).map(|bytes| *bytes as u64)
    }

    /// Asks for some steps; a program that dies has answered nothing.
    pub(super) fn ask(&self, files: &Files, file: &Path, runs: usize, questions: &[&str]) -> Answers {
        self.output(files, file, runs, questions).unwrap_or_else(|error| {
            eprintln!("{}: {error}", self.name);
            Answers(HashMap::new())
        })
    }

    fn output(
        &self,
        files: &Files,
        file: &Path,
        runs: usize,
        questions: &[&str],
    ) -> Result<Answers, Failure> {
        let script = files.scratch("compare.mjs");
        fs::write(&script, SCRIPT)?;
        let output = self
            .runtime()
            .arg(&script)
            .args([Path::new(self.kind), &self.package, file, &files.scratch("home")])
            .arg(runs.to_string())
            .args(questions)
            .env("PEER_ENTRY", self.entry)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err(format!("{} on {}", output.status, file.display()).into());
        }
        let answers: HashMap<String, Option<f64>> = serde_json::from_slice(&output.stdout)?;
        Ok(Answers(answers.into_iter().filter_map(|(step, ms)| Some((step, ms?))).collect()))
    }
}
