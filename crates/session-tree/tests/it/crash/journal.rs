//! The journal alone: the promises of its calls, on every disk that a crash may leave.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use session_tree::Options;
use session_tree::fs::{Access, Fs};
use session_tree::journal::{FileJournal, Journal, NewLines, ReadAt};
use testkit::drawing::session_text;
use testkit::sim_fs::{CrashKind, SimFs};

const FILE: &str = "/d/s.jsonl";

fn disk() -> SimFs {
    let fs = SimFs::new();
    fs.put_dir("/d").unwrap();
    fs.forget_history();
    fs
}

fn disk_with(bytes: &[u8]) -> (SimFs, FileJournal) {
    let fs = disk();
    fs.put(FILE, bytes).unwrap();
    fs.forget_history();
    let journal = open(&fs);
    (fs, journal)
}

fn open(fs: &SimFs) -> FileJournal {
    FileJournal::open(Arc::new(fs.clone()), Path::new(FILE), Access::Append).unwrap()
}

fn lines(at: u64, bytes: &[u8], publish: bool) -> NewLines<'_> {
    NewLines { at, bytes, lines: &[], publish }
}

fn append(journal: &mut FileJournal, bytes: &[u8]) {
    let locked = journal.lock().unwrap();
    journal.append(&lines(locked.len, bytes, true)).unwrap();
    journal.unlock();
}

#[test]
fn a_new_file_appears_whole_or_not_at_all() {
    let fs = disk();
    let mut journal = FileJournal::unsaved(Arc::new(fs.clone()), PathBuf::from(FILE));
    journal.append(&lines(0, b"header\n", false)).unwrap();
    assert!(!journal.exists() && fs.paths().is_empty(), "held back until it is published");
    journal.append(&lines(7, b"first\n", true)).unwrap();
    journal.sync().unwrap();
    let published = fs.op_count();
    let mut count = 0;
    for state in fs.crash_states(1) {
        match state.fs.bytes(FILE) {
            Some(bytes) => assert_eq!(bytes, b"header\nfirst\n"),
            None => assert!(state.completed < published, "published, then gone"),
        }
        count += 1;
    }
    assert!(count > 50, "{count}");
    assert_eq!(fs.paths(), [Path::new(FILE)], "nothing else stays behind");
}

#[test]
fn a_new_file_is_as_durable_as_the_directories_made_for_it() {
    let fs = disk();
    let path = Path::new("/d/e/f/s.jsonl");
    let mut journal = FileJournal::unsaved(Arc::new(fs.clone()), path.to_path_buf());
    journal.append(&lines(0, b"header\n", true)).unwrap();
    journal.sync().unwrap();
    for state in fs.crash_states_now(1) {
        assert_eq!(state.fs.bytes(path).as_deref(), Some(&b"header\n"[..]), "a directory above it is lost");
    }
}

#[test]
fn appended_lines_are_there_from_their_sync_on() {
    let (fs, mut journal) = disk_with(b"0\n");
    let mut promised = vec![(0, 2)];
    for line in ["one\n", "two\n", "three\n"] {
        append(&mut journal, line.as_bytes());
        journal.sync().unwrap();
        promised.push((fs.op_count(), fs.bytes(FILE).unwrap().len()));
    }
    let whole = fs.bytes(FILE).unwrap();
    for state in fs.crash_states(1) {
        let bytes = state.fs.bytes(FILE).unwrap();
        let kept =
            promised.iter().filter(|(at, _)| *at <= state.completed).map(|(_, len)| *len).max().unwrap();
        assert!(bytes.len() >= kept && bytes[..kept] == whole[..kept], "{state:?}");
    }
}

#[test]
fn a_replaced_file_is_the_old_or_the_new_one_and_the_old_one_is_kept() {
    let (fs, mut journal) = disk_with(b"old bytes\n");
    journal.lock().unwrap();
    let mut write = |old: &dyn ReadAt, out: &mut dyn Write| {
        assert_eq!(old.len()?, 10);
        out.write_all(b"new, longer bytes\n")
    };
    let kept = journal.replace("bak", &mut write, &mut |_| Ok(())).unwrap().kept.unwrap();
    journal.unlock();
    let replaced = fs.op_count();
    append(&mut journal, b"more\n");
    let mut seen = BTreeSet::new();
    for state in fs.crash_states(1) {
        let bytes = state.fs.bytes(FILE).expect("there is always a file");
        if bytes == b"old bytes\n" {
            assert!(state.completed < replaced, "replaced, then old again");
        } else {
            assert!(bytes.starts_with(b"new, longer bytes\n"), "{state:?}");
            assert_eq!(state.fs.bytes(&kept).as_deref(), Some(&b"old bytes\n"[..]), "{state:?}");
        }
        seen.insert(bytes.len());
    }
    assert!(seen.contains(&10) && seen.contains(&18), "both files were seen");
}

#[test]
fn a_rescue_appears_whole_and_is_durable_when_it_is_reported() {
    let (fs, journal) = disk_with(b"all\n");
    fs.remove_file(Path::new(FILE)).unwrap();
    let rescue = journal.rescue(&mut &b"all\nand more\n"[..]).unwrap().unwrap();
    let now = fs.op_count();
    assert!(fs.crash_states(1).any(|state| state.completed == now && state.kind == CrashKind::PowerCut));
    for state in fs.crash_states(1) {
        match state.fs.bytes(&rescue) {
            Some(bytes) => assert_eq!(bytes, b"all\nand more\n", "{state:?}"),
            None => assert!(state.completed < now, "reported, then gone"),
        }
    }
}

#[test]
fn a_crash_while_a_torn_tail_is_closed_off_leaves_the_tail_as_it_was() {
    let (fs, mut journal) = disk_with(b"0\nto");
    append(&mut journal, b"\nnext\n");
    journal.sync().unwrap();
    for state in fs.crash_states(1) {
        assert!(state.fs.bytes(FILE).unwrap().starts_with(b"0\nto"), "{state:?}");
    }
}

#[test]
fn a_repaired_copy_appears_whole_or_not_at_all() {
    let fs = disk();
    let damaged =
        session_text("a user hello\n! {\"type\":\"message\",\"id\":\"b\",\"parentId\":\"a\nc<b user go on");
    fs.put(FILE, &damaged).unwrap();
    fs.forget_history();
    let shared: Arc<dyn Fs> = Arc::new(fs.clone());
    let session = Options::new().file_system(shared.clone()).open_read_only(FILE).unwrap();
    let plan = session.plan_repair(&session.check().unwrap());
    let copy = Path::new("/d/copy.jsonl");
    session.write_repaired_copy(&plan, shared, copy).unwrap();
    let (whole, written) = (fs.bytes(copy).unwrap(), fs.op_count());
    for state in fs.crash_states(1) {
        match state.fs.bytes(copy) {
            Some(bytes) => assert_eq!(bytes, whole, "{state:?}"),
            None => assert!(state.completed < written, "written, then gone"),
        }
        assert_eq!(state.fs.bytes(FILE).as_ref(), Some(&damaged), "the original is only read");
    }
}
