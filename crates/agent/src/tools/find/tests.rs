use std::os::unix::fs::symlink;

use super::*;
use crate::cancel::Cancel;
use crate::tools::built_in::run_in;
use crate::tools::walk::tests::{too_deep, tree};

fn found(dir: &tempfile::TempDir, arguments: &Json) -> String {
    run_in(dir.path(), TOOL, arguments).content[0]["text"].as_str().unwrap().to_owned()
}

fn project() -> tempfile::TempDir {
    tree(&[
        ("b.rs", ""),
        ("a.rs", ""),
        ("src/lib.rs", ""),
        ("src/deep/er.rs", ""),
        ("src/deep/x.txt", ""),
        (".hidden/h.rs", ""),
        (".git/objects/o.rs", ""),
        (".gitignore", "target/\n*.log\n"),
        ("target/t.rs", ""),
        ("x.log", ""),
    ])
}

#[test]
fn names_are_found_at_any_depth_in_order_without_ignored_files() {
    assert_eq!(
        found(&project(), &json!({"pattern": "*.rs"})),
        ".hidden/h.rs\na.rs\nb.rs\nsrc/deep/er.rs\nsrc/lib.rs"
    );
    assert_eq!(found(&project(), &json!({"pattern": "*.log"})), "No files found.");
    assert_eq!(found(&project(), &json!({"pattern": "deep"})), "src/deep/");
}

#[test]
fn a_pattern_with_a_slash_is_a_path() {
    let dir = project();
    assert_eq!(found(&dir, &json!({"pattern": "src/**/*.rs"})), "src/deep/er.rs\nsrc/lib.rs");
    assert_eq!(found(&dir, &json!({"pattern": "deep/*.{rs,txt}"})), "src/deep/er.rs\nsrc/deep/x.txt");
    assert_eq!(found(&dir, &json!({"pattern": "/deep/*", "path": "src"})), "src/deep/er.rs\nsrc/deep/x.txt");
    assert_eq!(found(&dir, &json!({"pattern": "./*.rs"})).lines().count(), 5);
}

#[test]
fn a_limit_is_reported() {
    let dir = project();
    let output = run_in(dir.path(), TOOL, &json!({"pattern": "*.rs", "limit": 2}));
    let text = output.content[0]["text"].as_str().unwrap();
    assert!(
        text.starts_with(".hidden/h.rs\na.rs\n\n[Only the first 2 results are shown. Use limit=4"),
        "{text}"
    );
    assert_eq!(output.details, Some(json!({"resultLimitReached": 2})));
    assert_eq!(
        run_in(dir.path(), TOOL, &json!({"pattern": "*.rs", "limit": 5})).details,
        None,
        "all is not cut"
    );
}

#[test]
fn links_are_named_but_not_followed() {
    let dir = tree(&[("in/a.rs", "")]);
    symlink("..", dir.path().join("in/up")).unwrap();
    assert_eq!(found(&dir, &json!({"pattern": "*"})), "in/\nin/a.rs\nin/up");
}

#[test]
fn bad_paths_bad_patterns_and_cancellation_are_errors() {
    let dir = project();
    assert_eq!(found(&dir, &json!({"pattern": "*", "path": "scr"})), "scr does not exist");
    assert!(found(&dir, &json!({"pattern": "[z-a]"})).starts_with("the pattern is not valid: "));
    let place = ToolPlace::new(dir.path().to_owned(), Cancel::new());
    place.cancel.cancel();
    assert!(
        find(&json!({"pattern": "*"}), &ResolvedPath::new(dir.path(), Path::new(".")).unwrap(), &place)
            .is_err()
    );
}

#[test]
fn unreadable_directories_are_reported() {
    let text = found(&too_deep(), &json!({"pattern": "x"}));
    assert_eq!(text, "No files found.\n\n[1 directory could not be looked into.]");
}
