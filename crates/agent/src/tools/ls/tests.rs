use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::tools::built_in::run_in;

fn listed(dir: &tempfile::TempDir, arguments: &Json) -> ToolOutput {
    run_in(dir.path(), TOOL, arguments)
}

#[test]
fn names_are_sorted_without_regard_to_case() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(listed(&dir, &json!({})), ToolOutput::text("(empty directory)"));
    for name in ["b", "A", "c", ".env", "new\nline"] {
        fs::write(dir.path().join(name), "").unwrap();
    }
    fs::create_dir(dir.path().join("d")).unwrap();
    symlink("d", dir.path().join("to-d")).unwrap();
    symlink("none", dir.path().join("dangling")).unwrap();
    let expected = ".env\nA\nb\nc\nd/\ndangling\nnew\\nline\nto-d/";
    assert_eq!(listed(&dir, &json!({})), ToolOutput::text(expected));
}

#[test]
fn a_limit_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    for name in 0..600 {
        fs::write(dir.path().join(format!("{name:03}")), "").unwrap();
    }
    let output = listed(&dir, &json!({}));
    let text = output.content[0]["text"].as_str().unwrap();
    assert!(text.contains("499\n\n[Only the first 500 of 600 names are shown. Use limit=1000 for more"));
    assert_eq!(output.details, Some(json!({"entryLimitReached": 500})));
    assert_eq!(listed(&dir, &json!({"limit": 600})).details, None);
}

#[test]
fn a_file_is_reported_as_no_directory() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    assert_eq!(listed(&dir, &json!({"path": "file"})), ToolOutput::error("file is not a directory"));
    let missing = listed(&dir, &json!({"path": "fiel"}));
    assert_eq!(missing, ToolOutput::error("fiel does not exist"));
}
