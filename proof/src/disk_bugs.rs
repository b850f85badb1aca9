//! Checks that the crash and fault proofs notice an engine that skips a system call or ignores its result.

mod faulty_fs;

use testkit::crash::trial::FaultCase;

use crate::attempt::attempt;
use crate::crash;
use crate::part::{Done, Outcome, Plan};
use faulty_fs::DiskBug;

/// A check that runs the engine on a faulty disk and fails when a promise is broken.
type Check = fn(u64) -> Result<(), String>;

const DISK_BUGS: [(DiskBug, Check); 8] = [
    (DiskBug::NoFileSync, crashes),
    (DiskBug::NoDirectorySync, crashes),
    (DiskBug::NameBeforeContent, crashes),
    (DiskBug::RewriteInPlace, crashes),
    (DiskBug::NoBackup, faults),
    (DiskBug::ShortWriteUnnoticed, faults),
    (DiskBug::NoRollback, faults),
    (DiskBug::SyncErrorIgnored, faults),
];

/// Runs each bug's check with the bug, which must fail, and every check without a bug, which must pass.
pub fn run(plan: &Plan) -> Outcome {
    let mut unnoticed = Vec::new();
    for (bug, check) in DISK_BUGS {
        faulty_fs::select(Some(bug));
        let noticed = attempt(|| check(plan.seed)).and_then(|result| result).is_err();
        faulty_fs::select(None);
        if !noticed {
            unnoticed.push(format!("{bug:?} was not noticed"));
        }
    }
    for check in [crashes, faults] {
        attempt(|| check(plan.seed))
            .and_then(|result| result)
            .map_err(|reason| format!("without a bug: {reason}"))?;
    }
    if unnoticed.is_empty() {
        Ok(Done::new(DISK_BUGS.len() as u64, "kinds of missing or ignored system calls, each noticed"))
    } else {
        Err(unnoticed.join("\n"))
    }
}

/// Forty workloads: with any seed, some of them rewrite a file.
fn crashes(seed: u64) -> Result<(), String> {
    (0..40).try_for_each(|number| crash::workload_at(seed, number, faulty_fs::faulty).map(drop))
}

/// Every seventh trial: the thirteen kinds of failure all occur.
fn faults(_: u64) -> Result<(), String> {
    let met: usize = FaultCase::all(faulty_fs::faulty).step_by(7).map(FaultCase::run_all).sum();
    if met > 0 { Ok(()) } else { Err("no call failed".into()) }
}
