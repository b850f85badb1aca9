//! The parts of the proof: what each does, how much of it, and one line about how it went.

use std::path::PathBuf;
use std::time::Instant;

use crate::{crash, differential, fuzz, growth, kills, model, planted, power, suites};

/// How much is done.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// What all choices are drawn from.
    pub seed: u64,
    /// Hours instead of minutes.
    pub soak: bool,
    /// So much of the hours, in hundredths; all if nothing is said.
    pub percent: Option<u64>,
    /// How often, instead of what the mode says.
    pub runs: Option<u64>,
    /// Where the reference program is installed, if it is to be asked too.
    pub peer: Option<PathBuf>,
}

impl Plan {
    /// Returns how often something is done: as asked for, or as the mode says, but never less than in minutes.
    pub fn runs(&self, quick: u64, soak: u64) -> u64 {
        let hours = soak.saturating_mul(self.percent.unwrap_or(100)) / 100;
        self.runs.unwrap_or(if self.soak { hours.max(quick) } else { quick })
    }
}

/// What a part found when nothing was wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// How often.
    pub count: u64,
    /// What was counted.
    pub what: String,
}

impl Done {
    /// Makes the result of a part.
    pub fn new(count: u64, what: impl Into<String>) -> Self {
        Self { count, what: what.into() }
    }
}

/// What a part gives: a count, or the promise that was broken.
pub type Outcome = Result<Done, String>;

/// One kind of proof.
pub struct Part {
    /// The word for the command line.
    pub name: &'static str,
    /// The rows of the test plan that it covers.
    pub rows: &'static str,
    /// Whether the quick mode runs it; what `cargo test` runs anyway it does not.
    pub quick: bool,
    run: fn(&Plan) -> Outcome,
}

const fn part(name: &'static str, rows: &'static str, quick: bool, run: fn(&Plan) -> Outcome) -> Part {
    Part { name, rows, quick, run }
}

/// Every part, in the order in which they run.
pub const PARTS: &[Part] = &[
    part("crash", "D1", true, crash::states),
    part("faults", "D2", true, crash::faults),
    part("kills", "D3", true, kills::run),
    part("power", "D4", false, power::run),
    part("lying-disk", "D5", true, crash::lying_disk),
    part("planted", "D6", true, planted::run),
    part("fuzz-load", "F1", true, fuzz::load),
    part("fuzz-append", "F1", true, fuzz::append),
    part("fuzz-migrate", "F1", true, fuzz::migrate),
    part("fuzz-terminal", "F1, X1", true, fuzz::terminal),
    part("fuzz-page", "F1, X2", true, fuzz::page),
    part("model", "P1", true, model::run),
    part("differential", "P2, M2", false, differential::run),
    part("sizes", "S1", true, growth::sizes),
    part("growth", "S2", true, growth::growth),
    part("processes", "M1, M2, M4", false, suites::processes),
    part("terminal", "X1", false, suites::terminal),
    part("page", "X2", false, suites::page),
    part("paths", "X4", false, suites::paths),
    part("extensions", "X5", false, suites::extensions),
    part("turns", "X6", false, suites::turns),
];

impl Part {
    /// Finds a part by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PARTS.iter().find(|part| part.name == name)
    }

    /// Runs the part; gives the line to print and whether all was well.
    pub fn report(&self, plan: &Plan) -> (String, bool) {
        let begin = Instant::now();
        let outcome = crate::attempt::attempt(|| (self.run)(plan)).and_then(|outcome| outcome);
        let seconds = begin.elapsed().as_secs_f64();
        let (name, rows) = (self.name, self.rows);
        match outcome {
            Ok(Done { count, what }) => {
                (format!("{name:<14} {rows:<10} ok      {count:>9} {what} ({seconds:.1} s)"), true)
            }
            Err(reason) => {
                let seed = plan.seed;
                (format!("{name:<14} {rows:<10} BROKEN  seed {seed} ({seconds:.1} s)\n{reason}"), false)
            }
        }
    }
}
