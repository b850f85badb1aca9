//! Crashes and failing calls: workloads on a simulated disk, and the checks afterwards.
//!
//! A [workload](workload::Workload) is run on a disk that logs each change; then the disk is shown as it may look
//! after a crash at any of these changes, and an [oracle] looks at each. A [trial](trial::FaultCase) lets one call to the
//! system fail. Both panic or complain when a promise of the engine is broken. Never touches the disk of the machine.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a broken promise panics")]

pub mod oracle;
pub mod trial;
pub mod workload;

use session_tree::SyncPolicy;

use crate::sim_fs::SimFs;
use trial::Seen;
use workload::Workload;

/// Runs one workload and checks all disks it may leave behind; gives their number.
///
/// # Errors
///
/// The promise that was broken, with all that is needed to see it again.
pub fn survive(workload: &Workload, policy: SyncPolicy, seen: Seen) -> Result<usize, String> {
    let fs = SimFs::new();
    let record = workload::run_through(workload, policy, &fs, seen(&fs));
    let mut count = 0;
    for state in fs.crash_states(workload.seed) {
        oracle::check(&record, &state).map_err(|reason| {
            let (number, completed, kind, disk) = (state.number, state.completed, state.kind, &state.fs);
            format!("{reason}\n{workload:?}\n{policy:?}, state {number}: {kind:?} after {completed} changes\n{disk:#?}")
        })?;
        count += 1;
    }
    Ok(count)
}
