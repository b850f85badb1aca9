//! Comparisons: what two branches did since they parted.

use session_tree::{EntryId, Node, Session};
use session_view::{Comparison, Outcome, Side};
use testkit::drawing::session_text;

fn session(drawing: &str) -> Session {
    Session::from_bytes(session_text(drawing)).unwrap()
}

fn node(session: &Session, id: &str) -> Node {
    session.tree().node(id).unwrap()
}

fn compare(session: &Session, one: &str, other: &str) -> Comparison {
    session_view::compare(session, node(session, one), node(session, other)).unwrap()
}

fn ids(entries: &[EntryId]) -> Vec<String> {
    entries.iter().map(ToString::to_string).collect()
}

/// An answer that calls one tool.
fn call(id: &str, parent: &str, tool: &str, arguments: &str) -> String {
    message(
        id,
        parent,
        &format!(
            r#""role":"assistant","content":[{{"type":"toolCall","id":"c-{id}","name":"{tool}","arguments":{arguments}}}]"#
        ),
    )
}

fn result(id: &str, parent: &str, call: &str, failed: bool) -> String {
    let text = format!(
        r#""role":"toolResult","toolCallId":"c-{call}","toolName":"t","content":[],"isError":{failed}"#
    );
    message(id, parent, &text)
}

fn message(id: &str, parent: &str, message: &str) -> String {
    format!(
        r#"! {{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2025-01-01T01:00:00.000Z","message":{{{message}}}}}
        "#
    )
}

/// The commands of a side: entry, tool, argument, outcome.
fn commands(side: &Side) -> Vec<(String, &str, &str, Outcome)> {
    let runs = side.commands.iter();
    runs.map(|run| (run.id.to_string(), run.tool.as_str(), run.argument.as_str(), run.outcome)).collect()
}

#[test]
fn two_branches_are_compared_from_where_they_parted() {
    let session = session(
        "u1 user start
         a1<u1 assistant ready
         u2<a1 user use Node
         a2<u2 assistant Node it is
         u3<a1 user use Rust
         a3<u3 assistant writing
         m3<a3 model p/m
         u4<m3 user faster
         a4<u4 assistant Rust is done",
    );
    let comparison = compare(&session, "a2", "a4");
    assert_eq!(comparison.base, Some("a1".into()));
    let [one, other] = &comparison.sides;
    assert_eq!((one.at.as_str(), other.at.as_str()), ("a2", "a4"));
    assert_eq!(ids(&one.entries), ["u2", "a2"]);
    assert_eq!(ids(&other.entries), ["u3", "a3", "m3", "u4", "a4"]);
    let prompts: Vec<_> = other.prompts.iter().map(|prompt| prompt.text.as_str()).collect();
    assert_eq!(prompts, ["use Rust", "faster"]);
    assert_eq!(other.prompts[1].id.as_str(), "u4");
    assert_eq!(one.ends_with.as_deref(), Some("Node it is"));
    assert_eq!(other.ends_with.as_deref(), Some("Rust is done"));
    assert_eq!((one.stats.usage.total, other.stats.usage.total), (10, 20));
    assert_eq!(
        other.stats,
        session_view::Stats::of_entries(&session, other.entries.iter().map(|id| node(&session, id.as_str())))
            .unwrap()
    );
    let mut turned = comparison.sides.clone();
    turned.reverse();
    assert_eq!(compare(&session, "a4", "a2").sides, turned);
}

#[test]
fn an_ancestor_has_done_nothing_more() {
    let session = session("u1 user one\n a1<u1 assistant two\n u2<a1 user three");
    let comparison = compare(&session, "u1", "u2");
    assert_eq!(comparison.base, Some("u1".into()));
    let empty = &comparison.sides[0];
    assert!(empty.entries.is_empty() && empty.prompts.is_empty() && empty.ends_with.is_none());
    assert_eq!(ids(&comparison.sides[1].entries), ["a1", "u2"]);
    assert!(compare(&session, "u2", "u2").sides.iter().all(|side| side.entries.is_empty()));
}

#[test]
fn branches_of_different_roots_share_nothing() {
    let session = session("u1 user one\n u2 user two");
    let comparison = compare(&session, "u1", "u2");
    assert_eq!(comparison.base, None);
    assert_eq!(ids(&comparison.sides[0].entries), ["u1"]);
}

