//! Branches of small trees.

use super::*;

/// Entries as `(id, parent, what)`, one minute apart; `what` is a role, or JSON members after the envelope.
fn session(entries: &[(&str, &str, &str)]) -> Session {
    let mut text = String::from(
        r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#,
    );
    for (minute, (id, parent, what)) in entries.iter().enumerate() {
        let parent = if parent.is_empty() { "null".into() } else { format!("\"{parent}\"") };
        let rest = match what.split_once(": ") {
            Some((role @ ("user" | "assistant"), said)) => {
                let content = format!(r#"[{{"type":"text","text":"{said}"}}]"#);
                format!(
                    r#""type":"message","message":{{"role":"{role}","content":{content},"stopReason":"stop"}}"#
                )
            }
            _ => (*what).to_owned(),
        };
        text += &format!(
            "\n{{{rest},\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2025-01-01T00:{minute:02}:00.000Z\"}}"
        );
    }
    text.push('\n');
    Session::from_bytes(text.into_bytes()).unwrap()
}

const LABEL_BASE: &str = r#""type":"label","targetId":"a1","label":"baseline""#;
const LABEL_GO: &str = r#""type":"label","targetId":"u4","label":"go-attempt""#;
const COMPACTION: &str = r#""type":"compaction","summary":"s","firstKeptEntryId":"u2","tokensBefore":52000"#;
const FAILED: &str = r#""type":"message","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"529"}"#;
const SUMMARY: &str = r#""type":"branch_summary","fromId":"a3","summary":"Python port""#;
const MERGE: &str = r#""type":"branch_summary","fromId":"a6","summary":"channels","details":{"merge":{"v":1,"sourceLeafId":"a6"}}"#;

fn greeter() -> Session {
    session(&[
        ("u1", "", "user: Build a CLI"),
        ("a1", "u1", "assistant: Done"),
        ("u2", "a1", "user: Add a --verbose flag"),
        ("k1", "u2", COMPACTION),
        ("a2", "k1", "assistant: Added"),
        ("u7", "a2", "user: That worked"),
        ("u3", "a1", "user: Actually, use Python"),
        ("a3", "u3", FAILED),
        ("b1", "a1", SUMMARY),
        ("u4", "b1", "user: Use Go instead"),
        ("a4", "u4", "assistant: Creating Go CLI..."),
        ("u5", "a4", "user: Now with goroutines"),
        ("u6", "a4", "user: No, channels"),
        ("a6", "u6", "assistant: Channels it is"),
        ("l1", "a6", LABEL_BASE),
        ("l2", "l1", LABEL_GO),
        ("m1", "u5", MERGE),
        ("a5", "m1", "assistant: Finished"),
        ("u8", "a5", "user: great"),
    ])
}

#[test]
fn branches_are_listed_newest_first_under_names_a_person_knows() {
    let session = greeter();
    let branches = crate::branches(&session).unwrap();
    let table: Vec<_> = branches
        .iter()
        .map(|branch| {
            (branch.tip_id.as_str(), branch.name.as_str(), branch.from.as_deref().unwrap_or(""), branch.turns)
        })
        .collect();
    let expected = [
        ("u8", "go-attempt", "baseline", 3),
        ("a6", "No, channels", "go-attempt", 1),
        ("a3", "Actually, use Python", "baseline", 1),
        ("u7", "Add a --verbose flag", "baseline", 2),
    ];
    assert_eq!(table, expected);
    let marks: Vec<_> =
        branches.iter().map(|branch| (branch.is_current, branch.ends_in_error, branch.compacted)).collect();
    assert_eq!(
        marks,
        [(true, false, false), (false, false, false), (false, true, false), (false, false, true)]
    );
    assert_eq!(branches.iter().map(|branch| branch.entries).collect::<Vec<_>>(), [7, 2, 2, 4]);
    assert_eq!(branches[1].merged_into, session.tree().node("u8"));
    assert_eq!(branches[0].merged_into, None);
}

#[test]
fn bookkeeping_makes_no_tip_and_no_branch_point() {
    let session = session(&[
        ("u1", "", "user: one"),
        ("s1", "u1", r#""type":"model_change","provider":"p","modelId":"m""#),
        ("u2", "u1", "user: two"),
        ("l1", "u2", r#""type":"label","targetId":"u1","label":"v""#),
        ("n1", "l1", r#""type":"session_info","name":"n""#),
    ]);
    assert_eq!(session.tree().tips(), [session.tree().node("u2").unwrap()]);
    let branch = crate::branches(&session).unwrap().remove(0);
    assert_eq!((branch.branch_point, branch.entries, branch.name.as_str()), (None, 2, "v"));
    assert!(branch.is_current, "the leaf is in the tail of the tip");
}

#[test]
fn a_branch_that_begins_with_a_summary_is_named_after_its_own_prompt_or_its_parent() {
    let summary = r#""type":"branch_summary","fromId":"a3","summary":"Too slow. Use Rust instead""#;
    let settings = r#""type":"model_change","provider":"p","modelId":"m""#;
    let start = [
        ("u1", "", "user: Build a CLI"),
        ("a1", "u1", "assistant: Which language do you have in mind?"),
        ("u2", "a1", "user: Python"),
        ("u3", "a1", "user: Too slow. Use Rust instead"),
        ("a3", "u3", "assistant: Done"),
        ("m1", "a1", settings),
        ("s1", "m1", summary),
    ];
    let name = |more: &[(&str, &str, &str)], id: &str| {
        let session = session(&[&start[..], more].concat());
        session.branch_name(session.tree().node(id).unwrap()).unwrap()
    };
    assert_eq!(name(&[], "s1"), "after: Which language do you have in mind?");
    let answered = ("a4", "s1", "assistant: BodyFilter");
    assert_eq!(name(&[answered], "a4"), "after: Which language do you have in mind?");
    assert_eq!(name(&[answered, ("u5", "a4", "user: Use Node")], "u5"), "Use Node");
    let label = ("l1", "s1", r#""type":"label","targetId":"s1","label":"node""#);
    assert_eq!(name(&[label], "s1"), "node");

    // Nothing stands above a summary at the root: its own text has to do.
    let session = session(&[("u1", "", "user: one"), ("s1", "", summary)]);
    let names: Vec<String> =
        crate::branches(&session).unwrap().into_iter().map(|branch| branch.name).collect();
    assert_eq!(names, ["Too slow. Use Rust instead", "one"]);
}

#[test]
fn the_origin_of_a_branch_is_no_bookkeeping_entry() {
    let settings = r#""type":"model_change","provider":"p","modelId":"m""#;
    let hello = r#""type":"custom_message","customType":"hello","content":"Welcome","display":true"#;
    let origins = |entries: &[(&str, &str, &str)]| {
        let branches = crate::branches(&session(entries)).unwrap();
        branches.into_iter().map(|branch| branch.from).collect::<Vec<_>>()
    };
    let two = [("u1", "m1", "user: one"), ("u2", "m1", "user: two")];
    assert_eq!(origins(&[&[("m1", "", settings)][..], &two].concat()), [None, None]);
    let below = [&[("c1", "", hello), ("m1", "c1", settings)][..], &two].concat();
    assert_eq!(origins(&below), [Some("Welcome".to_owned()), Some("Welcome".to_owned())]);
}

#[test]
fn the_newest_tip_below_an_entry_is_where_a_switch_goes() {
    let session = greeter();
    let tip = |id: &str| {
        let tip = session.tree().newest_tip_below(session.tree().node(id).unwrap());
        tip.map(|tip| session.tree().id(tip).to_string())
    };
    assert_eq!(tip("u1").as_deref(), Some("u8"));
    assert_eq!(tip("u2").as_deref(), Some("u7"));
    assert_eq!(tip("u6").as_deref(), Some("a6"));
    assert_eq!(tip("a3").as_deref(), Some("a3"));
    assert_eq!(tip("l1"), None);
}

#[test]
fn a_hidden_branch_shows_again_when_asked_or_when_it_grows() {
    let hide = |hidden: bool| {
        format!(
            r#""type":"custom","customType":"{HIDDEN_BRANCH}","data":{{"targetId":"a2","hidden":{hidden}}}"#
        )
    };
    let (on, off) = (hide(true), hide(false));
    let start = [("u1", "", "user: one"), ("a2", "u1", "assistant: two"), ("u3", "u1", "user: three")];
    let hidden = |more: &[(&str, &str, &str)]| {
        let session = session(&[&start[..], more].concat());
        let branches = crate::branches(&session).unwrap();
        let hidden = branches.into_iter().filter(|branch| branch.is_hidden);
        hidden.map(|branch| branch.tip_id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(hidden(&[("h1", "u3", &on)]), ["a2"]);
    assert!(hidden(&[("h1", "u3", &on), ("h2", "h1", &off)]).is_empty());
    assert!(hidden(&[("h1", "u3", &on), ("u4", "a2", "user: more")]).is_empty());
}

#[test]
fn an_empty_session_has_no_branches() {
    assert!(crate::branches(&session(&[])).unwrap().is_empty());
}
