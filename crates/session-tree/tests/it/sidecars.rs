//! Sidecars: a session opened from one equals its file, whatever happened to the file since.

use std::fs;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use session_tree::{Options, Session};
use testkit::mangle;

use crate::support::live::Folder;

/// Adds entries after the header until the file is large enough for a sidecar.
fn padded(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
    let (header, rest) = bytes.split_at(end);
    let mut all = header.to_vec();
    let text = "x".repeat(100_000);
    for at in 0..11 {
        let line = format!(
            "{{\"type\":\"custom\",\"customType\":\"pad\",\"data\":\"{text}\",\"id\":\"ffff{at:04x}\",\"parentId\":null,\"timestamp\":\"2025-01-01T00:00:00.000Z\"}}\n"
        );
        all.extend_from_slice(line.as_bytes());
    }
    all.extend_from_slice(rest);
    all
}

/// Formats everything in which two readings of a file could differ.
fn seen(session: session_tree::Result<Session>) -> String {
    let session = match session {
        Ok(session) => session,
        Err(error) => return error.to_string(),
    };
    let tree = session.tree();
    let rows: Vec<String> = tree
        .nodes()
        .map(|node| {
            let entry = session.entry_at(node).map(|entry| entry.raw().len());
            let parent = tree.parent(node).map(|parent| tree.id(parent));
            format!(
                "{} {parent:?} {} {entry:?} {}",
                tree.id(node),
                tree.kind(node).name().unwrap_or("?"),
                tree.is_placeholder(node)
            )
        })
        .collect();
    let context = session
        .context()
        .map(|context| context.messages().map(|message| message.text().into_owned()).collect::<Vec<_>>());
    let labels: Vec<_> = session
        .labels()
        .into_iter()
        .map(|(node, label)| (tree.id(node), &label.text, label.set_at))
        .collect();
    format!(
        "{rows:#?} leaf {:?} name {:?} labels {labels:?} context {context:?} odd {:?}",
        session.leaf_id(),
        session.name(),
        session.diagnostics(),
    )
}

/// Compares opening with and without a sidecar.
#[track_caller]
fn assert_agreement(path: &Path, cache: &Path, what: &str) {
    let plain = seen(Options::new().open_read_only(path));
    let cached = seen(Options::new().sidecar_dir(cache).open_read_only(path));
    assert!(plain == cached, "{what}:\nwithout\n{plain}\nwith\n{cached}");
}

#[test]
fn files_that_were_edited_in_place_and_grew_are_read_as_they_are() {
    let dir = Folder::new();
    let cache = dir.at("cache");
    let mut sidecars = 0;
    for (index, file) in mangle::files(11, 60).enumerate() {
        let bytes = padded(&file.bytes);
        let path = dir.put(&format!("{index}.jsonl"), &bytes);
        let name = format!("file {index}");
        assert_agreement(&path, &cache, &name);
        assert_agreement(&path, &cache, &format!("{name}, opened again"));

        // Changes the last digit of an id in the middle: same length, other links.
        let edited = fs::OpenOptions::new().write(true).open(&path).unwrap();
        let at = bytes.windows(8).position(|window| window == b"ffff0005").unwrap();
        edited.write_all_at(b"ffff0fff", at as u64).unwrap();
        assert_agreement(&path, &cache, &format!("{name}, edited"));
        edited.write_all_at(b"ffff0005", at as u64).unwrap();
        assert_agreement(&path, &cache, &format!("{name}, edited back"));

        edited.write_all_at(b"fffe0005", at as u64).unwrap();
        let line = "{\"type\":\"message\",\"id\":\"eeee0000\",\"parentId\":\"ffff0005\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"more\"}}\n";
        let mut appended = fs::OpenOptions::new().append(true).open(&path).unwrap();
        appended.write_all(line.as_bytes()).unwrap();
        assert_agreement(&path, &cache, &format!("{name}, edited and grown"));
        appended.write_all(&line.as_bytes()[..60]).unwrap();
        assert_agreement(&path, &cache, &format!("{name}, with a torn tail"));
        sidecars = fs::read_dir(&cache).map_or(0, Iterator::count);
    }
    assert!(sidecars > 10, "only {sidecars} of the files had a sidecar");
}
