//! The peers: pi in two versions and oh-my-pi, where each is installed, how it is started, and how it is asked.
//!
//! A peer answers through `peer/measure.mjs`, a script that runs inside its own process.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use testkit::pi::Pi;

use crate::Failure;
use crate::files::Files;

/// The script, part of this program so that it can be moved.
const SCRIPT: &str = include_str!("../peer/measure.mjs");

/// How many seconds a peer may take for all steps on a file, or for a page.
const PATIENCE: &str = "300";

/// A peer.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    /// How the script knows it.
    kind: &'static str,
    runtime: OsString,
    /// The module that the script imports.
    library: PathBuf,
    program: PathBuf,
}

/// A request to a peer about a file.
pub(crate) struct PeerRequest<'a> {
    pub(crate) file: &'a Path,
    /// How often each step is repeated; the best run counts.
    pub(crate) runs: usize,
    /// Steps of the script, in an order that works.
    pub(crate) steps: &'a [&'a str],
    /// Ids that some steps are about, one per line.
    pub(crate) ids: &'a str,
}

/// The answers of a peer, by step; steps that failed or took too long are absent.
#[derive(Default)]
pub(crate) struct Answers(HashMap<String, f64>);

impl Answers {
    /// The CPU time of a step.
    pub(crate) fn time(&self, step: &str) -> Option<Duration> {
        self.0.get(step).map(|milliseconds| Duration::from_secs_f64(milliseconds / 1e3))
    }

    /// The most memory the peer had, in bytes.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.0.get("memory").map(|bytes| *bytes as u64)
    }
}

impl Peer {
    /// The reference version of pi below a directory of peers.
    pub(crate) fn pi(peers: &Path) -> Result<Self, Failure> {
        Ok(Self::of_pi("pi 1.5.0", &Pi::find(&peers.join("pi-new"))?))
    }

    /// The older version of pi below a directory of peers, in the node of the other one.
    pub(crate) fn older_pi(peers: &Path) -> Result<Self, Failure> {
        let newer = Pi::find(&peers.join("pi-new"))?;
        Ok(Self::of_pi("pi 0.74.2", &Pi::find(&peers.join("pi-old"))?.in_node_of(&newer)))
    }

    fn of_pi(name: &'static str, pi: &Pi) -> Self {
        let runtime = pi.node().get_program().to_owned();
        Self { name, kind: "pi", runtime, library: pi.library(), program: pi.program() }
    }

    /// The oh-my-pi below a directory of peers, with the runtime it is made for.
    pub(crate) fn oh_my_pi(peers: &Path) -> Self {
        let modules = peers.join("omp/node_modules");
        let package = modules.join("@oh-my-pi/pi-coding-agent");
        Self {
            name: "oh-my-pi 18.2.3",
            kind: "oh-my-pi",
            runtime: modules.join("@oven/bun-linux-x64/bin/bun").into(),
            program: package.join("dist/cli.js"),
            library: package,
        }
    }

    fn runtime(&self) -> Command {
        self.tuned(Command::new(&self.runtime))
    }

    /// The runtime, ended when it takes too long.
    fn limited(&self) -> Command {
        let mut command = Command::new("timeout");
        // A busy loop does not handle a gentler signal.
        command.args(["--signal=KILL", PATIENCE]).arg(&self.runtime);
        self.tuned(command)
    }

    fn tuned(&self, mut command: Command) -> Command {
        if self.kind == "pi" {
            // What it takes by itself is not enough for the largest files.
            command.arg("--max-old-space-size=8192");
        }
        command
    }

    /// Returns the command that starts it.
    pub(crate) fn command(&self) -> Command {
        self.started_by(self.runtime())
    }

    fn started_by(&self, mut runtime: Command) -> Command {
        runtime.arg(&self.program).env("PI_OFFLINE", "1");
        runtime
    }

    /// Returns the command that starts it and lets it print its version.
    pub(crate) fn version(&self) -> Command {
        let mut command = self.command();
        command.arg("--version");
        command
    }

    /// Returns the command that exports a session file as a page.
    pub(crate) fn export(&self, file: &Path, page: &Path, home: &Path) -> Command {
        let mut command = self.started_by(self.limited());
        command.arg("--export").args([file, page]).env("HOME", home);
        command
    }

    /// Lets it do some steps. A peer that dies, or is not done in time, has answered what it did before.
    pub(crate) fn ask(&self, files: &Files, asked: &PeerRequest<'_>) -> Result<Answers, Failure> {
        let script = files.scratch("measure.mjs");
        fs::write(&script, SCRIPT)?;
        let mut child = self
            .limited()
            .arg(&script)
            .args([Path::new(self.kind), &self.library, asked.file, &files.scratch("peer-home")])
            .arg(asked.runs.to_string())
            .args(asked.steps)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(asked.ids.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            eprintln!("{} on {}: {}", self.name, asked.file.display(), output.status);
        }
        let lines = String::from_utf8(output.stdout)?;
        let answers: Vec<(String, Option<f64>)> =
            lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        Ok(Answers(answers.into_iter().filter_map(|(step, number)| Some((step, number?))).collect()))
    }
}
