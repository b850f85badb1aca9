//! One operation while a call to the system fails: what is left behind, and whether life goes on.
//!
//! After a failure the session in memory shows what a fresh look at the file shows, older bytes are untouched, and
//! a second try works or is refused.

use std::io::ErrorKind;
use std::sync::Arc;

use session_tree::fs::Fs;
use session_tree::{Error, Options, Result, Session, SyncPolicy};

use super::workload::{Opener, PATH, STARTS, Start, Step, perform, set_up, user};
use crate::rng::Rng;
use crate::sim_fs::{Fault, SimFs};

/// The operation during which a call fails.
const OPERATIONS: [Step; 13] = [
    Step::Prompt(40),
    Step::Answer(300),
    Step::Batch(3),
    Step::Mark,
    Step::Summary,
    Step::Label,
    Step::Name,
    Step::Model,
    Step::Sync,
    Step::Fork,
    Step::Migrate,
    Step::Repair,
    Step::Reopen,
];

/// How often something is made durable.
pub const POLICIES: [SyncPolicy; 3] = [SyncPolicy::Always, SyncPolicy::Periodic, SyncPolicy::Os];

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
pub struct FaultCase {
    start: Start,
    policy: SyncPolicy,
    operation: Step,
    fault: Fault,
    call: u64,
    seen: Seen,
}

/// Gives the disk as the engine sees it.
pub type Seen = fn(&SimFs) -> Arc<dyn Fs>;

/// The ids and the leaf that a session shows.
pub fn shown(session: &Session) -> (Vec<String>, Option<String>) {
    let tree = session.tree();
    let ids = tree.nodes().map(|node| tree.id(node).to_string()).collect();
    (ids, session.leaf_id().map(|id| id.to_string()))
}

/// The ids that a fresh look at the file shows; none if there is no file.
pub fn found(fs: &SimFs) -> Option<Vec<String>> {
    fs.bytes(PATH)?;
    // A separate disk: reading it counts no calls and meets no fault.
    let disk = Arc::new(fs.killed());
    let session = Options::new().file_system(disk).open_read_only(PATH);
    Some(shown(&session.unwrap_or_else(|error| panic!("{error}: {fs:#?}"))).0)
}

impl FaultCase {
    /// Every operation from every start with every fault, each of whose calls is yet to fail.
    pub fn all(seen: Seen) -> impl Iterator<Item = Self> {
        let starts = STARTS.into_iter().flat_map(|start| POLICIES.map(|policy| (start, policy)));
        let operations = starts.flat_map(|place| OPERATIONS.map(|operation| (place, operation)));
        operations.flat_map(move |((start, policy), operation)| {
            faults().into_iter().map(move |fault| Self { start, policy, operation, fault, call: 0, seen })
        })
    }

    /// Runs the operation once for each of its calls, which fails; returns how often a fault was met.
    pub fn run_all(self) -> usize {
        (1..=self.calls()).filter(|call| Self { call: *call, ..self }.run()).count()
    }

    /// Runs the operation without a fault; returns the number of its calls.
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
        let mut opener = Opener::through(fs, (self.seen)(fs), self.policy);
        let mut rng = Rng::new(7);
        let mut session = opener.open_or_create().unwrap();
        // Something is pending already when a sync fails.
        if matches!(self.operation, Step::Sync) {
            perform(Step::Prompt(10), &mut session, &mut opener, &mut rng).unwrap();
        }
        (session, opener, rng)
    }

    /// Runs the operation; returns true if the fault was met.
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

    /// Checks that durable entries survive a power cut, and that entries of failed calls do not appear.
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
            // It was opened while writing was refused, so it is read-only.
            Err(Error::ReadOnly { .. }) if self.operation == Step::Reopen => {}
            Err(error) => panic!("the second try failed: {error}\n{self:?}\n{fs:#?}"),
        }
        // A new session can continue in any case.
        drop(session);
        if saved {
            let id = opener.open_or_create().unwrap().append_message(&user("afresh")).unwrap();
            assert_eq!(found(fs).unwrap().last().map(String::as_str), Some(id.as_str()), "{self:?}\n{fs:#?}");
        }
    }
}
