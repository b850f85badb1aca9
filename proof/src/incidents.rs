//! The tables of incidents and cases in `docs/reliability.md`: every test that they name exists.

use std::fs;
use std::path::Path;

/// A row of a table: the number of an incident or a case, and the tests that cover it.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// `I-01` or `G01`, and so on.
    pub number: String,
    /// The tests, as `file::test`.
    pub tests: Vec<String>,
    /// The rest of the row, if no test covers it.
    pub reason: String,
}

/// Reads the rows out of a document whose numbers begin with some letters and go on with digits.
pub fn rows(document: &str, letters: &str) -> Vec<Row> {
    let start = format!("| {letters}");
    let is_row = |line: &&str| {
        line.strip_prefix(&start).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let rows = document.lines().filter(is_row);
    rows.map(|row| {
        let columns: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let number = columns.first().copied().unwrap_or_default().to_owned();
        let last = columns.last().copied().unwrap_or_default();
        let tests = last.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        Row { number, tests, reason: last.to_owned() }
    })
    .collect()
}

/// Says why a test that a table names cannot be found, or does not run.
///
/// # Errors
///
/// A message if the file, or a test of that name that runs, is missing.
pub fn find(root: &Path, test: &str) -> Result<(), String> {
    let (file, name) = test.split_once("::").ok_or(format!("`{test}` is no file::test"))?;
    let text = fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"))?;
    let is_there = is_test(&text, name) || text.contains(&format!("part(\"{name}\""));
    if is_there { Ok(()) } else { Err(format!("{file} has no test {name} that runs")) }
}

/// Tells whether a function of a file is a test that is not left out.
fn is_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_it = |line: &&str| line.contains(&format!("fn {name}("));
    let Some(at) = lines.iter().position(is_it) else { return false };
    let above = lines[..at].iter().rev().take_while(|line| line.starts_with(['#', '/']));
    let attributes: Vec<&&str> = above.filter(|line| line.starts_with("#[")).collect();
    let has = |word: &str| attributes.iter().any(|line| line.contains(word));
    has("test") && !has("ignore")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_apart_by_their_numbers() {
        let text =
            "| I-01 | what | `a::b`, `c::d` |\n| Gone | x |\n| G02 | what | not yet covered: why |\nG03\n";
        let row = |number: &str, tests: &[&str], reason: &str| Row {
            number: number.into(),
            tests: tests.iter().map(ToString::to_string).collect(),
            reason: reason.into(),
        };
        assert_eq!(rows(text, "I-"), [row("I-01", &["a::b", "c::d"], "`a::b`, `c::d`")]);
        assert_eq!(rows(text, "G"), [row("G02", &[], "not yet covered: why")]);
    }

    #[test]
    fn a_helper_or_a_test_that_is_left_out_covers_nothing() {
        let text = "#[test]\nfn runs() {}\n\nfn helps() {}\n#[test]\n#[ignore = \"slow\"]\nfn waits() {}\n\
                    #[tokio::test]\n/// Why.\nasync fn is_told() {}\n";
        let found = ["runs", "helps", "waits", "is_told", "missing"].map(|name| is_test(text, name));
        assert_eq!(found, [true, false, false, true, false]);
    }
}
