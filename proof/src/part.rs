//! The parts of the proof: what each does, how much of it, and one line about how it went.

use std::path::PathBuf;
use std::time::Instant;

use crate::{crash, differential, disk_bugs, fuzz, growth, kills, model, planted, power, suites};

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
    /// Whether the quick mode runs it; what `cargo test` runs anyway it does not.
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

    /// Runs the part; gives the line to print and whether all was well.
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
