//! Quoting for a shell.

use super::{arguments, quoted};

#[test]
fn arguments_are_quoted_only_when_a_shell_would_touch_them() {
    assert_eq!(quoted("/tmp/a-b_c.jsonl"), "/tmp/a-b_c.jsonl");
    assert_eq!(quoted("two words"), "'two words'");
    assert_eq!(quoted("it's"), r"'it'\''s'");
    assert_eq!(quoted(""), "''");
    assert_eq!(quoted("$(rm -rf ~)"), "'$(rm -rf ~)'");
    assert_eq!(quoted("it's\u{1b}[2J\u{202e}"), r"$'it\'s\x1b[2J\xe2\x80\xae'");
}

#[test]
fn arguments_that_look_like_options_are_none() {
    assert_eq!(arguments(&["a.jsonl", "my name"]), "a.jsonl 'my name'");
    assert_eq!(arguments(&["a.jsonl", "--clear"]), "a.jsonl -- --clear");
    assert_eq!(arguments(&["-a.jsonl", "-b", "c;d"]), "-- -a.jsonl -b 'c;d'");
}
