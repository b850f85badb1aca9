//! Old versions: reading and migrating them. The number at the end of a name is that of the conformance case.

use std::fs;

use session_tree::{Draft, Message, Position, Role, Session};

use crate::support::live::{Folder, context, field, lines, parent, path, roots, shape, user};

const V1: &str = r#"{"type":"session","id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}"#;
const V2: &str =
    r#"{"type":"session","version":2,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}"#;
const USER: &str =
    r#"{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}"#;
const ASSISTANT: &str = r#"{"type":"message","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"two"}]}}"#;

fn text(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Returns a compaction of version 1, which names the first kept entry by its index among the parsed lines.
fn compaction(index: &str) -> String {
    format!(
        r#"{{"type":"compaction","timestamp":"2025-01-01T00:00:03.000Z","summary":"s","firstKeptEntryIndex":{index},"tokensBefore":9}}"#
    )
}

fn ids(session: &Session) -> Vec<String> {
    session.tree().nodes().map(|node| session.tree().id(node).to_string()).collect()
}

#[test]
fn entries_of_version_1_get_ids_and_form_a_line() {
    let dir = Folder::new();
    let before = text(&[V1, USER, ASSISTANT]);
    let file = dir.put("s.jsonl", &before);
    let mut session = Session::open(&file).unwrap();
    let ids = ids(&session);
    assert!(ids.len() == 2 && ids.iter().all(|id| id.len() == 8) && ids[0] != ids[1], "{ids:?}");
    assert_eq!(shape(&session), [ids[0].clone(), format!("{}<{}", ids[1], ids[0])]);
    assert_eq!(context(&session), ids);
    assert_eq!(fs::read_to_string(&file).unwrap(), before, "reading writes nothing");
    session.migrate().unwrap();
    assert_eq!(session.header().version(), 3);
    let reopened = Session::open(&file).unwrap();
    assert_eq!(reopened.header().version(), 3);
    assert_eq!(shape(&reopened), shape(&session));
    assert_eq!(self::ids(&reopened), ids, "the ids that reading gave are the ones that are written");
}

#[test]
fn entries_of_version_2_keep_their_ids() {
    let dir = Folder::new();
    let line = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2025-01-01T00:00:01.000Z","message":{{"role":"user","content":"x"}}}}"#
        )
    };
    let (a, b) = (line("aaaa", "null"), line("bbbb", "\"aaaa\""));
    let file = dir.put("s.jsonl", text(&[V2, &a, &b]));
    let mut session = Session::open(&file).unwrap();
    assert_eq!(shape(&session), ["aaaa", "bbbb<aaaa"]);
    session.migrate().unwrap();
    assert_eq!(lines(&file), [V2.replace("\"version\":2", "\"version\":3"), a, b]);
    assert_eq!(shape(&Session::open(&file).unwrap()), ["aaaa", "bbbb<aaaa"]);
}

#[test]
fn hook_messages_of_version_2_become_custom_messages() {
    let dir = Folder::new();
    let hook = r#"{"type":"message","id":"h","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"hookMessage","customType":"t","content":"x","display":true}}"#;
    let before = text(&[V2, hook]);
    let file = dir.put("s.jsonl", &before);
    let mut session = Session::open(&file).unwrap();
    let role = |session: &Session| session.tree().role(session.node("h").unwrap());
    assert_eq!(role(&session), Some(Role::Custom));
    assert_eq!(fs::read_to_string(&file).unwrap(), before, "reading writes nothing");
    let kept = session.migrate().unwrap().unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), before, "the original is kept");
    assert_eq!(dir.names(), ["s.jsonl", "s.jsonl.bak-v2"]);
    assert_eq!(
        lines(&file),
        [V2.replace("\"version\":2", "\"version\":3"), hook.replace("hookMessage", "custom")]
    );
    assert_eq!(role(&Session::open(&file).unwrap()), Some(Role::Custom));
}

