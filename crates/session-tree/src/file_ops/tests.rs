//! Which files count as read or modified, and how they are listed.

use super::*;
use crate::json::Doc;

fn answer(calls: &[(&str, &str)]) -> Message {
    let block = |(name, arguments): &(&str, &str)| {
        format!(r#"{{"type":"toolCall","id":"c","name":"{name}","arguments":{arguments}}}"#)
    };
    let blocks: Vec<String> = calls.iter().map(block).collect();
    Message::parse_unchecked(format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(","))).unwrap()
}

fn files_of(message: &Message) -> FileOps {
    let mut files = FileOps::default();
    files.add_message(message);
    files
}

#[test]
fn a_file_that_was_read_and_changed_counts_as_changed() {
    let files = files_of(&answer(&[
        ("read", r#"{"path":"r"}"#),
        ("edit", r#"{"path":"e"}"#),
        ("write", r#"{"path":"w"}"#),
        ("read", r#"{"path":"e"}"#),
    ]));
    assert_eq!(files.read_files(), ["r"]);
    assert_eq!(files.modified_files(), ["e", "w"]);
    let block = "\n\n<read-files>\nr\n</read-files>\n\n<modified-files>\ne\nw\n</modified-files>";
    assert_eq!(files.text_block(), block);
    assert_eq!(files.details(), serde_json::json!({"readFiles": ["r"], "modifiedFiles": ["e", "w"]}));
}

#[test]
fn an_empty_list_has_no_block() {
    assert_eq!(FileOps::default().text_block(), "");
    assert_eq!(FileOps::default().details(), serde_json::json!({"readFiles": [], "modifiedFiles": []}));
    let written = files_of(&answer(&[("write", r#"{"path":"w"}"#)]));
    assert_eq!(written.text_block(), "\n\n<modified-files>\nw\n</modified-files>");
}

#[test]
fn other_tools_and_calls_without_a_path_are_passed_over() {
    let files = files_of(&answer(&[
        ("grep", r#"{"path":"g"}"#),
        ("Read", r#"{"path":"R"}"#),
        ("read", r#"{"path":7}"#),
        ("read", r#"{"path":""}"#),
        ("read", "null"),
        ("read", r#"["path"]"#),
    ]));
    assert!(files.is_empty());
}

#[test]
fn calls_that_a_tool_made_itself_count() {
    let result = r#"{"role":"toolResult","content":[],"nestedCalls":{"complete":true,"calls":[
        {"name":"read","arguments":{"path":"n"}},{"name":"write","arguments":{"path":"m"}}]}}"#;
    let files = files_of(&Message::parse_unchecked(result).unwrap());
    assert_eq!((files.read_files(), files.modified_files()), (vec!["n"], vec!["m"]));
}

#[test]
fn the_lists_of_an_earlier_summary_are_taken_over() {
    let details =
        Doc::parse(&br#"{"readFiles":["a",1,"b"],"modifiedFiles":["c"],"other":["d"]}"#[..]).unwrap();
    let mut files = FileOps::default();
    files.add_details(details.root());
    assert_eq!((files.read_files(), files.modified_files()), (vec!["a", "b"], vec!["c"]));
}

#[test]
fn lists_are_sorted_as_javascript_sorts_text() {
    // U+FFFD comes before an emoji in UTF-8, but after the first half of its pair in UTF-16.
    let files = files_of(&answer(&[
        ("read", r#"{"path":"\ufffd"}"#),
        ("read", r#"{"path":"😀"}"#),
        ("read", r#"{"path":"b"}"#),
        ("read", r#"{"path":"B"}"#),
    ]));
    assert_eq!(files.read_files(), ["B", "b", "😀", "\u{fffd}"]);
}
