//! The simulated disk forgets what a real one may forget, and nothing else.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;

fn p(path: &str) -> &Path {
    Path::new(path)
}

fn put(fs: &SimFs, path: &str, bytes: &[u8]) -> Box<dyn FsFile> {
    fs.put(path, bytes).unwrap();
    fs.forget_history();
    fs.open(p(path), Access::Append).unwrap()
}

/// The possible contents of a file after a power cut now; `None` if it may have no name.
fn after_power_cut(fs: &SimFs, path: &str) -> BTreeSet<Option<Vec<u8>>> {
    let now = fs.op_count();
    let in_the_end = |state: &CrashState| state.completed == now && state.kind == CrashKind::PowerCut;
    let states = |states: CrashStates| states.filter(in_the_end).map(|state| state.fs.bytes(path)).collect();
    let found: BTreeSet<_> = states(fs.crash_states(1));
    assert_eq!(found, states(fs.crash_states_now(1)), "the end of all states is now");
    found
}

fn texts(set: &BTreeSet<Option<Vec<u8>>>) -> Vec<&str> {
    set.iter()
        .map(|bytes| bytes.as_ref().map_or("(gone)", |bytes| std::str::from_utf8(bytes).unwrap()))
        .collect()
}

#[test]
fn what_was_not_synced_may_be_cut_at_every_byte() {
    let fs = SimFs::new();
    let file = put(&fs, "/d/a", b"old");
    file.append(b"xyz").unwrap();
    assert_eq!(
        texts(&after_power_cut(&fs, "/d/a")),
        ["old", "old\0\0\0", "oldx", "oldxy", "oldxyz"],
        "a prefix, or the length without the bytes"
    );
    file.sync().unwrap();
    assert_eq!(texts(&after_power_cut(&fs, "/d/a")), ["oldxyz"]);
}

#[test]
fn a_lying_disk_keeps_nothing_although_it_says_so() {
    let fs = SimFs::new();
    let file = put(&fs, "/a", b"");
    fs.ignore_syncs(true);
    file.append(b"x").unwrap();
    file.sync().unwrap();
    assert_eq!(texts(&after_power_cut(&fs, "/a")), ["", "\0", "x"]);
}

#[test]
fn a_name_is_durable_only_after_its_directory_was_synced() {
    let fs = SimFs::new();
    fs.put_dir("/d").unwrap();
    fs.forget_history();
    let file = fs.open(p("/d/a"), Access::CreateNew).unwrap();
    file.append(b"x").unwrap();
    file.sync().unwrap();
    assert_eq!(texts(&after_power_cut(&fs, "/d/a")), ["(gone)", "x"]);
    fs.sync_dir(p("/d")).unwrap();
    assert_eq!(texts(&after_power_cut(&fs, "/d/a")), ["x"]);
}

#[test]
fn a_directory_is_lost_with_everything_in_it_until_its_parent_was_synced() {
    let fs = SimFs::new();
    fs.create_dir_all(p("/d/e")).unwrap();
    let file = fs.open(p("/d/e/a"), Access::CreateNew).unwrap();
    file.append(b"x").unwrap();
    file.sync().unwrap();
    fs.sync_dir(p("/d/e")).unwrap();
    assert_eq!(texts(&after_power_cut(&fs, "/d/e/a")), ["(gone)", "x"]);
    fs.sync_dir(p("/d")).unwrap();
    fs.sync_dir(p("/")).unwrap();
    assert_eq!(texts(&after_power_cut(&fs, "/d/e/a")), ["x"]);
}

#[test]
fn a_rename_happens_as_a_whole_or_not_at_all() {
    let fs = SimFs::new();
    fs.put("/a", b"old").unwrap();
    fs.put("/b", b"new").unwrap();
    fs.forget_history();
    fs.rename(p("/b"), p("/a")).unwrap();
    let now = fs.op_count();
    let states: BTreeSet<_> = fs
        .crash_states(1)
        .filter(|state| state.completed == now)
        .map(|state| (state.kind == CrashKind::Kill, state.fs.bytes("/a"), state.fs.bytes("/b")))
        .collect();
    let (old, new) = (Some(b"old".to_vec()), Some(b"new".to_vec()));
    let expected =
        [(false, new.clone(), None), (false, old, new.clone()), (true, new, None)].into_iter().collect();
    assert_eq!(states, expected);
}

