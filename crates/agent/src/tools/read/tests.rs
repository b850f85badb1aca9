use std::fs;

use super::*;
use crate::tools::built_in::run_in;

struct Home(tempfile::TempDir);

impl Home {
    fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let home = Home(tempfile::tempdir().unwrap());
        fs::write(home.0.path().join(name), content).unwrap();
        home
    }

    fn read(&self, arguments: &Json) -> ToolOutput {
        run_in(self.0.path(), TOOL, arguments)
    }
}

fn said(output: &ToolOutput) -> &str {
    output.content[0]["text"].as_str().unwrap()
}

#[test]
fn a_small_file_comes_as_it_is() {
    let home = Home::with("f", "one\ntwo\n");
    assert_eq!(home.read(&json!({"path": "f"})), ToolOutput::text("one\ntwo\n"));
    assert_eq!(home.read(&json!({"path": "f", "limit": 10})), ToolOutput::text("one\ntwo\n"));
}

#[test]
fn an_empty_file_is_called_empty() {
    for content in ["", "\u{feff}"] {
        assert_eq!(said(&Home::with("f", content).read(&json!({"path": "f"}))), "[The file is empty.]");
    }
}

#[test]
fn a_range_of_lines_names_the_next_offset() {
    let home = Home::with("f", "1\n2\n3\n4\n5");
    let output = home.read(&json!({"path": "f", "offset": 2, "limit": 2}));
    assert_eq!(said(&output), "2\n3\n\n[Lines 2-3 of 5 are shown. Read on with offset=4.]");
    assert_eq!(output.details, None, "a limit of the call is no cap");
    assert_eq!(said(&home.read(&json!({"path": "f", "offset": 4}))), "4\n5");
    let beyond = home.read(&json!({"path": "f", "offset": 6}));
    assert_eq!(beyond, ToolOutput::error("line 6 is beyond the end of the file, which has 5 lines"));
}

#[test]
fn many_lines_are_capped() {
    let text: String = (1..=2_500).map(|n| format!("{n}\n")).collect();
    let output = Home::with("f", text).read(&json!({"path": "f"}));
    assert!(said(&output).ends_with("2000\n\n[Lines 1-2000 of 2500 are shown. Read on with offset=2001.]"));
    let truncation = &output.details.unwrap()["truncation"];
    assert_eq!(truncation["truncatedBy"], "lines");
    assert_eq!((&truncation["outputLines"], &truncation["totalLines"]), (&json!(2_000), &json!(2_500)));
}

#[test]
fn long_lines_are_capped_at_whole_lines() {
    // 70 KB lines exceed the buffer of the reader, so a line that does not fit is already partly read.
    let text = format!("{}\n{}\n{}\n", "a".repeat(30_000), "b".repeat(70_000), "c".repeat(10));
    let home = Home::with("f", text);
    let output = home.read(&json!({"path": "f"}));
    assert!(said(&output).starts_with("aaa") && !said(&output).contains('b'));
    assert!(said(&output).ends_with("[Lines 1-1 of 3 are shown. Read on with offset=2.]"));
    let partial = home.read(&json!({"path": "f", "offset": 2}));
    assert!(
        said(&partial)
            .contains("b\n\n[Line 2 of 3 is too long: its first 50.0 KB are shown. Read on with offset=3")
    );
    assert_eq!(partial.details.unwrap()["truncation"]["lastLinePartial"], true);
    assert_eq!(said(&home.read(&json!({"path": "f", "offset": 3}))), "cccccccccc\n");
}

#[test]
fn a_long_line_is_cut_between_characters() {
    let home = Home::with("f", format!("x{}", "é".repeat(60_000)));
    assert!(!said(&home.read(&json!({"path": "f"}))).contains('\u{fffd}'));
}

#[test]
fn a_huge_sparse_file_is_read_quickly() {
    let home = Home::with("f", "first\nsecond\nthird\n");
    fs::OpenOptions::new().write(true).open(home.0.path().join("f")).unwrap().set_len(1 << 40).unwrap();
    // NULs in the first bytes would make the file binary.
    let padding = format!("first\n{}\n", "x".repeat(9_000));
    let mut file = fs::OpenOptions::new().write(true).open(home.0.path().join("f")).unwrap();
    std::io::Write::write_all(&mut file, padding.as_bytes()).unwrap();
    let output = home.read(&json!({"path": "f", "limit": 1}));
    assert_eq!(said(&output), "first\n\n[Lines 1-1 are shown. Read on with offset=2.]");
}

#[test]
fn a_byte_order_mark_is_hidden_and_invalid_bytes_are_reported() {
    assert_eq!(said(&Home::with("f", "\u{feff}hello").read(&json!({"path": "f"}))), "hello");
    let broken = Home::with("f", b"caf\xE9\n").read(&json!({"path": "f"}));
    assert!(said(&broken).starts_with("caf\u{fffd}\n\n[The file is not valid UTF-8;"));
}

#[test]
fn images_are_known_by_their_content() {
    let png = b"\x89PNG\r\n\x1a\nrest";
    let output = Home::with("photo.txt", png).read(&json!({"path": "photo.txt"}));
    assert_eq!(said(&output), "Image photo.txt (image/png, 12 bytes)");
    let data = STANDARD.encode(png);
    assert_eq!(output.content[1], json!({"type": "image", "data": data, "mimeType": "image/png"}));
    for (start, mime) in [
        (&b"\xFF\xD8\xFF\xE0"[..], "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x04\x00\x00\x00WEBPVP8 ", "image/webp"),
    ] {
        assert_eq!(image_type(start), Some(mime));
    }
    assert_eq!(said(&Home::with("x.png", "text").read(&json!({"path": "x.png"}))), "text");
}

#[test]
fn a_large_image_and_a_binary_file_are_refused() {
    let mut big = b"\xFF\xD8\xFF".to_vec();
    big.resize(6 << 20, 1);
    let told = Home::with("p", big).read(&json!({"path": "p"}));
    assert_eq!(told, ToolOutput::error("the image p is too large: 6.0 MB, at most 5.0 MB"));
    let told = Home::with("b", b"\x7fELF\x00\x01").read(&json!({"path": "b"}));
    assert_eq!(told, ToolOutput::error("b is a binary file (6 bytes); it cannot be shown as text"));
    let told = Home::with("w", b"\xFF\xFEh\x00i\x00").read(&json!({"path": "w"}));
    assert!(told.is_error && said(&told).contains("UTF-16"));
}

#[test]
fn a_path_that_is_no_file_is_reported_with_a_suggestion() {
    let home = Home::with("main.rs", "x");
    assert_eq!(home.read(&json!({"path": "."})), ToolOutput::error(". is a directory; list it with ls"));
    let told = home.read(&json!({"path": "mian.rs"}));
    assert_eq!(told, ToolOutput::error("mian.rs does not exist"));
    let told = home.read(&json!({"path": "main.rs/x"}));
    assert_eq!(told, ToolOutput::error("main.rs/x does not exist"));
}
