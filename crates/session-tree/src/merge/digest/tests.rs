//! Turns of a branch.

use super::*;
use crate::session::Session;

#[test]
fn a_turn_starts_at_each_prompt_and_at_the_first_entry() {
    let message = |id: &str, parent: &str, role: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2025-01-01T00:00:01.000Z","message":{{"role":"{role}","content":[]}}}}"#
        )
    };
    let header =
        r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#;
    let lines = [
        header.to_owned(),
        message("a", "none", "assistant"),
        message("u", "a", "user"),
        message("b", "u", "assistant"),
        message("v", "b", "user"),
    ];
    let session = Session::from_bytes(lines.join("\n").into_bytes()).unwrap();
    let turns =
        turns_of(&MessageReader::verbatim(&session), &session.branch_path(crate::Position::Leaf)).unwrap();
    assert_eq!(turns.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 1]);
}
