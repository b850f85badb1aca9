//! Fifteen bugs on purpose: each must be noticed by the part that is named beside it.
//!
//! Seven live in the engine (`session_tree::planted`); eight are calls to the system that a careless engine would not
//! make, or not look at, and live in a file system that leaves them out (`view`). One build holds them all; a bug is
//! chosen while the program runs, and counts for the whole process.

mod view;

use session_tree::planted::{self, Bug};
use testkit::crash::trial::Trial;

use crate::attempt::attempt;
use crate::part::{Done, Outcome, Plan};
use crate::{crash, fuzz, model};
use view::DiskBug;

/// Where a bug lives.
#[derive(Debug, Clone, Copy)]
enum Place {
    Engine(Bug),
    Disk(DiskBug),
}

/// A bug and the part that notices it.
struct Planted {
    place: Place,
    noticed_by: &'static str,
    /// Does what that part does, until something is wrong.
    look: fn(u64) -> Result<(), String>,
}

const fn planted(place: Place, noticed_by: &'static str, look: fn(u64) -> Result<(), String>) -> Planted {
    Planted { place, noticed_by, look }
}

const PLANTED: [Planted; 15] = [
    planted(Place::Engine(Bug::GlueToTornTail), "crash", crashes),
    planted(Place::Engine(Bug::MemoryBeforeDisk), "faults", faults),
    planted(Place::Engine(Bug::TrustAfterFailedSync), "faults", faults),
    planted(Place::Engine(Bug::RepeatedIds), "model", models),
    planted(Place::Engine(Bug::LeafIsLastLine), "model", models),
    planted(Place::Engine(Bug::MigrationDropsBadLines), "fuzz-migrate", migrations),
    planted(Place::Engine(Bug::FirstLabelWins), "model", models),
    planted(Place::Disk(DiskBug::NoFileSync), "crash", crashes),
    planted(Place::Disk(DiskBug::NoDirectorySync), "crash", crashes),
    planted(Place::Disk(DiskBug::NameBeforeContent), "crash", crashes),
    planted(Place::Disk(DiskBug::RewriteInPlace), "crash", crashes),
    planted(Place::Disk(DiskBug::NothingKept), "faults", faults),
    planted(Place::Disk(DiskBug::ShortWriteUnnoticed), "faults", faults),
    planted(Place::Disk(DiskBug::CutNotMade), "faults", faults),
    planted(Place::Disk(DiskBug::SyncErrorSwallowed), "faults", faults),
];

/// Plants every bug in turn; each must be noticed, and without bugs nothing may be.
pub fn run(plan: &Plan) -> Outcome {
    let mut unnoticed = Vec::new();
    for planted in &PLANTED {
        plant(Some(planted.place));
        let noticed = attempt(|| (planted.look)(plan.seed)).and_then(|result| result).is_err();
        plant(None);
        if !noticed {
            unnoticed.push(format!("{:?} was not noticed by {}", planted.place, planted.noticed_by));
        }
    }
    for look in [crashes, faults, models, migrations] {
        attempt(|| look(plan.seed))
            .and_then(|result| result)
            .map_err(|reason| format!("without a bug: {reason}"))?;
    }
    if unnoticed.is_empty() {
        Ok(Done::new(PLANTED.len() as u64, "planted bugs, each noticed by its part"))
    } else {
        Err(unnoticed.join("\n"))
    }
}

fn plant(place: Option<Place>) {
    let (in_engine, on_disk) = match place {
        None => (None, None),
        Some(Place::Engine(bug)) => (Some(bug), None),
        Some(Place::Disk(bug)) => (None, Some(bug)),
    };
    planted::plant(in_engine);
    view::plant(on_disk);
}

/// Enough workloads that some of them rewrite a file, whatever the seed.
fn crashes(seed: u64) -> Result<(), String> {
    (0..40).try_for_each(|number| crash::workload_at(seed, number, view::faulty).map(drop))
}

/// Tries one trial in seven; the ways to fail are thirteen, so all of them come up.
fn faults(_: u64) -> Result<(), String> {
    let met: usize = Trial::all(view::faulty).step_by(7).map(Trial::run_all).sum();
    if met > 0 { Ok(()) } else { Err("no call failed".into()) }
}

fn models(seed: u64) -> Result<(), String> {
    (0..60).try_for_each(|number| model::sequence(seed, number).map(drop))
}

fn migrations(seed: u64) -> Result<(), String> {
    (0..400).try_for_each(|number| fuzz::migrate_one(seed, number).map(drop))
}
