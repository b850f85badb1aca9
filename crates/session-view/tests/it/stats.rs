//! Stats: what a session, a path and each branch hold in numbers.

use session_tree::{Ending, Kind, ModelRef, Role, Session, Usage};
use session_view::{Stats, Total};
use testkit::drawing::session_text;

fn session(drawing: &str) -> Session {
    Session::from_bytes(session_text(drawing)).unwrap()
}

fn node(session: &Session, id: &str) -> session_tree::Node {
    session.tree().node(id).unwrap()
}

/// The counts of a list of totals.
fn counts<T: Copy>(totals: &[(T, Total)]) -> Vec<(T, usize)> {
    totals.iter().map(|(name, total)| (*name, total.count)).collect()
}

/// A line as it stands in a file, with an id and a parent.
fn line(id: &str, parent: &str, rest: &str) -> String {
    format!(
        r#"! {{{rest},"id":"{id}","parentId":"{parent}","timestamp":"2025-01-01T01:00:00.000Z"}}
        "#
    )
}

fn spent(input: u64, cost: f64) -> String {
    format!(r#""usage":{{"input":{input},"output":1,"totalTokens":{},"cost":{{"total":{cost}}}}}"#, input + 1)
}

#[test]
fn entries_messages_turns_and_calls_are_counted() {
    let session = session(
        "u1 user hello
         m1<u1 model prov/mod
         a1<m1 call read
         t1<a1 tool read text
         a2<t1 call bash
         a3<a2 assistant done
         k1<a3 compaction keep=u1 so far
         u2<k1 user more
         b1<u2 bash ls
         x1<b1 custom state
         l1<x1 label u1 start",
    );
    let stats = session_view::Stats::of(&session).unwrap();
    assert_eq!((stats.entries, stats.turns, stats.compactions), (11, 2, 1));
    let kinds = [
        (Kind::Message, 7),
        (Kind::ModelChange, 1),
        (Kind::Compaction, 1),
        (Kind::Custom, 1),
        (Kind::Label, 1),
    ];
    assert_eq!(counts(&stats.kinds), kinds);
    let roles = [(Role::User, 2), (Role::Assistant, 3), (Role::ToolResult, 1), (Role::BashExecution, 1)];
    assert_eq!(counts(&stats.roles), roles);
    let tools: Vec<_> =
        stats.tools.iter().map(|(name, tool)| (name.as_str(), tool.calls, tool.results)).collect();
    assert_eq!(tools, [("bash", 1, 0), ("read", 1, 1)]);
    assert_eq!((stats.tool_calls(), stats.tool_errors()), (2, 0));
    assert_eq!(stats.usage, Usage { input: 27, output: 3, total: 30, ..Usage::default() });
}

#[test]
fn tokens_and_cost_come_from_everything_that_reports_any() {
    let message = |rest: &str| format!(r#""type":"message","message":{{{rest}}}"#);
    let drawing = [
        "u1 user hello\n".to_owned(),
        line(
            "a1",
            "u1",
            &message(&format!(
                r#""role":"assistant","content":[],"provider":"p","model":"m","stopReason":"toolUse",{}"#,
                spent(1, 0.5)
            )),
        ),
        line(
            "t1",
            "a1",
            &message(&format!(
                r#""role":"toolResult","toolName":"agent","isError":true,{}"#,
                spent(10, 0.25)
            )),
        ),
        line(
            "w1",
            "t1",
            &format!(r#""type":"usage","kind":"cache_warm","provider":"p","model":"m",{}"#, spent(100, 1.0)),
        ),
        line(
            "k1",
            "w1",
            &format!(r#""type":"compaction","summary":"s","firstKeptEntryId":"u1",{}"#, spent(1000, 2.0)),
        ),
        line(
            "s1",
            "k1",
            &format!(r#""type":"branch_summary","fromId":"u1","summary":"s",{}"#, spent(10_000, 4.0)),
        ),
        line("o1", "s1", &format!(r#""type":"model_usage","model":"p/other",{}"#, spent(100_000, 8.0))),
    ]
    .concat();
    let stats = session_view::Stats::of(&session(&drawing)).unwrap();
    assert_eq!((stats.usage.input, stats.usage.output), (111_111, 6));
    assert_eq!((stats.usage.total, stats.usage.cost), (111_117, 15.75));
    let models: Vec<_> =
        stats.models.iter().map(|(name, model)| (name.as_str(), model.answers, model.usage.cost)).collect();
    assert_eq!(models, [("p/m", 1, 1.5), ("p/other", 0, 8.0)]);
    assert_eq!(stats.tools["agent"].errors, 1);
}

#[test]
fn odd_reports_do_not_spoil_the_totals() {
    let mut drawing = "a1 assistant fine\n".to_owned();
    for (number, odd) in [
        "null",
        "\"7\"",
        "{\"input\":-4,\"output\":1e400}",
        "{\"totalTokens\":1e308,\"cost\":{\"total\":-1}}",
    ]
    .into_iter()
    .enumerate()
    {
        let answer =
            format!(r#""type":"message","message":{{"role":"assistant","content":null,"usage":{odd}}}"#);
        drawing += &line(&format!("o{number}"), "a1", &answer);
    }
    let stats = session_view::Stats::of(&session(&drawing)).unwrap();
    assert_eq!(stats.usage, Usage { input: 9, output: 1, total: 10, ..Usage::default() });
    assert_eq!(stats.messages(Role::Assistant).count, 5);
    assert_eq!(stats.models.keys().collect::<Vec<_>>(), ["prov/mod"]);
}

#[test]
fn failures_merges_and_images_are_counted_where_they_stand() {
    let answer = |reason: &str| {
        format!(r#""type":"message","message":{{"role":"assistant","content":[],"stopReason":"{reason}"}}"#)
    };
    let image = r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#;
    let drawing = [
        line(
            "u1",
            "none",
            &format!(r#""type":"message","message":{{"role":"user","content":[{image},{image}]}}"#),
        ),
        line("a1", "u1", &answer("error")),
        line("a2", "u1", &answer("aborted")),
        line(
            "t1",
            "a2",
            &format!(r#""type":"message","message":{{"role":"toolResult","content":[{image}]}}"#),
        ),
        line("c1", "t1", &format!(r#""type":"custom_message","customType":"x","content":[{image}]"#)),
        line(
            "s1",
            "c1",
            r#""type":"branch_summary","summary":"s","details":{"merge":{"sourceLeafId":"a1"}}"#,
        ),
        line("s2", "s1", r#""type":"branch_summary","summary":"s","details":{"merge":null}"#),
    ]
    .concat();
    let stats = session_view::Stats::of(&session(&drawing)).unwrap();
    assert_eq!((stats.failed, stats.aborted), (1, 1));
    assert_eq!((stats.branch_summaries, stats.merges), (2, 1));
    assert_eq!(stats.images, Total { count: 4, bytes: 16 });
}

#[test]
fn bytes_are_those_of_the_lines_and_the_longest_come_first() {
    let long = "x".repeat(1000);
    let session = session(&format!("u1 user hello\nu2<u1 user {long}\nc1<u2 custom state"));
    let stats = session_view::Stats::of(&session).unwrap();
    let len = |id: &str| session.line_len(node(&session, id));
    assert_eq!(stats.bytes, len("u1") + len("u2") + len("c1"));
    assert_eq!(stats.messages(Role::User), Total { count: 2, bytes: len("u1") + len("u2") });
    assert_eq!(stats.kind(Kind::Custom), Total { count: 1, bytes: len("c1") });
    assert_eq!(stats.kind(Kind::Usage), Total::default());
    assert_eq!(stats.largest[0], (node(&session, "u2"), len("u2")));
    assert_eq!(stats.latest.unwrap().as_millis() - stats.earliest.unwrap().as_millis(), 2000);
}

#[test]
fn a_path_counts_less_than_the_file_and_nothing_before_the_first_entry() {
    let session = session(
        "u1 user one
         a1<u1 assistant A
         a2<u1 assistant B",
    );
    let stats = session_view::Stats::of_path(&session, session.leaf()).unwrap();
    assert_eq!((stats.entries, stats.usage.total), (2, 10));
    assert_eq!(session_view::Stats::of_path(&session, None).unwrap(), Stats::default());
    assert_eq!(session_view::Stats::of(&session).unwrap().usage.total, 20);
}

#[test]
fn damaged_lines_and_messages_without_a_body_are_counted_and_no_more() {
    let session = session(
        r#"u1 user one
           ! {"type":"message","id":"p1","parentId":"u1","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":
           ! {"type":"message","id":"a1","parentId":"p1","timestamp":"2025-01-01T00:00:03.000Z"}"#,
    );
    let stats = session_view::Stats::of(&session).unwrap();
    assert_eq!((stats.entries, stats.turns, stats.usage), (3, 1, Usage::default()));
}

#[test]
fn each_branch_has_the_figures_of_its_own_part() {
    let answer = |model: &str, reason: &str| {
        format!(
            r#""type":"message","message":{{"role":"assistant","content":[],"provider":"p","model":"{model}","stopReason":"{reason}",{}}}"#,
            spent(100, 0.5)
        )
    };
    let drawing = [
        "u1 user start\n a1<u1 assistant trunk\n u2<a1 user A\n".to_owned(),
        line("a2", "u2", &answer("one", "stop")),
        line("a3", "a2", &answer("two", "aborted")),
        "w3<a3 usage cache_warm\n u4<a1 user B\n".to_owned(),
        line("a4", "u4", &answer("one", "error")),
        "u5<a4 user again\n".to_owned(),
        "u6<a1 user C".to_owned(),
    ]
    .concat();
    let session = session(&drawing);
    let table = session_view::branch_table(&session).unwrap();
    let rows: Vec<_> = table
        .iter()
        .map(|row| {
            let own = &row.stats.own;
            let model = own.last_model.as_ref().map(|model| model.model_id.as_str());
            (row.branch.name.as_str(), own.turns, own.usage.total, own.usage.cost, model, row.stats.ends)
        })
        .collect();
    let expected = [
        ("A", 1, 212, 1.0, Some("two"), Ending::Aborted),
        ("C", 1, 0, 0.0, None, Ending::Fine),
        ("B", 2, 101, 0.5, Some("one"), Ending::Fine),
    ];
    assert_eq!(rows, expected);
    let order: Vec<_> = session_view::branches(&session).unwrap();
    assert!(table.iter().map(|row| &row.branch).eq(&order));
    assert_eq!(session_view::BranchStats::of(&session, &order[0]).unwrap(), table[0].stats);
    let model = ModelRef { provider: "p".into(), model_id: "two".into() };
    assert_eq!(table[0].stats.own.last_model, Some(model));
}

#[test]
fn a_branch_that_failed_says_so_until_it_goes_on() {
    let failed = r#""type":"message","message":{"role":"assistant","content":[],"stopReason":"error"}"#;
    let ends = |more: &str| {
        let session = session(&format!("u1 user one\n {}{more}", line("a1", "u1", failed)));
        session_view::branch_table(&session).unwrap()[0].stats.ends
    };
    assert_eq!(ends(""), Ending::Error);
    assert_eq!(ends("l1<a1 label u1 start"), Ending::Error);
    assert_eq!(ends("u2<a1 user again"), Ending::Fine);
}
