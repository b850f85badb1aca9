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
