//! The cut of a path, and the summary made from it.

pub(crate) mod drawing;

use super::*;
use drawing::{ids, session};

fn keep(tokens: u64) -> CompactionSettings {
    CompactionSettings { keep_recent_tokens: tokens, ..CompactionSettings::default() }
}

/// Formats a plan as `first kept | summarised | prefix`.
fn plan(session: &Session, tokens: u64) -> String {
    let plan = match session.plan_compaction(&keep(tokens)) {
        Ok(plan) => plan,
        Err(error) => return error.to_string(),
    };
    let list = |messages: &[(Node, Message)]| ids(session, messages.iter().map(|(node, _)| node));
    assert_eq!(plan.is_split_turn(), !plan.turn_prefix.is_empty());
    format!("{} | {} | {}", plan.first_kept, list(&plan.messages_to_summarize), list(&plan.turn_prefix))
}

const TWO_TURNS: &str = "
    u1 user aaaa
    a2 assistant bbbb
    u3 user cccc
    a4 assistant dddd
";

const COMPACTED: &str = "
    u1 user aaaa
    a2 assistant bbbb
    u3 user cccc
    a4 assistant dddd
    k5 compaction u3 before
    u6 user eeee
    a7 assistant ffff
";

#[test]
fn compaction_is_due_when_less_than_the_reserve_is_left() {
    let settings = CompactionSettings { reserve_tokens: 10_000, ..CompactionSettings::default() };
    assert!(should_compact(95_000, 100_000, &settings));
    assert!(should_compact(90_001, 100_000, &settings));
    assert!(!should_compact(90_000, 100_000, &settings));
    assert!(!should_compact(89_000, 100_000, &settings));
    assert!(!should_compact(95_000, 100_000, &CompactionSettings { enabled: false, ..settings }));
}

#[test]
fn the_cut_is_as_far_back_as_the_tokens_to_keep_reach() {
    let session = session(TWO_TURNS);
    assert_eq!(plan(&session, 1), "a4 | u1 a2 | u3");
    assert_eq!(plan(&session, 2), "u3 | u1 a2 | ");
    assert_eq!(plan(&session, 3), "a2 |  | u1");
    assert_eq!(plan(&session, 99), "Nothing to compact (session too small)");
    assert_eq!(plan(&session, 0), plan(&session, 1));
}

#[test]
fn a_path_that_ends_with_a_compaction_is_compacted_already() {
    let session = session(
        "
        u1 user aaaa
        a2 assistant bbbb
        k3 compaction a2 before
    ",
    );
    assert!(matches!(session.plan_compaction(&keep(1)), Err(Error::AlreadyCompacted)));
}

#[test]
fn an_empty_session_has_nothing_to_compact() {
    assert_eq!(plan(&session(""), 1), "Nothing to compact (session too small)");
}

#[test]
fn the_next_compaction_continues_the_previous_summary() {
    let session = session(COMPACTED);
    assert_eq!(plan(&session, 1), "a7 | u3 a4 | u6");
    let plan = session.plan_compaction(&keep(1)).unwrap();
    assert_eq!(plan.previous_summary.as_deref(), Some("before"));
    assert_eq!(plan.turn_start, session.tree().node("u6"));
}

#[test]
fn a_compaction_that_keeps_nothing_leaves_its_summary_for_the_history() {
    for first_kept in ["gone", "k5"] {
        let session = session(&COMPACTED.replace("compaction u3", &format!("compaction {first_kept}")));
        assert_eq!(plan(&session, 1), "a7 |  | u6");
        let plan = session.plan_compaction(&keep(1)).unwrap();
        let text = plan.summary_text(None, Some("the turn"));
        assert_eq!(text, "before\n\n---\n\n**Turn Context (split turn):**\n\nthe turn");
    }
}

#[test]
fn a_summary_that_an_edit_took_out_of_the_context_is_not_continued() {
    let session = session(&format!("{COMPACTED}\n e8 omit k5"));
    assert_eq!(session.plan_compaction(&keep(1)).unwrap().previous_summary, None);
}

#[test]
fn the_kept_part_never_begins_with_a_tool_result() {
    let session = session(
        "
        u1 user aaaa
        a2 assistant bbbb
        u3 user cccc
        a4 call read f
        r5 result x*400
    ",
    );
    assert_eq!(plan(&session, 50), "a4 | u1 a2 | u3");
}

#[test]
fn messages_of_extensions_and_commands_count_and_begin_turns() {
    for kind in ["custom", "bash"] {
        let session =
            session(&format!("u1 user aaaa\n a2 assistant bbbb\n x3 {kind} x*40\n a4 assistant cccc"));
        assert_eq!(plan(&session, 5), "x3 | u1 a2 | ", "{kind}");
    }
}

#[test]
fn settings_in_front_of_a_prompt_are_kept_and_split_no_turn() {
    let session = session(
        "
        u1 user aaaa
        a2 assistant bbbb
        m model
        l label u1
        u3 user cccc
        a4 assistant dddd
    ",
    );
    assert_eq!(plan(&session, 2), "m | u1 a2 | ");
}

#[test]
fn a_prompt_that_an_edit_silenced_is_no_place_to_cut_and_counts_nothing() {
    let session = session(&format!("{TWO_TURNS}\n e5 omit u3"));
    assert_eq!(plan(&session, 1), "u3 |  | u1 a2");
    assert_eq!(plan(&session, 2), "a2 |  | u1");
}