#[test]
fn names_and_contents_reach_the_disk_in_any_order() {
    let fs = SimFs::new();
    fs.put("/a", b"old").unwrap();
    fs.forget_history();
    let file = fs.open(p("/t"), Access::CreateNew).unwrap();
    file.append(b"n").unwrap();
    // The mistake that this disk is there to find: the name changes before the content was synced.
    fs.rename(p("/t"), p("/a")).unwrap();
    assert_eq!(texts(&after_power_cut(&fs, "/a")), ["", "\0", "n", "old"]);
}

#[test]
fn a_killed_process_loses_nothing_but_the_rest_of_a_write() {
    let fs = SimFs::new();
    let file = put(&fs, "/a", b"");
    file.append(b"abc").unwrap();
    let kills: Vec<_> = fs
        .crash_states(1)
        .filter(|state| state.kind == CrashKind::Kill)
        .map(|state| (state.completed, String::from_utf8(state.fs.bytes("/a").unwrap()).unwrap()))
        .collect();
    let expected = [(0, ""), (0, "a"), (0, "ab"), (1, "abc")];
    assert_eq!(kills, expected.map(|(completed, text)| (completed, text.to_owned())));
}

#[test]
fn a_cut_may_come_back_until_it_was_synced() {
    let fs = SimFs::new();
    let file = put(&fs, "/a", b"");
    file.append(b"abc").unwrap();
    file.sync().unwrap();
    file.set_len(1).unwrap();
    assert_eq!(texts(&after_power_cut(&fs, "/a")), ["a", "abc"]);
    file.append(b"X").unwrap();
    assert_eq!(texts(&after_power_cut(&fs, "/a")), ["a", "a\0", "aX", "aXc", "abc"]);
}

#[test]
fn a_failed_sync_loses_what_a_later_one_claims_to_have_written() {
    let fs = SimFs::new();
    let file = put(&fs, "/a", b"0");
    file.append(b"1").unwrap();
    fs.fail_at(1, Fault::error(io::ErrorKind::Other));
    assert!(file.sync().is_err());
    file.sync().unwrap();
    assert_eq!(fs.bytes("/a").unwrap(), b"01", "programs still see it");
    assert_eq!(texts(&after_power_cut(&fs, "/a")), ["0\0"]);
}

#[test]
fn long_tails_are_cut_at_sectors_and_drawn_places() {
    let fs = SimFs::new();
    let file = put(&fs, "/a", b"");
    file.append(&[b'x'; 20_000]).unwrap();
    let states = after_power_cut(&fs, "/a");
    assert!(states.len() > 20_000 / 512, "{}", states.len());
    assert!(states.len() < 1_000, "{}", states.len());
}

#[test]
fn states_are_the_same_for_the_same_seed() {
    let fs = SimFs::new();
    let file = put(&fs, "/a", b"");
    file.append(&[b'x'; 9_000]).unwrap();
    let lengths =
        |seed| fs.crash_states(seed).map(|state| state.fs.bytes("/a").unwrap().len()).collect::<Vec<_>>();
    assert_eq!(lengths(3), lengths(3));
    assert_ne!(lengths(3), lengths(4));
    let tenth = fs.crash_states(3).nth(10).unwrap();
    assert_eq!((tenth.number, tenth.fs.bytes("/a").unwrap().len()), (10, lengths(3)[10]));
}

#[test]
fn states_do_not_share_what_is_written_to_them() {
    let fs = SimFs::new();
    let file = put(&fs, "/a", b"old");
    file.append(b"x").unwrap();
    for state in fs.crash_states(1) {
        let before = state.fs.bytes("/a").unwrap();
        state.fs.open(p("/a"), Access::Append).unwrap().append(b"!").unwrap();
        assert_eq!(state.fs.bytes("/a").unwrap(), [&before[..], b"!"].concat());
    }
    assert_eq!(fs.bytes("/a").unwrap(), b"oldx");
}

