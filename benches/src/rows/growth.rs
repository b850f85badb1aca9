//! Growth: a hundred times the entries may cost little more than a hundred times the time, on any stack.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use session_tree::Session;

use super::{Bench, NOT_QUICK, outline};
use crate::Failure;
use crate::clock::{cpu, cpu_of};
use crate::table::Line;

const STACK: usize = 256 * 1024;
/// CPU time stands for instructions here, and has caches against it; the bar of instructions is 110.
const BAR: f64 = 200.0;
const STEPS: [&str; 4] = ["load", "ordered tree", "outline, first rows", "context"];

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    if bench.quick {
        return Ok(vec![Line::skipped("10k to 1M entries", NOT_QUICK)]);
    }
    let mut lines = Vec::new();
    let chains = (bench.files.chain(10_000)?, bench.files.chain(1_000_000)?);
    let coding = (bench.files.small(10_000)?, bench.files.small(1_000_000)?);
    for (shape, (few, many)) in [("chain", chains), ("coding session", coding)] {
        let few = steps(10 * bench.runs, &few)?;
        let many = steps(bench.runs.min(5), &many)?;
        for (step, (few, many)) in STEPS.iter().zip(few.into_iter().zip(many)) {
            // The context of a session with compactions does not grow.
            if shape == "chain" || *step != "context" {
                lines.push(Line::cost(&format!("{shape}, 10k to 1M: {step}"), many, ("10k", few), BAR));
            }
        }
    }
    Ok(lines)
}

/// Measures all steps on a small stack; the best of some runs counts.
fn steps(runs: usize, file: &Path) -> Result<[Duration; STEPS.len()], Failure> {
    let mut best = [Duration::MAX; STEPS.len()];
    for _ in 0..runs {
        let file: PathBuf = file.to_path_buf();
        let run = move || one_run(&file).map_err(|error| error.to_string());
        let times = thread::Builder::new().stack_size(STACK).spawn(run)?.join();
        for (best, time) in best.iter_mut().zip(times.map_err(|_| "a step overflowed its stack")??) {
            *best = time.min(*best);
        }
    }
    Ok(best)
}

fn one_run(file: &Path) -> Result<[Duration; STEPS.len()], Failure> {
    let (load, session) = cpu(|| Ok(Session::open_read_only(file)?))?;
    Ok([
        load,
        cpu_of(|| Ok(session.tree().ordered()))?,
        cpu_of(|| outline::first_rows(&session))?,
        cpu_of(|| Ok(session.context()?))?,
    ])
}
