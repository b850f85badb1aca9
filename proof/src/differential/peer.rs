//! The reference program: where it is, and how it is asked.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use serde_json::Value;
use testkit::pi::Pi;

const ANSWER: &str = include_str!("../../peer/answer.mjs");
const APPEND: &str = include_str!("../../peer/append.mjs");
/// The module that both scripts import.
const REFERENCE: &str = include_str!("../../peer/reference.mjs");

/// An installed reference program.
pub(super) struct Peer {
    pi: Pi,
}

impl Peer {
    /// Finds it in the folder into which it was installed.
    pub(super) fn find(folder: &Path) -> Result<Self, String> {
        Ok(Self { pi: Pi::find(folder)? })
    }

    pub(super) fn version(&self) -> &str {
        self.pi.version()
    }

    /// Whether answers must be equal, and not only good enough.
    pub(super) fn is_reference(&self) -> bool {
        self.pi.is_recent()
    }

    /// Asks about files, each as a copy; a file on which the program dies is answered with `null`.
    pub(super) fn ask<'f>(&self, files: impl Iterator<Item = &'f [u8]>) -> Result<Vec<Value>, String> {
        let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut paths = Vec::new();
        for (number, bytes) in files.enumerate() {
            let path = dir.path().join(format!("{number}.jsonl"));
            fs::write(&path, bytes).map_err(|error| error.to_string())?;
            paths.push(path);
        }
        let script = script(dir.path(), "answer.mjs", ANSWER)?;
        let mut answers = Vec::new();
        while answers.len() < paths.len() {
            let some = self.ask_some(&script, &paths[answers.len()..])?;
            if answers.is_empty() && some.is_empty() {
                return Err("pi does not start, or dies of the first file".into());
            }
            answers.extend(some);
            if answers.len() < paths.len() {
                answers.push(Value::Null);
            }
        }
        Ok(answers)
    }

    /// Asks one process; it may die before it has answered everything.
    fn ask_some(&self, script: &Path, paths: &[PathBuf]) -> Result<Vec<Value>, String> {
        let mut child = self
            .pi
            .node()
            .arg(script)
            .arg(self.pi.library())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("node: {error}"))?;
        if let Some(mut stdin) = child.stdin.take() {
            paths
                .iter()
                .try_for_each(|path| writeln!(stdin, "{}", path.display()))
                .map_err(|error| error.to_string())?;
        }
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        let lines = output.stdout.split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// Lets the program append to a file of ours.
    pub(super) fn append_to(&self, path: &Path, count: usize) -> Result<Appending, String> {
        let script = script(path.parent().unwrap_or(Path::new(".")), "append.mjs", APPEND)?;
        let mut child = self
            .pi
            .node()
            .arg(&script)
            .arg(self.pi.library())
            .arg(path)
            .arg(count.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("node: {error}"))?;
        let output = child.stdout.take().ok_or("no output")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)).ok();
        });
        Ok(Appending { child, lines, ids: Vec::new() })
    }
}

/// Writes a script into a folder, with what it imports.
fn script(folder: &Path, name: &str, text: &str) -> Result<PathBuf, String> {
    let script = folder.join(name);
    fs::write(folder.join("reference.mjs"), REFERENCE)
        .and_then(|()| fs::write(&script, text))
        .map_err(|error| error.to_string())?;
    Ok(script)
}

/// The program while it appends.
pub(super) struct Appending {
    child: Child,
    lines: Receiver<String>,
    ids: Vec<String>,
}

impl Appending {
    /// Reads the output so far; returns true at its end.
    pub(super) fn is_done(&mut self) -> Result<bool, String> {
        loop {
            match self.lines.try_recv() {
                Ok(id) => self.ids.push(id),
                Err(TryRecvError::Empty) => return Ok(false),
                Err(TryRecvError::Disconnected) => {
                    let status = self.child.wait().map_err(|error| error.to_string())?;
                    return if status.success() { Ok(true) } else { Err(format!("pi ended with {status}")) };
                }
            }
        }
    }

    /// The ids of all that was appended.
    pub(super) fn ids(mut self) -> Result<Vec<String>, String> {
        while !self.is_done()? {}
        Ok(std::mem::take(&mut self.ids))
    }
}
