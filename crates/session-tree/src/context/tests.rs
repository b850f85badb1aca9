//! The contexts of paths. The numbers are those of the conformance cases.

mod draw;
mod editing;
mod reads;
mod request;
mod wire;

use draw::{draw, ids, ids_at, texts};

use super::Inclusion;
use crate::error::Error;
use crate::kind::Role;
use crate::position::Position;

#[test]
fn no_entries_give_nothing() {
    let context = draw("").context().unwrap();
    assert!(context.items.is_empty());
    assert_eq!(context.thinking_level, "off");
    assert_eq!(context.model, None);
}

#[test]
fn before_the_first_entry_there_is_nothing() {
    let session = draw("u1 user hello");
    let context = session.context_at(Position::Start).unwrap();
    assert!(context.items.is_empty());
    assert!(session.projection(Position::Start).unwrap().path.is_empty());
}

#[test]
fn an_answer_overrides_an_earlier_model_change() {
    let session = draw(
        "u1 user
         m1 model openai gpt
         a1 assistant",
    );
    assert_eq!(draw::model(&session), "prov/mod");
}

#[test]
fn a_model_change_alone_names_the_model() {
    let session = draw(
        "m1 model p m
         u1 user",
    );
    assert_eq!(draw::model(&session), "p/m");
}

#[test]
fn a_model_change_overrides_an_earlier_answer() {
    let session = draw(
        "a1 assistant
         m1 model p m",
    );
    assert_eq!(draw::model(&session), "p/m");
}

#[test]
fn an_answer_that_names_no_model_decides_nothing() {
    let session = draw(
        r#"m1 model p m
           a1 message {"role":"assistant","content":[],"provider":"x"}"#,
    );
    assert_eq!(draw::model(&session), "p/m");
}

#[test]
fn a_context_has_the_compaction_then_the_kept_entries_then_the_rest() {
    let session = draw(
        "u1 user
         a2 assistant
         u3 user
         a4 assistant
         k5 compaction u3
         u6 user
         a7 assistant",
    );
    assert_eq!(ids(&session), "k5 u3 a4 u6 a7");
    let projection = session.projection(Position::Leaf).unwrap();
    let marks: Vec<(Role, Inclusion)> =
        projection.items.iter().map(|item| (item.role, item.inclusion)).collect();
    assert_eq!(
        marks,
        [
            (Role::CompactionSummary, Inclusion::Summary),
            (Role::User, Inclusion::Kept),
            (Role::Assistant, Inclusion::Kept),
            (Role::User, Inclusion::Plain),
            (Role::Assistant, Inclusion::Plain),
        ]
    );
    assert_eq!(projection.path.len(), 7);
}

#[test]
fn a_compaction_may_keep_everything() {
    let session = draw(
        "u1 user
         a2 assistant
         k3 compaction u1
         u4 user",
    );
    assert_eq!(ids(&session), "k3 u1 a2 u4");
}

#[test]
fn the_last_compaction_counts() {
    let session = draw(
        "u1 user
         a2 assistant
         k3 compaction u1
         u4 user
         a5 assistant
         k6 compaction u4
         u7 user",
    );
    assert_eq!(ids(&session), "k6 u4 a5 u7");
}

#[test]
fn a_first_kept_entry_that_is_not_before_the_compaction_keeps_nothing() {
    for kept in ["missing", "k", "other", "u3"] {
        let session = draw(&format!(
            "u1 user
             other<u1 user
             a2<u1 assistant
             k compaction {kept}
             u3 user"
        ));
        assert_eq!(ids(&session), "k u3", "kept from {kept}");
    }
}

#[test]
fn a_compaction_without_first_kept_entry_keeps_nothing() {
    let session = draw(
        r#"u1 user
           k entry {"type":"compaction","summary":"s","tokensBefore":1}
           u2 user"#,
    );
    assert_eq!(ids(&session), "k u2");
}

