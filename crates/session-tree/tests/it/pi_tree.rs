//! Trees, paths, leaves, labels and names equal those of pi, for every recorded file.

mod ours;

use std::fmt::Write as _;

use session_tree::Session;

use crate::support::recorded::{Recorded, named, recorded};
use ours::{Names, PARTS, theirs};

/// Intended differences: file, parts of the answer, reason.
const DIFFERENT: &[(&str, &[&str], &str)] = &[
    (
        "bad-timestamps",
        &["tree"],
        "a label has a time, not a text; one that cannot be read is that of the entry before",
    ),
    ("cycles", &["tree"], "a circle is cut and shown; pi does not show its entries at all"),
    (
        "duplicate-ids",
        &["ids", "parents", "types", "tree"],
        "an entry that stands in the file twice is one entry",
    ),
    ("labels-set-and-cleared", &["tree"], "a label of blanks is none"),
    (
        "leaf-marker-last",
        &["leaf", "branch"],
        "our marker says where the leaf is; pi takes the marker itself",
    ),
    (
        "lone-surrogate",
        &["tree"],
        "a label is text, so half of a surrogate pair in it becomes a replacement character",
    ),
    ("names", &["leaf", "branch"], "a rename on another branch does not move the leaf"),
    ("number-lines", &["ids", "parents", "types", "tree"], "a line that is no object is no entry"),
    (
        "objects-without-id",
        &["ids", "parents", "types", "tree"],
        "an object without a text as its id is no entry",
    ),
    ("oh-my-pi-extras", &["name"], "titles of oh-my-pi are names"),
    ("unknown-types", &["types"], "an entry without a type has the type name `unknown`"),
    (
        "uuid-keys",
        &["ids", "parents", "leaf", "tree", "branch"],
        "the early design is read; pi sees entries without ids",
    ),
    (
        "v1-but-ids-present",
        &["ids", "parents", "leaf", "tree", "branch"],
        "ids that are there are used; pi flattens the tree",
    ),
];

/// Files that pi refuses and we read.
const READ_BY_US: &[(&str, &str)] = &[
    ("byte-order-mark", "a byte order mark before the header is ignored"),
    ("title-slot-first", "oh-my-pi writes a title before the header"),
];

#[test]
fn trees_paths_labels_and_names_equal_those_of_pi() {
    let mut wrong = String::new();
    let mut compared = 0;
    for file in recorded() {
        let differences = if file.is_session() { differences(&file, &mut compared) } else { Vec::new() };
        let expected = DIFFERENT.iter().find(|(name, ..)| *name == file.name);
        let expected: Vec<&str> = expected.map_or_else(Vec::new, |(_, parts, _)| parts.to_vec());
        let mut parts: Vec<&str> = differences.iter().map(|(part, _)| *part).collect();
        parts.dedup();
        if parts != expected {
            let _ = writeln!(wrong, "{}: {parts:?}, expected {expected:?}", file.name);
            for (part, difference) in &differences {
                let _ = writeln!(wrong, "  {part} {difference}");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(compared > 700, "only {compared} answers compared");
}

#[test]
fn files_that_pi_refuses_are_refused_unless_they_are_known_sessions() {
    let mut count = 0;
    for file in recorded().iter().filter(|file| file.answer.root().get("openError").is_some()) {
        let is_read = READ_BY_US.iter().any(|(name, _)| *name == file.name);
        assert_eq!(Session::from_bytes(file.bytes.clone()).is_ok(), is_read, "{}", file.name);
        count += 1;
    }
    assert!(count > READ_BY_US.len(), "only {count} files are refused");
}

/// Returns the differing parts in the order of the answer, paths last.
fn differences(file: &Recorded, compared: &mut usize) -> Vec<(&'static str, String)> {
    let session = Session::from_bytes(file.bytes.clone()).unwrap();
    let names = Names::of(&session);
    let mut found = Vec::new();
    let mut compare = |part, ours: String, theirs: String| {
        *compared += 1;
        if ours != theirs {
            found.push((part, format!("\n    ours   {ours}\n    theirs {theirs}")));
        }
    };
    for part in PARTS {
        let answer = file.answer.root().get(part).unwrap();
        if answer.get("hang").is_none() && answer.get("crash").is_none() {
            compare(part, names.part(part), theirs(part, answer));
        }
    }
    for position in file.positions() {
        let at = match (position.is_loaded, position.leaf.as_deref()) {
            (true, _) => session.leaf(),
            (false, None) => None,
            (false, Some(id)) => named(&session, id),
        };
        let path = at.map_or_else(Vec::new, |at| session.tree().path(at));
        let answer = position.answer.get("branch").unwrap();
        compare("branch", names.path(&path), theirs("branch", answer));
    }
    found
}