#[test]
fn a_compaction_of_version_1_keeps_from_the_entry_at_its_index() {
    let dir = Folder::new();
    // 0 is the header, 1 the prompt, 3 the compaction itself.
    for (index, kept) in [("1", Some(0)), ("2", Some(1)), ("3", Some(2)), ("0", None), ("99", None)] {
        let compaction = compaction(index);
        let file = dir.put("s.jsonl", text(&[V1, USER, ASSISTANT, &compaction, USER]));
        let mut session = Session::open(&file).unwrap();
        let ids = ids(&session);
        let kept_id = kept.map(|place: usize| ids[place].clone());
        assert_eq!(field(&session, &ids[2], "firstKeptEntryId"), kept_id, "index {index}");
        let expected = match index {
            "1" => vec![&ids[2], &ids[0], &ids[1], &ids[3]],
            "2" => vec![&ids[2], &ids[1], &ids[3]],
            _ => vec![&ids[2], &ids[3]],
        };
        assert_eq!(context(&session).iter().collect::<Vec<_>>(), expected, "index {index}");
        session.migrate().unwrap();
        let line = &lines(&file)[3];
        assert!(!line.contains("firstKeptEntryIndex"), "{line}");
        assert_eq!(line.contains("firstKeptEntryId"), kept.is_some(), "{line}");
        let reopened = Session::open(&file).unwrap();
        assert_eq!(field(&reopened, &ids[2], "firstKeptEntryId"), kept_id);
        assert_eq!(context(&reopened), context(&session));
    }
}

#[test]
fn migrating_again_changes_no_byte() {
    let dir = Folder::new();
    for header in [V1, V2] {
        let file = dir.put("s.jsonl", text(&[header, USER, ASSISTANT, &compaction("1")]));
        let mut session = Session::open(&file).unwrap();
        assert!(session.migrate().unwrap().is_some());
        let once = fs::read(&file).unwrap();
        assert_eq!(session.migrate().unwrap(), None);
        assert_eq!(Session::open(&file).unwrap().migrate().unwrap(), None);
        assert_eq!(fs::read(&file).unwrap(), once);
    }
}

#[test]
fn a_line_of_version_1_gets_its_id_and_parent_at_the_end_and_stays_otherwise() {
    let dir = Folder::new();
    let odd = r#"{"type": "message","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"user","content":"two", "n":1.0},"x":12345678901234567890}"#;
    let file = dir.put("s.jsonl", text(&[V1, USER, odd]));
    let mut session = Session::open(&file).unwrap();
    session.migrate().unwrap();
    let ids = ids(&session);
    let with = |line: &str, end: String| format!("{}{end}}}", line.strip_suffix('}').unwrap());
    let expected = [
        with(V1, ",\"version\":3".into()),
        with(USER, format!(",\"id\":\"{}\",\"parentId\":null", ids[0])),
        with(odd, format!(",\"id\":\"{}\",\"parentId\":\"{}\"", ids[1], ids[0])),
    ];
    assert_eq!(lines(&file), expected);
}

#[test]
fn a_line_that_need_not_change_keeps_its_spelling() {
    let dir = Folder::new();
    let odd = r#"{"type":"message","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"\ud800 x","n": 1.0,"n":12345678901234567890123}}"#;
    let file = dir.put("s.jsonl", text(&[V2, odd]));
    Session::open(&file).unwrap().migrate().unwrap();
    assert_eq!(lines(&file)[1], odd);
}

