//! Listing 1,000 sessions of together 211 MB.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use session_tree::{Catalog, SessionSummary};

use super::Bench;
use crate::Failure;
use crate::clock::{best, best_of_pairs, cpu_of, program};
use crate::table::Line;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let directory = bench.files.directory()?;
    let files: Vec<PathBuf> =
        fs::read_dir(&directory)?.map(|file| file.map(|file| file.path())).collect::<Result<_, _>>()?;
    let catalog = Catalog::new(&directory).flat();
    let cat = || program(Command::new("cat").args(&files), None);
    let (first, all_bytes) = best_of_pairs(
        bench.runs,
        || cpu_of(|| Ok(catalog.list_all().quick().collect::<Vec<SessionSummary>>())),
        cat,
    )?;
    let complete = best(bench.runs, || cpu_of(|| Ok(catalog.list_all().rows())))?;
    let cached = catalog.cache_file(bench.files.scratch("catalog"));
    drop(cached.list_all().rows());
    let (again, stat) = best_of_pairs(
        bench.runs,
        || cpu_of(|| Ok(cached.list_all().rows())),
        || program(Command::new("stat").args(["-c", "%s"]).args(&files), None),
    )?;
    Ok(vec![
        Line::cost("list 1,000 sessions: a first row of each", first, ("cat", all_bytes), 1.0),
        Line::cost("list 1,000 sessions: complete rows", complete, ("cat", all_bytes), 10.0),
        Line::cost("list 1,000 sessions: complete rows from the cache", again, ("stat", stat), 4.0),
    ])
}
