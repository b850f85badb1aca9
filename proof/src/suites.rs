//! Parts that live as tests beside what they test: run again by name, and counted.
//!
//! The test programs are those of `cargo test --workspace`; nothing is built with other features.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::part::{Done, Outcome, Plan};

/// Tests of one crate whose names begin in a certain way.
struct Suite {
    package: &'static str,
    /// The test program: `it`, or the library's own tests.
    program: &'static str,
    tests: &'static str,
    /// So many there are at least.
    at_least: usize,
}

const fn suite(package: &'static str, program: &'static str, tests: &'static str, at_least: usize) -> Suite {
    Suite { package, program, tests, at_least }
}

/// Many processes on one file: eight writers of which some are killed, writers that do not lock, readers.
pub fn processes(plan: &Plan) -> Outcome {
    run(plan, &[suite("session-tree", "it", "processes::", 8)], "tests with many processes")
}

/// Hostile text through every part of the screen, and in a real terminal.
pub fn terminal(plan: &Plan) -> Outcome {
    let suites = [
        suite("offshoot-tui", "it", "hostile::", 1),
        suite("offshoot-tui", "offshoot_tui", "clean::", 5),
        suite("offshoot", "it", "hostile::", 2),
    ];
    run(plan, &suites, "tests of the screen with hostile text")
}

/// Hostile text in every field of a page, in a real browser; secrets.
pub fn page(plan: &Plan) -> Outcome {
    let suites = [suite("offshoot-web", "it", "hostile::", 3), suite("offshoot-web", "it", "redaction::", 4)];
    run(plan, &suites, "tests of pages with hostile text")
}

/// Names, links, modes, planted files.
pub fn paths(plan: &Plan) -> Outcome {
    run(plan, &[suite("session-tree", "it", "planted_files::", 6)], "tests of paths, links and modes")
}

/// Extensions that loop, eat memory, lie or try to get out.
pub fn extensions(plan: &Plan) -> Outcome {
    run(plan, &[suite("offshoot-extensions", "it", "hostile::", 8)], "tests with hostile extensions")
}

/// A crash at each point of a turn.
pub fn turns(plan: &Plan) -> Outcome {
    run(plan, &[suite("offshoot-agent", "it", "crash::", 2)], "tests of crashes within a turn")
}

fn run(plan: &Plan, suites: &[Suite], what: &str) -> Outcome {
    let programs = programs()?;
    let mut count = 0;
    for suite in suites {
        count += run_suite(plan, suite, &programs)?;
    }
    Ok(Done::new(count as u64, what))
}

fn run_suite(plan: &Plan, suite: &Suite, programs: &[(String, String, PathBuf)]) -> Result<usize, String> {
    let is_it =
        |(package, name, _): &&(String, String, PathBuf)| package == suite.package && name == suite.program;
    let (.., program) =
        programs.iter().find(is_it).ok_or(format!("{} has no tests {}", suite.package, suite.program))?;
    let mut command = Command::new(program);
    command.arg(suite.tests);
    if plan.soak && plan.percent.is_none() {
        command.env("SOAK", "1");
    }
    let output = command.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    let passed = said.lines().filter(|line| line.starts_with("test ") && line.ends_with("... ok")).count();
    if !output.status.success() {
        return Err(said.into_owned());
    }
    if passed < suite.at_least {
        return Err(format!("only {passed} tests {} in {}", suite.tests, suite.package));
    }
    Ok(passed)
}

/// The test programs of the workspace: package, name, path.
fn programs() -> Result<Vec<(String, String, PathBuf)>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let arguments = ["test", "--workspace", "--locked", "--no-run", "--message-format=json", "--quiet"];
    let output =
        Command::new(cargo).args(arguments).current_dir(root).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let messages = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    Ok(messages.filter_map(|message| program(&message)).collect())
}

fn program(message: &Value) -> Option<(String, String, PathBuf)> {
    let path = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
    let package = message["package_id"].as_str()?.rsplit('/').next()?;
    let package = package
        .split_once('#')
        .map_or(package, |(folder, id)| id.split_once('@').map_or(folder, |(name, _)| name));
    let name = message["target"]["name"].as_str()?.replace('-', "_");
    Some((package.to_owned(), name, path.into()))
}