#[test]
fn an_older_compaction_inside_the_kept_range_is_left_out() {
    let session = draw(
        "u1 user
         u3 user
         a4 assistant
         k5 compaction u3
         u6 user
         a7 assistant
         k8 compaction u3
         u9 user",
    );
    assert_eq!(ids(&session), "k8 u3 a4 u6 a7 u9");
}

#[test]
fn a_compaction_may_keep_from_an_older_compaction() {
    let session = draw(
        "u1 user
         k2 compaction u1
         u3 user
         k4 compaction k2
         u5 user",
    );
    assert_eq!(ids(&session), "k4 u3 u5");
}

#[test]
fn settings_from_before_a_compaction_still_count() {
    let session = draw(
        "t1 level high
         m1 model p m
         u1 user
         k compaction k
         u2 user",
    );
    assert_eq!(session.context().unwrap().thinking_level, "high");
    assert_eq!(draw::model(&session), "p/m");
}

#[test]
fn the_last_thinking_level_on_the_path_counts_and_null_is_off() {
    let session = draw(
        r#"t1 level high
           t2 level low
           t3<t1 level max
           t4<t2 entry {"type":"thinking_level_change","thinkingLevel":null}"#,
    );
    let level_at = |id: &str| session.context_at(id).unwrap().thinking_level;
    assert_eq!(["t1", "t2", "t3", "t4"].map(level_at), ["high", "low", "max", "off"]);
}

#[test]
fn a_position_that_does_not_exist_has_no_context() {
    let session = draw(
        "u1 user
         a2 assistant
         u3<u1 user",
    );
    let at = |position: Position| session.context_at(position).map(|found| draw::sources(&session, &found));
    assert_eq!(at(Position::Leaf).unwrap(), "u1 u3");
    assert_eq!(at("a2".into()).unwrap(), "u1 a2");
    assert_eq!(at(Position::Start).unwrap(), "");
    assert!(matches!(at("nobody".into()), Err(Error::UnknownEntry { .. })));
}

#[test]
fn branches_have_separate_contexts() {
    let session = draw(
        "e1 user
         e2 assistant
         e3 user
         e4 assistant
         k5 compaction e3
         e6 user
         e7 assistant
         e8<e3 user
         e9 assistant
         b10<e3 summary what e8 did
         e11 user",
    );
    assert_eq!(ids_at(&session, "e7"), "k5 e3 e4 e6 e7");
    assert_eq!(ids_at(&session, "e11"), "e1 e2 e3 b10 e11");
}

#[test]
fn a_missing_content_is_empty() {
    let session = draw(
        r#"u message {"role":"user","content":null}
           a message {"role":"assistant"}
           r message {"role":"toolResult","content":null,"toolCallId":"c"}
           s message {"role":"system","content":null}
           c message {"role":"custom","customType":"x"}
           n entry {"type":"custom_message","customType":"x","content":null,"display":true}"#,
    );
    let context = session.context().unwrap();
    let contents: Vec<String> = context
        .messages()
        .map(|message| {
            message.value().get("content").map_or_else(|| "none".into(), |content| content.js_string())
        })
        .collect();
    assert_eq!(contents, ["[]", "[]", "[]", "\"\"", "none", "[]"]);
}

#[test]
fn a_message_entry_without_message_is_left_out() {
    let session = draw(
        r#"u1 user
           x1 entry {"type":"message"}
           x2 entry {"type":"message","message":null}
           x3 entry {"type":"message","message":42}
           u2 user"#,
    );
    assert_eq!(ids(&session), "u1 u2");
    assert_eq!(session.projection(Position::Leaf).unwrap().items.len(), 2);
}

#[test]
fn an_edit_can_leave_a_message_out() {
    let session = draw(
        "u1 user
         a2 assistant
         e edit a2 null
         u3 user",
    );
    assert_eq!(ids(&session), "u1 u3");
}

