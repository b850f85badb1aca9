//! The table of incidents in `docs/reliability.md`: every test that it names exists.

use std::fs;
use std::path::Path;

/// A row of the table: the number of an incident and the tests that cover it.
#[derive(Debug, PartialEq, Eq)]
pub struct Incident {
    /// `I-01` and so on.
    pub number: String,
    /// The tests, as `file::test`.
    pub tests: Vec<String>,
    /// The rest of the row, if no test covers it.
    pub reason: String,
}

/// Reads the table out of a document.
pub fn incidents(document: &str) -> Vec<Incident> {
    let rows = document.lines().filter(|line| line.starts_with("| I-"));
    rows.map(|row| {
        let columns: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let number = columns.first().copied().unwrap_or_default().to_owned();
        let last = columns.last().copied().unwrap_or_default();
        let tests = last.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        Incident { number, tests, reason: last.to_owned() }
    })
    .collect()
}

/// Says why a test that the table names cannot be found.
///
/// # Errors
///
/// What is missing: the file, or a test of that name in it.
pub fn find(root: &Path, test: &str) -> Result<(), String> {
    let (file, name) = test.split_once("::").ok_or(format!("`{test}` is no file::test"))?;
    let text = fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"))?;
    let is_there = text.contains(&format!("fn {name}(")) || text.contains(&format!("part(\"{name}\""));
    if is_there { Ok(()) } else { Err(format!("{file} has no test {name}")) }
}
