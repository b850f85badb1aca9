use serde_json::json;

use super::*;

fn schema() -> Json {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "number"},
            "deep": {"type": "boolean"},
            "mode": {"type": "string", "enum": ["a", "b"]},
            "edits": {"type": "array", "items": {
                "type": "object", "properties": {"oldText": {"type": "string"}}, "required": ["oldText"],
            }},
        },
        "required": ["path"],
    })
}

fn error(arguments: &Json) -> String {
    check(&schema(), arguments).unwrap_err()
}

#[test]
fn valid_arguments_pass() {
    for good in [
        json!({"path": "a"}),
        json!({"path": "a", "limit": 3, "deep": true, "mode": "b"}),
        json!({"path": "a", "limit": "3", "deep": "false"}),
        json!({"path": "a", "limit": null, "edits": [{"oldText": "x", "more": 1}], "unknown": {}}),
    ] {
        assert_eq!(check(&schema(), &good), Ok(()), "{good}");
    }
}

#[test]
fn invalid_arguments_are_named() {
    assert_eq!(error(&json!({})), "the argument `path` is missing");
    assert_eq!(error(&json!({"path": 5})), "the argument `path` must be string, but is number");
    assert_eq!(error(&json!({"path": null})), "the argument `path` must be string, but is null");
    assert_eq!(
        error(&json!({"path": "a", "limit": "many"})),
        "the argument `limit` must be number, but is string"
    );
    assert_eq!(error(&json!({"path": "a", "mode": "c"})), r#"the argument `mode` must be one of ["a","b"]"#);
    assert_eq!(error(&json!({"path": "a", "edits": [{}]})), "the argument `edits[0].oldText` is missing");
}

#[test]
fn arguments_that_are_no_object_are_reported_as_invalid_json() {
    for bad in [json!("text"), json!([1]), json!(null), json!({MALFORMED_ARGUMENTS: "{\"path\": "})] {
        assert!(check(&schema(), &bad).unwrap_err().contains("not a valid JSON object"), "{bad}");
    }
}

#[test]
fn a_schema_that_says_little_lets_everything_through() {
    for schema in [json!({}), json!({"anyOf": [{"$ref": "#/x"}]}), json!(true), json!({"type": 7})] {
        assert_eq!(check(&schema, &json!({"a": [1, {"b": null}]})), Ok(()));
    }
}

#[test]
fn counts_are_at_least_one() {
    let arguments = json!({"a": -5, "b": 0, "c": 2.9, "d": "7", "e": 1e300, "f": "x"});
    let counts = ["a", "b", "c", "d", "e", "f", "g"].map(|name| Fields(&arguments).count(name));
    assert_eq!(counts, [Some(1), Some(1), Some(2), Some(7), Some(usize::MAX), None, None]);
}
