use super::*;

fn messages(text: &str) -> Vec<String> {
    let doc = Doc::parse(text.as_bytes().to_vec()).unwrap();
    let path = Path::new("s");
    let mut check =
        Check { doc: &doc, path, owner: FileOwner::User, errors: Vec::new(), warnings: Vec::new() };
    check.object(doc.root(), "");
    check.warnings.into_iter().chain(check.errors).collect()
}

#[test]
fn settings_of_the_table_are_accepted() {
    let text = r#"{
        "$schema": "x", "model": "a/b", "thinkingLevel": "high", "steeringMode": "all", "retry": {"maxRetries": 0},
        "permissions": {"allow": ["read"], "deny": []}, "compaction": {"enabled": null}, "followUpMode": null,
        "providers": {"lab": {"baseUrl": "http://x", "headers": {"x-a": "b"}, "dialect": {"thinking": "word"},
            "models": [{"id": "m", "price": {"input": 0.25}, "thinkingLevels": ["off", "max"]}]}}
    }"#;
    assert_eq!(messages(text), [] as [&str; 0]);
    assert_eq!(messages("{}"), [] as [&str; 0]);
}

#[test]
fn unknown_names_are_reported_with_their_lines() {
    let text = "{\n  \"modell\": 1,\n  \"retry\": {\n    \"often\": true\n  },\n\
                \"providers\": {\"lab\": {\"url\": 1, \"models\": [{\"id\": \"m\", \"size\": 1}]}}}";
    assert_eq!(
        messages(text),
        [
            "s:2: there is no setting `modell`",
            "s:4: there is no setting `retry.often`",
            "s:6: there is no setting `providers.lab.url`",
            "s:6: there is no setting `providers.lab.models.size`"
        ]
    );
}

#[test]
fn values_of_the_wrong_kind_are_reported_with_what_is_expected() {
    for (text, expected) in [
        ("[]", "settings must be an object, not a list"),
        (r#"{"model": 7}"#, "`model` must be a text, not `7`"),
        (r#"{"retry": 7}"#, "`retry` must be an object, not `7`"),
        (r#"{"compaction": {"enabled": "yes"}}"#, "`compaction.enabled` must be true or false, not a text"),
        (
            r#"{"retry": {"maxRetries": -1}}"#,
            "`retry.maxRetries` must be a whole number that is not negative, not `-1`",
        ),
        (
            r#"{"retry": {"baseDelayMs": 1.5}}"#,
            "`retry.baseDelayMs` must be a whole number that is not negative, not `1.5`",
        ),
        (r#"{"permissions": {"deny": "read"}}"#, "`permissions.deny` must be a list, not a text"),
        (r#"{"permissions": {"deny": [1]}}"#, "`permissions.deny` must be a text, not `1`"),
        (r#"{"steeringMode": "some"}"#, "`steeringMode` must be one of `one-at-a-time`, `all`, not `some`"),
        (r#"{"providers": 1}"#, "`providers` must be an object, not `1`"),
        (
            r#"{"providers": {"lab": {"baseUrl": 1}}}"#,
            "`providers.lab`: invalid type: integer `1`, expected a string",
        ),
    ] {
        assert_eq!(messages(text), [format!("s:1: {expected}")]);
    }
}
