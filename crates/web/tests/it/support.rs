//! Sessions to export, and what becomes of them.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use offshoot_web::{ExportOptions, Packing, write_html, write_markdown};
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

pub(crate) fn session(drawing: &str) -> Session {
    Session::from_bytes(session_text(drawing)).unwrap()
}

pub(crate) fn html(session: &Session, options: &ExportOptions) -> String {
    let mut out = Vec::new();
    write_html(session, options, &mut out, &mut |_, _| {}).unwrap();
    String::from_utf8(out).unwrap()
}

pub(crate) fn plain() -> ExportOptions {
    ExportOptions { packing: Packing::Never, ..ExportOptions::default() }
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
