//! Failing system calls: each operation runs with its first, second, third call failing, until no call is left to fail.

use std::io::ErrorKind;
use std::sync::Arc;

use session_tree::{Error, Options, Position, SyncPolicy};
use testkit::crash::trial::{FaultCase, found, shown};
use testkit::crash::workload::{self, Opener, PATH, STARTS, Start, Workload, set_up, user};
use testkit::drawing::session_text;
use testkit::sim_fs::{Fault, SimFs};

#[test]
fn an_operation_survives_the_failure_of_any_of_its_calls() {
    // One in seven; `offshoot-proof faults` runs all.
    let some = FaultCase::all(|fs| Arc::new(fs.clone())).step_by(7);
    let runs: usize = some.map(FaultCase::run_all).sum();
    assert!(runs >= 1_000, "only {runs} runs met their fault");
}

#[test]
fn opening_fails_cleanly_and_works_the_next_time() {
    let mut runs = 0;
    for start in STARTS {
        for kind in [ErrorKind::Other, ErrorKind::PermissionDenied, ErrorKind::Interrupted] {
            for call in 1.. {
                let fs = SimFs::new();
                set_up(&fs, start);
                let bytes = fs.bytes(PATH);
                let mut opener = Opener::new(&fs, SyncPolicy::Always);
                fs.fail_at(call, Fault::error(kind));
                let opened = opener.open_or_create();
                if fs.faults_fired() == 0 {
                    opened.unwrap();
                    break;
                }
                drop(opened);
                assert_eq!(fs.bytes(PATH), bytes, "opening changed the file");
                opener.open_or_create().unwrap().append_message(&user("hello")).unwrap();
                runs += 1;
            }
        }
    }
    println!("{runs} runs with a failing call");
    assert!(runs >= 40, "only {runs} runs met their fault");
}

#[test]
fn a_full_disk_costs_nothing_but_the_entry_that_did_not_fit() {
    for room in 0..400 {
        let fs = SimFs::new();
        set_up(&fs, Start::Existing);
        let mut opener = Opener::new(&fs, SyncPolicy::Always);
        let mut session = opener.open_or_create().unwrap();
        let used = fs.bytes(PATH).unwrap().len() as u64;
        fs.set_capacity(Some(used + room));
        let before = shown(&session);
        let result = session.append_message(&user(&"long ".repeat(60)));
        assert!(result.is_err(), "{room} bytes cannot hold it");
        assert_eq!(shown(&session), before);
        assert_eq!(found(&fs).unwrap(), before.0);
        fs.set_capacity(None);
        let id = session.append_message(&user("now it fits")).unwrap();
        let reopened = opener.open_or_create().unwrap();
        assert_eq!(reopened.leaf_id(), Some(id));
        assert_eq!(reopened.branch_path(Position::Leaf).len(), session.branch_path(Position::Leaf).len());
        assert!(reopened.diagnostics().is_empty(), "nothing of the failed line stays behind");
    }
}

#[test]
fn after_a_failed_sync_nothing_more_is_written() {
    let fs = SimFs::new();
    set_up(&fs, Start::Existing);
    let mut session = Opener::new(&fs, SyncPolicy::Os).open_or_create().unwrap();
    session.append_message(&user("one")).unwrap();
    fs.fail_at(1, Fault::error(ErrorKind::Other));
    assert!(matches!(session.sync(), Err(Error::Sync { .. })));
    assert!(!session.is_durable());
    let bytes = fs.bytes(PATH);
    assert!(
        matches!(session.sync(), Err(Error::Poisoned { .. })),
        "a second sync would report a success that is none"
    );
    assert!(matches!(session.append_message(&user("two")), Err(Error::Poisoned { .. })));
    assert_eq!(fs.bytes(PATH), bytes);
}

#[test]
fn a_lost_file_is_saved_elsewhere_or_the_failure_is_reported() {
    let mut runs = 0;
    for kind in [ErrorKind::StorageFull, ErrorKind::Other] {
        for call in 1.. {
            let fs = SimFs::new();
            set_up(&fs, Start::Existing);
            let mut session = Opener::new(&fs, SyncPolicy::Always).open_or_create().unwrap();
            let before = shown(&session);
            session_tree::fs::Fs::remove_file(&fs, PATH.as_ref()).unwrap();
            fs.fail_at(call, Fault::error(kind));
            let error = session.append_message(&user("more")).unwrap_err();
            let met = fs.faults_fired() > 0;
            fs.clear_faults();
            match error {
                Error::Replaced { rescue: Some(rescue), .. } => {
                    let saved =
                        Options::new().file_system(Arc::new(fs.clone())).open_read_only(rescue).unwrap();
                    assert_eq!(saved.tree().len(), before.0.len() + 1, "everything and the new entry");
                }
                _ => assert_eq!(shown(&session), before, "{error:?}: what was known can still be read"),
            }
            if !met {
                break;
            }
            runs += 1;
        }
    }
    assert!(runs >= 10, "only {runs} runs met their fault");
}

#[test]
fn a_session_goes_on_when_another_one_migrated_its_file() {
    let fs = SimFs::new();
    set_up(&fs, Start::VersionOne);
    let mut opener = Opener::new(&fs, SyncPolicy::Always);
    let (mut one, mut other) = (opener.open_or_create().unwrap(), opener.open_or_create().unwrap());
    let first = other.append_message(&user("migrates")).unwrap();
    let second = one.append_message(&user("follows")).unwrap();
    let ids = found(&fs).unwrap();
    assert!(ids.contains(&first.to_string()) && ids.contains(&second.to_string()), "{ids:?}");
}

#[test]
fn an_entry_that_was_taken_back_does_not_return_after_a_power_cut() {
    let fs = SimFs::new();
    set_up(&fs, Start::Existing);
    let mut opener = Opener::new(&fs, SyncPolicy::Always);
    let mut session = opener.open_or_create().unwrap();
    let before = shown(&session).0;
    let drafts = ["one", "two"].map(|text| session_tree::Draft::message(&user(text)).unwrap());
    // The first line of the batch is complete when the write fails.
    let calls = fs.calls().len() as u64;
    let probe = fs.killed();
    Opener::new(&probe, SyncPolicy::Always).open_or_create().unwrap().append_batch(&drafts).unwrap();
    let position =
        probe.calls().iter().position(|call| *call == testkit::sim_fs::Call::Append).unwrap() as u64;
    fs.fail_at(position + 1 - calls, Fault::partial_write(200, ErrorKind::StorageFull));
    session.append_batch(&drafts).unwrap_err();
    assert_eq!(fs.faults_fired(), 1);
    for state in fs.crash_states_now(1) {
        assert_eq!(found(&state.fs).unwrap(), before, "{:?}", state.kind);
    }
}

#[test]
fn nothing_that_was_there_is_ever_removed() {
    const OTHER: &str = "/home/sessions/other.jsonl";
    for start in STARTS {
        for seed in 0..40 {
            let workload = Workload { start, ..Workload::drawn(seed) };
            let fs = SimFs::new();
            let text = session_text("a user somebody else's");
            fs.put(OTHER, &text).unwrap();
            let record = workload::run(&workload, SyncPolicy::Always, &fs);
            assert_eq!(fs.bytes(OTHER).unwrap(), text, "{workload:?}");
            assert!(fs.bytes(PATH).is_some(), "{workload:?}");
            for fork in record.forks {
                assert_eq!(fs.bytes(&fork.path).unwrap(), fork.bytes, "{workload:?}");
            }
        }
    }
}