#[test]
fn commands_have_the_outcome_that_their_results_tell() {
    let drawing = [
        "u1 user start\n".to_owned(),
        call("a1", "u1", "bash", r#"{"command":"cargo test","timeout":5}"#),
        result("t1", "a1", "a1", true),
        call("a2", "t1", "edit", r#"{"path":"src/main.rs","edits":[]}"#),
        result("t2", "a2", "a2", false),
        call("a3", "t2", "weather", r#"{"days":3,"city":{"name":"Bonn"}}"#),
        "b1<a3 bash git status\n".to_owned(),
        message("b2", "b1", r#""role":"bashExecution","command":"false","exitCode":1,"cancelled":false"#),
        message("b3", "b2", r#""role":"bashExecution","command":"sleep 9","cancelled":true"#),
        message("b4", "b3", r#""role":"bashExecution","command":"lost""#),
    ]
    .concat();
    let session = session(&drawing);
    let comparison = compare(&session, "u1", "b4");
    let side = &comparison.sides[1];
    let run = |id: &str, tool, argument, outcome| (id.to_owned(), tool, argument, outcome);
    let expected = [
        run("a1", "bash", "cargo test", Outcome::Error),
        run("a2", "edit", "src/main.rs", Outcome::Ok),
        run("a3", "weather", r#"{"days":3,"city":{"name":"Bonn"}}"#, Outcome::Open),
        run("b1", "bash", "git status", Outcome::Ok),
        run("b2", "bash", "false", Outcome::Error),
        run("b3", "bash", "sleep 9", Outcome::Error),
        run("b4", "bash", "lost", Outcome::Open),
    ];
    assert_eq!(commands(side), expected);
    let codes: Vec<_> = side.commands.iter().map(|run| (run.by_person, run.exit_code)).collect();
    let none = (false, None);
    assert_eq!(codes, [none, none, none, (true, Some(0)), (true, Some(1)), (true, None), (true, None)]);
}

#[test]
fn calls_of_one_answer_that_share_an_id_have_an_outcome_each() {
    let block = |command: &str| {
        format!(r#"{{"type":"toolCall","id":"c-x","name":"bash","arguments":{{"command":"{command}"}}}}"#)
    };
    let answer = format!(r#""role":"assistant","content":[{},{}]"#, block("true"), block("false"));
    let drawing = [
        "u1 user start\n".to_owned(),
        message("a1", "u1", &answer),
        result("t1", "a1", "x", false),
        result("t2", "t1", "x", true),
    ]
    .concat();
    let session = session(&drawing);
    let comparison = compare(&session, "u1", "t2");
    let run = |argument, outcome| ("a1".to_owned(), "bash", argument, outcome);
    let expected = [run("true", Outcome::Ok), run("false", Outcome::Error)];
    assert_eq!(commands(&comparison.sides[1]), expected);
}

#[test]
fn a_call_before_the_base_is_run_by_the_side_that_has_its_result() {
    let drawing = [
        "u1 user start\n".to_owned(),
        call("a1", "u1", "bash", r#"{"command":"make"}"#),
        result("t1", "a1", "a1", false),
        result("t2", "a1", "a1", true),
        result("t3", "u1", "nowhere", true),
    ]
    .concat();
    let session = session(&drawing);
    let comparison = compare(&session, "t1", "t2");
    let run = |outcome| vec![("a1".to_owned(), "bash", "make", outcome)];
    assert_eq!(commands(&comparison.sides[0]), run(Outcome::Ok));
    assert_eq!(commands(&comparison.sides[1]), run(Outcome::Error));
    let lost = compare(&session, "t3", "t1");
    assert_eq!(commands(&lost.sides[0]), [("t3".to_owned(), "t", "", Outcome::Error)]);
}

#[test]
fn files_are_told_by_side_and_contested_if_both_changed_them() {
    let path = |path: &str| format!(r#"{{"path":"{path}"}}"#);
    let drawing = [
        "u1 user start\n".to_owned(),
        call("a1", "u1", "edit", &path("before.rs")),
        call("b1", "a1", "read", &path("shared.rs")),
        call("b2", "b1", "edit", &path("both.rs")),
        call("b3", "b2", "write", &path("new.rs")),
        call("c1", "a1", "edit", &path("shared.rs")),
        call("c2", "c1", "write", &path("both.rs")),
        r#"! {"type":"branch_summary","id":"s1","parentId":"c2","timestamp":"2025-01-01T02:00:00.000Z","summary":"s","details":{"modifiedFiles":["new.rs"]}}"#
            .to_owned(),
    ]
    .concat();
    let session = session(&drawing);
    let comparison = compare(&session, "b3", "s1");
    let [one, other] = &comparison.sides;
    assert_eq!(
        (one.files.read_files(), one.files.modified_files()),
        (vec!["shared.rs"], vec!["both.rs", "new.rs"])
    );
    assert_eq!(
        (other.files.read_files(), other.files.modified_files()),
        (vec![], vec!["both.rs", "shared.rs"])
    );
    assert_eq!(comparison.files_in_both, ["both.rs", "shared.rs"]);
    assert_eq!(comparison.contested_files, ["both.rs"]);
}

#[test]
fn a_prompt_of_images_says_how_many_and_a_long_answer_is_cut() {
    let image = r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#;
    let long = "word ".repeat(100);
    let drawing = [
        "u1 user start\n".to_owned(),
        message("u2", "u1", &format!(r#""role":"user","content":[{image},{image}]"#)),
        format!("a2<u2 assistant {long}\n"),
        call("a3", "a2", "read", "null"),
    ]
    .concat();
    let session = session(&drawing);
    let comparison = compare(&session, "u1", "a3");
    let side = &comparison.sides[1];
    assert_eq!(side.prompts[0].text, "[2 images]");
    let end = side.ends_with.as_deref().unwrap();
    assert!(end.starts_with("word word") && end.len() < 201, "{end}");
}
