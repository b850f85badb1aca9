//! References in a small tree.

use super::*;

/// `a1-a2-a3-a4` with a branch `b1-b2` at `a2`; prompts and answers alternate; the leaf at `b2`.
fn session() -> Session {
    let header =
        r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#;
    let mut text = format!("{header}\n");
    let entries = [
        ("aaaa0001", "", "user"),
        ("aaaa0002", "aaaa0001", "assistant"),
        ("aaaa0003", "aaaa0002", "user"),
        ("bbbb0004", "aaaa0003", "assistant"),
        ("cccc0001", "aaaa0002", "user"),
        ("cccc0002", "cccc0001", "assistant"),
    ];
    for (second, (id, parent, role)) in entries.into_iter().enumerate() {
        let parent = if parent.is_empty() { "null".into() } else { format!("\"{parent}\"") };
        text += &format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2025-01-01T00:00:0{second}.000Z","message":{{"role":"{role}","content":"x"}}}}"#
        );
        text.push('\n');
    }
    for (id, target, label) in [
        ("dddd0001", "aaaa0003", "try"),
        ("dddd0002", "aaaa0001", "twice"),
        ("dddd0003", "aaaa0002", "twice"),
        ("dddd0004", "bbbb0004", "odd^2"),
    ] {
        text += &format!(
            r#"{{"type":"label","id":"{id}","parentId":"cccc0002","timestamp":"2025-01-01T00:00:09.000Z","targetId":"{target}","label":"{label}"}}"#
        );
        text.push('\n');
    }
    text += r#"{"type":"custom","customType":"session-tree.leaf","data":{"targetId":"cccc0002"},"id":"eeee0001","parentId":"cccc0002","timestamp":"2025-01-01T00:00:09.000Z"}"#;
    text.push('\n');
    Session::from_bytes(text.into_bytes()).unwrap()
}

#[test]
fn every_way_to_name_an_entry_finds_it() {
    let session = session();
    let cases = [
        ("aaaa0003", "aaaa0003"),
        ("bbbb", "bbbb0004"),
        ("  bbbb  ", "bbbb0004"),
        ("@try", "aaaa0003"),
        ("@odd^2", "bbbb0004"),
        ("@try^2", "aaaa0001"),
        ("leaf", "cccc0002"),
        (".", "cccc0002"),
        ("root", "aaaa0001"),
        ("^", "cccc0001"),
        ("^2", "aaaa0002"),
        ("^^", "aaaa0002"),
        ("~", "cccc0001"),
        ("~1", "cccc0001"),
        ("~2", "aaaa0001"),
        ("~0", "cccc0002"),
        ("~~", "aaaa0001"),
        ("cccc0001~1", "cccc0001"),
        ("cccc0001~2", "aaaa0001"),
        ("dddd0001~1", "cccc0001"),
        ("@try~^", "aaaa0002"),
        ("bbbb~1^", "aaaa0002"),
        ("#1", "cccc0002"),
        ("#2", "bbbb0004"),
        ("#2^", "aaaa0003"),
        ("%2", "bbbb0004"),
        ("branch:2^", "aaaa0003"),
        ("branch:try", "bbbb0004"),
        (".~1", "cccc0001"),
        ("leaf~2", "aaaa0001"),
    ];
    for (reference, expected) in cases {
        let node = crate::resolve(&session, reference).unwrap_or_else(|error| panic!("{reference}: {error}"));
        assert_eq!(session.tree().id(node), expected, "{reference}");
    }
}

#[test]
fn what_cannot_be_found_says_why() {
    let session = session();
    let cases = [
        ("", "cannot resolve the reference ``: it is empty"),
        ("aaa", "cannot resolve the reference `aaa`: the prefix of an id has at least four characters"),
        ("ffff", "Entry ffff not found"),
        ("aaaa", "`aaaa` is ambiguous: 3 entries begin with it"),
        ("@twice", "the label `twice` is on 2 entries"),
        ("@none", "cannot resolve the reference `@none`: no entry has this label"),
        ("#0", "cannot resolve the reference `#0`: there is no such branch"),
        ("#3", "cannot resolve the reference `#3`: there is no such branch"),
        ("#x", "cannot resolve the reference `#x`: there is no such branch"),
        ("branch:none", "cannot resolve the reference `branch:none`: there is no such branch"),
        ("try", "no entry has the id `try`, but there is a label `@try`"),
        ("twice", "no entry has the id `twice`, but there is a label `@twice`"),
        ("-", "cannot resolve the reference `-`: there is no previous leaf here"),
        ("^9", "cannot resolve the reference `^9`: the path does not go back that far"),
        ("~3", "cannot resolve the reference `~3`: the path does not go back that far"),
        ("^x", "cannot resolve the reference `^x`: only `^`, `~` and numbers may follow"),
        ("^é", "cannot resolve the reference `^é`: only `^`, `~` and numbers may follow"),
        (
            "^99999999999999999999999",
            "cannot resolve the reference `^99999999999999999999999`: the number is too large",
        ),
    ];
    for (reference, expected) in cases {
        assert_eq!(crate::resolve(&session, reference).unwrap_err().to_string(), expected);
    }
}

