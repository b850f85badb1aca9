use super::*;

/// The answers of pi 1.5.0 to the same templates and arguments.
#[test]
fn placeholders_stand_for_the_arguments() {
    for (template, arguments, expected) in [
        ("$1-$2", "a b", "a-b"),
        ("$1 $3", "a b", "a "),
        ("$0|$10", "a b c d e f g h i j", "|j"),
        ("$@|$ARGUMENTS", r#"a "b  c""#, "a b  c|a b  c"),
        ("${@:2}|${@:0}|${@:2:2}|${@:9}|${@:1:0}", "a b c d", "b c d|a b c d|b c||"),
        ("${1:-x}|${2:-y z}|${@:-w}", "a", "a|y z|a"),
        ("${1:-x}|${@:-all}|${ARGUMENTS:-all}", "", "x|all|all"),
        ("${1:-}", "", ""),
        ("${1:-$2}", "", "$2"),
        ("$1", "'$2 $@' b", "$2 $@"),
        ("$ $x ${x} ${1} ${@} $$1 ${1:-open", "a", "$ $x ${x} ${1} ${@} $a ${1:-open"),
        ("$1ARGUMENTS $ARGUMENTSX", "a", "aARGUMENTS aX"),
        ("${@:1:99999999999999999999999}", "a b", "a b"),
    ] {
        assert_eq!(substitute(template, &split_arguments(arguments)), expected, "{template}");
    }
}

#[test]
fn quotes_group_words_and_keep_empty_arguments() {
    for (text, expected) in [
        ("", &[] as &[&str]),
        ("  a\t\nb  ", &["a", "b"]),
        (r#""" 'x'"y" a'b c'd"#, &["", "xy", "ab cd"]),
        (r#"it's "open"#, &[r#"its "open"#]),
        (r#"a\ b"#, &[r"a\", "b"]),
    ] {
        assert_eq!(split_arguments(text), expected, "{text}");
    }
}

#[test]
fn the_description_is_that_of_the_file_or_its_first_line() {
    let home = tempfile::tempdir().unwrap();
    let read = |text: &str| {
        let path = home.path().join("fix.md");
        fs::write(&path, text).unwrap();
        PromptTemplate::read(&path, &mut Vec::new()).unwrap()
    };
    assert_eq!(read("---\ndescription: Fix it\nargument-hint: '[what]'\n---\nx").description, "Fix it");
    assert_eq!(read("\n\nSecond\nmore").description, "Second");
    assert_eq!(read(&"ä".repeat(61)).description, format!("{}...", "ä".repeat(60)));
    assert_eq!(read("---\nargument-hint: '[what]'\n---\nx").argument_hint.as_deref(), Some("[what]"));
}
