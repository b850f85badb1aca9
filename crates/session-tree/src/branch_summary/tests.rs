//! Abandoned entries, and the part of them that a summary covers.

use super::*;
use crate::compaction::tests::drawing::{ids, session};

const TREE: &str = "
    1 user aaaa
    2 assistant bbbb
    3 user cccc
    k compaction 3 sum
    4 assistant dddd
    5<2 user eeee
    6 assistant ffff
    z< user gggg
";

/// Plans a move within `TREE` and formats it as `common ancestor: abandoned entries`.
fn left(old: &str, target: &str) -> String {
    let session = session(TREE);
    let abandoned = session.abandoned_entries(old, target).unwrap();
    let common = abandoned.common_ancestor.map_or("none".into(), |node| session.tree().id(node).to_string());
    format!("{common}: {}", ids(&session, &abandoned.entries))
}

/// Creates settings with exactly this budget; 0 is no limit.
fn budget(tokens: u64) -> BranchSummarySettings {
    BranchSummarySettings {
        reserve_tokens: 0,
        context_window: Some(tokens),
        is_unlimited: tokens == 0,
        through_compactions: true,
    }
}

/// Plans to abandon everything and returns the messages that fit.
fn fitting(session: &Session, settings: &BranchSummarySettings) -> String {
    let plan = session.plan_branch_summary(Position::Leaf, Position::Start, settings).unwrap();
    ids(session, plan.messages.iter().map(|(node, _)| node))
}

#[test]
fn abandoned_entries_end_at_the_common_ancestor() {
    assert_eq!(left("4", "6"), "2: 3 k 4");
    assert_eq!(left("6", "4"), "2: 5 6");
    assert_eq!(left("4", "2"), "2: 3 k 4");
    assert_eq!(left("2", "4"), "2: ");
    assert_eq!(left("4", "z"), "none: 1 2 3 k 4");
    assert_eq!(left("4", "4"), "4: ");
}

#[test]
fn a_move_from_the_start_abandons_nothing_and_a_move_to_the_start_everything() {
    let session = session(TREE);
    let from_nowhere = session.abandoned_entries(Position::Start, "4").unwrap();
    assert_eq!(from_nowhere, Abandoned { common_ancestor: None, entries: Vec::new() });
    let to_nowhere = session.abandoned_entries("6", Position::Start).unwrap();
    assert_eq!(ids(&session, &to_nowhere.entries), "1 2 5 6");
}

#[test]
fn the_newest_messages_that_fit_are_covered() {
    let session = session(
        "
        s summary x*400
        u user x*40
        a assistant x*40
    ",
    );
    assert_eq!(fitting(&session, &budget(9)), "");
    assert_eq!(fitting(&session, &budget(19)), "a");
    assert_eq!(fitting(&session, &budget(20)), "u a");
    assert_eq!(fitting(&session, &budget(21)), "u a");
    // A summary may go over the budget while less than nine tenths are taken: 20 < 22.5.
    assert_eq!(fitting(&session, &budget(25)), "s u a");
    assert_eq!(fitting(&session, &budget(0)), "s u a");
}

#[test]
fn a_plan_counts_the_older_messages_that_did_not_fit() {
    let session = session(
        "
        u1 user x*40
        a2 assistant x*40
        m3 model
        u4 user x*40
        a5 assistant x*40
    ",
    );
    let plan = session.plan_branch_summary(Position::Leaf, Position::Start, &budget(25)).unwrap();
    assert_eq!((plan.messages.len(), plan.omitted_older, plan.tokens), (2, 2, 20));
    // After a message that does not fit, older ones are left out, however small.
    let plan = session.plan_branch_summary(Position::Leaf, Position::Start, &budget(9)).unwrap();
    assert_eq!((plan.messages.len(), plan.omitted_older, plan.tokens), (0, 4, 0));
}

#[test]
fn without_a_known_window_the_budget_is_that_of_128000_tokens() {
    let settings = BranchSummarySettings::default();
    assert_eq!(settings.budget(), Some(111_616));
    assert_eq!(BranchSummarySettings { context_window: Some(0), ..settings }.budget(), Some(111_616));
}

#[test]
fn a_small_window_is_a_limit_too() {
    let of = |tokens| BranchSummarySettings { context_window: Some(tokens), ..Default::default() }.budget();
    assert_eq!([of(8_192), of(17_000), of(100_000)], [Some(4_096), Some(8_500), Some(83_616)]);
}

#[test]
fn entries_before_a_reset_boundary_are_not_covered() {
    let session = session(
        r#"
        1 user aaaa
        a1 call read old.rs
        k compaction 1 older
        b json "type":"reset_boundary"
        2 user bbbb
        a2 call read new.rs
        3<1 user cccc
    "#,
    );
    let settings = BranchSummarySettings::default();
    for target in [Position::Start, "3".into()] {
        let plan = session.plan_branch_summary("a2", target, &settings).unwrap();
        assert_eq!(ids(&session, &plan.covered), "2 a2");
        assert_eq!(plan.file_ops.read_files(), ["new.rs"]);
    }
}