#[test]
fn the_latest_prompt_is_one_back_whether_it_is_the_leaf_or_has_a_label_behind_it() {
    let mut lines: Vec<String> = Vec::new();
    let line = |id: &str, parent: &str, rest: &str| {
        format!(r#"{{{rest},"id":"{id}","parentId":{parent},"timestamp":"2025-01-01T00:00:01.000Z"}}"#)
    };
    lines.push(
        r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#.into(),
    );
    lines.push(line("aaaa0001", "null", r#""type":"message","message":{"role":"user","content":"one"}"#));
    lines.push(line(
        "aaaa0002",
        "\"aaaa0001\"",
        r#""type":"message","message":{"role":"user","content":"two"}"#,
    ));
    let label = line("dddd0001", "\"aaaa0002\"", r#""type":"label","targetId":"aaaa0001","label":"x""#);
    for with_label in [false, true] {
        let mut lines = lines.clone();
        lines.extend(with_label.then(|| label.clone()));
        let session = Session::from_bytes((lines.join("\n") + "\n").into_bytes()).unwrap();
        for (reference, expected) in [("~1", "aaaa0002"), ("~2", "aaaa0001")] {
            let found = crate::resolve(&session, reference).map(|node| session.tree().id(node)).unwrap();
            assert_eq!(found, expected, "{reference}, with a label: {with_label}");
        }
        let pop = session.plan_pop(None).unwrap();
        assert_eq!(pop.new_leaf(), Some(&session_tree::EntryId::from("aaaa0001")));
    }
}

#[test]
fn ambiguous_references_name_their_candidates() {
    let session = session();
    let Error::AmbiguousPrefix { candidates, .. } = crate::resolve(&session, "aaaa").unwrap_err() else {
        panic!()
    };
    assert_eq!(candidates, ["aaaa0001", "aaaa0002", "aaaa0003"]);
    let Error::AmbiguousLabel { candidates, .. } = crate::resolve(&session, "@twice").unwrap_err() else {
        panic!()
    };
    assert_eq!(candidates, ["aaaa0001", "aaaa0002"]);
}

#[test]
fn a_dash_goes_to_the_previous_leaf_where_there_is_a_history() {
    let session = session();
    let previous = session.tree().node("bbbb0004");
    assert_eq!(crate::resolve_from(&session, "-", previous).ok(), previous);
    assert_eq!(crate::resolve_from(&session, "-^", previous).ok(), session.tree().node("aaaa0003"));
}

#[test]
fn an_empty_session_has_nothing_to_refer_to() {
    let header =
        r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#;
    let session = Session::from_bytes(format!("{header}\n").into_bytes()).unwrap();
    for reference in [".", "root", "^", "#1", "@x", "abcd"] {
        assert!(crate::resolve(&session, reference).is_err(), "{reference}");
    }
}

#[test]
fn a_reference_may_begin_with_its_session() {
    let cases = [
        ("a.jsonl:leaf", (Some("a.jsonl"), "leaf")),
        ("/x/a:b.jsonl:@l:m", (Some("/x/a:b.jsonl"), "@l:m")),
        (r"C:\s\a.jsonl:#2", (Some(r"C:\s\a.jsonl"), "#2")),
        ("0197-aa:~2", (Some("0197-aa"), "~2")),
        (r"C:\s\a", (None, r"C:\s\a")),
        ("@a:b", (None, "@a:b")),
        ("leaf", (None, "leaf")),
        (":x", (None, ":x")),
    ];
    for (text, expected) in cases {
        assert_eq!(split_reference(text), expected);
    }
}
