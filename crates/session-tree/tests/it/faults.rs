//! What a failing call to the system leaves behind: each operation is tried with its first, second, third call
//! failing, and so on until it no longer notices.
//!
//! After a failure the session in memory shows what a fresh look at the file shows, older bytes are untouched, and
//! a second try works or is refused.

use std::io::ErrorKind;
use std::sync::Arc;

use session_tree::{Error, Options, Result, Session, SyncPolicy};
use testkit::rng::Rng;
use testkit::sim_fs::{Fault, SimFs};

use crate::crash::workload::{Opener, PATH, STARTS, Start, Step, perform, set_up, user};

/// What is done while a call fails.
const OPERATIONS: [Step; 14] = [
    Step::Prompt(40),
    Step::Answer(300),
    Step::Batch(3),
    Step::Mark,
    Step::Summary,
    Step::Label,
    Step::Name,
    Step::Model,
    Step::Barrier,
    Step::Sync,
    Step::Fork,
    Step::Migrate,
    Step::Repair,
    Step::Reopen,
];

const POLICIES: [SyncPolicy; 3] = [SyncPolicy::Always, SyncPolicy::Barrier, SyncPolicy::Os];

fn faults() -> Vec<Fault> {
    let kinds =
        [ErrorKind::StorageFull, ErrorKind::Other, ErrorKind::Interrupted, ErrorKind::PermissionDenied];
    let errors = kinds.into_iter().map(Fault::error);
    // A write that was interrupted half-way reports what it wrote, so there is no such error.
    let halves = [25, 200].into_iter().flat_map(|part| {
        [ErrorKind::StorageFull, ErrorKind::Other].map(|kind| Fault::partial_write(part, kind))
    });
    let shorts = [0, 1, 50].into_iter().map(Fault::short_write);
    let for_good =
        [ErrorKind::StorageFull, ErrorKind::Other].into_iter().map(|kind| Fault::error(kind).sticky());
    errors.chain(halves).chain(shorts).chain(for_good).collect()
}

/// One run: where it starts, what is done, and what fails when.
#[derive(Debug, Clone, Copy)]
struct Trial {
    start: Start,
    policy: SyncPolicy,
    operation: Step,
    fault: Fault,
    call: u64,
}

/// The ids and the leaf that a session shows.
fn shown(session: &Session) -> (Vec<String>, Option<String>) {
    let tree = session.tree();
    let ids = tree.nodes().map(|node| tree.id(node).to_string()).collect();
    (ids, session.leaf_id().map(|id| id.to_string()))
}

/// The ids that a fresh look at the file shows; none if there is no file.
fn found(fs: &SimFs) -> Option<Vec<String>> {
    fs.bytes(PATH)?;
    // A disk of its own: looking takes part in no count of calls and meets no fault.
    let disk = Arc::new(fs.killed());
    let session = Options::new().file_system(disk).open_read_only(PATH);
    Some(shown(&session.unwrap_or_else(|error| panic!("{error}: {fs:#?}"))).0)
}

impl Trial {
    /// Runs the operation without a fault; tells how many calls it makes.
    fn calls(self) -> u64 {
        let fs = SimFs::new();
        let (mut session, mut opener, mut rng) = self.begin(&fs);
        let before = fs.calls().len();
        let result = perform(self.operation, &mut session, &mut opener, &mut rng);
        result.unwrap_or_else(|error| panic!("{error} without a fault\n{self:?}"));
        (fs.calls().len() - before) as u64
    }

    fn begin(self, fs: &SimFs) -> (Session, Opener, Rng) {
        set_up(fs, self.start);
        let mut opener = Opener::new(fs, self.policy);
        let mut rng = Rng::new(7);
        let mut session = opener.open_or_create().unwrap();
        // Something is pending already when a sync fails.
        if matches!(self.operation, Step::Barrier | Step::Sync) {
            perform(Step::Prompt(10), &mut session, &mut opener, &mut rng).unwrap();
        }
        (session, opener, rng)
    }

    /// Runs the operation; tells whether the fault was met.
    fn run(self) -> bool {
        let fs = SimFs::new();
        let (mut session, mut opener, mut rng) = self.begin(&fs);
        let bytes = fs.bytes(PATH).unwrap_or_default();
        let before = shown(&session);
        fs.fail_at(self.call, self.fault);
        let result = perform(self.operation, &mut session, &mut opener, &mut rng);
        let met = fs.faults_fired() > 0;
        fs.clear_faults();
        if !met {
            // Only writes can be short.
            assert!(result.is_ok(), "{result:?} without a fault\n{self:?}");
            return false;
        }
        self.check_memory(&fs, &session, &before, &result);
        self.check_older_bytes(&fs, &bytes);
        self.check_second_try(&fs, session, &mut opener);
        true
    }