#[test]
fn the_call_that_was_named_fails_and_only_that_one() {
    let fs = SimFs::new();
    let file = put(&fs, "/a", b"");
    fs.fail_at(2, Fault::error(io::ErrorKind::StorageFull));
    assert_eq!(file.append(b"1").unwrap(), 1);
    assert_eq!(file.append(b"2").unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(file.append(b"3").unwrap(), 1);
    assert_eq!(fs.bytes("/a").unwrap(), b"13");
    assert_eq!(fs.faults_fired(), 1);
    fs.fail_at(1, Fault::error(io::ErrorKind::Other).sticky());
    assert!(file.metadata().is_err() && fs.read_dir(p("/")).is_err() && file.try_lock().is_err());
    fs.clear_faults();
    assert!(file.try_lock().unwrap());
}

#[test]
fn writes_can_be_short_or_fail_half_way() {
    let fs = SimFs::new();
    let file = put(&fs, "/a", b"");
    fs.fail_at(1, Fault::short_write(2));
    assert_eq!(file.append(b"abc").unwrap(), 2);
    fs.fail_at(1, Fault::partial_write(1, io::ErrorKind::StorageFull));
    assert_eq!(file.append(b"xyz").unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(fs.bytes("/a").unwrap(), b"abx");
    fs.fail_at(1, Fault::short_write(0));
    assert!(file.metadata().is_ok(), "only writes can be short");
}

#[test]
fn a_full_disk_takes_what_fits() {
    let fs = SimFs::new();
    let file = put(&fs, "/a", b"");
    fs.hard_link(p("/a"), p("/b")).unwrap();
    fs.set_capacity(Some(4));
    assert_eq!(file.append(b"abc").unwrap(), 3);
    assert_eq!(fs.free_space(p("/")).unwrap(), 1, "two names, one file");
    assert_eq!(file.append(b"de").unwrap(), 1);
    assert_eq!(file.append(b"e").unwrap_err().kind(), io::ErrorKind::StorageFull);
}

#[test]
fn a_held_lock_cannot_be_taken_and_dropping_the_file_frees_it() {
    let fs = SimFs::new();
    let one = put(&fs, "/a", b"");
    let two = fs.open(p("/a"), Access::Append).unwrap();
    assert!(one.try_lock().unwrap());
    assert!(!two.try_lock().unwrap() && !one.try_lock().unwrap());
    two.unlock().unwrap();
    assert!(!two.try_lock().unwrap(), "only the holder gives it back");
    drop(one);
    assert!(two.try_lock().unwrap());
}

#[test]
fn names_follow_the_rules_of_a_file_system() {
    let fs = SimFs::new();
    let file = put(&fs, "/d/a", b"x");
    let kind = |result: io::Result<()>| result.unwrap_err().kind();
    let open = |path, access| kind(fs.open(p(path), access).map(drop));
    assert_eq!(open("/d/a", Access::CreateNew), io::ErrorKind::AlreadyExists);
    assert_eq!(open("/d/b", Access::Append), io::ErrorKind::NotFound);
    assert_eq!(open("/d/a/b", Access::Read), io::ErrorKind::NotADirectory);
    assert_eq!(kind(fs.hard_link(p("/d/a"), p("/d/a"))), io::ErrorKind::AlreadyExists);
    assert_eq!(kind(fs.remove_file(p("/d"))), io::ErrorKind::IsADirectory);
    fs.hard_link(p("/d/a"), p("/d/b")).unwrap();
    assert_eq!(fs.metadata(p("/d/a")).unwrap().id, fs.metadata(p("/d/./../d/b")).unwrap().id);
    fs.remove_file(p("/d/a")).unwrap();
    file.append(b"y").unwrap();
    assert_eq!(fs.bytes("/d/b").unwrap(), b"xy", "the file lives on under its other name");
    assert_eq!(fs.read_dir(p("/d")).unwrap(), [p("/d/b")]);
    assert_eq!(fs.canonical(p("d/../d/b")).unwrap(), p("/d/b"));
    fs.set_mode("/d/b", 0o400).unwrap();
    assert_eq!(open("/d/b", Access::Append), io::ErrorKind::PermissionDenied);
    assert!(fs.open(p("/d/b"), Access::Read).unwrap().append(b"z").is_err());
}

#[test]
fn time_moves_with_every_change() {
    let fs = SimFs::new();
    let file = put(&fs, "/a", b"");
    let before = file.metadata().unwrap();
    file.append(b"x").unwrap();
    let after = file.metadata().unwrap();
    assert!(after.modified > before.modified);
    assert_eq!((after.len, after.mode, after.is_file), (1, 0o600, true));
}
