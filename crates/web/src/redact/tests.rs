use super::*;

#[test]
fn all_expressions_are_read() {
    // An expression that is none would have been replaced by one that finds nothing.
    let redactor = Redactor::new(Some("/srv/x"), &[]).unwrap();
    for text in [
        "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abc",
        "sk-abcdefghij1234567890",
        "https://hooks.slack.com/services/T000/B000/XXXXXXXXXXXXXXXX",
        "redis://:hunter2pw@host",
        "Authorization: Bearer abc123def456ghi",
        "MY_SECRET=short",
        "password = 'abc12345'",
        "ada@example.org",
        "/home/ada/x",
        "/srv/x/y",
    ] {
        assert_ne!(redactor.text(text), text);
    }
}

#[test]
fn a_sample_never_is_a_whole_secret() {
    assert_eq!(sample("abc"), "…");
    assert_eq!(sample("sk-ant-0123456789012345"), "sk-an…");
}
