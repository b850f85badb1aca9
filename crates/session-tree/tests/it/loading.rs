//! Loading of whole, odd and damaged files. The number at the end of a name is that of the conformance case.

use std::fs;

use session_tree::{Error, Extract, Options, ReadOnlyReason, Session};
use testkit::drawing::{entry_lines, header_line, session_text};

use crate::support::live::{Folder, children, codes, context, lines, path, roots, shape, user};

fn read(bytes: impl Into<Vec<u8>>) -> Session {
    Session::from_bytes(bytes.into()).unwrap()
}

/// Returns the line of a prompt in pi's spelling.
fn prompt(id: &str, parent: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2025-01-01T00:00:01.000Z","message":{{"role":"user","content":"{id}","timestamp":1}}}}"#
    )
}

#[test]
fn a_missing_file_is_an_empty_session() {
    let dir = Folder::new();
    let session = Options::new().open_or_create(dir.at("none.jsonl"), "/project").unwrap();
    assert_eq!(session.entries().count(), 0);
    assert!(dir.names().is_empty());
}

#[test]
fn a_file_that_is_no_session_is_refused_and_not_touched() {
    let dir = Folder::new();
    let without_id = "{\"type\":\"session\",\"version\":3,\"id\":7,\"cwd\":\"/w\"}\n".as_bytes().to_vec();
    for bytes in [b"garbage\n".to_vec(), b" \n\n".to_vec(), entry_lines("u1 user one"), without_id] {
        let file = dir.put("s.jsonl", &bytes);
        for opened in [
            Session::open(&file),
            Session::open_read_only(&file),
            Options::new().open_or_create(&file, "/project"),
        ] {
            let error = opened.unwrap_err();
            assert!(matches!(error, Error::NotASession { .. }), "{error}");
            let place = fs::canonicalize(&file).unwrap();
            let said = error.to_string();
            let expected = [&file, &place]
                .map(|path| format!("Session file is not a valid pi session: {}", path.display()));
            assert!(expected.contains(&said), "{said}");
        }
        assert_eq!(fs::read(&file).unwrap(), bytes);
        assert_eq!(dir.names(), ["s.jsonl"]);
    }
}

#[test]
fn a_bad_line_is_skipped_and_reported() {
    let session = read(session_text("! this is not json\n u1 user one"));
    assert_eq!(shape(&session), ["u1"]);
    assert_eq!(session.leaf_id().unwrap(), "u1");
    assert_eq!(codes(&session), ["not-json"]);
}

#[test]
fn blank_and_bad_lines_may_stand_before_the_header() {
    for before in ["\n", "  \n\n", "not json\n", "\nnot json\n"] {
        let session = read([before.as_bytes(), &session_text("u1 user one")].concat());
        assert_eq!(shape(&session), ["u1"], "{before:?}");
        assert_eq!(session.header().id(), "ses");
    }
}

#[test]
fn lines_may_end_as_on_windows() {
    let text = String::from_utf8(session_text("u0 user zero\n u1<u0 user one")).unwrap();
    let session = read(text.replace('\n', "\r\n"));
    assert_eq!(shape(&session), ["u0", "u1<u0"]);
    assert_eq!(session.leaf_id().unwrap(), "u1");
    assert_eq!(context(&session), ["u0", "u1"]);
}

#[test]
fn values_that_are_no_objects_are_bad_lines() {
    let session = read(session_text("u1 user one\n ! null\n ! 123\n ! []\n ! \"x\""));
    assert_eq!(shape(&session), ["u1"]);
    assert_eq!(session.leaf_id().unwrap(), "u1");
    assert_eq!(codes(&session), ["not-an-object"; 4]);
}

#[test]
fn an_unknown_type_is_a_node_outside_the_context_and_is_copied_byte_for_byte() {
    let line = r#"{"type":"future", "id":"f","parentId":"u1","timestamp":"2025-01-01T00:00:09.000Z","extra":{"n":1.0, "big":12345678901234567890}}"#;
    let session = read(session_text(&format!("u1 user one\n ! {line}")));
    assert_eq!(shape(&session), ["u1", "f<u1"]);
    assert_eq!(session.leaf_id().unwrap(), "f");
    assert_eq!(context(&session), ["u1"]);
    let plan = session.plan_extract(Extract::Path { at: session.leaf().unwrap() }).unwrap();
    let mut out = Vec::new();
    session.write_extract(&plan, &Options::new().new_header("/w"), &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap().lines().last(), Some(line));
}

#[test]
fn the_first_header_counts() {
    let second =
        r#"{"type":"session","version":3,"id":"other","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/x"}"#;
    let session = read(session_text(&format!("u1 user one\n ! {second}\n u2<u1 user two")));
    assert_eq!(session.header().id(), "ses");
    assert_eq!(session.header().cwd().as_deref(), Some("/w"));
    assert_eq!(shape(&session), ["u1", "u2<u1"]);
    assert_eq!(codes(&session), ["second-header"]);
}

