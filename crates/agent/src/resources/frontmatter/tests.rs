use super::*;

fn text(yaml: &str, name: &str) -> Option<String> {
    Markdown::parse(&format!("---\n{yaml}\n---\n")).unwrap().text(name).map(str::to_owned)
}

#[test]
fn texts_are_read_in_all_the_ways_in_which_yaml_writes_them() {
    for (yaml, expected) in [
        ("a: plain words", "plain words"),
        ("a: 'it''s'", "it's"),
        (r#"a: "one\ntwo""#, "one\ntwo"),
        ("a: >-\n  one\n  two", "one two"),
        ("a: |\n  one\n  two\nb: c", "one\ntwo\n"),
        ("metadata:\n  a: inner\n  list: [1, {a: 2}]\na: outer", "outer"),
        ("# a comment\na: b # more", "b"),
        ("a: '12'", "12"),
    ] {
        assert_eq!(text(yaml, "a").as_deref(), Some(expected), "{yaml}");
    }
}

#[test]
fn other_values_are_no_text() {
    for yaml in
        ["a: 12", "a: 1.5", "a: true", "a: null", "a:", "a: ~", "a: [x]", "a: {x: y}", "a: ''", "b: c"]
    {
        assert_eq!(text(yaml, "a"), None, "{yaml}");
    }
    assert!(Markdown::parse("---\na: true\n---\n").unwrap().is_true("a"));
    assert!(!Markdown::parse("---\na: 'true'\n---\n").unwrap().is_true("a"));
}

#[test]
fn the_text_after_the_fields_is_trimmed_and_a_file_without_fields_is_not() {
    let body = |text: &str| Markdown::parse(text).unwrap().body;
    assert_eq!(body("\u{feff}---\r\na: b\r\n---\r\n\r\n one\r\ntwo\r\n"), "one\ntwo");
    assert_eq!(body("---\n---\nx"), "x");
    assert_eq!(body(" one\n"), " one\n");
    assert_eq!(body("---\nnever closed"), "---\nnever closed");
}

#[test]
fn damaged_yaml_is_an_error_with_its_line() {
    for yaml in ["a: b: c", "a: 'open", "a: b\na: c", "a: ["] {
        let error = Markdown::parse(&format!("---\n{yaml}\n---\n")).unwrap_err();
        assert!(error.starts_with("line "), "{yaml}: {error}");
    }
}

#[test]
fn deep_nesting_ends() {
    drop(Markdown::parse(&format!("---\na: {}\n---\n", "[".repeat(200_000))));
    drop(Markdown::parse(&format!("---\na: {}\n---\n", "{a: ".repeat(50_000))));
}
