//! Drawings become the files they show.

use session_tree::{Body, Kind, Session};

use super::*;

fn line(drawing: &str) -> String {
    String::from_utf8(entry_lines(drawing)).unwrap()
}

#[test]
fn lines_are_spelled_as_pi_spells_them() {
    assert_eq!(
        line("u1 user ask u1"),
        "{\"type\":\"message\",\"id\":\"u1\",\"parentId\":null,\"timestamp\":\"2025-01-01T00:00:01.000Z\",\
         \"message\":{\"role\":\"user\",\"content\":\"ask u1\",\"timestamp\":1735689601000}}\n"
    );
    assert_eq!(
        line("e1<a2 edit a2 omit"),
        "{\"type\":\"context_edit\",\"id\":\"e1\",\"parentId\":\"a2\",\
         \"timestamp\":\"2025-01-01T00:00:01.000Z\",\"targetId\":\"a2\",\"replacement\":null}\n"
    );
    assert_eq!(
        line("x<a custom_message note look here"),
        "{\"type\":\"custom_message\",\"customType\":\"note\",\"content\":\"look here\",\"display\":true,\
         \"id\":\"x\",\"parentId\":\"a\",\"timestamp\":\"2025-01-01T00:00:01.000Z\"}\n"
    );
}

#[test]
fn every_word_becomes_an_entry_of_its_type() {
    let words = [
        ("user hello", Kind::Message),
        ("assistant", Kind::Message),
        ("system be kind", Kind::Message),
        ("call read looking", Kind::Message),
        ("tool read contents", Kind::Message),
        ("bash ls", Kind::Message),
        ("compaction keep=n0 what was", Kind::Compaction),
        ("summary from=n0 what was tried", Kind::BranchSummary),
        ("custom state", Kind::Custom),
        ("custom_message note text", Kind::CustomMessage),
        ("label n0 start", Kind::Label),
        ("label n0", Kind::Label),
        ("model prov/some/model", Kind::ModelChange),
        ("thinking high", Kind::ThinkingLevelChange),
        ("info a name", Kind::SessionInfo),
        ("usage cache_warm", Kind::Usage),
        ("edit n0 another text", Kind::ContextEdit),
        ("edit n0 omit", Kind::ContextEdit),
        ("marker n0", Kind::Custom),
    ];
    let drawing: String =
        words.iter().enumerate().map(|(position, (word, _))| format!("n{position} {word}\n")).collect();
    let session = Session::from_bytes(session_text(&drawing)).unwrap();
    for (position, (word, kind)) in words.iter().enumerate() {
        let node = session.tree().node(&format!("n{position}")).unwrap();
        assert_eq!(session.tree().kind(node), *kind, "{word}");
    }
    assert_eq!(session.leaf_id().unwrap(), "n0", "the marker is last and says so");
    assert_eq!(session.name(), Some("a name"));
}

#[test]
fn a_result_answers_the_call_above_it() {
    let text = session_text(
        "a user go
         b<a call read let me see
         c<b tool read contents",
    );
    let session = Session::from_bytes(text).unwrap();
    let entry = session.entry("c").unwrap();
    let Body::Message(Some(message)) = entry.body() else { panic!("no message") };
    assert_eq!(message.get("toolCallId").and_then(|id| id.as_str()).as_deref(), Some("call-b"));
}

#[test]
fn a_line_with_an_exclamation_mark_is_copied() {
    let text = entry_lines("a user x\n! {\"type\":\"mess\nb<a user y");
    assert_eq!(text.split(|byte| *byte == b'\n').nth(1), Some(&b"{\"type\":\"mess"[..]));
}

#[test]
fn a_drawing_that_makes_no_sense_says_why() {
    let reason = |drawing| try_entry_lines(drawing).unwrap_err().reason;
    assert_eq!(reason("a"), "a word for the type is missing");
    assert_eq!(reason("<b user x"), "an id is missing");
    assert_eq!(reason("a shout x"), "no such word");
    assert_eq!(reason("a compaction all"), "`keep=ID` is missing");
    assert_eq!(reason("a edit b"), "`omit` or a text is missing");
}