#[test]
fn an_orphan_is_a_root_and_the_start_of_its_path() {
    let mut session = read(session_text("u1 user one\n u2<gone user two\n u3<u2 user three"));
    assert_eq!(roots(&session), ["u1", "u2"]);
    assert_eq!(session.leaf_id().unwrap(), "u3");
    assert_eq!(path(&session, Some("u3")), ["u2", "u3"]);
    session.branch("u2").unwrap();
    assert_eq!(context(&session), ["u2"]);
    assert_eq!(codes(&session), ["orphan"]);
}

#[test]
fn an_entry_that_is_its_own_parent_is_a_root() {
    let session = read(session_text(&format!("! {}", prompt("u1", "u1"))));
    assert_eq!(shape(&session), ["u1"]);
    assert_eq!(path(&session, None), ["u1"]);
    assert_eq!(context(&session), ["u1"]);
}

#[test]
fn a_circle_is_cut_at_its_first_entry() {
    let text = session_text(&format!("! {}\n ! {}", prompt("u1", "u2"), prompt("u2", "u1")));
    let session = read(text);
    assert_eq!(roots(&session), ["u1"]);
    assert_eq!(children(&session, "u1"), ["u2"]);
    assert_eq!(path(&session, Some("u2")), ["u1", "u2"]);
    assert_eq!(session.tree().ordered().len(), 2);
    assert_eq!(codes(&session), ["cycle"]);
}

#[test]
fn lines_that_stand_in_the_file_twice_are_entries_once() {
    let two = "u1 user one\n a2<u1 assistant two";
    let bytes = [session_text(two), entry_lines(two)].concat();
    let session = read(bytes);
    assert_eq!(shape(&session), ["u1", "a2<u1"]);
    assert_eq!(session.tree().ordered().len(), 2);
    assert_eq!(codes(&session), ["repeated-line"; 2]);
}

#[test]
fn a_line_written_in_part_and_then_in_full_counts_once() {
    let before = session_text("u1 user one\n a2<u1 assistant two");
    let line = entry_lines("u3<a2 user three");
    let after = entry_lines("a4<u3 assistant four");
    for cut in 1..line.len() - 1 {
        let session = read([&before[..], &line[..cut], b"\n", &line, &after].concat());
        assert_eq!(context(&session), ["u1", "a2", "u3", "a4"], "cut at {cut}");
        assert_eq!((path(&session, None).len(), roots(&session)), (4, vec!["u1".to_owned()]), "cut at {cut}");
        let last = read([&before[..], &line[..cut], b"\n", &line].concat());
        assert_eq!(last.leaf_id().unwrap(), "u3", "cut at {cut}");
    }
}

#[test]
fn entries_below_progress_records_are_on_the_path() {
    let progress = |id: &str, parent: &str| {
        format!(
            r#"! {{"type":"progress","id":"{id}","parentId":"{parent}","timestamp":"2025-01-01T00:00:09.000Z","data":1}}"#
        )
    };
    let session = read(session_text(&format!(
        "u1 user one\n {}\n c3<p2 custom state\n a4<c3 assistant two\n {}\n u6<p5 user three\n n7<u6 usage warm",
        progress("p2", "u1"),
        progress("p5", "a4")
    )));
    assert_eq!(path(&session, Some("u6")), ["u1", "p2", "c3", "a4", "p5", "u6"]);
    assert_eq!(context(&session), ["u1", "a4", "u6"]);
    assert_eq!(session.tree().tips(), [session.tree().node("u6").unwrap()]);
}

#[test]
fn of_two_entries_with_one_id_the_last_counts() {
    let session = read(session_text("u1 user one\n a2<u1 assistant two\n u1 user other"));
    assert_eq!(session.tree().ordered().len(), 2);
    assert_eq!(
        session.entry("u1").unwrap().message().unwrap().get("content").unwrap().as_str().unwrap(),
        "other"
    );
    assert_eq!(children(&session, "u1"), ["a2"]);
    assert_eq!(codes(&session), ["duplicate-id"]);
}

#[test]
fn a_title_before_the_header_names_the_session_and_stays_first() {
    let slot = r#"{"type":"title","v":1,"title":"from the slot","updatedAt":"2025-01-01T00:00:00.000Z","pad":"    "}"#;
    let dir = Folder::new();
    let before = [slot.as_bytes(), b"\n", &session_text("u1 user one")].concat();
    let file = dir.put("s.jsonl", &before);
    let mut session = Session::open(&file).unwrap();
    assert_eq!(session.name(), Some("from the slot"));
    assert_eq!(shape(&session), ["u1"]);
    let new = session.append_message(&user("two")).unwrap();
    assert!(fs::read(&file).unwrap().starts_with(&before));
    assert_eq!(lines(&file)[0], slot);
    let reopened = Session::open(&file).unwrap();
    assert_eq!(path(&reopened, None), ["u1", new.as_str()]);
    assert_eq!(reopened.name(), Some("from the slot"));
}