    fn check_memory(
        self,
        fs: &SimFs,
        session: &Session,
        before: &(Vec<String>, Option<String>),
        result: &Result<()>,
    ) {
        let now = shown(session);
        if !session.is_saved() {
            assert_eq!(found(fs), None, "a file that its session does not know: {result:?}\n{self:?}");
        } else {
            assert_eq!(
                Some(&now.0),
                found(fs).as_ref(),
                "memory and file differ: {result:?}\n{self:?}\n{fs:#?}"
            );
        }
        match result {
            // The line is there, only its safety is unknown.
            Err(Error::Sync { .. }) | Ok(()) => {}
            Err(_) => {
                assert_eq!(now.0, before.0, "a failed call left entries behind: {result:?}\n{self:?}");
                if self.operation != Step::Mark {
                    assert_eq!(now.1, before.1, "a failed call moved the leaf: {result:?}\n{self:?}");
                }
            }
        }
    }

    fn check_older_bytes(self, fs: &SimFs, before: &[u8]) {
        let whole = |bytes: Option<Vec<u8>>| bytes.is_some_and(|bytes| bytes.starts_with(before));
        let kept = before.is_empty() || fs.paths().into_iter().any(|path| whole(fs.bytes(path)));
        assert!(kept, "older bytes changed\n{self:?}\n{fs:#?}");
    }

    /// What the session called durable outlives a power cut, failed call or not; what it took back stays away.
    fn check_power_cut(self, fs: &SimFs, ids: &[String]) {
        for state in fs.crash_states_now(1) {
            let left = found(&state.fs);
            assert_eq!(left.as_deref(), Some(ids), "{:?}\n{self:?}\n{fs:#?}", state.kind);
        }
    }

    fn check_second_try(self, fs: &SimFs, mut session: Session, opener: &mut Opener) {
        let saved = session.is_saved();
        match session.append_message(&user("second try")) {
            Ok(id) => {
                let ids = found(fs).unwrap();
                assert_eq!(ids, shown(&session).0, "{self:?}\n{fs:#?}");
                assert_eq!(ids.iter().filter(|other| **other == id.as_str()).count(), 1, "{self:?}");
                assert_eq!(session.leaf_id(), Some(id), "{self:?}");
                if session.is_durable() {
                    self.check_power_cut(fs, &ids);
                }
            }
            Err(Error::Poisoned { .. }) => {}
            // It was opened while the system refused to let it write, and says so.
            Err(Error::ReadOnly { .. }) if self.operation == Step::Reopen => {}
            Err(error) => panic!("the second try failed: {error}\n{self:?}\n{fs:#?}"),
        }
        // Whoever starts anew can go on in any case.
        drop(session);
        if saved {
            let id = opener.open_or_create().unwrap().append_message(&user("afresh")).unwrap();
            assert_eq!(found(fs).unwrap().last().map(String::as_str), Some(id.as_str()), "{self:?}\n{fs:#?}");
        }
    }
}

#[test]
fn an_operation_survives_the_failure_of_any_of_its_calls() {
    let mut runs = 0;
    for (start, policy) in STARTS.into_iter().flat_map(|start| POLICIES.map(|policy| (start, policy))) {
        for (operation, fault) in
            OPERATIONS.into_iter().flat_map(|step| faults().into_iter().map(move |f| (step, f)))
        {
            let trial = Trial { start, policy, operation, fault, call: 0 };
            for call in 1..=trial.calls() {
                runs += u32::from(Trial { call, ..trial }.run());
            }
        }
    }
    println!("{runs} runs with a failing call");
    assert!(runs >= 3_000, "only {runs} runs met their fault");
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
        assert_eq!(reopened.branch_path(None).len(), session.branch_path(None).len());
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
fn a_lost_file_is_saved_elsewhere_or_the_failure_is_told() {
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
    // The first line of the batch is whole when the write ends.
    let calls = fs.calls().len() as u64;
    let probe = fs.killed();
    Opener::new(&probe, SyncPolicy::Always).open_or_create().unwrap().append_batch(&drafts).unwrap();
    let position =
        probe.calls().iter().position(|call| *call == testkit::sim_fs::Call::Append).unwrap() as u64;
    fs.fail_at(position + 1 - calls, Fault::short_write(200));
    session.append_batch(&drafts).unwrap_err();
    assert_eq!(fs.faults_fired(), 1);
    for state in fs.crash_states_now(1) {
        assert_eq!(found(&state.fs).unwrap(), before, "{:?}", state.kind);
    }
}
