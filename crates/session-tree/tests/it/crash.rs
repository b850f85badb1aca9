//! Crashes: every disk that a killed process or a power cut may leave is opened and used.
//!
//! Workloads run on a simulated disk that logs each change. Then the disk is shown as it may look after a crash at any
//! of these changes. `SOAK=1` runs many more workloads.

mod journal;

use std::sync::Arc;

use session_tree::SyncPolicy;
use testkit::crash::workload::{self, Start, Step, Workload};
use testkit::crash::{oracle, survive};
use testkit::sim_fs::SimFs;
use testkit::soak::rounds;

#[allow(clippy::print_stdout, reason = "the number of disks is what a reader of the log wants to know")]
fn survive_all(policy: SyncPolicy, seeds: std::ops::Range<u64>, at_least: usize) {
    let count: usize = seeds.map(|seed| checked(&Workload::drawn(seed), policy)).sum();
    println!("{count} disks after crashes, {policy:?}");
    assert!(count >= at_least, "only {count} disks were checked");
}

fn checked(workload: &Workload, policy: SyncPolicy) -> usize {
    survive(workload, policy, |fs| Arc::new(fs.clone())).unwrap_or_else(|reason| panic!("{reason}"))
}

#[test]
fn nothing_promised_is_lost_when_every_append_syncs() {
    survive_all(SyncPolicy::Always, 1_000..1_000 + u64::from(rounds(10)), 40_000);
}

#[test]
fn nothing_promised_is_lost_when_the_application_syncs() {
    survive_all(SyncPolicy::Periodic, 2_000..2_000 + u64::from(rounds(10)), 40_000);
}

#[test]
fn nothing_promised_is_lost_when_the_system_syncs() {
    survive_all(SyncPolicy::Os, 3_000..3_000 + u64::from(rounds(10)), 40_000);
}

#[test]
fn a_disk_that_ignores_sync_is_detected() {
    for policy in [SyncPolicy::Always, SyncPolicy::Periodic, SyncPolicy::Os] {
        for start in [Start::Fresh, Start::Existing, Start::VersionOne] {
            let steps = vec![Step::Prompt(10), Step::Sync, Step::Answer(10), Step::Sync];
            let workload = Workload { start, steps, seed: 5 };
            let fs = SimFs::new();
            fs.ignore_syncs(true);
            let record = workload::run(&workload, policy, &fs);
            let lost = fs.crash_states(5).filter(|state| oracle::check(&record, state).is_err()).count();
            assert!(lost > 0, "{policy:?} {start:?}: the check would not notice a missing sync");
        }
    }
}