#[test]
fn an_edit_replaces_the_content_and_answers_get_blocks() {
    let session = draw(
        r#"u1 user
           a2 assistant
           n3 note old
           e1 edit a2 {"content":"NEW"}
           e2 edit u1 {"content":"NU"}
           e3 edit n3 {"content":[{"type":"text","text":"NN"}]}"#,
    );
    let context = session.context().unwrap();
    let content = |place: usize| context.items[place].message.value().get("content").unwrap().js_string();
    assert_eq!(content(0), r#""NU""#);
    assert_eq!(content(1), r#"[{"type":"text","text":"NEW"}]"#);
    assert_eq!(content(2), r#"[{"type":"text","text":"NN"}]"#);
    assert!(context.items.iter().all(|item| item.inclusion == Inclusion::Edited));
    assert_eq!(context.items[1].message.value().get("provider").unwrap().as_str().unwrap(), "prov");
}

#[test]
fn the_last_edit_of_a_target_counts() {
    let session = draw(
        r#"u1 user
           e1 edit u1 null
           e2 edit u1 {"content":"back"}"#,
    );
    assert_eq!(texts(&session), "back");
}

#[test]
fn leaving_an_edit_behind_restores_the_original() {
    let session = draw(
        r#"u1 user first
           e1 edit u1 {"content":"second"}
           u2<u1 user other"#,
    );
    assert_eq!(texts(&session), "first|other");
}

#[test]
fn an_edit_before_the_kept_range_has_no_effect() {
    let session = draw(
        r#"u1 user one
           u2 user two
           e1 edit u2 null
           u3 user three
           k compaction u3
           u4 user four"#,
    );
    assert_eq!(ids(&session), "k u3 u4");
    let session = draw(
        r#"u1 user one
           e1 edit u3 null
           u3 user three
           k compaction u3"#,
    );
    assert_eq!(ids(&session), "k u3");
}

#[test]
fn edits_of_other_entries_can_only_silence_them() {
    let session = draw(
        r#"u1 user
           b1 summary left
           s1 message {"role":"bashExecution","command":"ls","output":"out"}
           k1 compaction u1
           e1 edit s1 {"content":"no effect"}
           e2 edit b1 null"#,
    );
    assert_eq!(ids(&session), "k1 u1 s1");
    let context = session.context().unwrap();
    assert_eq!(context.items[2].inclusion, Inclusion::Kept);
    assert!(context.items[2].message.value().get("content").is_none());
}

#[test]
fn an_edit_can_silence_the_compaction_itself() {
    let session = draw(
        r#"u1 user
           k1 compaction u1
           e1 edit k1 null"#,
    );
    assert_eq!(ids(&session), "u1");
}

#[test]
fn edits_without_a_usable_replacement_are_ignored() {
    for replacement in [r#""text""#, "{}", r#"{"content":null}"#, r#"{"content":42}"#] {
        let session =
            draw(&format!("u1 user old\ne1 edit u1 {{\"content\":\"new\"}}\ne2 edit u1 {replacement}"));
        assert_eq!(texts(&session), "new", "replacement {replacement}");
    }
    let session = draw(
        r#"u1 user old
           e1 entry {"type":"context_edit","targetId":"u1"}"#,
    );
    assert_eq!(texts(&session), "old");
}

#[test]
fn system_messages_in_the_kept_range_are_replaced_by_the_checkpoint() {
    let session = draw(
        r#"s1 message {"role":"system","content":"base"}
           u1 user
           s2 message {"role":"system","content":"more"}
           k entry {"type":"compaction","summary":"s","firstKeptEntryId":"s1","tokensBefore":1,"systemMessage":{"role":"system","content":"both"}}
           s3 message {"role":"system","content":"after"}"#,
    );
    assert_eq!(ids(&session), "k k u1 s3");
    let context = session.context().unwrap();
    assert_eq!(context.items[0].inclusion, Inclusion::SystemCheckpoint);
    assert_eq!(context.items[0].message.text(), "both");
    assert_eq!(context.items[1].message.role(), Role::CompactionSummary);
}

#[test]
fn an_empty_compaction_is_in_the_context_and_an_empty_branch_summary_is_not() {
    let session = draw(
        r#"u1 user
           b1 entry {"type":"branch_summary","fromId":"x","summary":""}
           b2 entry {"type":"branch_summary","fromId":"x"}
           k entry {"type":"compaction","summary":"","firstKeptEntryId":"u1","tokensBefore":1}
           b3 summary something"#,
    );
    assert_eq!(ids(&session), "k u1 b3");
}

#[test]
fn entries_that_are_no_conversation_add_nothing() {
    let session = draw(
        r#"u1 user
           x1 entry {"type":"custom","customType":"x","data":1}
           x2 entry {"type":"label","targetId":"u1","label":"here"}
           x3 entry {"type":"session_info","name":"n"}
           x4 entry {"type":"usage","kind":"cache_warm"}
           x5 entry {"type":"from_the_future"}
           u2 user"#,
    );
    assert_eq!(ids(&session), "u1 u2");
}

#[test]
fn a_reset_boundary_starts_afresh_unless_a_compaction_follows() {
    let session = draw(
        r#"u1 user
           k1 compaction u1
           r entry {"type":"reset_boundary"}
           u2 user
           k2 compaction u2
           u3 user"#,
    );
    assert_eq!(ids_at(&session, "u2"), "u2");
    assert_eq!(ids_at(&session, "u3"), "k2 u2 u3");
}

#[test]
fn a_model_that_oh_my_pi_chose_holds_against_later_answers() {
    let session = draw(
        r#"m1 entry {"type":"model_change","model":"anthropic/claude/x"}
           m2 entry {"type":"model_change","model":"openai/tiny","role":"smol"}
           a1 assistant
           m3 model p m
           a2 assistant"#,
    );
    let model_at = |id: &str| {
        let model = session.context_at(id).unwrap().model.unwrap();
        format!("{} {}", model.provider, model.model_id)
    };
    assert_eq!(model_at("m2"), "anthropic claude/x");
    assert_eq!(model_at("a1"), "anthropic claude/x");
    assert_eq!(model_at("m3"), "p m");
    assert_eq!(model_at("a2"), "prov mod");
}

#[test]
fn mode_and_injected_rules_of_oh_my_pi_are_part_of_the_context() {
    let session = draw(
        r#"i1 entry {"type":"ttsr_injection","injectedRules":["one","two"]}
           d1 entry {"type":"mode_change","mode":"plan","data":{"step":1}}
           i2 entry {"type":"ttsr_injection","injectedRules":["two","three"]}
           d2 entry {"type":"mode_change","mode":"none"}"#,
    );
    let context = session.context_at("i2").unwrap();
    let mode = context.mode.unwrap();
    assert_eq!(mode.name, "plan");
    assert_eq!(mode.data.unwrap().root().js_string(), r#"{"step":1}"#);
    assert_eq!(context.injected_rules, ["one", "two", "three"]);
    assert!(session.context().unwrap().mode.is_none());
}

#[test]
fn a_message_is_a_view_of_the_line_it_stands_in() {
    let session = draw(r#"u1 message { "role" : "user", "content" : "x\ud800", "n" : 1.0 }"#);
    let context = session.context().unwrap();
    let message = context.messages().next().unwrap();
    assert_eq!(message.raw(), br#"{ "role" : "user", "content" : "x\ud800", "n" : 1.0 }"#);
    let entry = session.entry("u1").unwrap();
    assert!(std::ptr::eq(entry.message().unwrap().raw(), message.raw()), "the line was copied");
}

#[test]
fn a_path_of_many_entries_needs_little_stack() {
    let mut bytes = String::from(draw::HEADER);
    let mut parent = "null".to_owned();
    for place in 0..100_000 {
        let id = format!("\"{place:08x}\"");
        bytes.push_str(&format!("{{\"type\":\"x\",\"id\":{id},\"parentId\":{parent},\"timestamp\":\"2025-01-01T00:00:00.000Z\"}}\n"));
        parent = id;
    }
    let build = move || {
        let session = crate::Session::from_bytes(bytes.into_bytes()).unwrap();
        let projection = session.projection(Position::Leaf).unwrap();
        assert!(session.context().unwrap().items.is_empty());
        projection.path.len()
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(build).unwrap();
    assert_eq!(thread.join().unwrap(), 100_000);
}
