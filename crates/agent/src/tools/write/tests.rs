use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::*;
use crate::tools::built_in::run_in;

fn run(dir: &Path, path: &str, content: &str) -> ToolOutput {
    run_in(dir, TOOL, &json!({"path": path, "content": content}))
}

#[test]
fn a_new_file_gets_its_directories() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(run(dir.path(), "a/b/c.txt", "héllo\n"), ToolOutput::text("Wrote 7 bytes to a/b/c.txt."));
    assert_eq!(fs::read_to_string(dir.path().join("a/b/c.txt")).unwrap(), "héllo\n");
}

#[test]
fn replaced_text_is_shown_as_a_diff() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), "one\ntwo\n").unwrap();
    let output = run(dir.path(), "f", "one\n2\n");
    assert_eq!(output.content, ToolOutput::text("Wrote 6 bytes to f, which held 8 bytes.").content);
    assert_eq!(output.details.unwrap()["diff"], " 1 one\n-2 two\n+2 2");
}

#[test]
fn binary_content_is_replaced_without_a_diff() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), b"\xFF\xFE\x00").unwrap();
    assert_eq!(run(dir.path(), "f", "x"), ToolOutput::text("Wrote 1 byte to f, which held 3 bytes."));
}

#[test]
fn a_refused_file_stays_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    fs::write(dir.path().join("f"), "old").unwrap();
    fs::set_permissions(dir.path().join("f"), fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(run(dir.path(), "d", "x"), ToolOutput::error("cannot write d: it is a directory"));
    assert_eq!(run(dir.path(), "f", "x"), ToolOutput::error("cannot write f: it is read-only"));
    assert!(run(dir.path(), "f/below", "x").is_error);
    assert_eq!(fs::read(dir.path().join("f")).unwrap(), b"old");
}

#[test]
fn links_are_written_through() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("target"), "old").unwrap();
    symlink("target", dir.path().join("link")).unwrap();
    assert!(!run(dir.path(), "link", "new").is_error);
    assert_eq!(fs::read_link(dir.path().join("link")).unwrap(), Path::new("target"));
    assert_eq!(fs::read(dir.path().join("target")).unwrap(), b"new");
}
