use serde_json::json;
use testkit::drawing::session_text;

use super::*;

const DAMAGED: &str = r#"a user hello
    ! {"type":"message","id":"b","parentId":"a","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"as
    c<b user go on"#;

/// The answer that pi would give: ids, leaf, path, and the engine's context of that path.
fn answer(drawing: &str, ids: &[&str], leaf: &str, path: &[&str]) -> Value {
    let session = Session::from_bytes(session_text(drawing)).unwrap();
    let messages: Vec<String> = path
        .iter()
        .flat_map(|id| session.context_at(*id).unwrap().messages().last().cloned())
        .map(|message| canonical(message.value()))
        .collect();
    json!({ "ids": ids, "leaf": leaf, "path": path, "context": messages })
}

#[test]
fn a_damaged_line_explains_what_pi_loses_by_it() {
    let pi = answer(DAMAGED, &["a", "c"], "c", &["c"]);
    match compare(&session_text(DAMAGED), &pi, true) {
        Verdict::Known(reason) => assert_eq!(reason, "a damaged line is dropped"),
        _ => panic!("not explained"),
    }
}

#[test]
fn a_damaged_line_explains_nothing_else() {
    for pi in [
        answer(DAMAGED, &["a", "c"], "a", &["a"]),
        answer(DAMAGED, &["c"], "c", &["c"]),
        answer(DAMAGED, &["a", "c"], "c", &["a", "c"]),
        json!({ "error": "Session file is not a valid pi session" }),
        json!({ "circle": true }),
        Value::Null,
    ] {
        assert!(matches!(compare(&session_text(DAMAGED), &pi, true), Verdict::Different(_)), "{pi}");
    }
}

#[test]
fn a_circle_is_cut_before_pi_is_asked_again() {
    let mut file = session_text("a user hello\nb<a user go on");
    let text = String::from_utf8(file).unwrap().replace("\"parentId\":null", "\"parentId\":\"b\"");
    file = text.into_bytes();
    let Verdict::GaveUp(cured) = compare(&file, &json!({ "circle": true }), true) else {
        panic!("not cured")
    };
    assert_eq!(cured.reason, "pi follows a circle for ever");
    let pi = answer("a user hello\nb<a user go on", &["a", "b"], "b", &["a", "b"]);
    assert!(matches!(compare(&cured.bytes, &pi, true), Verdict::Equal));
}