#[test]
fn the_summarised_messages_are_those_of_the_context() {
    let session = session(&format!("{TWO_TURNS}\n e5 edit a2 shorter"));
    let plan = session.plan_compaction(&keep(2)).unwrap();
    let texts: Vec<String> =
        plan.messages_to_summarize.iter().map(|(_, message)| message.text().into()).collect();
    assert_eq!(texts, ["aaaa", "shorter"]);
}

#[test]
fn a_failed_turn_that_was_taken_out_frees_the_prompt_before_it() {
    let failed = "
        u1 user aaaa
        a2 assistant bbbb
        u3 user x*400
        a4 failed cccc
        e5 omit a4
    ";
    assert_eq!(plan(&session(failed), 10), "a4 | u1 a2 | u3");
    let shortened = format!("{failed}\n e6 edit u3 y*80");
    assert_eq!(plan(&session(&shortened), 10), "u3 | u1 a2 | ");
}

#[test]
fn system_messages_are_not_summarised_but_count() {
    let session = session(
        "
        s system ssssssss
        u1 user aaaa
        a2 assistant bbbb
        t system tttt
        u3 user cccc
        a4 assistant dddd
    ",
    );
    let plan = session.plan_compaction(&keep(2)).unwrap();
    assert_eq!(ids(&session, plan.messages_to_summarize.iter().map(|(node, _)| node)), "u1 a2");
    // Four messages of one token, and one system message of fourteen units.
    assert_eq!(plan.tokens_before, 8);
}

#[test]
fn the_tokens_before_trust_no_usage_from_before_a_compaction() {
    let session = session(
        "
        u1 user aaaa
        a2 answer 1000 bbbb
        k3 compaction a2 cccc
        u4 user dddd
        a5 assistant eeee
    ",
    );
    assert_eq!(session.plan_compaction(&keep(1)).unwrap().tokens_before, 4);
}

#[test]
fn planning_at_another_entry_takes_its_path() {
    let session = session(&format!("{TWO_TURNS}\n b<a2 user bbbb\n c assistant cccc"));
    let a4 = session.tree().node("a4").unwrap();
    let plan = session.plan_compaction_at(a4, &keep(1)).unwrap();
    assert_eq!(ids(&session, plan.turn_prefix.iter().map(|(node, _)| node)), "u3");
}

#[test]
fn the_files_of_summarised_messages_end_up_in_text_and_details() {
    let session = session(
        r#"
        u0 user aaaa
        k1 json "type":"compaction","summary":"s","firstKeptEntryId":"u0","details":{"readFiles":["old.rs"],"modifiedFiles":["m.rs"]}
        a2 call read r.rs
        r3 nested read n.rs
        a4 call edit e.rs
        u5 user bbbb
        a6 call write later.rs
    "#,
    );
    let plan = session.plan_compaction(&keep(7)).unwrap();
    assert_eq!(plan.first_kept, "u5");
    let text = "new\n\n<read-files>\nn.rs\nold.rs\nr.rs\n</read-files>\n\n<modified-files>\ne.rs\nm.rs\n</modified-files>";
    assert_eq!(plan.summary_text(Some("new"), None), text);
    let details =
        serde_json::json!({"readFiles": ["n.rs", "old.rs", "r.rs"], "modifiedFiles": ["e.rs", "m.rs"]});
    assert_eq!(plan.file_ops.details(), details);
}

#[test]
fn the_lists_that_an_extension_left_are_not_taken_over() {
    let session = session(
        r#"
        k1 json "type":"compaction","summary":"s","firstKeptEntryId":"k1","fromHook":true,"details":{"readFiles":["old.rs"]}
        u2 user aaaa
        a3 assistant bbbb
    "#,
    );
    assert!(session.plan_compaction(&keep(1)).unwrap().file_ops.is_empty());
}

#[test]
fn a_summary_without_history_is_marked() {
    let plan = session(TWO_TURNS).plan_compaction(&keep(3)).unwrap();
    let text = plan.summary_text(None, Some("asked"));
    assert_eq!(text, "No prior history.\n\n---\n\n**Turn Context (split turn):**\n\nasked");
}

#[test]
fn planning_changes_nothing() {
    let session = session(COMPACTED);
    let before = (session.leaf(), session.tree().len());
    session.plan_compaction(&keep(1)).unwrap();
    assert_eq!((session.leaf(), session.tree().len()), before);
}

#[test]
fn entries_before_a_reset_boundary_are_not_summarised() {
    let session = session(&format!(
        "{COMPACTED}\n b json \"type\":\"reset_boundary\"\n u8 user gggg\n a9 assistant hhhh"
    ));
    assert_eq!(plan(&session, 1), "a9 |  | u8");
    assert_eq!(session.plan_compaction(&keep(1)).unwrap().previous_summary, None);
}

#[test]
fn system_messages_that_a_compaction_replays_are_passed_over() {
    let session = session(
        "
        u1 user aaaa
        a2 assistant bbbb
        s3 system ssss
        u4 user cccc
        k5 compaction u1 before
        a6 assistant dddd
    ",
    );
    assert_eq!(plan(&session, 2), "u4 | u1 a2 | ");
}
