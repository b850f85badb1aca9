//! The tests and parts that `docs/reliability.md` names exist.

use std::fs;
use std::path::Path;

use offshoot_proof::incidents::{find, rows};
use offshoot_proof::part::PARTS;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn document() -> String {
    fs::read_to_string(root().join("docs/reliability.md")).unwrap()
}

/// Looks at a table whose rows are numbered from 1 to `last`.
fn assert_covered(letters: &str, last: usize) {
    let rows = rows(&document(), letters);
    let numbers: Vec<&str> = rows.iter().map(|row| row.number.as_str()).collect();
    let all: Vec<String> = (1..=last).map(|number| format!("{letters}{number:02}")).collect();
    assert_eq!(numbers, all);
    for row in &rows {
        assert!(!row.tests.is_empty() || row.reason.starts_with("not yet covered: "), "{row:?}");
        for test in &row.tests {
            find(root(), test).unwrap_or_else(|reason| panic!("{}: {reason}", row.number));
        }
    }
}

#[test]
fn every_incident_has_a_test_that_exists_or_a_reason() {
    assert_covered("I-", 57);
}

#[test]
fn every_case_in_which_pi_was_watched_has_a_test_that_exists_or_a_reason() {
    assert_covered("G", 46);
}

#[test]
fn every_part_is_described() {
    let document = document();
    for part in PARTS {
        assert!(document.contains(&format!("`{}`", part.name)), "{}", part.name);
    }
}
