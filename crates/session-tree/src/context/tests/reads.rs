//! The lines that a context reads from a journal: only those that decide, and only once.

use super::draw::{HEADER, draw};
use crate::session::Session;

/// Loads a drawing as a file is loaded, without decoded lines.
fn loaded(drawing: &str) -> Session {
    let drawn = draw(drawing);
    let mut bytes = HEADER.as_bytes().to_vec();
    for entry in drawn.entries() {
        bytes.extend_from_slice(entry.unwrap().raw());
        bytes.push(b'\n');
    }
    let session = Session::from_bytes(bytes).unwrap();
    assert_eq!(session.decoded_lines(), 0);
    session
}

#[test]
fn a_projection_reads_the_bodies_that_decide_and_no_others() {
    let session = loaded(
        "u1 user
         a1 assistant
         k1 compaction u1
         u2 user
         e1 edit u2 null
         k2 compaction u2
         b1 summary left
         a2 assistant
         n1 note hi",
    );
    assert_eq!(session.projection(crate::Position::Leaf).unwrap().items.len(), 4);
    assert_eq!(session.decoded_lines(), 3, "the last compaction, the edit, the branch summary");
}

#[test]
fn a_second_context_reads_nothing_again() {
    let session = loaded(
        "t1 level high
         m1 model p m
         u1 user
         a1 assistant
         u2 user",
    );
    session.context_at("a1").unwrap();
    assert_eq!(
        session.decoded_lines(),
        4,
        "the level, the model change that an answer overrides, prompt and answer"
    );
    session.context().unwrap();
    assert_eq!(session.decoded_lines(), 5, "the prompt that is new");
    session.context().unwrap();
    assert_eq!(session.decoded_lines(), 5);
}
