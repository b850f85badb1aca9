//! Sessions to export, and their exports.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use offshoot_web::{ExportOptions, write_html, write_markdown};
use session_tree::{Options, Session};
use tempfile::TempDir;
use testkit::corpus::{self, Shape};
use testkit::drawing::session_text;

/// A task that was tried in three ways: one was abandoned, one failed, one was merged and went on.
pub(crate) const THREE_WAYS: &str = "
    m model anthropic/claude
    u1<m user Build a greeter
    c1<u1 call bash cargo new greeter
    t1<c1 tool bash created package
    a1<t1 assistant The project is there.
    l1<a1 label a1 baseline
    u2<a1 user Use Node
    a2<u2 assistant Here is a Node version
    u3<a1 user Use Python instead
    a3<u3 assistant print hello from python
    s4<a1 summary from=a2 Node was too slow
    u4<s4 user Use Rust
    c4<u4 call edit src/main.rs
    t4<c4 tool edit done editing
    a4<t4 assistant The Rust version greets people
    i<a4 info Three greeters
";

/// Three ways, and below them one entry of nearly every kind, with every kind of content.
pub(crate) fn everything() -> String {
    let dot =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let lines = (1..=40).map(|line| format!("line {line} of the output")).collect::<Vec<_>>().join("\\n");
    let prose = r#"# Plan\n\nSee [the manual](https://example.org) and `code`.\n\n### Steps\n\n- [x] one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\n// why\nfn main() { let x = 1; print(\"hi\"); }\n```\n\n> quoted"#;
    let message = |id: &str, parent: &str, message: String| {
        format!(
            r#"! {{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2025-01-02T00:00:02.000Z","message":{message}}}"#
        )
    };
    let entry = |id: &str, parent: &str, fields: &str| {
        format!(r#"! {{"id":"{id}","parentId":"{parent}","timestamp":"2025-01-02T00:00:03.000Z",{fields}}}"#)
    };
    let more = [
        message("b1", "i", r#"{"role":"system","content":"You are careful.","sections":{"project":"Run the checks."},"toolsAdded":[{"name":"bash","description":"Runs a command."},{"name":"read","description":"Reads a file."}]}"#.into()),
        message("b2", "b1", format!(r#"{{"role":"user","content":[{{"type":"text","text":"Look at this picture"}},{{"type":"image","mimeType":"image/png","data":"{dot}"}}]}}"#)),
        message("b3", "b2", format!(r#"{{"role":"assistant","model":"m","usage":{{"input":10,"output":5,"cost":{{"total":0.01}}}},"content":[{{"type":"thinking","thinking":"Let me think."}},{{"type":"text","text":"{prose}"}},{{"type":"toolCall","id":"x1","name":"bash","arguments":{{"command":"seq 40","path":"src/deep/secret.rs"}}}},{{"type":"toolCall","id":"x2","name":"web_fetch","arguments":{{"url":"https://example.org/needle"}}}}]}}"#)),
        message("b4", "b3", format!(r#"{{"role":"toolResult","toolCallId":"x1","toolName":"bash","isError":false,"content":[{{"type":"text","text":"{lines}"}}]}}"#)),
        message("b5", "b4", format!(r#"{{"role":"toolResult","toolCallId":"x2","toolName":"web_fetch","isError":true,"content":[{{"type":"text","text":"not found"}},{{"type":"image","mimeType":"image/png","data":"{dot}"}}],"details":{{"status":404}}}}"#)),
        message("b6", "b5", r#"{"role":"bashExecution","command":"cargo test","output":"1 failed","exitCode":1}"#.into()),
        message("b7", "b6", r#"{"role":"assistant","model":"m","content":[{"type":"text","text":"Sorry."}],"stopReason":"error","errorMessage":"overloaded"}"#.into()),
        entry("b8", "b7", r#""type":"custom_message","customType":"weather","content":"It rains.","display":true,"details":{"mm":3}"#),
        entry("b9", "b8", r#""type":"compaction","summary":"What came before.","firstKeptEntryId":"b6","tokensBefore":12000,"details":{"readFiles":["src/kept.rs"]}"#),
        entry("b10", "b9", r#""type":"branch_summary","summary":"Python was tried.","fromId":"a3","details":{"merge":{"sourceLeafId":"a3"}}"#),
        entry("b11", "b10", r#""type":"thinking_level_change","thinkingLevel":"off""#),
    ];
    format!("{THREE_WAYS}\n{}", more.join("\n"))
}

pub(crate) fn session(drawing: &str) -> Session {
    Session::from_bytes(session_text(drawing)).unwrap()
}

pub(crate) fn html(session: &Session, options: &ExportOptions) -> String {
    let mut out = Vec::new();
    write_html(session, options, &mut out, &mut |_, _| {}).unwrap();
    String::from_utf8(out).unwrap()
}

pub(crate) fn plain() -> ExportOptions {
    ExportOptions { packed: Some(false), ..ExportOptions::default() }
}

pub(crate) fn markdown(session: &Session, options: &ExportOptions) -> String {
    let mut out = Vec::new();
    write_markdown(session, options, &mut out, &mut |_, _| {}).unwrap();
    String::from_utf8(out).unwrap()
}

/// A page in a directory that lives as long as the test.
pub(crate) struct Page {
    _dir: TempDir,
    pub(crate) file: PathBuf,
    /// The sizes of the session and of the page.
    pub(crate) sizes: (u64, u64),
}

impl Page {
    pub(crate) fn of(session: &Session, options: &ExportOptions) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("page.html");
        let mut out = BufWriter::new(File::create(&file).unwrap());
        write_html(session, options, &mut out, &mut |_, _| {}).unwrap();
        drop(out);
        let bytes = session.tree().nodes().map(|node| session.line_len(node) + 1).sum();
        let sizes = (bytes, file.metadata().unwrap().len());
        Page { _dir: dir, file, sizes }
    }

    /// The page of a drawing.
    pub(crate) fn drawn(drawing: &str) -> Self {
        Self::of(&session(drawing), &ExportOptions::default())
    }

    /// The page of a session of a certain shape, made as a stream from file to file.
    pub(crate) fn shaped(shape: &Shape) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("session.jsonl");
        corpus::write(shape, &mut BufWriter::new(File::create(&file).unwrap())).unwrap();
        let session = Options::new().cache_bytes(2 << 20).open_read_only(&file).unwrap();
        let page = Self::of(&session, &ExportOptions::default());
        let bytes = file.metadata().unwrap().len();
        Page { sizes: (bytes, page.sizes.1), ..page }
    }
}
