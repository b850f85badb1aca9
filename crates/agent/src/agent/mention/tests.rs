use std::fs;

use super::*;

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("notes.md"), "greet\nkindly\n").unwrap();
    fs::write(dir.path().join("a b.txt"), "blank").unwrap();
    fs::write(dir.path().join("shot.png"), b"\x89PNG\r\n\x1a\n\0...").unwrap();
    fs::write(dir.path().join("program"), b"\x7fELF\0\0").unwrap();
    dir
}

fn names(text: &str) -> Vec<String> {
    let dir = project();
    let files = read(text, dir.path(), &Secrets::new()).files;
    files.iter().map(|file| file.details.as_ref().unwrap()["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn files_are_found_wherever_a_sentence_names_them() {
    assert_eq!(names("see @notes.md, please"), ["notes.md"]);
    assert_eq!(names("(@notes.md) and @\"a b.txt\"."), ["notes.md", "a b.txt"]);
    assert_eq!(names("@notes.md @./notes.md @notes.md"), ["notes.md", "./notes.md"]);
    assert_eq!(names("mail me@notes.md or @gone.md or @ or @. or @program"), Vec::<String>::new());
}

#[test]
fn paths_without_a_file_are_reported() {
    let dir = project();
    let missing = |text| missing(text, dir.path());
    assert_eq!(missing("see @gone.md, @gone.md and @docs/x."), ["gone.md", "docs/x"]);
    assert_eq!(missing("@\"no such file\" @notes.md. @\"a b.txt\" @somebody me@there.org"), ["no such file"]);
}

#[test]
fn the_content_of_a_file_is_sent_but_not_shown() {
    let dir = project();
    let file = read("see @notes.md", dir.path(), &Secrets::new()).files.remove(0);
    let path = dir.path().join("notes.md");
    let expected = format!("<file name=\"{}\">\ngreet\nkindly\n</file>", path.display());
    assert_eq!((file.content, file.display), (Json::String(expected), false));
}

#[test]
fn an_image_becomes_an_image_of_the_prompt() {
    let dir = project();
    let mentioned = read("what is on @shot.png?", dir.path(), &Secrets::new());
    assert_eq!((mentioned.images.len(), mentioned.files.len()), (1, 0));
}

#[test]
fn a_large_file_is_cut_and_says_so() {
    let dir = project();
    fs::write(dir.path().join("large"), "é".repeat(200_000)).unwrap();
    let file = read("@large", dir.path(), &Secrets::new()).files.remove(0);
    let text = file.content.as_str().unwrap();
    assert!(
        text.ends_with("[cut after 262144 of 400000 bytes; the rest can be read with a tool]"),
        "{}",
        text.len()
    );
    assert!(!text.contains(char::REPLACEMENT_CHARACTER));
}

#[test]
fn a_file_keeps_a_replacement_character_at_its_end() {
    let dir = project();
    fs::write(dir.path().join("odd"), "kept\u{fffd}").unwrap();
    let file = read("@odd", dir.path(), &Secrets::new()).files.remove(0);
    assert!(file.content.as_str().unwrap().contains("kept\u{fffd}\n</file>"));
}