#[test]
fn a_summary_starts_at_the_latest_compaction_left_behind() {
    let session = session(
        "
        1 user aaaa
        2 assistant bbbb
        3 user cccc
        j compaction 2 older
        4 assistant dddd
        5 user eeee
        k compaction 4 newer
        6 assistant ffff
        7<1 user gggg
    ",
    );
    let covered = |through_compactions| {
        let settings = BranchSummarySettings { through_compactions, ..BranchSummarySettings::default() };
        ids(&session, &session.plan_branch_summary("6", "7", &settings).unwrap().covered)
    };
    assert_eq!(covered(false), "k 4 5 6");
    assert_eq!(covered(true), "2 3 j 4 5 k 6");
}

#[test]
fn kept_entries_above_the_common_ancestor_are_not_covered() {
    let session = session(
        "
        1 user aaaa
        2 assistant bbbb
        3 user cccc
        j compaction 2 older
        4 assistant dddd
        k compaction 1 newer
        5 assistant eeee
        6<2 user ffff
    ",
    );
    let plan = session.plan_branch_summary("5", "6", &BranchSummarySettings::default()).unwrap();
    // The older compaction is part of the newer summary.
    assert_eq!(ids(&session, &plan.covered), "k 3 4 5");
    assert_eq!(ids(&session, &plan.abandoned.entries), "3 j 4 k 5");
}

#[test]
fn a_compaction_contributes_its_summary_and_results_are_left_out() {
    let session = session(TREE);
    let plan = session.plan_branch_summary("4", Position::Start, &budget(0)).unwrap();
    let texts: Vec<String> = plan.messages.iter().map(|(_, message)| message.role().to_string()).collect();
    assert_eq!(texts, ["user", "assistant", "user", "compactionSummary", "assistant"]);
    let with_result =
        crate::compaction::tests::drawing::session("u user aaaa\n a call read f\n r result long");
    assert_eq!(fitting(&with_result, &budget(0)), "u a");
}

#[test]
fn edits_silence_messages_but_not_summaries() {
    let session = session(
        "
        u user aaaa
        b summary bbbb
        c custom cccc
        a assistant dddd
        e1 omit u
        e2 omit b
        e3 omit c
        e4 edit a shorter
    ",
    );
    assert_eq!(fitting(&session, &budget(0)), "b a");
    let plan = session.plan_branch_summary(Position::Leaf, Position::Start, &budget(0)).unwrap();
    assert_eq!(plan.messages[1].1.text(), "shorter");
}

#[test]
fn an_empty_branch_summary_is_left_out() {
    assert_eq!(fitting(&session("u user aaaa\n b summary"), &budget(0)), "u");
}

#[test]
fn files_are_collected_from_all_messages_even_if_they_do_not_fit() {
    let session = session(
        r#"
        b1 json "type":"branch_summary","summary":"s","details":{"readFiles":["b.rs"],"modifiedFiles":["c.rs"]}
        b2 json "type":"branch_summary","summary":"s","fromHook":true,"details":{"readFiles":["hook.rs"]}
        k json "type":"compaction","summary":"s","firstKeptEntryId":"k","details":{"readFiles":["k.rs"]}
        a1 call write old.rs
        r nested read n.rs
        a2 call edit new.rs
    "#,
    );
    let plan = session.plan_branch_summary(Position::Leaf, Position::Start, &budget(1)).unwrap();
    assert!(plan.messages.is_empty());
    assert_eq!(plan.file_ops.read_files(), ["b.rs", "k.rs", "n.rs"]);
    assert_eq!(plan.file_ops.modified_files(), ["c.rs", "new.rs", "old.rs"]);
    let details = serde_json::json!({"readFiles": ["b.rs", "k.rs", "n.rs"], "modifiedFiles": ["c.rs", "new.rs", "old.rs"]});
    assert_eq!(plan.file_ops.details(), details);
}

#[test]
fn bookkeeping_entries_alone_need_no_summary() {
    let session = session(
        "
        u user aaaa
        m model
        l label u
        s system prompt
    ",
    );
    let to = |target: &str| {
        let settings = BranchSummarySettings::default();
        session.plan_branch_summary(Position::Leaf, target, &settings).unwrap()
    };
    assert!(to("u").is_empty());
    assert_eq!(ids(&session, &to("u").abandoned.entries), "m l s");
    let everything =
        session.plan_branch_summary(Position::Leaf, Position::Start, &BranchSummarySettings::default());
    assert!(!everything.unwrap().is_empty());
}

#[test]
fn the_stored_text_has_preamble_answer_and_files() {
    let mut files = FileOps::default();
    files.read.insert("a.rs".into());
    let text = "The user explored a different conversation branch before returning here.\n\
        Summary of that exploration:\n\nIt failed.\n\n<read-files>\na.rs\n</read-files>";
    assert_eq!(branch_summary_text("It failed.", &files), text);
}
