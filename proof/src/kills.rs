//! The real program, killed at every system call that touches a session, over everything that writes.
//!
//! With `strace` a run is killed right before its n-th file system call, for every n from the first access to the
//! session on. Where nothing may be traced, runs are killed after ever longer times instead. What is left is opened,
//! compared with what was there and what was acknowledged, and appended to. With a peer, every distinct file that was
//! left goes to the reference program too.

mod scenario;
mod tracing;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::TempDir;

use crate::attempt::sum_over;
use crate::differential;
use crate::part::{Done, Outcome, Plan};
use scenario::{SCENARIOS, Scenario};
use tracing::Tracer;

/// Distinct files that kills left behind, by what they hold.
type Left = Mutex<HashSet<Vec<u8>>>;

/// Kills the program at every point, as often as asked for.
pub fn run(plan: &Plan) -> Outcome {
    let program = program()?;
    let tracer = Tracer::find();
    let wanted = plan.runs(2_000, 100_000);
    let points = points(&program, &tracer, wanted)?;
    let left = Left::default();
    let killed = sum_over(points.len() as u64, |number| {
        let (scenario, point) = &points[number as usize];
        kill(&program, &tracer, scenario, *point, &left)
            .map(u64::from)
            .map_err(|reason| format!("{} killed at {point:?}: {reason}", scenario.name))
    })?;
    if killed == 0 {
        return Err("no run was killed".into());
    }
    let left = left.into_inner().unwrap_or_default();
    let asked = match &plan.peer {
        Some(peer) => differential::opens_all(peer, left.iter().map(Vec::as_slice))?,
        None => 0,
    };
    let how = tracer.name();
    let what = format!(
        "kill points of {} scenarios ({how}), {} distinct files, {asked} of them read by pi",
        SCENARIOS.len(),
        left.len()
    );
    Ok(Done::new(killed, what))
}

/// The program that was built together with this one.
pub(crate) fn program() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut folders = own.ancestors().skip(1).take(2);
    let found = folders.find_map(|folder| Some(folder.join("offshoot")).filter(|path| path.is_file()));
    found.ok_or(
        "there is no `offshoot` beside this program; build it first: cargo build --profile test -p offshoot"
            .into(),
    )
}

/// A moment at which a run is killed.
#[derive(Debug, Clone, Copy)]
enum Point {
    /// Before the call of this name and number.
    Call(&'static str, u32),
    /// After so many microseconds.
    Time(u64),
}

/// All points of all scenarios; more of the same when more are asked for.
fn points(program: &Path, tracer: &Tracer, wanted: u64) -> Result<Vec<(&'static Scenario, Point)>, String> {
    let mut all = Vec::new();
    for scenario in SCENARIOS {
        let room = Room::new(scenario)?;
        all.extend(
            tracer
                .points(&mut room.command(program), scenario.input, &room.path)?
                .into_iter()
                .map(|point| (scenario, point)),
        );
    }
    let once = all.clone();
    while !all.is_empty() && (all.len() as u64) < wanted {
        // Another time the clock, the ids and the names of files are others.
        let missing = usize::try_from(wanted).unwrap_or(usize::MAX) - all.len();
        all.extend(once.iter().copied().take(missing));
    }
    Ok(all)
}

/// A directory in which a scenario takes place.
struct Room {
    _dir: TempDir,
    path: PathBuf,
    scenario: &'static Scenario,
}

impl Room {
    fn new(scenario: &'static Scenario) -> Result<Self, String> {
        // Memory instead of a disk: what is asked is what a killed process leaves, not what a disk does.
        let dir = tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .map_err(|error| error.to_string())?;
        let path = dir.path().join("project");
        fs::create_dir(&path).map_err(|error| error.to_string())?;
        scenario.set_up(&path)?;
        Ok(Self { _dir: dir, path, scenario })
    }

    fn command(&self, program: &Path) -> Vec<String> {
        let mut command = vec![program.display().to_string()];
        command.extend(self.scenario.arguments.iter().map(ToString::to_string));
        command
    }
}

/// Kills one run; returns true if it was still running, and fails if a promise is broken.
fn kill(
    program: &Path,
    tracer: &Tracer,
    scenario: &'static Scenario,
    point: Point,
    left: &Left,
) -> Result<bool, String> {
    let room = Room::new(scenario)?;
    let before = scenario.state(&room.path)?;
    let (printed, died) = tracer.kill(&mut room.command(program), scenario.input, &room.path, point)?;
    scenario.check(&room.path, &before, &printed, left)?;
    Ok(died)
}
