use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;
use crate::cancel::Cancel;
use crate::tools::built_in::run_in;
use crate::tools::walk::tests::{too_deep, tree};

fn run(dir: &tempfile::TempDir, arguments: &Json) -> ToolOutput {
    run_in(dir.path(), TOOL, arguments)
}

fn found(dir: &tempfile::TempDir, arguments: &Json) -> String {
    run(dir, arguments).content[0]["text"].as_str().unwrap().to_owned()
}

fn project() -> tempfile::TempDir {
    tree(&[
        ("b.rs", "fn one() {}\nfn two() {}\n"),
        ("a/x.rs", "// nothing\nfn one(a: u8) {}\r\n"),
        ("notes.md", "Fn One\nwhat is a.b?\nwhat is axb?\n"),
        (".gitignore", "out/\n"),
        ("out/x.rs", "fn one() {}\n"),
        (".git/x.rs", "fn one() {}\n"),
        (".config/x.rs", "fn one() {}\n"),
    ])
}

#[test]
fn matches_come_with_path_and_line_in_order() {
    let expected = ".config/x.rs:1: fn one() {}\na/x.rs:2: fn one(a: u8) {}\nb.rs:1: fn one() {}";
    assert_eq!(found(&project(), &json!({"pattern": "fn one"})), expected);
    assert_eq!(found(&project(), &json!({"pattern": "fn three"})), "No matches found.");
}

#[test]
fn patterns_are_regular_unless_literal() {
    let dir = project();
    assert_eq!(found(&dir, &json!({"pattern": "a.b"})), "notes.md:2: what is a.b?\nnotes.md:3: what is axb?");
    assert_eq!(found(&dir, &json!({"pattern": "a.b", "literal": true})), "notes.md:2: what is a.b?");
    let any_case = found(&dir, &json!({"pattern": "FN ONE", "ignoreCase": true, "glob": "*.md"}));
    assert_eq!(any_case, "notes.md:1: Fn One");
    assert!(found(&dir, &json!({"pattern": "a("})).starts_with("the pattern is not valid: "));
    assert!(found(&dir, &json!({"pattern": "a\nb"})).starts_with("the pattern is not valid: "));
    assert!(found(&dir, &json!({"pattern": "a", "glob": "["})).starts_with("the glob is not valid: "));
}

#[test]
fn a_search_can_be_narrowed() {
    let dir = project();
    assert_eq!(found(&dir, &json!({"pattern": "one", "path": "a"})), "a/x.rs:2: fn one(a: u8) {}");
    assert_eq!(found(&dir, &json!({"pattern": "one", "path": "b.rs"})), "b.rs:1: fn one() {}");
    assert_eq!(found(&dir, &json!({"pattern": "one", "glob": "a/*.rs"})), "a/x.rs:2: fn one(a: u8) {}");
    assert_eq!(found(&dir, &json!({"pattern": "one", "path": "out/x.rs"})), "out/x.rs:1: fn one() {}");
    assert_eq!(found(&dir, &json!({"pattern": "x", "path": "c.rs"})), "c.rs does not exist");
}

#[test]
fn context_shows_the_lines_around_in_groups() {
    let dir = tree(&[("f", "1\n2\nhit\n4\n5\n6\n7\nhit\n9\n"), ("g", "hit\n")]);
    let expected = "f-2- 2\nf:3: hit\nf-4- 4\n--\nf-7- 7\nf:8: hit\nf-9- 9\n--\ng:1: hit";
    assert_eq!(found(&dir, &json!({"pattern": "hit", "context": 1})), expected);
}

#[test]
fn limits_are_reported() {
    let dir = tree(&[("f", &"hit\n".repeat(150)), ("g", &format!("{}\n", "hit ".repeat(300)))]);
    let output = run(&dir, &json!({"pattern": "hit"}));
    let text = output.content[0]["text"].as_str().unwrap();
    assert!(text.contains("f:100: hit\n\n[Only the first 100 matches are shown. Use limit=200"), "{text}");
    assert_eq!(output.details, Some(json!({"matchLimitReached": 100})));
    assert_eq!(run(&dir, &json!({"pattern": "hit", "path": "f", "limit": 150})).details, None);
    let long = run(&dir, &json!({"pattern": "hit", "path": "g"}));
    assert_eq!(long.details, Some(json!({"linesTruncated": true})));
    assert!(long.content[0]["text"].as_str().unwrap().len() < 700);
}

#[test]
fn a_search_without_limit_keeps_no_more_than_comes_back() {
    let dir = tree(&[("f", &"hit\n".repeat(500_000))]);
    let place = ToolPlace::new(dir.path().to_owned(), Cancel::new());
    let arguments = json!({"pattern": "h"});
    let mut search = Search::new(matcher(Fields(&arguments)).unwrap(), 0, 1_000_000_000, &place);
    search.file(&ResolvedPath::new(dir.path(), Path::new("f")).unwrap());
    let searched = search.found;
    assert_eq!((searched.matches, searched.is_over), (500_000, false));
    let capped = searched.lines.into_capped();
    assert!(capped.text.capacity() < 4 * crate::tools::output::MAX_BYTES, "{}", capped.text.capacity());
    assert_eq!(capped.total_lines, 500_000);
    let text = found(&dir, &json!({"pattern": "hit", "limit": 1e9}));
    assert!(
        text.ends_with("[Only the first 50.0 KB of 500000 lines are shown.]"),
        "{}",
        &text[text.len() - 90..]
    );
}

#[test]
fn binary_files_and_links_are_left_alone() {
    let dir = tree(&[("bin", "hit\0hit\n"), ("text", "hit \u{e9}\n")]);
    let outside = tree(&[("secret", "hit\n")]);
    symlink(outside.path(), dir.path().join("dir")).unwrap();
    symlink(outside.path().join("secret"), dir.path().join("link")).unwrap();
    fs::write(dir.path().join("latin"), b"hit caf\xE9\n").unwrap();
    assert_eq!(found(&dir, &json!({"pattern": "hit"})), "latin:1: hit caf\u{fffd}\ntext:1: hit \u{e9}");
}

#[test]
fn a_cancelled_search_is_reported() {
    let dir = project();
    let place = ToolPlace::new(dir.path().to_owned(), Cancel::new());
    place.cancel.cancel();
    let root = ResolvedPath::new(dir.path(), Path::new(".")).unwrap();
    assert_eq!(grep(&json!({"pattern": "one"}), &root, &place), Err(ToolOutput::error("cancelled")));
}

#[test]
fn unreadable_directories_are_reported() {
    let text = found(&too_deep(), &json!({"pattern": "x"}));
    assert_eq!(text, "No matches found.\n\n[1 directory could not be looked into.]");
}
