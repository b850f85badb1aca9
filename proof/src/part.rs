//! The parts of the proof, their amount of work and their one-line reports.

use std::path::PathBuf;
use std::time::Instant;

use crate::{crash, differential, disk_bugs, fuzz, growth, kills, model, planted, postgres, power, suites};

/// The amount of work.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The seed of all random choices.
    pub seed: u64,
    /// True for the long mode, which takes hours.
    pub soak: bool,
    /// The percentage of the long mode's work; all of it if `None`.
    pub percent: Option<u64>,
    /// The number of runs, instead of the mode's.
    pub runs: Option<u64>,
    /// The directory of the reference program, if it takes part.
    pub peer: Option<PathBuf>,
}

impl Plan {
    /// Returns the number of runs: the requested one or the mode's, but at least that of the quick mode.
    pub fn runs(&self, quick: u64, soak: u64) -> u64 {
        let hours = soak.saturating_mul(self.percent.unwrap_or(100)) / 100;
        self.runs.unwrap_or(if self.soak { hours.max(quick) } else { quick })
    }
}

/// The result of a part that found no broken promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The number of checks.
    pub count: u64,
    /// The name of the checks.
    pub what: String,
}

impl Done {
    /// Makes the result of a part.
    pub fn new(count: u64, what: impl Into<String>) -> Self {
        Self { count, what: what.into() }
    }
}

/// The result of a part: a count, or the broken promise.
pub type Outcome = Result<Done, String>;

/// One kind of proof.
pub struct Part {
    /// The word for the command line.
    pub name: &'static str,
    /// True if the quick mode runs it; parts that are tests of other crates run with `cargo test`.
    pub quick: bool,
    run: fn(&Plan) -> Outcome,
}

const fn part(name: &'static str, quick: bool, run: fn(&Plan) -> Outcome) -> Part {
    Part { name, quick, run }
}

/// Every part, in the order in which they run.
pub const PARTS: &[Part] = &[
    part("crash", true, crash::states),
    part("faults", true, crash::faults),
    part("kills", true, kills::run),
    part("postgres", true, postgres::run),
    part("power", false, power::run),
    part("lying-disk", true, crash::lying_disk),
    part("disk-bugs", true, disk_bugs::run),
    part("planted", false, planted::run),
    part("fuzz-load", true, fuzz::load),
    part("fuzz-append", true, fuzz::append),
    part("fuzz-migrate", true, fuzz::migrate),
    part("fuzz-terminal", true, fuzz::terminal),
    part("fuzz-page", true, fuzz::page),
    part("model", true, model::run),
    part("differential", false, differential::run),
    part("sizes", true, growth::sizes),
    part("growth", true, growth::growth),
    part("processes", false, suites::processes),
    part("terminal", false, suites::terminal),
    part("page", false, suites::page),
    part("paths", false, suites::paths),
    part("extensions", false, suites::extensions),
    part("turns", false, suites::turns),
];

impl Part {
    /// Finds a part by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PARTS.iter().find(|part| part.name == name)
    }

    /// Runs the part; returns the line to print, and true if no promise was broken.
    pub fn report(&self, plan: &Plan) -> (String, bool) {
        let begin = Instant::now();
        let outcome = crate::attempt::attempt(|| (self.run)(plan)).and_then(|outcome| outcome);
        let seconds = begin.elapsed().as_secs_f64();
        let name = self.name;
        match outcome {
            Ok(Done { count, what }) => {
                (format!("{name:<14} ok      {count:>9} {what} ({seconds:.1} s)"), true)
            }
            Err(reason) => {
                let seed = plan.seed;
                (format!("{name:<14} BROKEN  seed {seed} ({seconds:.1} s)\n{reason}"), false)
            }
        }
    }
}
