use std::fs;

use super::*;
use crate::tools::built_in::run_in;

fn run(content: impl AsRef<[u8]>, edits: &[(&str, &str)]) -> (ToolOutput, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    fs::write(&path, content).unwrap();
    let edits: Vec<Json> = edits.iter().map(|(old, new)| json!({"oldText": old, "newText": new})).collect();
    let output = run_in(dir.path(), TOOL, &json!({"path": "f", "edits": edits}));
    (output, fs::read(&path).unwrap())
}

fn changed(content: impl AsRef<[u8]>, edits: &[(&str, &str)]) -> Vec<u8> {
    let (output, bytes) = run(content, edits);
    assert!(!output.is_error, "{output:?}");
    bytes
}

/// Returns the error of refused edits. The file must be untouched.
fn refusal(content: &str, edits: &[(&str, &str)]) -> String {
    let (output, bytes) = run(content, edits);
    assert!(output.is_error);
    assert_eq!(bytes, content.as_bytes());
    output.content[0]["text"].as_str().unwrap().strip_prefix("nothing was changed in f: ").unwrap().to_owned()
}

#[test]
fn one_place_changes_and_the_diff_shows_it() {
    let (output, bytes) = run("one\ntwo\nthree\n", &[("two", "2")]);
    assert_eq!(bytes, b"one\n2\nthree\n");
    assert_eq!(output.content, ToolOutput::text("Changed 1 place in f.").content);
    let details = output.details.unwrap();
    assert_eq!(details["diff"], " 1 one\n-2 two\n+2 2\n 3 three");
    assert_eq!(details["firstChangedLine"], 2);
    assert!(details["patch"].as_str().unwrap().contains("@@ -1,3 +1,3 @@"));
}

#[test]
fn edits_are_matched_against_the_original_file() {
    assert_eq!(changed("a b c", &[("c", "a"), ("a", "b"), ("b", "c")]), b"b c a");
    assert_eq!(changed("abc", &[("b", ""), ("a", "x")]), b"xc");
}

#[test]
fn a_text_must_be_unique() {
    assert_eq!(
        refusal("x\ny\nx\n", &[("x", "z")]),
        "oldText of edit 1 occurs 2 times, at lines 1, 3; add lines around it to make it unique"
    );
    assert!(refusal("aaa", &[("aa", "b")]).contains("occurs 2 times"), "places that overlap count");
    assert!(refusal(&"x\n".repeat(9), &[("x", "z")]).contains("9 times, at lines 1, 2, 3, 4, 5, ...;"));
}

#[test]
fn edits_must_not_overlap() {
    assert_eq!(refusal("abcd", &[("cd", "x"), ("bc", "y")]), "edits 2 and 1 overlap; make them one edit");
    assert_eq!(refusal("abcd", &[("abcd", "x"), ("b", "y")]), "edits 1 and 2 overlap; make them one edit");
    assert_eq!(changed("abcd", &[("ab", "x"), ("cd", "y")]), b"xy", "but may touch");
}

#[test]
fn edits_without_effect_are_refused() {
    assert_eq!(refusal("a", &[]), "no edits were given");
    assert_eq!(refusal("a", &[("", "b")]), "oldText of edit 1 is empty");
    assert_eq!(
        refusal("a", &[("a", "a")]),
        "the edits change nothing: every newText is equal to its oldText"
    );
}

#[test]
fn a_near_match_is_shown_as_it_is() {
    let file = "fn main() {\n\tlet a = 1;\n\tlet b = 2;\n}\n";
    assert_eq!(
        refusal(file, &[("    let a = 1;\n    let b = 2;", "x")]),
        "oldText of edit 1 is not in the file; text that differs only in white space or quotes is at line \
         2:\n\tlet a = 1;\n\tlet b = 2;"
    );
    assert!(
        refusal("say \u{201C}hi\u{201D}\n", &[("say \"hi\"", "x")])
            .ends_with("at line 1:\nsay \u{201C}hi\u{201D}")
    );
    assert_eq!(refusal("a\n", &[("zzz", "y")]), "oldText of edit 1 is not in the file");
}

#[test]
fn crlf_files_keep_their_line_ends() {
    assert_eq!(changed("a\r\nb\r\nc\r\n", &[("a\nb", "x\ny\nz")]), b"x\r\ny\r\nz\r\nc\r\n");
    assert_eq!(changed("a\r\nb\r\n", &[("a", "x\ny")]), b"x\r\ny\r\nb\r\n");
    assert_eq!(changed("a\r\nb\r\n", &[("a\r\nb", "x\r\ny")]), b"x\r\ny\r\n");
    assert_eq!(changed("a\nb\nc\nd\r\n", &[("a\nb", "x\ny")]), b"x\ny\nc\nd\r\n", "most lines decide");
}

#[test]
fn byte_order_marks_and_invalid_bytes_stay() {
    assert_eq!(changed("\u{feff}a\nb\n", &[("a\n", "x\n")]), "\u{feff}x\nb\n".as_bytes());
    assert_eq!(changed(b"caf\xE9 x\n", &[("x\n", "y\n")]), b"caf\xE9 y\n");
}

#[test]
fn every_way_to_write_edits_is_understood() {
    let one = json!({"path": "f", "edits": [{"oldText": "a", "newText": "b"}]});
    for other in [
        json!({"path": "f", "oldText": "a", "newText": "b"}),
        json!({"path": "f", "edits": {"oldText": "a", "newText": "b"}}),
        json!({"path": "f", "edits": "[{\"oldText\": \"a\", \"newText\": \"b\"}]"}),
        one.clone(),
    ] {
        assert_eq!(canonical(other), one);
    }
    for left in
        [json!({"path": "f", "oldText": "a"}), json!({"path": "f", "edits": "no json"}), json!("text")]
    {
        assert_eq!(canonical(left.clone()), left);
    }
}

#[test]
fn a_missing_file_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let edits = json!([{"oldText": "a", "newText": "b"}]);
    let edited = |path: &str| run_in(dir.path(), TOOL, &json!({"path": path, "edits": edits}));
    assert_eq!(edited("f"), ToolOutput::error("f does not exist"));
    fs::create_dir(dir.path().join("d")).unwrap();
    assert_eq!(edited("d"), ToolOutput::error("cannot edit d: it is a directory"));
}
