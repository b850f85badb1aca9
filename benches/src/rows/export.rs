//! A large session as a page, against the export of pi.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::time::Duration;

use offshoot_web::{ExportOptions, write_html};
use session_tree::Options;

use super::{Bench, NEEDS_PEER, peak_memory_of};
use crate::Failure;
use crate::clock::{best_of_pairs, cpu_of, whole_program};
use crate::table::Line;

const LEAST_GAIN: f64 = 10.0;
const MOST_MEMORY: u64 = 150_000_000;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let file = bench.files.realistic(100_000)?;
    let page = bench.files.scratch("page.html");
    let work = "export of 100k entries as a page";
    let ours = || cpu_of(|| export(&file, &page));
    let speed = match &bench.peer {
        None => Line::skipped(work, NEEDS_PEER),
        Some(peer) => {
            let theirs = bench.files.scratch("peer.html");
            let home = bench.files.scratch("peer-home");
            let reference = || whole_program(&mut peer.export(&file, &theirs, &home));
            let (ours, reference): (Duration, Duration) = best_of_pairs(bench.runs.min(3), ours, reference)?;
            fs::remove_file(theirs)?;
            Line::gain(work, ours, ("pi", reference), LEAST_GAIN)
        }
    };
    export(&file, &page)?;
    let size = page.metadata()?.len();
    let session = file.metadata()?.len();
    fs::remove_file(&page)?;
    Ok(vec![
        speed,
        Line::memory("the same: peak memory of the process", peak_memory_of("export", &file)?, MOST_MEMORY),
        Line::memory("the same: size of the page", size, session + session * 3 / 10 + 200_000),
    ])
}

/// Opens a session and writes its page.
pub(crate) fn export(file: &Path, page: &Path) -> Result<(), Failure> {
    // As the program opens sessions.
    let session = Options::new().cache_bytes(512 << 10).open_read_only(file)?;
    let mut out = BufWriter::with_capacity(1 << 18, File::create(page)?);
    write_html(&session, &ExportOptions::default(), &mut out, &mut |_, _| {})?;
    Ok(())
}

/// Exports to where nothing is kept, for the peak of memory.
pub(super) fn to_nowhere(file: &Path) -> Result<(), Failure> {
    export(file, Path::new("/dev/null"))
}
