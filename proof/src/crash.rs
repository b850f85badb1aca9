//! Crashes and failing calls on simulated disks: the workloads and trials of the test kit, many of them.

use std::sync::Arc;

use session_tree::fs::Fs;
use testkit::crash::trial::{FaultCase, POLICIES};
use testkit::crash::workload::{self, Workload};
use testkit::crash::{oracle, survive};
use testkit::sim_fs::SimFs;

use crate::attempt::sum_over;
use crate::part::{Done, Outcome, Plan};

/// So many workloads are done before the disks are counted; the same ones whatever the number of cores.
const ROUND: u64 = 12;

/// The disk as it is.
pub fn as_it_is(fs: &SimFs) -> Arc<dyn Fs> {
    Arc::new(fs.clone())
}

/// Runs the workload with a number, which also chooses the policy; gives how many disks were checked.
pub fn workload_at(seed: u64, number: u64, seen: testkit::crash::trial::Seen) -> Result<u64, String> {
    let policy = POLICIES[(number % 3) as usize];
    let workload = Workload::drawn(seed.wrapping_mul(1_000_003).wrapping_add(number));
    survive(&workload, policy, seen).map(|count| count as u64)
}

/// Checks every disk that a crash may leave behind, until enough were checked.
pub fn states(plan: &Plan) -> Outcome {
    let wanted = plan.runs(500_000, 50_000_000);
    let (mut count, mut workloads) = (0, 0);
    while count < wanted {
        count += sum_over(ROUND, |number| workload_at(plan.seed, workloads + number, as_it_is))?;
        workloads += ROUND;
    }
    Ok(Done::new(count, format!("disks after crashes of {workloads} workloads")))
}

/// Lets every call of every operation fail in every way.
pub fn faults(_: &Plan) -> Outcome {
    let trials: Vec<FaultCase> = FaultCase::all(as_it_is).collect();
    let runs = sum_over(trials.len() as u64, |number| Ok(trials[number as usize].run_all() as u64))?;
    Ok(Done::new(runs, format!("runs with a failing call, {} operations", trials.len())))
}

/// Shows that the check sees a missing sync: on a disk that lies every workload must lose something.
pub fn lying_disk(plan: &Plan) -> Outcome {
    let runs = plan.runs(60, 600);
    let found = sum_over(runs, |number| {
        let policy = POLICIES[(number % 3) as usize];
        let workload = Workload::drawn(plan.seed.wrapping_mul(7_919).wrapping_add(number));
        let fs = SimFs::new();
        fs.ignore_syncs(true);
        let record = workload::run(&workload, policy, &fs);
        let lost = fs.crash_states(workload.seed).any(|state| oracle::check(&record, &state).is_err());
        if lost { Ok(1) } else { Err(format!("no loss was seen without syncs: {policy:?} {workload:?}")) }
    })?;
    Ok(Done::new(found, "workloads on disks that ignore syncs, each found out"))
}