#[test]
fn a_newer_version_is_read_and_not_written() {
    let dir = Folder::new();
    let header = header_line().replace("\"version\":3", "\"version\":4");
    let before = [header.as_bytes(), &entry_lines("u1 user one")].concat();
    let file = dir.put("s.jsonl", &before);
    let mut session = Session::open(&file).unwrap();
    assert_eq!(shape(&session), ["u1"]);
    assert_eq!(session.read_only(), Some(&ReadOnlyReason::NewerVersion { version: 4 }));
    let error = session.append_message(&user("two")).unwrap_err();
    assert_eq!(error.to_string(), "the session is read only: it has version 4, this engine writes version 3");
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(session.tree().len(), 1);
}

#[test]
fn a_leaf_entry_at_the_end_sets_the_leaf() {
    let leaf = |target: &str| {
        format!(
            r#"! {{"type":"leaf","id":"m","parentId":"a4","timestamp":"2025-01-01T00:00:09.000Z","targetId":{target}}}"#
        )
    };
    let four = "u1 user 1\n a2<u1 assistant 2\n u3<a2 user 3\n a4<u3 assistant 4\n";
    let leaf_of = |text: &str| read(session_text(text)).leaf_id().map(|id| id.to_string());
    assert_eq!(leaf_of(&format!("{four} {}", leaf("\"a2\""))).as_deref(), Some("a2"));
    assert_eq!(leaf_of(&format!("{four} {}", leaf("null"))), None);
    assert_eq!(leaf_of(&format!("{four} {}", leaf("\"gone\""))).as_deref(), Some("a4"));
    let followed = format!("{four} {}\n u5<a4 user 5", leaf("\"a2\""));
    assert_eq!(leaf_of(&followed).as_deref(), Some("u5"), "only the last entry decides");
}

#[test]
fn a_marked_position_is_found_again_by_us_and_by_readers_of_the_last_entry() {
    let dir = Folder::new();
    let four = "u1 user 1\n a2<u1 assistant 2\n u3<a2 user 3\n a4<u3 assistant 4";
    let file = dir.put("s.jsonl", session_text(four));
    let mut session = Session::open(&file).unwrap();
    session.branch("a2").unwrap();
    let marker = session.mark_leaf().unwrap().unwrap();
    let reopened = Session::open(&file).unwrap();
    assert_eq!(reopened.leaf_id().unwrap(), "a2");
    assert_eq!(context(&reopened), ["u1", "a2"]);
    let last = reopened.tree().id(reopened.tree().last().unwrap());
    assert_eq!(last, marker);
    assert_eq!(path(&reopened, Some(last.as_str())), ["u1", "a2", marker.as_str()]);
    assert_eq!(
        reopened.context_at(reopened.position_of(reopened.tree().last()).unwrap()).unwrap().items.len(),
        2
    );
}

#[test]
fn an_entry_that_cannot_be_read_is_not_the_leaf_even_if_bad_lines_follow_it() {
    let damaged = prompt("u3", "a2").replace("\"content\":\"u3\"", "\"content\":u3");
    let text = session_text(&format!("u1 user one\n a2<u1 assistant two\n ! {damaged}\n ! not json"));
    let dir = Folder::new();
    let file = dir.put("s.jsonl", text);
    let mut session = Session::open(&file).unwrap();
    assert_eq!(session.leaf_id().unwrap(), "a2");
    let new = session.append_message(&user("three")).unwrap();
    assert_eq!(path(&Session::open(&file).unwrap(), None), ["u1", "a2", new.as_str()]);
}

#[test]
fn a_time_may_be_a_number_of_milliseconds() {
    let number = prompt("u2", "u1").replace("\"2025-01-01T00:00:01.000Z\"", "1735689600500");
    let session = read(session_text(&format!("u1 user one\n u3<u1 user three\n ! {number}")));
    let children = session.tree().children_by_time(session.node("u1").unwrap());
    let ids: Vec<String> = children.iter().map(|node| session.tree().id(*node).to_string()).collect();
    assert_eq!(ids, ["u2", "u3"]);
    assert_eq!(session.entry("u2").unwrap().timestamp().to_string(), "2025-01-01T00:00:00.500Z");
}

#[test]
fn damaged_lines_that_stand_before_their_parents_are_all_shown() {
    let text = session_text(
        r#"! {"type":"message","id":"b","parentId":"c","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"us
           d<b user the only one below
           ! {"type":"message","id":"c","parentId":"a","timestamp":"2025-01-01T00:00:03.000Z","message":{"role":"us
           a user the first one"#,
    );
    let session = Session::from_bytes(text).unwrap();
    assert_eq!(path(&session, Some("d")), ["a", "c", "b", "d"]);
    assert_eq!(session.tree().len(), 4);
    assert_eq!(session.tree().ordered().len(), 4);
}
