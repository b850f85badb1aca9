use super::*;
use crate::settings::schema;

fn told(text: &str) -> Vec<String> {
    let doc = Doc::parse(text.as_bytes().to_vec()).unwrap();
    let told = |finding: Finding| match finding.oddity {
        Oddity::Unknown => format!("{} {}: unknown", finding.line, finding.key),
        Oddity::OnlyOwn => format!("{} {}: only own", finding.line, finding.key),
        Oddity::Wrong { expected, found } => {
            format!("{} {}: {expected}, not {found}", finding.line, finding.key)
        }
    };
    check(&doc, &schema()).into_iter().map(told).collect()
}

#[test]
fn what_the_schema_knows_is_fine() {
    let text = r#"{
        "$schema": "x", "model": "a/b", "thinkingLevel": "high", "steeringMode": "all", "retry": {"maxRetries": 0},
        "permissions": {"allow": ["read"], "deny": []}, "compaction": {"enabled": null}, "followUpMode": null,
        "providers": {"lab": {"baseUrl": "http://x", "headers": {"x-a": "b"}, "dialect": {"thinking": "word"},
            "models": [{"id": "m", "price": {"input": 0.25}, "thinkingLevels": ["off", "max"]}]}}
    }"#;
    assert_eq!(told(text), [] as [&str; 0]);
    assert_eq!(told("{}"), [] as [&str; 0]);
}

#[test]
fn a_name_that_no_setting_has_is_told_with_its_line() {
    let text = "{\n  \"modell\": 1,\n  \"retry\": {\n    \"often\": true\n  },\n\
                \"providers\": {\"lab\": {\"url\": 1, \"models\": [{\"id\": \"m\", \"size\": 1}]}}}";
    assert_eq!(
        told(text),
        [
            "2 modell: unknown",
            "4 retry.often: unknown",
            "6 providers.lab.url: unknown",
            "6 providers.lab.models.size: unknown"
        ]
    );
}

#[test]
fn what_is_of_the_wrong_kind_is_told_with_what_is_expected() {
    for (text, expected) in [
        ("[]", "1 : an object, not a list"),
        (r#"{"model": 7}"#, "1 model: a text, not `7`"),
        (r#"{"compaction": {"enabled": "yes"}}"#, "1 compaction.enabled: true or false, not a text"),
        (
            r#"{"retry": {"maxRetries": -1}}"#,
            "1 retry.maxRetries: a whole number that is not negative, not `-1`",
        ),
        (
            r#"{"retry": {"baseDelayMs": 1.5}}"#,
            "1 retry.baseDelayMs: a whole number that is not negative, not `1.5`",
        ),
        (r#"{"permissions": {"deny": "read"}}"#, "1 permissions.deny: a list, not a text"),
        (r#"{"permissions": {"deny": [1]}}"#, "1 permissions.deny: a text, not `1`"),
        (r#"{"steeringMode": "some"}"#, "1 steeringMode: one of `one-at-a-time`, `all`, not `some`"),
        (r#"{"providers": {"lab": 1}}"#, "1 providers.lab: an object, not `1`"),
    ] {
        assert_eq!(told(text), [expected]);
    }
    let level = told(r#"{"thinkingLevel": "very"}"#);
    assert!(level[0].contains("`xhigh`") && level[0].ends_with("not `very`"), "{level:?}");
}
