//! Plants bugs in a copy of the engine's source and checks that a part of the proof or a test of the engine notices each.
//!
//! The copy is the whole workspace, below the target directory. Each patch replaces one piece of source text; the patched
//! copy is built in its own target directory and must fail the check named beside the patch. Builds take minutes, so only
//! the long mode runs this part. A test checks that every patch still applies to the current source.

mod patches;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub use patches::PATCHES;

use crate::part::{Done, Outcome, Plan};

/// A bug as a change of one source file, and the check that must notice it.
pub struct Patch {
    /// The mistake, in a few words.
    pub bug: &'static str,
    /// The file, relative to the root of the workspace.
    pub file: &'static str,
    /// The correct source text, which the file contains exactly once.
    pub before: &'static str,
    /// The source text with the mistake.
    pub after: &'static str,
    /// The check that must fail.
    pub noticed_by: Check,
}

/// A check that runs on the patched copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// A part of this proof, with a number of runs.
    Part(&'static str, u64),
    /// The integration tests of the engine whose names contain this text.
    EngineTests(&'static str),
}

impl Patch {
    /// Returns the patched text of the file.
    ///
    /// # Errors
    ///
    /// A message if the file does not contain the correct source text exactly once.
    pub fn apply(&self, source: &str) -> Result<String, String> {
        match source.matches(self.before).count() {
            1 => Ok(source.replacen(self.before, self.after, 1)),
            count => Err(format!(
                "stale patch \"{}\": its text occurs {count} times in {}, not once",
                self.bug, self.file
            )),
        }
    }
}

/// The root of this workspace.
pub fn workspace_root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Builds and checks the copy without a bug, which must pass, and with each bug, which must fail.
pub fn run(plan: &Plan) -> Outcome {
    let copy = Copy::new()?;
    let mut checks: Vec<Check> = PATCHES.iter().map(|patch| patch.noticed_by).collect();
    checks.dedup();
    for check in checks {
        if let Some(reason) = copy.failure(check, plan.seed)? {
            return Err(format!("{check:?} fails without a bug:\n{reason}"));
        }
    }
    let mut unnoticed = Vec::new();
    for patch in PATCHES {
        let file = copy.source.join(patch.file);
        let source = read(&file)?;
        write(&file, patch.apply(&source)?.as_bytes())?;
        let failure = copy.failure(patch.noticed_by, plan.seed);
        write(&file, source.as_bytes())?;
        if failure?.is_none() {
            unnoticed.push(format!("\"{}\" was not noticed by {:?}", patch.bug, patch.noticed_by));
        }
    }
    if unnoticed.is_empty() {
        Ok(Done::new(PATCHES.len() as u64, "bugs planted in the source of the engine, each noticed"))
    } else {
        Err(unnoticed.join("\n"))
    }
}

/// A copy of the workspace with its own target directory.
struct Copy {
    source: PathBuf,
    target: PathBuf,
}

impl Copy {
    fn new() -> Result<Self, String> {
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| workspace_root().join("target"), PathBuf::from)
            .join("planted");
        let copy = Self { source: target.join("source"), target };
        copy_tree(workspace_root(), &copy.source)?;
        Ok(copy)
    }

    /// Builds and runs a check; returns its output if it fails. A patch that does not compile is an error.
    fn failure(&self, check: Check, seed: u64) -> Result<Option<String>, String> {
        let output = match check {
            Check::Part(name, runs) => {
                must_succeed(&self.cargo(["build", "-p", "offshoot-proof"])?)?;
                let mut program = Command::new(self.target.join("debug/offshoot-proof"));
                program.args([name, "--seed", &seed.to_string(), "--runs", &runs.to_string()]);
                program.output().map_err(|error| error.to_string())?
            }
            Check::EngineTests(filter) => {
                let tests = ["test", "-p", "session-tree", "--test", "it"];
                must_succeed(&self.cargo(tests.iter().chain(&["--no-run"]))?)?;
                let output = self.cargo(tests.iter().chain(&[filter]))?;
                if String::from_utf8_lossy(&output.stdout).contains("running 0 tests") {
                    return Err(format!("the engine has no test {filter}"));
                }
                output
            }
        };
        let text = || String::from_utf8_lossy(&output.stdout).into_owned();
        Ok((!output.status.success()).then(text))
    }

    fn cargo(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Output, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(arguments).arg("--locked").current_dir(&self.source);
        command.env("CARGO_TARGET_DIR", &self.target);
        command.output().map_err(|error| error.to_string())
    }
}

fn must_succeed(output: &Output) -> Result<(), String> {
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Copies the files of a directory that differ, without build results and hidden directories.
fn copy_tree(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(|error| error.to_string())?;
    for entry in fs::read_dir(from).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let Some(name) = path.file_name() else { continue };
        let copy = to.join(name);
        if path.is_file() {
            let bytes = fs::read(&path).map_err(|error| error.to_string())?;
            // An unchanged file keeps its time, so that cargo does not build it again.
            if fs::read(&copy).ok().as_ref() != Some(&bytes) {
                write(&copy, &bytes)?;
            }
        } else if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            copy_tree(&path, &copy)?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}
