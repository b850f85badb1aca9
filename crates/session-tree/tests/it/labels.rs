//! Labels and names. The number at the end of a name is that of the conformance case.

use session_tree::{Error, Session};
use testkit::drawing::session_text;

use crate::support::live::{assistant, context, field, in_memory, parent, path, user};

fn label<'s>(session: &'s Session, id: &str) -> Option<&'s str> {
    session.label(session.tree().node(id).unwrap()).map(|label| &*label.text)
}

/// Returns the line of the leaf.
fn last_line(session: &Session) -> String {
    String::from_utf8(session.leaf_entry().unwrap().unwrap().raw().to_vec()).unwrap()
}

#[test]
fn a_label_entry_hangs_below_the_leaf_and_becomes_the_leaf() {
    let mut session = in_memory();
    let one = session.append_message(&user("1")).unwrap();
    let two = session.append_message(&assistant("2")).unwrap();
    let entry = session.append_label_change(one.as_str(), Some("checkpoint")).unwrap();
    assert_eq!(label(&session, one.as_str()), Some("checkpoint"));
    assert_eq!(field(&session, entry.as_str(), "targetId").as_deref(), Some(one.as_str()));
    assert_eq!(parent(&session, &entry), Some(two));
    assert_eq!(session.leaf_id(), Some(entry));
}

#[test]
fn a_label_is_cleared_without_a_text_by_an_empty_one_and_by_blanks() {
    let mut session = in_memory();
    let one = session.append_message(&user("1")).unwrap();
    for (text, key) in
        [(None, None), (Some(""), Some("\"label\":\"\"")), (Some("  "), Some("\"label\":\"\""))]
    {
        session.append_label_change(one.as_str(), Some("set")).unwrap();
        assert_eq!(label(&session, one.as_str()), Some("set"));
        session.append_label_change(one.as_str(), text).unwrap();
        assert_eq!(label(&session, one.as_str()), None, "{text:?}");
        assert!(session.labels().is_empty());
        let line = last_line(&session);
        match key {
            Some(key) => assert!(line.contains(key), "{line}"),
            None => assert!(!line.contains("\"label\":"), "{line}"),
        }
    }
}

#[test]
fn a_blank_label_of_another_program_is_no_label() {
    let text = session_text(
        "
        u1 user one
        l1<u1 label u1 set
        ! {\"type\":\"label\",\"id\":\"l2\",\"parentId\":\"l1\",\"timestamp\":\"2025-01-01T00:01:00.000Z\",\"targetId\":\"u1\",\"label\":\"  \"}
    ",
    );
    assert_eq!(label(&Session::from_bytes(text).unwrap(), "u1"), None);
}

#[test]
fn the_last_label_counts() {
    let mut session = in_memory();
    let one = session.append_message(&user("1")).unwrap();
    for text in ["first", "second", "third"] {
        session.append_label_change(one.as_str(), Some(text)).unwrap();
    }
    assert_eq!(label(&session, one.as_str()), Some("third"));
}

#[test]
fn labels_show_in_the_tree_with_the_time_they_were_set() {
    let mut session = in_memory();
    let one = session.append_message(&user("1")).unwrap();
    let two = session.append_message(&assistant("2")).unwrap();
    let ones = session.append_label_change(one.as_str(), Some("start")).unwrap();
    let twos = session.append_label_change(two.as_str(), Some("end")).unwrap();
    for (target, entry, text) in [(&one, &ones, "start"), (&two, &twos, "end")] {
        let label = session.label(session.node(target.as_str()).unwrap()).unwrap();
        assert_eq!(&*label.text, text);
        assert_eq!(label.set_at, session.entry(entry.as_str()).unwrap().timestamp());
    }
    assert_ne!(
        session.entry(ones.as_str()).unwrap().timestamp(),
        session.entry(twos.as_str()).unwrap().timestamp()
    );
    assert_eq!(session.labels().len(), 2);
}

#[test]
fn an_unknown_entry_cannot_be_labelled() {
    let mut session = in_memory();
    let one = session.append_message(&user("1")).unwrap();
    let error = session.append_label_change("non-existent", Some("x")).unwrap_err();
    assert!(matches!(error, Error::UnknownEntry { .. }));
    assert_eq!(error.to_string(), "Entry non-existent not found");
    assert_eq!(session.tree().len(), 1);
    assert_eq!(session.leaf_id(), Some(one));
}

#[test]
fn a_label_is_visible_from_every_branch() {
    let mut session = in_memory();
    let one = session.append_message(&user("1")).unwrap();
    let two = session.append_message(&assistant("2")).unwrap();
    let three = session.append_message(&user("3")).unwrap();
    session.append_label_change(three.as_str(), Some("branch 1")).unwrap();
    session.branch(two.as_str()).unwrap();
    session.append_message(&user("4")).unwrap();
    assert!(!path(&session, None).contains(&three.to_string()));
    assert_eq!(label(&session, three.as_str()), Some("branch 1"));
    assert_eq!(label(&session, one.as_str()), None);
}

#[test]
fn a_label_does_not_change_the_context() {
    let mut session = in_memory();
    let one = session.append_message(&user("1")).unwrap();
    session.append_label_change(one.as_str(), Some("x")).unwrap();
    assert_eq!(context(&session), [one.as_str()]);
}

#[test]
fn a_name_is_one_line_without_blanks_around_it() {
    let mut session = in_memory();
    for (given, kept) in [("  na\nme ", "na me"), ("a\r\n\r\nb", "a b"), ("plain", "plain")] {
        session.append_session_info(given).unwrap();
        assert_eq!(session.name(), Some(kept));
        assert!(last_line(&session).contains(&format!("\"name\":\"{kept}\"")));
    }
}

#[test]
fn an_empty_name_removes_the_name() {
    let mut session = in_memory();
    session.append_session_info("name").unwrap();
    session.append_session_info("").unwrap();
    assert_eq!(session.name(), None);
}

#[test]
fn the_last_name_in_the_file_counts_whatever_its_branch() {
    let session = Session::from_bytes(session_text(
        "
        u1 user one
        n1<u1 info first
        n2<u1 info second
        u2<n1 user two
    ",
    ))
    .unwrap();
    assert_eq!(path(&session, None), ["u1", "n1", "u2"]);
    assert_eq!(session.name(), Some("second"));
}

#[test]
fn blanks_are_what_javascript_takes_for_blanks() {
    let mut session = in_memory();
    let one = session.append_message(&user("1")).unwrap();
    session.append_session_info("\u{feff}name\u{feff} ").unwrap();
    assert_eq!(session.name(), Some("name"));
    session.append_label_change(one.as_str(), Some("\u{feff}")).unwrap();
    assert_eq!(label(&session, one.as_str()), None);
    let line = |name: &str| session_text(&format!("u1 user one\n n<u1 info {name}"));
    assert_eq!(Session::from_bytes(line("\u{feff}name")).unwrap().name(), Some("name"));
}