#[test]
fn bytes_that_are_not_utf_8_stay_as_they_are() {
    let dir = Folder::new();
    let odd = b"\xff\xc3(\xed\xa0\x80";
    for (header, line) in
        [(V1, USER.to_owned()), (V2, USER.replacen('{', r#"{"id":"a","parentId":null,"#, 1))]
    {
        let mut bytes = text(&[header, &line]).into_bytes();
        let at = bytes.windows(3).rposition(|three| three == b"one").unwrap();
        bytes.splice(at..at + 3, *odd);
        let file = dir.put(&format!("{}.jsonl", header.len()), &bytes);
        Session::open(&file).unwrap().migrate().unwrap().unwrap();
        let after = fs::read(&file).unwrap();
        assert!(after.windows(odd.len()).any(|some| some == odd), "{}", after.escape_ascii());
    }
}

#[test]
fn a_bad_line_stays_where_it_is_and_shifts_no_index() {
    let dir = Folder::new();
    let compaction = compaction("2");
    let file = dir.put("s.jsonl", text(&[V1, USER, "not json", ASSISTANT, &compaction]));
    let mut session = Session::open(&file).unwrap();
    session.migrate().unwrap();
    assert_eq!(lines(&file)[2], "not json");
    assert_eq!(lines(&file).len(), 5);
    let reopened = Session::open(&file).unwrap();
    let ids = ids(&reopened);
    assert_eq!(
        field(&reopened, &ids[2], "firstKeptEntryId").as_ref(),
        Some(&ids[1]),
        "bad lines do not count"
    );
}

#[test]
fn ids_that_are_there_are_used_although_the_header_has_no_version() {
    let line = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2025-01-01T00:00:01.000Z","message":{{"role":"user","content":"x"}}}}"#
        )
    };
    let (a, b, c) = (line("a", "null"), line("b", "\"a\""), line("c", "\"a\""));
    let dir = Folder::new();
    let file = dir.put("s.jsonl", text(&[V1, &a, &b, &c]));
    let mut session = Session::open(&file).unwrap();
    assert_eq!(shape(&session), ["a", "b<a", "c<a"]);
    let new = session.append_message(&user("next")).unwrap();
    assert_eq!(lines(&file)[1..4], [a, b, c]);
    let reopened = Session::open(&file).unwrap();
    assert_eq!(path(&reopened, None), ["a", "c", new.as_str()]);
    assert_eq!(parent(&reopened, &new).unwrap(), "c");
}

#[test]
fn the_example_of_the_early_design_reads_as_it_was_meant() {
    let message = |id: &str, parent: &str, role: &str| {
        format!(
            r#"{{"type":"message","uuid":"{id}","parentUuid":"{parent}","message":{{"role":"{role}","content":"{id}"}}}}"#
        )
    };
    let mut lines = vec![
        r#"{"type":"session","version":2,"uuid":"ses1","parentUuid":null,"id":"abc","cwd":"/project"}"#
            .to_owned(),
        message("m1", "ses1", "user"),
        message("m2", "m1", "assistant"),
        message("m3", "m2", "user"),
        message("m4", "m3", "assistant"),
        message("m5", "m4", "user"),
        message("m6", "m5", "assistant"),
    ];
    lines.push(r#"{"type":"branch_summary","uuid":"bs1","parentUuid":"m2","summary":"tried"}"#.into());
    lines.push(message("m7", "bs1", "user"));
    lines.push(message("m8", "m7", "assistant"));
    let dir = Folder::new();
    let before: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let file = dir.put("s.jsonl", &before);
    let mut session = Session::open(&file).unwrap();
    assert_eq!(session.leaf_id().unwrap(), "m8");
    assert_eq!(context(&session), ["m1", "m2", "bs1", "m7", "m8"]);
    assert!(session.tree().node("ses1").is_none());
    assert_eq!(roots(&session), ["m1"]);
    assert_eq!(session.header().id(), "abc");
    assert_eq!(session.read_only(), None);
    let id = session.append_message(&user("next")).unwrap();
    let after = fs::read_to_string(&file).unwrap();
    let new = after.strip_prefix(&before).unwrap();
    assert!(
        new.starts_with(&format!(r#"{{"type":"message","uuid":"{id}","parentUuid":"m8","timestamp":"#)),
        "{new}"
    );
    assert_eq!(dir.names(), ["s.jsonl"], "the file is continued, not rewritten");
}

#[test]
fn a_file_that_spells_ids_uuid_is_continued_in_its_own_spelling() {
    let dir = Folder::new();
    let header =
        r#"{"type":"session","version":2,"uuid":"ses1","parentUuid":null,"id":"abc","cwd":"/project"}"#;
    let first =
        r#"{"type":"message","uuid":"m1","parentUuid":"ses1","message":{"role":"user","content":"one"}}"#;
    let second = r#"{"type":"message","uuid":"m2","parentUuid":"m1","message":{"role":"assistant","content":[{"type":"text","text":"two"}]}}"#;
    let before = text(&[header, first, second]);
    let file = dir.put("s.jsonl", &before);
    let mut session = Session::open(&file).unwrap();
    let asked = session.append_message(&user("three")).unwrap();
    session.append_label_change("m2", Some("here")).unwrap();
    let compaction = session
        .append(
            Draft::parse(
                r#"{"type":"compaction","summary":"s","firstKeptEntryId":"m2","tokensBefore":9,"fromHook":false}"#,
            )
            .unwrap(),
        )
        .unwrap();
    session.append_under(Position::Start, user("another start")).unwrap();
    session.branch("m1").unwrap();
    session.mark_leaf().unwrap().unwrap();
    let written = fs::read_to_string(&file).unwrap();
    let new = written.strip_prefix(&before).unwrap();
    assert!(
        !new.contains("\"id\":") && !new.contains("parentId") && !new.contains("firstKeptEntryId"),
        "{new}"
    );
    assert!(new.contains(r#""firstKeptEntryUuid":"m2""#), "{new}");
    assert_eq!(new.matches(r#""parentUuid":"ses1""#).count(), 1, "a root names the header");
    let mut again = Session::open(&file).unwrap();
    assert_eq!(again.leaf_id().unwrap(), "m1");
    assert_eq!(again.label(again.node("m2").unwrap()).unwrap().text, "here");
    assert_eq!(roots(&again).len(), 2);
    again.branch(compaction.as_str()).unwrap();
    assert_eq!(context(&again), [compaction.as_str(), "m2", asked.as_str()]);
    assert!(
        again
            .check()
            .unwrap()
            .diagnostics
            .iter()
            .all(|found| found.problem.code() == "uuid-spelling" || found.problem.code() == "bad-timestamp"),
        "{:?}",
        again.check().unwrap().diagnostics
    );
    let kept = again.migrate().unwrap().unwrap();
    assert_eq!(
        fs::read_to_string(kept).unwrap(),
        written,
        "asked for, it becomes a file of the current version"
    );
    assert!(!fs::read_to_string(&file).unwrap().to_lowercase().contains("uuid"));
}

#[test]
fn a_stray_line_with_an_id_does_not_hide_the_entries_of_version_1() {
    for lines in [[USER, STRAY, ASSISTANT], [STRAY, USER, ASSISTANT], [USER, ASSISTANT, TYPED]] {
        let text = text(&[&[V1], &lines[..]].concat());
        let session = Session::from_bytes(text.into_bytes()).unwrap();
        assert_eq!(session.branch_path(Position::Leaf).len(), 3, "{lines:?}");
        assert!(context(&session).len() >= 2, "{lines:?}");
    }
}

const STRAY: &str = r#"{"id":"typeless","parentId":null}"#;
const TYPED: &str = r#"{"type":"custom","customType":"x","id":"late","parentId":null}"#;

/// A cut-off line that now has an end replaces the damaged line of the same id, and rows move.
#[test]
fn of_repeated_types_and_times_the_effective_ones_stay_effective() {
    let dir = Folder::new();
    let twice = r#"{"type":"label","id":"8122bb53","parentId":"a","timestamp":"2025-01-01T00:00:02.000Z","type":"message","timestamp":"2025-01-01T00:00:09.000Z","message":{"role":"user","content":"x"}}"#;
    let file = dir.put("s.jsonl", text(&[V1, USER, twice]));
    let told = |session: &Session| {
        let tree = session.tree();
        let told = tree.nodes().map(|node| (tree.kind(node), tree.timestamp(node)));
        (told.collect::<Vec<_>>(), context(session))
    };
    let mut session = Session::open(&file).unwrap();
    let before = told(&session);
    session.migrate().unwrap();
    assert_eq!(told(&session), before);
    assert_eq!(told(&Session::open(&file).unwrap()), before);
}

#[test]
fn an_append_that_migrates_goes_below_the_leaf_whatever_a_torn_line_turns_into() {
    let dir = Folder::new();
    let first =
        r#"{"type":"session","id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p","version":1}"#;
    let damaged = r#"{"type":"thinking_level_change","id":"d15ae07b","parentId":"7a639{"id":"989cb37d","parentId":null}"#;
    let odd = r#"{"type":"message","id":"7a639459","parentId":"989cb37d","timestamp":"2025-01-01T00:00:02.800Z","message":1,"message":{"role":"user","content":"one"}}"#;
    let torn = r#"{"type":"thinking_level_change","id":"d15ae07b","parentId":"7a639"#;
    let file = dir.put("s.jsonl", text(&[first, V2, damaged, odd]) + torn);
    let mut session = Session::open(&file).unwrap();
    let leaf = session.leaf_id().unwrap();
    let id = session.append(Message::user("next")).unwrap();
    assert_eq!(session.header().version(), 3);
    for session in [session, Session::open(&file).unwrap()] {
        assert_eq!(context(&session), [leaf.to_string(), id.to_string()]);
    }
}

#[test]
fn a_version_that_is_not_a_number_is_not_migrated() {
    let read = |version: &str| {
        let header = format!(r#"{{"type":"session","version":{version},"id":"s"}}"#);
        let message =
            r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"hi"}}"#;
        let session = Session::from_bytes(format!("{header}\n{message}\n").into_bytes()).unwrap();
        let (version, id) = (session.header().version(), session.leaf_id().unwrap());
        (version, id == "a")
    };
    // pi leaves all of these unchanged, because none compares as smaller than 3.
    for word in [r#""nan""#, r#""NaN""#, r#""inf""#, r#""infinity""#, r#""three""#, "{}"] {
        assert_eq!(read(word), (3, true), "{word}");
    }
    assert_eq!(read(r#"" 2 ""#), (2, true));
    assert_eq!(read(r#""1e0""#).0, 1);
    assert_eq!(read(r#""""#).0, 1);
    assert_eq!(read("-5").0, 1);
    assert_eq!(read("null").0, 1);
}
