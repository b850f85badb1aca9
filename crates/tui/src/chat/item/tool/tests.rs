use super::*;
use serde_json::json;

#[test]
fn a_title_names_what_matters() {
    assert_eq!(subject("bash", &json!({"command": "cargo test"})), "cargo test");
    assert_eq!(subject("read", &json!({"path": "a.rs", "offset": 10, "limit": 5})), "a.rs:10-14");
    assert_eq!(subject("read", &json!({"file_path": "a.rs"})), "a.rs");
    assert_eq!(subject("grep", &json!({"pattern": "x+", "path": "src"})), "x+ in src");
    assert_eq!(subject("deploy", &json!({"to": "staging"})), "staging");
    assert_eq!(subject("deploy", &json!({"to": "a", "n": 1})), r#"{"to":"a","n":1}"#);
    assert_eq!(subject("bash", &json!({"command": ["not", "text"]})), "");
}

#[test]
fn arguments_are_read_while_they_are_written() {
    let json = r#"{"path":"src/a \"b\".rs","content":"fn main() {\n}\n","lines":[1,2],"deep":{"x":null}}"#;
    let whole: Json = serde_json::from_str(json).unwrap();
    for end in (0..=json.len()).filter(|end| json.is_char_boundary(*end)) {
        let read = completed(&json[..end]);
        let path = read.get("path").and_then(Json::as_str).unwrap_or_default();
        assert!("src/a \"b\".rs".starts_with(path), "{end}: {read}");
    }
    assert_eq!(completed(json), whole);
    assert_eq!(completed(r#"{"command":"cargo te"#), json!({"command": "cargo te"}));
    assert_eq!(completed(r#"{"path":"a.rs","cont"#), json!({"path": "a.rs"}));
    assert_eq!(completed(r#"{"path":"a.rs","content":"one\"#), json!({"path": "a.rs", "content": "one"}));
    assert_eq!(completed("not json"), Json::Null);
}
