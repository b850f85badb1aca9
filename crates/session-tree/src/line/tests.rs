use super::*;

fn head(line: &str) -> (Head<'_>, Head<'static>) {
    let scanner = Scanner::default();
    let Scan::Object(quick) = scanner.scan(line.as_bytes()) else { panic!("no object: {line}") };
    let doc = Doc::parse(line.as_bytes()).unwrap();
    (quick, head_of(doc.root()))
}

/// Lines of every shape.
const LINES: [&str; 28] = [
    r#"{"type":"message","id":"0a1b2c3d","parentId":null,"timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user","content":"hi"}}"#,
    r#"{"type":"message","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":[]},"id":"0a1b2c3d","parentId":"x"}"#,
    r#"{"type":"custom","customType":"session-tree.leaf","data":{"targetId":null},"id":"a","parentId":null,"timestamp":"t"}"#,
    r#"{"type":"custom","customType":"x","data":{"id":"no","parentId":"no","timestamp":"no"},"id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z"}"#,
    r#"{"type":"custom","customType":"x","data":"\"id\":\"no\",\"parentId\":\"no\"","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z"}"#,
    r#"{ "type" : "label", "id" : "a", "parentId" : "b", "timestamp" : "2025-01-01T00:00:00.000Z", "targetId":"b" }"#,
    r#"{"parentId":"b","id":"\u0061","type":"message","message":{"content":[],"role":"toolResult"}}"#,
    r#"{"type":"message","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"\"text\" }"},{"type":"toolCall","id":"1","name":"x","arguments":{"type":"text","text":"no"}}],"stopReason":"toolUse"}}"#,
    r#"{"type":"message","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"yes"}],"stopReason":"stop"}}"#,
    r#"{"type":"message","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":" \n"}],"stopReason":"aborted"}}"#,
    r#"{"type":"message","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":[],"stopReason":"error"}}"#,
    r#"{"type":"message","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"text":"hi","type":"text"}],"stopReason":"length"}}"#,
    r#"{"type":"message","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"citations":null,"text":"hi","type":"text"}],"stopReason":"length"}}"#,
    r#"{"type":"message","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"text","textSignature":"s","text":"hi"}],"stopReason":"length"}}"#,
    r#"{"type":"message","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"t\u0065xt","text":"hi"}],"stopReason":"length"}}"#,
    r#"{"type":"message","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"text":" ","type":"text"}],"stopReason":"length"}}"#,
    r#"{"type":"message","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":"hi","stopReason":"stop"}}"#,
    r#"{"type":"message","id":"0a1b2c3d","parentId":"0a1b2c3e","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":"hi","stopReason":"stop"}}"#,
    r#"{"type":"message","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":" \n","stopReason":"error"}}"#,
    r#"{"type":"message","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":[], "stopReason" : "error"}}"#,
    r#"{"type":"message","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":[],"stopReason":"stop","diagnostics":{"stopReason":"error"}}}"#,
    r#"{"type":"message","id":"0a1b2c3d","parentId":"0a1b2c3e","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"t\u006folResult","content":[]}}"#,
    r#"{"type":"message","id":"","parentId":"","timestamp":5,"message":null}"#,
    r#"{"type":"odd","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z"}"#,
    r#"{"type":"custom","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","customType":"session-tree.leaf","data":{"targetId":null}}"#,
    r#"{"type":"custom","id":"a","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z"}"#,
    r#"{"id":"a"}"#,
    "{}",
];

#[test]
fn reading_both_ends_gives_what_parsing_the_whole_line_gives() {
    for line in LINES {
        let (quick, exact) = head(line);
        assert_eq!(quick.kind, exact.kind, "{line}");
        assert_eq!(quick.id, exact.id, "{line}");
        assert_eq!(quick.parent, exact.parent, "{line}");
        assert_eq!(quick.time, exact.time, "{line}");
        assert_eq!(quick.role, exact.role, "{line}");
        assert_eq!(quick.flags, exact.flags, "{line}");
    }
}

#[test]
fn messages_as_pi_spells_them_are_read_by_their_fixed_places() {
    let scanner = Scanner::default();
    for role in ["user", "assistant", "toolResult"] {
        let line = format!(
            r#"{{"type":"message","id":"0a1b2c3d","parentId":"ffffffff","timestamp":"2025-01-01T00:00:00.000Z","message":{{"role":"{role}","content":[],"stopReason":"stop"}}}}"#
        );
        let head = scanner.template(line.as_bytes()).unwrap();
        let exact = head_of(Doc::parse(line.as_bytes()).unwrap().root());
        assert_eq!((head.kind, head.id, head.parent), (exact.kind, exact.id, exact.parent));
        assert_eq!((head.time, head.role, head.flags), (exact.time, exact.role, exact.flags));
    }
}

#[test]
fn lines_that_are_no_objects_are_distinguished() {
    let scanner = Scanner::default();
    assert!(matches!(scanner.scan(b" \t\r"), Scan::Blank));
    for line in ["null", "123", "[]", "\"x\""] {
        assert!(matches!(scanner.scan(line.as_bytes()), Scan::NotAnObject), "{line}");
    }
    assert!(matches!(scanner.scan(b"garbage"), Scan::Damaged { head: None, .. }));
}

#[test]
fn a_cut_line_still_has_its_id_and_parent() {
    let line = r#"{"type":"message","id":"abc","parentId":"def","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user","content":"hi"}}"#;
    let told = line.find("\"def\"").unwrap() + 5;
    // Without only its last brace, it ends like an object and passes.
    for end in told..line.len() - 1 {
        let cut = &line.as_bytes()[..end];
        let Scan::Damaged { head: Some(head), .. } = Scanner::default().scan(cut) else {
            panic!("no head: {}", &line[..end])
        };
        assert_eq!(head.id, Some(IdKey::of("abc")));
        assert_eq!(head.parent, Parent::Id(IdKey::of("def")));
    }
}

#[test]
fn the_head_of_a_line_agrees_with_the_whole_line() {
    let head_text = |line: &str| String::from_utf8(head(line).0.to_line()).unwrap();
    for line in LINES {
        let (text, whole) = (head_text(line), head(line).1);
        let (quick, exact) = head(&text);
        for found in [quick, exact] {
            assert_eq!((found.id, found.parent), (whole.id.clone(), whole_parent(line)), "{line}");
            assert_eq!((found.kind, found.time), (whole.kind.clone(), whole.time), "{line}");
            assert_eq!((found.role, found.flags), (whole.role, whole.flags), "{line}");
        }
    }
    let early =
        r#"{"uuid":"a","parentUuid":"b","type":"message","timestamp":99999999999999999,"message":{}}"#;
    assert_eq!(
        head_text(early),
        r#"{"type":"message","uuid":"a","parentUuid":"b","timestamp":99999999999999999,"message":{}}"#
    );
    let label = format!(
        r#"{{"type":"label","id":"a","parentId":null,"targetId":"b","label":"{}"}}"#,
        "x".repeat(500)
    );
    assert_eq!(*line_head(label.as_bytes()), *label.as_bytes(), "labels are read as a whole");
    assert_eq!(*line_head(&[b'x'; 1000]), [b'x'; 1000], "no entry");
}

fn whole_parent(line: &str) -> Parent<'static> {
    head(line).1.parent
}
